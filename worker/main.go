// Worker runs AxiomMind's workflows and activities against Temporal, ClickHouse and Weaviate.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"axiommind/activities/text"
	"axiommind/worker/service"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
)

func main() { os.Exit(report(run(os.Args[1:], os.Stdout), os.Stderr)) }

// report tells a person of the error and returns the exit code for it.
func report(err error, errOut io.Writer) int {
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(errOut, "worker:", text.Visible(err.Error()))
	return exitFailed
}

func run(args []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var cfg service.Config
	shared, own := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(shared)
	cfg.WorkerFlags(own)
	flags := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	flags.AddFlagSet(shared)
	flags.AddFlagSet(own)
	version := flags.Bool("version", false, "print which build this is")
	flags.Usage = func() { _, _ = io.WriteString(out, help(shared, own)) }
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return fmt.Errorf("%w; see worker -h", service.FlagError(err))
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: a worker takes flags only; see worker -h", flags.Arg(0))
	case *version:
		_, err := fmt.Fprintln(out, "worker", service.Version())
		return err
	}
	if err := cfg.Load(flags, os.Getenv, service.LocalConfigFile()); err != nil {
		return err
	}
	cfg.LimitMemory()
	logger, err := service.NewLogger(cfg)
	if err != nil {
		return err
	}
	return service.Run(ctx, cfg, logger, nil)
}

// help says how to run a worker. The shared flags are those that the starter takes too.
func help(shared, own *pflag.FlagSet) string {
	shared.SortFlags, own.SortFlags = false, false
	return "Run AxiomMind's workflows and activities, until Ctrl-C or SIGTERM.\n\nUsage: worker [flags]\n\n" +
		"Settings that the starter takes too:\n" + shared.FlagUsages() +
		"\nSettings of the worker alone:\n" + own.FlagUsages() +
		"\n      --version   print which build this is\n  -h, --help      show this help\n" + `
Each setting is a flag, or the variable AXIOMMIND_ and its name in upper case with underscores, or a line of the
YAML file that --config names; the first that gives it wins. A local stack that is up is found by itself.
Keys come from the environment alone: TEMPORAL_API_KEY, WEAVIATE_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY.

Exit codes: 0 stopped, 1 the settings are wrong, a server did not come up, or the worker failed.
`
}
