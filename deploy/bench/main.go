// Command bench loads an installation as its users do, and prints how long they wait, the failures, and the growth:
//
//	go run ./deploy/local up                # in another terminal
//	go run ./deploy/bench --fill 200 --process 0.5 --search 5 --enqueue 1 --hook 0.5 --for 10m
//
// Requests come at random times, with the given mean rates, whether or not earlier ones have been answered; a request's time
// runs from when it was due. At the end it waits for the queue, and compares the sessions in the store with those it gave.
// It finds the servers as the starter does. On the machine of a local stack it also reads the processes and the files of
// the stack, and can kill its servers and its worker while it runs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"axiommind/deploy/local/stack"
	"axiommind/schema"
)

// options are the flags.
type options struct {
	project   string
	users     int
	fill      int
	atOnce    int
	rates     [kinds]float64
	length    time.Duration
	settle    time.Duration
	debounce  time.Duration
	every     time.Duration
	killEvery time.Duration
	kill      []string
	dir       string
	metrics   string
	from      string
	atMost    int
	costs     bool
	seed      uint64
	output    string
}

func (o *options) flags(f *pflag.FlagSet) {
	f.StringVar(&o.project, "project", "bench", "store the sessions in this `PROJECT`; remove them with: starter forget --project bench")
	f.IntVar(&o.users, "users", 4, "divide the sessions among `N` users")
	f.IntVar(&o.fill, "fill", 0, "first process `N` sessions, as fast as possible")
	f.IntVar(&o.atOnce, "at-once", 8, "fill with `N` sessions at a time")
	for k := range kinds {
		f.Float64Var(&o.rates[k], kindNames[k], 0, kindUsage[k])
	}
	f.DurationVar(&o.length, "for", time.Minute, "send requests for this `TIME`")
	f.DurationVar(&o.debounce, "debounce", schema.DefaultDebounce, "have the queue wait this `TIME` for more of a user's conversations")
	f.DurationVar(&o.settle, "settle", 5*time.Minute, "wait for the queue this `TIME` at most, at the end")
	f.DurationVar(&o.every, "every", 30*time.Second, "measure sizes each `TIME`")
	f.StringSliceVar(&o.kill, "kill", nil, "kill these `NAMES` in turn: worker, clickhouse, temporal, weaviate")
	f.DurationVar(&o.killEvery, "kill-every", 5*time.Minute, "kill one of them each `TIME`")
	f.StringVar(&o.dir, "dir", stack.DefaultDir(), "measure the local stack in `DIR`, if it is up")
	f.StringVar(&o.metrics, "worker-metrics", "", "read the worker's goroutines at `HOST:PORT` (its --metrics-address)")
	f.StringVar(&o.from, "from", "", "take the conversations from the files of Claude Code in `DIR` (default: made up, each with an answer to search for)")
	f.IntVar(&o.atMost, "in-flight", 64, "have at most `N` requests of a kind unanswered; those beyond are counted as not sent")
	f.Uint64Var(&o.seed, "seed", 1, "repeat a run's times and texts by its `NUMBER`")
	f.BoolVar(&o.costs, "measure", false, "measure the costs of a session and of requests, one kind after another, and print them as JSON, for the\nsimulator; each number of sessions in flight is measured for the time of --for")
	f.StringVarP(&o.output, "output", "o", "text", "print as `FORM`: text or json")
}

func (o *options) check() error {
	rate := 0.0
	for k, r := range o.rates {
		if !(r >= 0 && r <= 1000) {
			return fmt.Errorf("--%s %v: want 0 to 1000 a second", kindNames[k], r)
		}
		rate += r
	}
	for _, name := range o.kill {
		if !isServer(name) {
			return fmt.Errorf("--kill %q: want some of worker, clickhouse, temporal and weaviate", name)
		}
	}
	switch {
	case len(o.kill) > 0 && rate == 0:
		return errors.New("--kill kills while requests are sent: give their rates, such as --search 5")
	case o.costs && o.length < time.Second:
		return errors.New("--for: want at least 1s for --measure")
	case o.costs && (rate != 0 || o.fill != 0 || len(o.kill) > 0):
		return errors.New("--measure measures alone: leave out --fill, --kill and the rates")
	case rate == 0 && o.fill == 0 && !o.costs:
		return errors.New("there is nothing to do: give --fill N, rates such as --search 5 --process 0.5, or --measure")
	case o.users < 1 || o.fill < 0 || o.atOnce < 1 || o.atMost < 1:
		return errors.New("--users, --at-once and --in-flight: want at least 1; --fill: want 0 or more")
	case o.length < 0 || o.settle < 0 || o.debounce < time.Millisecond || o.every < time.Second || o.killEvery < time.Second:
		return errors.New("--for and --settle: want no negative time; --debounce: want at least 1ms; --every and --kill-every: want at least 1s")
	case o.output != "text" && o.output != "json":
		return fmt.Errorf("--output %q: want text or json", o.output)
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // A second Ctrl-C ends it at once.
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, says io.Writer) error {
	o := &options{}
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SortFlags = false
	o.flags(f)
	f.Usage = func() {
		_, _ = fmt.Fprintf(out, "Load an installation as its users do, and print times, errors and growth.\n\n"+
			"  go run ./deploy/bench --fill 200 --process 0.5 --search 5 --for 10m\n\nFlags:\n%s", f.FlagUsages())
	}
	switch err := f.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return err
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err := o.check(); err != nil {
		return err
	}
	b, err := open(ctx, o, says)
	if err != nil {
		return err
	}
	defer b.close()
	if o.costs {
		m, err := b.measure(ctx)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
	r, err := b.run(ctx)
	if err != nil {
		return err
	}
	if o.output == "json" {
		err = json.NewEncoder(out).Encode(r)
	} else {
		err = r.print(out)
	}
	return errors.Join(err, r.failure())
}
