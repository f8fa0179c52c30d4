package client_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/worker/runner/runnertest"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// work runs a worker in a namespace and a database of its own until the test ends.
func work(t *testing.T) client.Config {
	t.Helper()
	name := stacktest.Namespace(t)
	cfg := client.Config{Servers: client.Servers{
		TemporalAddress: stacktest.Temporal(t), TemporalNamespace: name, ClickHouseDSN: stacktest.MigratedDatabase(t),
		WeaviateURL: "http://" + stacktest.Weaviate(t), WeaviateAPIKey: stacktest.WeaviateKey(t), ConnectTimeout: 20 * time.Second,
	}}
	s := service.Config{State: statedir.Dir(t.TempDir())}
	cfg.SourceKey = s.State.Path(statedir.SourceKey)
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.Flags(f)
	s.WorkerFlags(f)
	require.NoError(t, f.Parse([]string{
		"--temporal-address", cfg.TemporalAddress, "--temporal-namespace", name, "--clickhouse-dsn", cfg.ClickHouseDSN,
		"--weaviate-url", cfg.WeaviateURL, "--stop-timeout", "2s", "--memory-root", t.TempDir(),
	}))
	s.WeaviateAPIKey, s.Timing = cfg.WeaviateAPIKey, stacktest.Timing()
	runnertest.Start(t, s, slog.New(slog.DiscardHandler))
	return cfg
}

// A program's conversations are remembered once the user is quiet: short and long messages, and a file. Each is found
// with its evidence and appears in a prompt's context, and given twice it is one.
func TestEnqueuedIsRemembered(t *testing.T) {
	c := open(t, work(t))
	user := `ann "/` + hard
	again := client.Conversation{
		ID: "turn-1", User: user, Agent: "bot", Thread: "s 세션", Debounce: time.Second,
		Messages: append(says("We decided to use ClickHouse for the event log."), client.Message{Role: "user", Content: "I prefer quiet keyboards."}),
	}
	for range 2 {
		done, err := c.Enqueue(t.Context(), again)
		require.NoError(t, err)
		require.Equal(t, "turn-1", done.ID)
	}
	var filler []client.Message
	for i := range 300 {
		filler = append(filler, client.Message{Role: "assistant", Content: fmt.Sprintf("Step %d of the build is done.", i), ID: fmt.Sprint(i)})
	}
	_, err := c.Enqueue(t.Context(), client.Conversation{
		User: user, Agent: "bot", Thread: "long", Debounce: time.Second,
		Messages: append(filler, client.Message{Role: "user", Content: "We decided to use Weaviate for the vectors.", ID: "last"}),
	})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), `é "q".jsonl`)
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"user","uuid":"u","sessionId":"own","timestamp":"2026-03-01T09:00:00Z",`+
		`"message":{"role":"user","content":"We decided to use Temporal for the workflows."}}`+"\n"), 0o600))
	done, err := c.Enqueue(t.Context(), client.Conversation{User: user, Agent: "bot", File: path, Debounce: time.Second})
	require.NoError(t, err)
	require.Equal(t, "own", done.Thread)

	for text, session := range map[string]string{"ClickHouse event log": "s 세션", "Weaviate vectors": "long", "Temporal workflows": "own"} {
		require.Eventually(t, func() bool {
			found, err := c.Search(t.Context(), client.Query{Text: text, User: user, Types: []schema.EntryType{schema.EntryDecision}, Limit: 1})
			if err != nil || len(found.Hits) == 0 {
				t.Log("not found yet:", err)
			}
			return err == nil && len(found.Hits) == 1 && found.Hits[0].SessionID == session && len(found.Hits[0].Evidence) > 0 && found.Hits[0].EvidenceProven
		}, 40*time.Second, 500*time.Millisecond, text)
	}
	page, err := c.Search(t.Context(), client.Query{Text: "decided to use", User: user, Limit: 2, Types: []schema.EntryType{schema.EntryDecision}})
	require.NoError(t, err)
	require.Len(t, page.Hits, 2)
	require.True(t, page.More)
	rest, err := c.Search(t.Context(), client.Query{Text: "decided to use", User: user, Limit: 2, Offset: 2, Types: []schema.EntryType{schema.EntryDecision}})
	require.NoError(t, err)
	require.Len(t, rest.Hits, 1, "given twice, it is one")
	require.False(t, rest.More)
	other, err := c.Search(t.Context(), client.Query{Text: "decided to use", User: "bob"})
	require.NoError(t, err)
	require.Empty(t, other.Hits)

	for _, r := range []client.ContextRequest{{}, {Query: "which keyboard?"}, {Counter: client.CountEstimate, MaxTokens: 40}} {
		r.User, r.Agent = user, "bot"
		known, err := c.Context(t.Context(), r)
		require.NoError(t, err)
		require.NoError(t, known.ByWords)
		require.Contains(t, known.Text, "I prefer quiet keyboards.")
		require.Positive(t, known.Tokens)
		require.NotEmpty(t, known.Facts)
	}
	known, err := c.Context(t.Context(), client.ContextRequest{User: "bob"})
	require.NoError(t, err)
	require.Empty(t, known.Text)
	require.Zero(t, known.Remembered)
}
