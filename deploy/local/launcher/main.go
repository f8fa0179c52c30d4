// Command launcher runs AxiomMind's servers on this machine without any of them
// being installed: Temporal with its web interface, ClickHouse and Weaviate.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // The work failed: a server, a file.
	exitUsage  = 2 // The command line is wrong; nothing was started.
)

func main() {
	// Only the user may read the files of this program and of the servers it starts.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	out, errOut := &screen{to: os.Stdout}, &screen{to: os.Stderr}
	err := run(ctx, os.Args[1:], out)
	stop()
	code := report(errors.Join(err, out.flush()), errOut)
	_ = errOut.flush()
	os.Exit(code)
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// report prints the error for a person and returns its exit code.
func report(err error, errOut io.Writer) int {
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(errOut, "local:", err)
	if usage := (usageError{}); errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// exact returns the writer behind a [screen]. It is for text that a program reads, for the output of a program that
// makes its own text visible, and for drawings on a terminal.
func exact(out io.Writer) io.Writer {
	if people, ok := out.(*screen); ok {
		return people.to
	}
	return out
}
