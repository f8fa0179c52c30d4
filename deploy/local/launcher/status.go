package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"axiommind/deploy/local/stack"
)

// serverStatus is one line of status.
type serverStatus struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	// PID is 0 for a server the stack did not start, and for one that has ended.
	PID   int    `json:"pid,omitempty"`
	State string `json:"state"`
}

// Forms of output.
const (
	outputText = "text"
	outputJSON = "json"
)

var outputs = []string{outputText, outputJSON}

func statusCommand(f *pflag.FlagSet) func(context.Context, []string, io.Writer) error {
	var dir, output string
	directory(f, &dir)
	f.StringVarP(&output, "output", "o", outputText, "print as `FORM`: text or json")
	return func(ctx context.Context, _ []string, out io.Writer) error {
		if !slices.Contains(outputs, output) {
			return usagef("status: --output %q: want one of %s", output, strings.Join(outputs, ", "))
		}
		return status(ctx, dir, output, out)
	}
}

func status(ctx context.Context, dir, output string, out io.Writer) error {
	up, err := running(dir)
	if err != nil {
		return err
	}
	last, err := readState(dir)
	if err != nil {
		return err
	}
	if output == outputJSON {
		answer := struct {
			Running bool           `json:"running"`
			State   *state         `json:"state,omitempty"`
			Servers []serverStatus `json:"servers,omitempty"`
		}{Running: up, State: last}
		if up && last != nil {
			answer.Servers = servers(ctx, last)
		}
		return json.NewEncoder(out).Encode(answer)
	}
	switch {
	case up && last == nil:
		_, _ = fmt.Fprintf(out, "a stack is starting in %s\n", dir)
	case !up && last == nil:
		_, _ = fmt.Fprintf(out, "nothing runs in %s\n", dir)
	case !up:
		_, _ = fmt.Fprintf(out, "nothing runs in %s: process %d, started %s, was killed; its data is kept\n",
			dir, last.PID, last.Started.Format(time.DateTime))
	default:
		return printStatus(ctx, out, dir, last)
	}
	return nil
}

func printStatus(ctx context.Context, out io.Writer, dir string, last *state) error {
	_, _ = fmt.Fprintf(out, "process %d, started %s, logs in %s\n", last.PID, last.Started.Format(time.DateTime), logDir(dir))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range servers(ctx, last) {
		pid := "given"
		if _, started := last.Servers[s.Name]; s.PID != 0 {
			pid = fmt.Sprint(s.PID)
		} else if started {
			pid = "ended"
		}
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", s.Name, s.Address, pid, s.State)
	}
	err := table.Flush()
	if last.Addresses.TemporalUI != "" {
		_, _ = fmt.Fprintf(out, "Temporal UI: %s\n", uiLink(dir, last.Addresses))
	}
	return err
}

// programNames are the programs that run next to the servers.
var programNames = []string{"worker", "codec"}

func servers(ctx context.Context, last *state) []serverStatus {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	a := last.Addresses
	list := []serverStatus{
		{Name: "temporal", Address: a.Temporal, State: answer(ctx, stack.Addresses{Temporal: a.Temporal})},
		{Name: "clickhouse", Address: a.ClickHouseURL(), State: answer(ctx, stack.Addresses{ClickHouseDSN: a.ClickHouseDSN})},
		{Name: "weaviate", Address: a.WeaviateHost, State: answer(ctx, stack.Addresses{WeaviateHost: a.WeaviateHost, WeaviateKey: cmp.Or(a.WeaviateKey, os.Getenv("WEAVIATE_API_KEY"))})},
	}
	for _, name := range programNames {
		if _, started := last.Servers[name]; started {
			list = append(list, serverStatus{Name: name, State: "runs"})
		}
	}
	for i := range list {
		list[i].PID = last.Servers[list[i].Name]
		if list[i].PID == 0 && list[i].State == "runs" {
			list[i].State = "is started again"
		}
	}
	return list
}

func answer(ctx context.Context, a stack.Addresses) string {
	if err := stack.Check(ctx, a); err != nil {
		return err.Error()
	}
	return "answers"
}
