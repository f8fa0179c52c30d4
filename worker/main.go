// Worker runs AxiomMind's workflows and activities against Temporal, ClickHouse and Weaviate.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"axiommind/activities/clickhouse"
	"axiommind/activities/text"
	"axiommind/worker/runner"
	"axiommind/worker/service"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
)

func main() {
	end, err := statedir.Of(os.Getenv).Start()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "worker: temporary files are kept in the system's directory, and stay there after a kill:", err)
	}
	code := report(run(os.Args[1:], os.Stdout), os.Stderr)
	end()
	os.Exit(code)
}

// report prints the error and returns its exit code.
func report(err error, errOut io.Writer) int {
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(errOut, "worker:", text.Visible(clickhouse.Readable(err).Error()))
	return exitFailed
}

// checkHistories is the command that replays the histories of the namespace instead of working, migrate the one that
// brings the database up to date, and configShow the one that prints the settings.
const (
	checkHistories = "check-histories"
	migrate        = "migrate"
	setup          = "setup"
	configShow     = "config show"
)

// command is done instead of working.
type command interface {
	Flags(f *pflag.FlagSet)
	Run(ctx context.Context, cfg service.Config, logger *slog.Logger, out io.Writer) error
}

// commands are all commands by their names, with their descriptions and exit codes.
var commands = map[string]struct {
	new         func() command
	does, codes string
	// all is true for a command that takes the settings of the worker alone, too.
	all bool
}{
	checkHistories: {
		func() command { return &runner.HistoryCheck{} },
		"Replay the running workflows of the namespace on this worker's code. Do so before a deploy: a workflow that does not\n" +
			"replay would stop and wait until a worker of its own version is back. Nothing is changed.\n",
		"0 every history that was read replays, 1 one does not, or the server can't be asked.", false,
	},
	migrate: {
		func() command { return &service.Migration{} },
		"Bring ClickHouse's database up to date. A worker does so itself when it starts, if its user may make tables. A user\n" +
			"with the role of a worker may not: then run this first, as a user who may.\n",
		"0 the database is up to date, 1 it is not, or a role lacks rights.", false,
	},
	setup: {
		func() command { return &service.Setup{} },
		"Make Temporal's namespace and its search attributes. Run it before the first worker, and again after an update: only\n" +
			"what is missing is made. Schedules are made by `starter schedule`.\n",
		"0 all is there, 1 it is not.", false,
	},
	configShow: {
		func() command { return &service.ConfigShow{} },
		"Print each setting of the worker with its value and its source: a flag, a variable, a file, the local stack's file or the\n" +
			"default. Secrets are masked. No server is asked.\n",
		"0 the settings can be read, 1 they can't.", true,
	},
}

func run(args []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	var cfg service.Config
	shared, own := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(shared)
	cfg.WorkerFlags(own)
	set, flags := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("worker", pflag.ContinueOnError)
	set.AddFlagSet(shared)
	set.AddFlagSet(own)
	flags.AddFlagSet(set)
	version := flags.Bool("version", false, "print which build this is")
	flags.Usage = func() { _, _ = io.WriteString(out, help(shared, own)) }
	var instead command
	if name, rest := commandOf(args); name != "" {
		args, instead = rest, commands[name].new()
		if !commands[name].all {
			set = shared
		}
		flags = pflag.NewFlagSet(name, pflag.ContinueOnError)
		instead.Flags(flags)
		flags.Usage = func() { _, _ = io.WriteString(out, commandHelp(name, set)) }
		flags.AddFlagSet(set)
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return fmt.Errorf("%w; see worker -h", settings.FlagError(err))
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: a worker takes flags only, or the command %s, %s, %s or %s first; see worker -h", flags.Arg(0), checkHistories, migrate, setup, configShow)
	case *version:
		_, err := fmt.Fprintln(out, "worker", service.Version())
		return err
	}
	if err := cfg.Load(set, os.Getenv, service.LocalConfigFile()); err != nil {
		return err
	}
	cfg.LimitMemory()
	logger, err := service.NewLogger(cfg)
	if err != nil {
		return err
	}
	if instead != nil {
		return instead.Run(ctx, cfg, logger, out)
	}
	return runner.Run(ctx, cfg, logger, nil)
}

// commandOf returns the command that the arguments begin with, if any, and the others.
func commandOf(args []string) (name string, rest []string) {
	for n := min(2, len(args)); n > 0; n-- {
		if name := strings.Join(args[:n], " "); commands[name].new != nil {
			return name, args[n:]
		}
	}
	return "", args
}

// help returns the usage of the worker. The shared flags are those that the starter takes too.
func help(shared, own *pflag.FlagSet) string {
	shared.SortFlags, own.SortFlags = false, false
	return "Run AxiomMind's workflows and activities, until Ctrl-C or SIGTERM. A second signal ends the worker at once.\n\n" +
		"Usage: worker [flags]\n       worker " + checkHistories + " [flags]   replay the running workflows, before a deploy\n" +
		"       worker " + migrate + " [flags]           bring ClickHouse's database up to date, and make roles for it\n" +
		"       worker " + setup + " [flags]             make Temporal's namespace and search attributes\n" +
		"       worker " + configShow + " [flags]       print the settings and their sources\n\n" +
		"Settings that the starter takes too:\n" + shared.FlagUsages() +
		"\nSettings of the worker alone:\n" + own.FlagUsages() +
		"\n      --version   print which build this is\n  -h, --help      show this help\n" + `
Each setting is a flag, or the variable AXIOMMIND_ and its name in upper case with underscores, or a line of the
YAML file that --config names; the first that gives it wins. A local stack that is up is found by itself.
Keys come from the environment alone: TEMPORAL_API_KEY, WEAVIATE_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY.

Exit codes: 0 stopped, 1 the settings are wrong, a server did not come up, or the worker failed.
`
}

// commandHelp says how to run a command.
func commandHelp(name string, set *pflag.FlagSet) string {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	commands[name].new().Flags(own)
	return commands[name].does + "\nUsage: worker " + name + " [flags]\n\n" + own.FlagUsages() +
		"\nSettings:\n" + set.FlagUsages() + "\nExit codes: " + commands[name].codes + "\n"
}
