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

// checkHistories is the command that replays the histories of the namespace instead of working.
const checkHistories = "check-histories"

func run(args []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	var cfg service.Config
	shared, own := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(shared)
	cfg.WorkerFlags(own)
	settings, flags := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("worker", pflag.ContinueOnError)
	settings.AddFlagSet(shared)
	settings.AddFlagSet(own)
	flags.AddFlagSet(settings)
	version := flags.Bool("version", false, "print which build this is")
	flags.Usage = func() { _, _ = io.WriteString(out, help(shared, own)) }
	var check service.HistoryCheck
	checks := len(args) > 0 && args[0] == checkHistories
	if checks {
		args = args[1:]
		flags = pflag.NewFlagSet(checkHistories, pflag.ContinueOnError)
		check.Flags(flags)
		flags.Usage = func() { _, _ = io.WriteString(out, checkHelp(flags, shared)) }
		flags.AddFlagSet(shared)
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return fmt.Errorf("%w; see worker -h", service.FlagError(err))
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: a worker takes flags only, or the command %s first; see worker -h", flags.Arg(0), checkHistories)
	case *version:
		_, err := fmt.Fprintln(out, "worker", service.Version())
		return err
	}
	if checks {
		settings = shared
	}
	if err := cfg.Load(settings, os.Getenv, service.LocalConfigFile()); err != nil {
		return err
	}
	cfg.LimitMemory()
	cfg.SpoolDir = service.DefaultSpoolDir()
	logger, err := service.NewLogger(cfg)
	if err != nil {
		return err
	}
	if checks {
		return check.Run(ctx, cfg, logger, out)
	}
	return service.Run(ctx, cfg, logger, nil)
}

// help says how to run a worker. The shared flags are those that the starter takes too.
func help(shared, own *pflag.FlagSet) string {
	shared.SortFlags, own.SortFlags = false, false
	return "Run AxiomMind's workflows and activities, until Ctrl-C or SIGTERM. A second signal ends the worker at once.\n\n" +
		"Usage: worker [flags]\n       worker " + checkHistories + " [flags]   replay what runs in the namespace, before a deploy\n\n" +
		"Settings that the starter takes too:\n" + shared.FlagUsages() +
		"\nSettings of the worker alone:\n" + own.FlagUsages() +
		"\n      --version   print which build this is\n  -h, --help      show this help\n" + `
Each setting is a flag, or the variable AXIOMMIND_ and its name in upper case with underscores, or a line of the
YAML file that --config names; the first that gives it wins. A local stack that is up is found by itself.
Keys come from the environment alone: TEMPORAL_API_KEY, WEAVIATE_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY.

Exit codes: 0 stopped, 1 the settings are wrong, a server did not come up, or the worker failed.
`
}

// checkHelp says how to check histories. Its flags are those before the settings are added.
func checkHelp(own, shared *pflag.FlagSet) string {
	own.SortFlags, shared.SortFlags = false, false
	usages := pflag.NewFlagSet("", pflag.ContinueOnError)
	usages.SortFlags = false
	(&service.HistoryCheck{}).Flags(usages)
	return "Replay what runs in the namespace on the workflows of this worker. Do so before a deploy: what does not replay\n" +
		"would stop and wait until a worker of its own version is back. Nothing is changed.\n\n" +
		"Usage: worker " + checkHistories + " [flags]\n\n" + usages.FlagUsages() +
		"\nSettings:\n" + shared.FlagUsages() + `
Exit codes: 0 all that was read replays, 1 something does not, or the server could not be asked.
`
}
