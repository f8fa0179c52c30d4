// Package runnertest runs workers in tests.
package runnertest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"axiommind/worker/runner"
	"axiommind/worker/service"
)

// Start runs a worker, and returns once it is ready. It runs until it is stopped, or the test ends.
func Start(t testing.TB, cfg service.Config, logger *slog.Logger) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- runner.Run(ctx, cfg, logger, func() { close(ready) }) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-done:
		done <- err
		require.NoError(t, err)
		t.Fatal("the worker ended")
	}
	return stop
}

// Log is the log of a worker, which is read while the worker writes it.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
