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

	"golang.org/x/term"

	"axiommind/activities/text"
	"axiommind/worker/service"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // The work failed: a build, a check, a server.
	exitUsage  = 2 // The command line or its input is wrong; nothing was started.
	exitBusy   = 3 // With --no-wait: somebody else is at it.
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{
		in: os.Stdin, out: os.Stdout, errOut: os.Stderr, getenv: os.Getenv,
		interactive: term.IsTerminal(int(os.Stderr.Fd())), quiet: 10 * time.Second,
	}
	code := a.main(ctx, os.Args[1:])
	stop()
	if code != exitOK {
		os.Exit(code) //nolint:gocritic // stop has been called
	}
}

// app is one invocation of the program.
type app struct {
	in io.Reader
	// out and errOut are for people: they show what could command a terminal, or hide.
	out, errOut io.Writer
	// exact takes what programs read, drawn what is drawn over again, both as they are.
	exact, drawn io.Writer
	getenv       func(string) string
	// interactive is true when a person watches: progress is drawn.
	interactive bool
	// quiet is how long a program that waits may print nothing, where progress is not drawn.
	quiet  time.Duration
	cfg    service.Config
	output string
}

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
