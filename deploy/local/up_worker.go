package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"axiommind/deploy/local/stack"
	"axiommind/worker/runner"
)

// runWorker runs the worker against the servers of the stack until ctx ends, and starts it again when
// it ends before that. Its log goes to a file beside those of the servers; ready is called when it
// polls for the first time. It delivers what hooks have left in the spool, if there is one.
func runWorker(ctx context.Context, st *stack.Stack, dir, spool string, out io.Writer, ready func()) error {
	cfg, err := workerConfig(st.Addresses(), dir)
	if err != nil {
		return err
	}
	cfg.SpoolDir = spool
	path := filepath.Join(logDir(dir), "worker.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("open worker log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open worker log: %w", err)
	}
	defer func() { _ = file.Close() }()
	logger := slog.New(slog.NewTextHandler(file, nil))
	run := func(ctx context.Context, polls func()) error { return runner.Run(ctx, cfg, logger, polls) }
	keepWorking(ctx, run, ready, func(what string) { announce(out, "worker", what) })
	return nil
}

// keepWorking runs the worker, and runs it again when it ends before ctx does. ready is called the first time that
// the worker polls for tasks. Later times are reported by say.
func keepWorking(ctx context.Context, run func(ctx context.Context, polls func()) error, ready func(), say func(what string)) {
	polls := func() {
		ready()
		ready = func() { say("is up again") }
	}
	var pace stack.Pace
	for pace.Started(time.Now()); ; {
		err := run(ctx, polls)
		if ctx.Err() != nil {
			return
		}
		if !stack.Again(ctx, &pace, fmt.Errorf("it ended: %w", err), say) {
			return
		}
	}
}
