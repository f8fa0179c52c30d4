package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"axiommind/deploy/local/stack"
	"axiommind/worker/service"
)

// runWorker runs the worker against the servers of the stack until ctx ends. Its log goes to a file
// beside those of the servers; ready is called once it polls.
func runWorker(ctx context.Context, st *stack.Stack, dir string, ready func()) error {
	cfg, err := workerConfig(st.Addresses())
	if err != nil {
		return err
	}
	path := filepath.Join(logDir(dir), "worker.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("open worker log: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open worker log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := service.Run(ctx, cfg, slog.New(slog.NewTextHandler(file, nil)), ready); err != nil {
		return fmt.Errorf("run worker (its log is %s): %w", path, err)
	}
	return nil
}
