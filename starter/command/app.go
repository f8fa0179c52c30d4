// Package command is the shell of starter: it parses the command line, reads the settings, connects to the servers, prints for
// people and programs, and completes words. The groups of commands below it add theirs.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/text"
	"axiommind/worker/service"
	"axiommind/worker/tracing"
)

// Exit codes.
const (
	ExitOK     = 0
	ExitFailed = 1 // The work failed: a build, a check, a server.
	ExitUsage  = 2 // The command line or its input is wrong; nothing was started.
	ExitBusy   = 3 // With --no-wait: another run is active.
)

// App is one invocation of the program.
type App struct {
	In io.Reader
	// Out and ErrOut are for people: control characters and invisible ones are escaped.
	Out, ErrOut io.Writer
	// Exact is for output that programs read, and Drawn for a progress bar. Both are written unchanged.
	Exact, Drawn io.Writer
	Getenv       func(string) string
	// Interactive is true if stderr is a terminal: progress is drawn as a bar.
	Interactive bool
	// Quiet is the interval between progress lines if no bar is drawn.
	Quiet time.Duration
	// Completion is the timeout of a completion.
	Completion time.Duration
	Cfg        service.Config
	Output     string
	// Typed are the flags of the command line: not those that a variable or a file gives.
	Typed []string
	// Root is the tree of the groups' commands, and common has the flags that all of them take, see [App.settings].
	Root   *cobra.Command
	Groups []Group
	common *pflag.FlagSet
	// own are the connections of an invocation. Those of a server's requests are shared.
	own    Connections
	shared *Connections
	// answer is where a call's result goes, instead of Exact, and results are the types that commands declare. by, key and made
	// are the call's own, see [Call].
	answer  *Answer
	results map[*cobra.Command][]reflect.Type
	known   map[*pflag.Flag]values
	by, key string
	made    int
	// Tracing is nil unless the environment asks for traces. trace is the id of the command's trace.
	Tracing *tracing.Tracing
	trace   string
}

// Main runs the command that the arguments name, and returns the exit code.
func (a *App) Main(ctx context.Context, args []string) int {
	out, errOut := &text.Writer{To: a.Out}, &text.Writer{To: a.ErrOut}
	a.Exact, a.Drawn = a.Out, a.ErrOut
	a.Out, a.ErrOut = out, errOut
	err := a.run(ctx, args)
	a.Close()
	a.Tracing.Close()
	var busy busyError
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("write output: %w", flushErr)
	}
	defer func() { _ = errOut.Flush() }()
	if err != nil && a.trace != "" {
		defer func() { _, _ = fmt.Fprintln(a.ErrOut, "  trace: "+a.trace) }()
	}
	switch {
	case err == nil:
		return ExitOK
	case IsUsage(err):
		a.Complain(err)
		return ExitUsage
	case errors.As(err, &busy):
		a.Complain(err)
		return ExitBusy
	default:
		a.Complain(err)
		return ExitFailed
	}
}

// Close closes the connections that the invocation opened.
func (a *App) Close() { a.own.Close() }
