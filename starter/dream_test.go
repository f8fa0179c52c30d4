package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
	"axiommind/worker/service"
)

// A dry run shows the changes, the dream applies them, and the next dream finds nothing new.
func TestDream(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	root := t.TempDir()
	c.work(t, "--memory-root", root, "--time-zone", "UTC")
	file := write(t, "s.jsonl", said(1, "user", decision)+said(2, "assistant", "Noted."))
	require.Zero(t, c.process(file, "--session", "s1").code)

	dry := c.run("dream", "--dry-run")
	require.Zero(t, dry.code, dry)
	require.Contains(t, dry.out, "+- "+decision, dry)
	require.Contains(t, dry.out, "nothing was changed")
	require.Contains(t, c.run("dream", "list").err+c.run("dream", "list").out, "no dream of user default has ended")
	_, err := os.Stat(filepath.Join(root, "MEMORY.md"))
	require.ErrorIs(t, err, os.ErrNotExist)

	done := c.run("dream")
	require.Zero(t, done.code, done)
	for _, part := range []string{"core memory has version 1", "+- " + decision, "1 item: 1 new, 0 dropped", "diary"} {
		require.Contains(t, done.out, part, done)
	}
	text, err := os.ReadFile(filepath.Join(root, "MEMORY.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "- "+decision)

	skipped := decode[dreamt](t, c.run("dream", "--output", "json"))
	require.Equal(t, schema.DreamSkipped, skipped.Result.Status)
	require.Contains(t, c.run("dream").out, "nothing new since dream 1 of")
	require.Contains(t, c.run("dream", "--user", "사/용자").out, "no dream of user 사/용자 for")
	forced := decode[dreamt](t, c.run("dream", "--force", "--output", "json"))
	require.Equal(t, schema.DreamUnchanged, forced.Result.Status)
	require.Contains(t, c.run("dream", "--force").out, "core memory stays as it is, version 1, 1 item")
	dated := decode[dreamt](t, c.run("dream", "--date", "2026-03-01", "--lookback", "1", "--force", "--dry-run", "--output", "json"))
	require.Equal(t, []any{schema.DreamDry, "2026-03-01", 0}, []any{dated.Result.Status, dated.Result.Date, dated.Result.Added})
}

// Invalid flags are refused before any server is contacted.
func TestDreamRefusesFlags(t *testing.T) {
	t.Parallel()
	c := down()
	for want, args := range map[string][]string{
		`date "yesterday": want a day such as 2026-06-07`: {"--date", "yesterday"},
		"lookback_days -1": {"--lookback", "-1"},
		"user is empty":    {"--user", ""},
	} {
		o := c.run(append([]string{"dream"}, args...)...)
		require.Equal(t, exitUsage, o.code, o)
		require.Contains(t, o.err, want)
	}
}

// The command waits for a dream that is already running. A dry run does not wait.
func TestDreamJoins(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	cfg := c.config(t)
	temporal, err := service.ConnectTemporal(t.Context(), cfg, quiet)
	require.NoError(t, err)
	defer temporal.Close()
	in := schema.DeepDreamInput{User: "default"}
	_, err = temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: in.WorkflowID(), TaskQueue: schema.QueueMain}, schema.WorkflowDeepDream, in)
	require.NoError(t, err)
	said := make(chan string, 10)
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errOut: tellsOf(said), getenv: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		ended <- program(t.Context(), a, append([]string{"dream", "--output", "json"}, c.servers...))
	}()
	require.Contains(t, <-said, "a dream of user default is already running")
	c.work(t, "--memory-root", t.TempDir())
	require.Zero(t, <-ended)
	var joined dreamt
	require.NoError(t, json.Unmarshal(out.Bytes(), &joined), out.String())
	require.True(t, joined.Joined)
	require.Equal(t, schema.DreamSkipped, joined.Result.Status)

	in.DryRun = true
	require.NotEqual(t, schema.DeepDreamInput{User: "default"}.WorkflowID(), in.WorkflowID())
	dry := decode[dreamt](t, c.run("dream", "--dry-run", "--output", "json"))
	require.False(t, dry.Joined)
}

// tellsOf sends everything that is written to it.
type tellsOf chan string

func (w tellsOf) Write(p []byte) (int, error) {
	select {
	case w <- string(p):
	default:
	}
	return len(p), nil
}
