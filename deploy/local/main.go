// Command local runs AxiomMind's servers on this machine without any of them
// being installed: Temporal with its web interface, ClickHouse and Weaviate.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"axiommind/activities/text"
)

// stderr is where people read of errors.
var stderr = &text.Writer{To: os.Stderr}

// exact is the writer behind one for people: for a program that makes its own text visible, and for
// what draws on a terminal.
func exact(out io.Writer) io.Writer {
	if people, ok := out.(*text.Writer); ok {
		return people.To
	}
	return out
}

// command is one subcommand. run gets the arguments after its name.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"up", "start the servers and a worker, until Ctrl-C", up},
		{"demo", "start everything, process sample sessions and search them", demo},
		{"status", "say which servers run, and where", status},
		{"down", "stop the servers that up started", down},
	}
}

// errUsage marks a mistake in the command line; its text has been printed.
var errUsage = errors.New("usage")

func main() {
	// What this program and the servers it starts write is for their user alone.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	out := &text.Writer{To: os.Stdout}
	err := run(ctx, os.Args[1:], out)
	stop()
	code := exitCode(errors.Join(err, out.Flush()))
	os.Exit(code)
}

func exitCode(err error) int {
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	_, _ = fmt.Fprintln(stderr, "local:", err)
	return 1
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return c.run(ctx, args[1:], out)
			}
		}
	}
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help" || args[0] == "help") {
		usage(out)
		return nil
	}
	usage(stderr)
	return errUsage
}

func usage(out io.Writer) {
	_, _ = fmt.Fprint(out, "Run AxiomMind's servers on this machine.\n\nUsage: go run ./deploy/local COMMAND [flags]\n\n")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(out, "  %-8s %s\n", c.name, c.summary)
	}
	_, _ = fmt.Fprint(out, "\nCOMMAND -h lists the flags of a command.\n")
}

// flagSet makes the flags every command has.
func flagSet(name, summary string, dir *string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {
		_, _ = fmt.Fprintf(stderr, "%s\n\nUsage: go run ./deploy/local %s [flags]\n\n%s", summary, name, flags.FlagUsages())
	}
	flags.StringVar(dir, "dir", defaultDir(), "where the servers keep their data, logs and state")
	return flags
}

// parse reads the flags of a command that takes no other arguments.
func parse(flags *pflag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	_, _ = fmt.Fprintf(stderr, "local: %s: %v\n\n", flags.Name(), err)
	flags.Usage()
	return errUsage
}

func defaultDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ".axiommind"
	}
	return filepath.Join(home, ".axiommind")
}
