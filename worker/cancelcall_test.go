package main_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/worker/runner"
)

// hangingModel is a server that never answers. It says when a request came and when its caller was gone.
func hangingModel(t *testing.T) (url string, came, gone chan time.Time) {
	t.Helper()
	came, gone = make(chan time.Time, 10), make(chan time.Time, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // Before that, a server does not notice who is gone.
		came <- time.Now()
		<-r.Context().Done()
		gone <- time.Now()
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", came, gone
}

func await(t *testing.T, at chan time.Time) time.Time {
	t.Helper()
	select {
	case now := <-at:
		return now
	case <-time.After(time.Minute):
		t.Fatal("it did not come")
		return time.Time{}
	}
}

// A cancelled session ends its calls of the model with the next heartbeat, so that an unused answer costs no money.
func TestCancelledSessionEndsItsCalls(t *testing.T) {
	t.Parallel()
	url, came, gone := hangingModel(t)
	b := newBench(t)
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "m", BaseURL: url}
	b.start(t)
	run, err := b.submit(t.Context(), b.input("cancelled", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision))))
	require.NoError(t, err)
	await(t, came)
	require.NoError(t, b.Temporal.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()))
	await(t, gone)
	require.Error(t, run.Get(t.Context(), nil))
	runs, err := build.List(t.Context(), b.ClickHouse, build.Filter{All: true, SessionID: "cancelled", Limit: 1})
	require.NoError(t, err)
	require.Equal(t, schema.BuildFailed, runs[0].Status)
}

// A stopped worker gives its calls the time of its stop timeout, and then ends them. The session goes on with the next
// worker.
func testStoppedWorkerEndsItsCalls(t *testing.T) {
	t.Parallel()
	url, came, gone := hangingModel(t)
	b := newBench(t)
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "test-model", BaseURL: url}
	b.cfg.StopTimeout = time.Second
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx, b.cfg, quiet, func() {}) }()
	run, err := b.submit(t.Context(), b.input("stopped", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision))))
	require.NoError(t, err)
	await(t, came)
	stopped := time.Now()
	stop()
	took := await(t, gone).Sub(stopped)
	t.Logf("the call ended %s after the worker was told to stop", took)
	require.Less(t, took, b.cfg.StopTimeout+5*time.Second)
	require.NoError(t, <-done)

	well := newModel(t)
	well.well = true
	well.use(b).start(t)
	var result schema.ProcessSessionResult
	require.NoError(t, run.Get(t.Context(), &result))
	require.Equal(t, schema.BuildSuccess, result.Status)
}

// A model that asks for a pause of hours ends the session's build at once, and the build says so. A short pause is
// waited for.
func TestLimitedModelEndsTheBuild(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.Header().Set("Retry-After", "1")
		} else {
			w.Header().Set("Retry-After", "28800")
		}
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprint(w, `{"error":{"message":"the tokens of this day are used up"}}`)
	}))
	t.Cleanup(server.Close)
	b := newBench(t)
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "m", BaseURL: server.URL}
	b.start(t)
	_, err := b.try(t.Context(), b.input("limited", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision))))
	requireFailure(t, err, schema.ErrorModelRateLimited, "retry after 8h0m0s")
	require.Equal(t, schema.FailurePassing, schema.ClassOf(schema.ErrorModelRateLimited))
	require.Equal(t, 2, calls)
	runs, err := build.List(t.Context(), b.ClickHouse, build.Filter{All: true, SessionID: "limited", Limit: 1})
	require.NoError(t, err)
	require.Equal(t, schema.BuildFailed, runs[0].Status)
	require.Equal(t, schema.StepExtract, runs[0].FailedStep)
	require.Contains(t, runs[0].Error, "the tokens of this day are used up")
}
