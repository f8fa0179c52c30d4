package main

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// downTimeout is how long a stack may take to stop its servers.
const downTimeout = 30 * time.Second

func downCommand(f *pflag.FlagSet) func(context.Context, []string, io.Writer) error {
	var dir string
	directory(f, &dir)
	return func(ctx context.Context, _ []string, out io.Writer) error { return down(ctx, dir, out) }
}

func down(ctx context.Context, dir string, out io.Writer) error {
	up, err := running(dir)
	if err != nil {
		return err
	}
	last, err := readState(dir)
	if err != nil {
		return err
	}
	if !up {
		_, _ = fmt.Fprintf(out, "nothing runs in %s\n", dir)
		return removeState(dir)
	}
	if last == nil {
		return fmt.Errorf("stop the stack in %q: it is still starting; press Ctrl-C there", dir)
	}
	if err := syscall.Kill(last.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", last.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if up, err := running(dir); err != nil || !up {
			if err == nil {
				_, _ = fmt.Fprintln(out, "stopped")
			}
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for process %d to end: %w: try again, or end it yourself", last.PID, ctx.Err())
		case <-tick.C:
		}
	}
}
