package main_test

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/schema"
	"axiommind/worker/runner/runnertest"
)

// parrot is a model server that repeats its whole input: as an unreadable answer, or as the reason of a refusal.
func parrot(t *testing.T, status int, secret string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if status != http.StatusOK {
			http.Error(w, `{"error":{"message":"no: Authorization: Bearer `+secret+` `+string(body[:min(len(body), 100)])+`"}}`, status)
			return
		}
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"I can't, but the token is ghp_` + secret + `"},"finish_reason":"stop"}]}`))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// A credential in the name of a file, in a task's title, in an unreadable transcript, or in the name of a format is in
// no store, log, memo, search attribute or error. A workflow's input stays in Temporal's history: the path of a file
// has to, because the file could not be read otherwise. (I9)
func testI9NoSecretInNamesAndErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var logged runnertest.Log
	b.startLogging(t, slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	var secrets, given []string
	for name, c := range map[string]struct {
		inInput bool
		try     func(t *testing.T, secret string)
	}{
		"file name": {true, func(t *testing.T, secret string) {
			dir := filepath.Join(t.TempDir(), "ghp_"+secret)
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.Equal(t, schema.BuildSuccess, b.process(t, b.input("s"+t.Name(), write(t, filepath.Join(dir, "s.jsonl"), said(1, "user", decision)))).Status)
		}},
		"absent file": {true, func(t *testing.T, secret string) {
			_, err := b.try(t.Context(), b.input("s"+t.Name(), "file://"+filepath.Join(os.TempDir(), "ghp_"+secret+".jsonl")))
			require.ErrorContains(t, err, schema.Redacted("github-pat"))
			require.NotContains(t, err.Error(), secret)
		}},
		"task title": {false, func(t *testing.T, secret string) {
			in := b.input("s"+t.Name(), write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", "TODO: rotate ghp_"+secret+" today.")))
			require.Equal(t, schema.BuildSuccess, b.process(t, in).Status)
			require.Contains(t, strings.Join(column(t, b.ClickHouse, "SELECT title FROM entries"), "\n"), schema.Redacted("github-pat"))
		}},
		"broken transcript": {false, func(t *testing.T, secret string) {
			path := write(t, filepath.Join(t.TempDir(), "s.jsonl"), `{"type":"user","password":"`+secret+`"`, `{"type":"`+"ghp_"+secret+`","message":3}`, said(1, "user", decision))
			require.NotZero(t, b.process(t, b.input("s"+t.Name(), path)).Counts.SkippedLines)
			in := b.input("t"+t.Name(), write(t, filepath.Join(t.TempDir(), "t.jsonl"), "ghp_"+secret))
			in.Format = "goose"
			_, err := b.try(t.Context(), in)
			t.Log(err)
		}},
		"unknown format": {true, func(t *testing.T, secret string) {
			in := b.input("s"+t.Name(), write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
			in.Format = "ghp_" + secret
			_, err := b.try(t.Context(), in)
			require.ErrorContains(t, err, schema.Redacted("github-pat"))
			require.NotContains(t, err.Error(), secret)
		}},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // they share a worker
			secret := redacttest.NewMaker(uint64(time.Now().UnixNano())).Of(36)
			if secrets = append(secrets, secret); c.inInput {
				given = append(given, secret)
			}
			c.try(t, secret)
		})
	}
	b.requireUntold(t, secrets, logged.String(), given...)
}

// requireUntold requires that the secrets are in no store, log or history. The exceptions are those given in the input
// of a workflow, which are in its history.
func (b *bench) requireUntold(t *testing.T, secrets []string, logged string, given ...string) {
	t.Helper()
	b.awaitGraduated(t.Context(), t)
	places := b.places(t)
	places["the worker's log"] = logged
	for _, secret := range secrets {
		in := maps.Clone(places)
		if slices.Contains(given, secret) {
			delete(in, "Temporal")
		}
		requireNowhere(t, in, []redacttest.Case{{Kind: "secret", Secrets: []string{secret}}})
	}
}

// No response of a model's server, be it an unreadable answer or the reason of a refusal, brings a secret anywhere.
// (I9)
func TestI9NoSecretOfAModelsServer(t *testing.T) {
	t.Parallel()
	all := map[string]int{"unreadable answer": http.StatusOK, "refusal": http.StatusBadRequest, "outage": http.StatusInternalServerError}
	names := slices.Sorted(maps.Keys(all))
	if !inCampaign(t) {
		names = some(t, names, 1)
	}
	for _, name := range names {
		status := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, secret := newBench(t), redacttest.NewMaker(uint64(time.Now().UnixNano())).Of(36)
			b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "parrot", BaseURL: parrot(t, status, secret), ResponseFormat: llm.FormatNone}
			var logged runnertest.Log
			b.startLogging(t, slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
			run, err := b.submit(t.Context(), b.input("s", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", "The rain in Spain falls on the plain."))))
			require.NoError(t, err)
			if status == http.StatusInternalServerError { // It is tried again for as long as an outage may last.
				eventually(t, func() bool {
					return strings.Contains(logged.String(), "500")
				})
			} else {
				_ = run.Get(t.Context(), nil)
			}
			b.requireUntold(t, []string{secret}, logged.String())
		})
	}
}
