package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/deploy/local/stack"
	"axiommind/worker/payload"
	"axiommind/worker/service"
)

// settings are what the commands that start servers take.
type settings struct {
	dir    string
	given  stack.Addresses
	noPath bool
}

func (s *settings) flags(f *pflag.FlagSet) {
	directory(f, &s.dir)
	f.StringVar(&s.given.Temporal, "temporal-address", "", "use the Temporal server at `HOST:PORT`")
	f.StringVar(&s.given.ClickHouseDSN, "clickhouse-dsn", "", "use the ClickHouse server at `URL`, http://user:password@host:8123/database")
	f.StringVar(&s.given.WeaviateHost, "weaviate-host", "", "use the Weaviate server at `HOST:PORT`, with the key in WEAVIATE_API_KEY")
	f.StringVar(&s.given.WeaviateGRPC, "weaviate-grpc", "", "that Weaviate server's gRPC interface is at `HOST:PORT`")
	f.BoolVar(&s.noPath, "no-path", false, "do not use temporal, clickhouse and weaviate found on PATH")
}

// kept returns the addresses as they are written to files: without the key of a server that was given. Keys that
// the stack has not made stay in the environment.
func (s settings) kept(st *stack.Stack) stack.Addresses {
	a := st.Addresses()
	if s.given.WeaviateHost != "" {
		a.WeaviateKey = ""
	}
	return a
}

func upCommand(f *pflag.FlagSet) func(context.Context, []string, io.Writer) error {
	var s settings
	s.flags(f)
	return func(ctx context.Context, _ []string, out io.Writer) error {
		return withStack(ctx, s, out, func(ctx context.Context, st *stack.Stack) error {
			cfg, err := workerConfig(st.Addresses(), s.dir)
			if err != nil {
				return err
			}
			printAddresses(out, st.Addresses(), tier.ShownRoot(cfg.MemoryRoot))
			return runWorker(ctx, st, s.dir, service.DefaultSpoolDir(), out, func() {
				_, _ = fmt.Fprintln(out, "A worker is ready. Try: go run ./starter doctor\nCtrl-C stops everything.")
			})
		})
	}
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
	if s.given.WeaviateHost != "" {
		s.given.WeaviateKey = os.Getenv("WEAVIATE_API_KEY")
	}
	var codec func(origins []string) http.Handler
	if s.given.Temporal == "" { // A server that was given may have other clients, which have no key.
		file, ring, err := payloadKeys(s.dir)
		if err != nil {
			return err
		}
		s.given.PayloadKeyFile = file
		codec = func(origins []string) http.Handler { return ring.Handler(payload.HandlerOptions{Origins: origins}) }
	}
	report := newReporter(out)
	st, err := stack.Start(ctx, stack.Options{
		Dir: s.dir, Temporal: true, ClickHouse: true, Weaviate: true, Embedder: os.Getenv(embedderVariable) == "", Given: s.given, Installed: !s.noPath,
		TemporalPort: stack.TemporalPort, TemporalUIPort: stack.TemporalUIPort, ClickHousePort: stack.ClickHousePort,
		WeaviatePort: stack.WeaviatePort, WeaviateGRPCPort: stack.WeaviateGRPCPort,
		SearchAttributes: searchAttributes(), Progress: report.set, Codec: codec,
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
	return fmt.Errorf("%w\nAnother version of AxiomMind made the store in %s. Before the first release no store can be upgraded: "+
		"move that directory away, or give another one with --dir, and start again", err, dir)
}

// announce prints what happens while the stack is up, with the time. Lines after the first are indented, so that
// text from a log can't look like an announcement.
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

// interrupted returns nil for an error that only says that the user has ended the command.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func alreadyRunning(dir string) error {
	last, err := readState(dir)
	if err != nil || last == nil {
		return fmt.Errorf("start in %q: %w and is still starting: wait for it, or press Ctrl-C there", dir, errRunning)
	}
	return fmt.Errorf("start in %q: %w, process %d since %s: `status` shows it, `down` stops it",
		dir, errRunning, last.PID, last.Started.Format(time.DateTime))
}

// printAddresses prints where the servers and the files of the memory are.
func printAddresses(out io.Writer, a stack.Addresses, memory string) {
	rows := [][2]string{
		{"Temporal", a.Temporal}, {"Temporal UI", a.TemporalUI}, {"ClickHouse", a.ClickHouseURL()},
		{"Weaviate", a.WeaviateHost}, {"Weaviate gRPC", a.WeaviateGRPC}, {"embedder", a.EmbedderDir}, {"memory", memory},
	}
	for _, row := range rows {
		if row[1] != "" {
			_, _ = fmt.Fprintf(out, "  %-14s %s\n", row[0], row[1])
		}
	}
	_, _ = fmt.Fprintf(out, "  %-14s %s\n", "their tokens", service.LocalConfigFile())
}

func logDir(dir string) string { return filepath.Join(dir, "logs") }
