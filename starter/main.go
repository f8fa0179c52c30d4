// Starter is AxiomMind's command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"axiommind/activities/text"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // The work failed: a build, a check, a server.
	exitUsage  = 2 // The command line or its input is wrong; nothing was started.
	exitBusy   = 3 // With --no-wait: another run is active.
)

func main() { os.Exit(runProgram()) }

// runProgram runs the program with the arguments and the streams of the process, and returns its exit code.
func runProgram() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{
		in: os.Stdin, out: os.Stdout, errOut: os.Stderr, getenv: os.Getenv,
		interactive: term.IsTerminal(int(os.Stderr.Fd())), quiet: 10 * time.Second, completion: completionTimeout,
	}
	end, _ := statedir.Of(os.Getenv).Start() // On failure temporary files go to the system's directory.
	defer end()
	return program(ctx, a, os.Args[1:])
}

// app is one invocation of the program.
type app struct {
	in io.Reader
	// out and errOut are for people: control characters and invisible ones are escaped.
	out, errOut io.Writer
	// exact is for output that programs read, and drawn for a progress bar. Both are written unchanged.
	exact, drawn io.Writer
	getenv       func(string) string
	// interactive is true if stderr is a terminal: progress is drawn as a bar.
	interactive bool
	// quiet is the interval between progress lines if no bar is drawn.
	quiet time.Duration
	// completion is the timeout of a completion.
	completion time.Duration
	cfg        service.Config
	output     string
	// typed are the flags of the command line: not those that a variable or a file gives.
	typed []string
	// called is the command that runs.
	called *cobra.Command
	// root is the tree of the groups' commands, and shared has the flags that all of them take, see [app.settings].
	root   *cobra.Command
	groups []commandGroup
	shared *pflag.FlagSet
}

// main runs the command that the arguments name, and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	out, errOut := &text.Writer{To: a.out}, &text.Writer{To: a.errOut}
	a.exact, a.drawn = a.out, a.errOut
	a.out, a.errOut = out, errOut
	err := a.run(ctx, args)
	var busy busyError
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("write output: %w", flushErr)
	}
	defer func() { _ = errOut.Flush() }()
	switch {
	case err == nil:
		return exitOK
	case isUsage(err):
		a.complain(err)
		return exitUsage
	case errors.As(err, &busy):
		a.complain(err)
		return exitBusy
	default:
		a.complain(err)
		return exitFailed
	}
}
