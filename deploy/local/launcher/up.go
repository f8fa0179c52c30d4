package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"axiommind/deploy/local/install"
	"axiommind/deploy/local/stack"
)

// settings are the options of the commands that start servers.
type settings struct {
	dir    string
	given  stack.Addresses
	noPath bool
	// noSpool ignores the contexts that hooks have left for a worker.
	noSpool bool
}

func (s *settings) flags(f *pflag.FlagSet) {
	directory(f, &s.dir)
	f.StringVar(&s.given.Temporal, "temporal-address", "", "use the Temporal server at `HOST:PORT`")
	f.StringVar(&s.given.ClickHouseDSN, "clickhouse-dsn", "", "use the ClickHouse server at `URL`, http://user:password@host:8123/database")
	f.StringVar(&s.given.WeaviateHost, "weaviate-host", "", "use the Weaviate server at `HOST:PORT`, with the key in WEAVIATE_API_KEY")
	f.StringVar(&s.given.WeaviateGRPC, "weaviate-grpc", "", "that Weaviate server's gRPC interface is at `HOST:PORT`")
	f.BoolVar(&s.noPath, "no-path", false, "do not use temporal, clickhouse and weaviate found on PATH")
}

// kept returns the addresses that are written to files: without the key of a given server. Keys that the stack has not made
// stay in the environment.
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
			printAddresses(out, s.dir, st.Addresses(), shownRoot(memoryRoot(s.dir)))
			_, _ = fmt.Fprintln(out, "A worker is ready. Try: go run ./starter doctor\nRead it in a browser: go run ./starter serve --all\nDream every night: go run ./starter schedule apply\nCtrl-C stops everything.")
			<-ctx.Done()
			return nil
		})
	}
}

// withStack fetches, builds and starts the servers and the worker, runs work, and stops them. A server or worker that ends
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
		s.given.WeaviateKey = os.Getenv(weaviateKey)
	}
	var decrypt *codec
	opts := s.options()
	if s.given.Temporal == "" { // A given server may have other clients, which have no key.
		if opts.Given.PayloadKeyFile, err = payloadKeys(s.dir); err != nil {
			return err
		}
		if decrypt, err = newCodec(s.dir); err != nil {
			return err
		}
		opts.Codec = func(origins []string) http.Handler {
			decrypt.origins = origins
			return decrypt
		}
	}
	report := newReporter(out)
	cache, err := install.DefaultCache()
	if err != nil {
		return err
	}
	report.plan(s.needed(cache.Plan(binDir(s.dir)), opts.Embedder))
	opts.Progress, opts.Measured = report.set, report.measure
	st, err := startAll(ctx, s.dir, cache, opts)
	if err != nil {
		report.close()
		return interrupted(ctx, err)
	}
	defer func() {
		_, _ = fmt.Fprintln(out, "stopping")
		st.Stop()
		err = errors.Join(err, removeState(s.dir), forgetAddresses(localFile(), s.kept(st)))
	}()
	err = s.startPrograms(ctx, st, decrypt)
	report.close()
	if err != nil {
		return interrupted(ctx, err)
	}
	now := state{PID: os.Getpid(), Started: time.Now(), Addresses: s.kept(st), Servers: st.Servers()}
	if err := errors.Join(writeState(s.dir, now), writeAddresses(localFile(), s.kept(st))); err != nil {
		return err
	}
	changed := func() {
		now.Servers = st.Servers()
		if err := writeState(s.dir, now); err != nil {
			announce(out, "status", err.Error())
		}
	}
	return interrupted(ctx, whileUp(ctx, st, out, changed, work))
}

// options returns the options of the stack.
func (s settings) options() stack.Options {
	return stack.Options{
		Dir: s.dir, Temporal: true, ClickHouse: true, Weaviate: true, Embedder: os.Getenv(embedderVariable) == "", Given: s.given, Installed: !s.noPath,
		TemporalPort: stack.TemporalPort, TemporalUIPort: stack.TemporalUIPort, ClickHousePort: stack.ClickHousePort,
		WeaviatePort: stack.WeaviatePort, WeaviateGRPCPort: stack.WeaviateGRPCPort,
	}
}

