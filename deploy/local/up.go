package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stack"
	"axiommind/worker/service"
)

// settings are what the commands that start servers take.
type settings struct {
	dir    string
	given  stack.Addresses
	noPath bool
}

func upFlags(name, summary string, args []string) (settings, error) {
	var s settings
	flags := flagSet(name, summary, &s.dir)
	flags.StringVar(&s.given.Temporal, "temporal-address", "", "a Temporal server that runs already, host:port")
	flags.StringVar(&s.given.ClickHouseDSN, "clickhouse-dsn", "", "a ClickHouse server that runs already, http://user:password@host:8123/database")
	flags.StringVar(&s.given.WeaviateHost, "weaviate-host", "", "a Weaviate server that runs already, host:port")
	flags.StringVar(&s.given.WeaviateGRPC, "weaviate-grpc", "", "the gRPC interface of that Weaviate server, host:port (its key: WEAVIATE_API_KEY)")
	flags.BoolVar(&s.noPath, "no-path", false, "do not use temporal, clickhouse and weaviate found on PATH")
	err := parse(flags, args)
	if s.given.WeaviateHost != "" {
		s.given.WeaviateKey = os.Getenv("WEAVIATE_API_KEY")
	}
	return s, err
}

// kept are the addresses that are written to files. The key of a server that was given stays in the
// environment, as every key that the stack has not made.
func (s settings) kept(st *stack.Stack) stack.Addresses {
	a := st.Addresses()
	if s.given.WeaviateHost != "" {
		a.WeaviateKey = ""
	}
	return a
}

func up(ctx context.Context, args []string, out io.Writer) error {
	s, err := upFlags("up", "Start the servers and a worker, until Ctrl-C.", args)
	if err != nil {
		return err
	}
	return withStack(ctx, s, out, func(ctx context.Context, st *stack.Stack) error {
		printAddresses(out, st.Addresses())
		return runWorker(ctx, st, s.dir, out, func() {
			_, _ = fmt.Fprintln(out, "A worker is ready. Try: go run ./starter doctor\nCtrl-C stops everything.")
		})
	})
}

// withStack starts the servers, prepares them, runs work, and stops the servers. A server that ends
// while work runs is started again.
func withStack(ctx context.Context, s settings, out io.Writer, work func(context.Context, *stack.Stack) error) (err error) {
	release, err := claim(s.dir)
	if errors.Is(err, errRunning) {
		return alreadyRunning(s.dir)
	}
	if err != nil {
		return fmt.Errorf("claim %q: %w", s.dir, err)
	}
	defer release()
	if last, err := readState(s.dir); err == nil && last != nil {
		_, _ = fmt.Fprintf(out, "the stack of process %d was killed; its data is kept\n", last.PID)
	}
	report := newReporter(out)
	st, err := stack.Start(ctx, stack.Options{
		Dir: s.dir, Temporal: true, ClickHouse: true, Weaviate: true, Given: s.given, Installed: !s.noPath,
		TemporalPort: stack.TemporalPort, TemporalUIPort: stack.TemporalUIPort, ClickHousePort: stack.ClickHousePort,
		WeaviatePort: stack.WeaviatePort, WeaviateGRPCPort: stack.WeaviateGRPCPort,
		SearchAttributes: searchAttributes(), Progress: report.set,
	})
	report.close()
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() {
		_, _ = fmt.Fprintln(out, "stopping")
		st.Stop()
		err = errors.Join(err, removeState(s.dir), forgetAddresses(service.LocalConfigFile(), s.kept(st)))
	}()
	now := state{PID: os.Getpid(), Started: time.Now(), Addresses: s.kept(st), Servers: st.Servers()}
	if err := writeState(s.dir, now); err != nil {
		return err
	}
	if err := prepare(ctx, st, s.kept(st)); err != nil {
		return interrupted(ctx, otherVersion(s.dir, fmt.Errorf("prepare the servers: %w", err)))
	}
	changed := func() {
		now.Servers = st.Servers()
		if err := writeState(s.dir, now); err != nil {
			announce(out, "status", err.Error())
		}
	}
	return interrupted(ctx, whileUp(ctx, st, out, changed, work))
}

// otherVersion says what to do with a store that another version has made.
func otherVersion(dir string, err error) error {
	if !errors.Is(err, eventlog.ErrSchema) {
		return err
	}
	return fmt.Errorf("%w\nAnother version of AxiomMind made the store in %s. Before the first release none is carried over: "+
		"move that directory away, or give another one with --dir, and start again", err, dir)
}

// announce tells what happens while the stack is up, with the time. Lines after the first are indented,
// so that none can pass for an announcement.
func announce(out io.Writer, name, what string) {
	_, _ = fmt.Fprintf(out, "[%s] %s: %s\n", time.Now().Format(time.TimeOnly), name, strings.ReplaceAll(what, "\n", "\n  "))
}

// whileUp runs work until it returns, and starts again the servers that end meanwhile.
func whileUp(
	ctx context.Context, st *stack.Stack, out io.Writer, changed func(), work func(context.Context, *stack.Stack) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	supervised := make(chan struct{})
	go func() {
		defer close(supervised)
		st.Supervise(ctx, func(name, what string) { announce(out, name, what) }, func() {
			mu.Lock()
			defer mu.Unlock()
			changed()
		})
	}()
	err := work(ctx, st)
	cancel()
	<-supervised
	return err
}

// interrupted drops an error that only says that the user has ended the command.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func alreadyRunning(dir string) error {
	last, err := readState(dir)
	if err != nil || last == nil {
		return fmt.Errorf("start in %q: %w and is still starting", dir, errRunning)
	}
	return fmt.Errorf("start in %q: %w, process %d since %s: `status` shows it, `down` stops it",
		dir, errRunning, last.PID, last.Started.Format(time.DateTime))
}

func printAddresses(out io.Writer, a stack.Addresses) {
	rows := [][2]string{
		{"Temporal", a.Temporal}, {"Temporal UI", a.TemporalUI}, {"ClickHouse", a.ClickHouseURL()},
		{"Weaviate", a.WeaviateHost}, {"Weaviate gRPC", a.WeaviateGRPC},
	}
	for _, row := range rows {
		if row[1] != "" {
			_, _ = fmt.Fprintf(out, "  %-14s %s\n", row[0], row[1])
		}
	}
	_, _ = fmt.Fprintf(out, "  %-14s %s\n", "their tokens", service.LocalConfigFile())
}

func logDir(dir string) string { return filepath.Join(dir, "logs") }