// needed removes the parts of a plan that are available in another way.
func (s settings) needed(parts []install.Part, embedder bool) []install.Part {
	there := map[string]bool{
		"temporal": s.given.Temporal != "" || s.onPath("temporal"), "weaviate": s.given.WeaviateHost != "" || s.onPath("weaviate"),
		"clickhouse": s.given.ClickHouseDSN != "" || s.onPath("clickhouse-server") || s.onPath("clickhouse"), "embedder": !embedder,
	}
	return slices.DeleteFunc(parts, func(p install.Part) bool { return there[p.Name] })
}

func (s settings) onPath(name string) bool {
	_, err := exec.LookPath(name)
	return !s.noPath && err == nil
}

// startAll starts the servers, and meanwhile builds the worker and the starter.
func startAll(ctx context.Context, dir string, cache install.Cache, opts stack.Options) (*stack.Stack, error) {
	cache.Measured = opts.Measured
	var st *stack.Stack
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		st, err = stack.Start(groupCtx, opts)
		return err
	})
	group.Go(func() error { return cache.Programs(groupCtx, binDir(dir), opts.Progress) })
	if err := group.Wait(); err != nil {
		if st != nil {
			st.Stop()
		}
		return nil, err
	}
	return st, nil
}

// startPrograms starts the worker, which makes the tables and registers everything that Temporal has to know, and the codec
// server.
func (s settings) startPrograms(ctx context.Context, st *stack.Stack, decrypt *codec) error {
	run := func() error {
		env := workerEnvironment(st.Addresses(), s.dir)
		if s.noSpool {
			env = append(env, queueVariable+"=true")
		}
		return st.Run(ctx, stack.Program{Name: "worker", Path: filepath.Join(binDir(s.dir), "worker"), Env: env, Says: workerReady, Patience: workerStop})
	}
	err := run()
	if err != nil && strings.Contains(err.Error(), noEmbedder) && st.Addresses().EmbedderDir != "" {
		st.LeaveEmbedder(err)
		err = run()
	}
	if err != nil {
		return otherVersion(s.dir, err)
	}
	if decrypt == nil {
		return nil
	}
	return decrypt.run(ctx, st, filepath.Join(binDir(s.dir), "starter"))
}

// binDir is where the programs of the product are, in a stack's directory.
func binDir(dir string) string { return filepath.Join(dir, "bin") }

// otherVersion adds to the error about a store of another version how to go on.
func otherVersion(dir string, err error) error {
	if !strings.Contains(err.Error(), otherSchema) {
		return err
	}
	return fmt.Errorf("%w\nAnother version of AxiomMind made the store in %s. Before the first release no store can be upgraded: "+
		"move that directory away, or give another one with --dir, and start again", err, dir)
}

// announce prints an event of a running stack, with the time. Lines after the first are indented, so that text from a log
// can't look like an announcement.
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

// interrupted returns nil for an error that only reports that the user has ended the command.
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
func printAddresses(out io.Writer, dir string, a stack.Addresses, memory string) {
	rows := [][2]string{
		{"Temporal", a.Temporal}, {"Temporal UI", uiLink(dir, a)}, {"ClickHouse", a.ClickHouseURL()},
		{"Weaviate", a.WeaviateHost}, {"Weaviate gRPC", a.WeaviateGRPC}, {"embedder", a.EmbedderDir}, {"model", modelText(os.Getenv)}, {"memory", memory},
	}
	for _, row := range rows {
		if row[1] != "" {
			_, _ = fmt.Fprintf(out, "  %-14s %s\n", row[0], row[1])
		}
	}
	_, _ = fmt.Fprintf(out, "  %-14s %s\n", "their tokens", localFile())
}

func logDir(dir string) string { return filepath.Join(dir, "logs") }
