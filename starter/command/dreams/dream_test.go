package dreams_test

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
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/dreams"
	"axiommind/starter/command/program"
	"axiommind/worker/service"
)

// A dry run shows the changes, the dream applies them, and the next dream finds nothing new.
func TestDream(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	root := t.TempDir()
	c.Work(t, "--memory-root", root, "--time-zone", "UTC")
	file := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "assistant", "Noted."))
	require.Zero(t, c.Process(file, "--session", "s1").Code)

	dry := c.Run("dream", "--dry-run")
	require.Zero(t, dry.Code, dry)
	require.Contains(t, dry.Out, "+- "+commandtest.Decision, dry)
	require.Contains(t, dry.Out, "nothing was changed")
	require.Contains(t, c.Run("dream", "list").Err+c.Run("dream", "list").Out, "no dream of user default has ended")
	_, err := os.Stat(filepath.Join(root, "MEMORY.md"))
	require.ErrorIs(t, err, os.ErrNotExist)

	done := c.Run("dream")
	require.Zero(t, done.Code, done)
	for _, part := range []string{"core memory has version 1", "+- " + commandtest.Decision, "1 item: 1 new, 0 dropped", "diary"} {
		require.Contains(t, done.Out, part, done)
	}
	text, err := os.ReadFile(filepath.Join(root, "MEMORY.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "- "+commandtest.Decision)

	skipped := commandtest.Decode[dreams.Dreamt](t, c.Run("dream", "--output", "json"))
	require.Equal(t, schema.DreamSkipped, skipped.Result.Status)
	require.Contains(t, c.Run("dream").Out, "nothing new since dream 1 of")
	require.Contains(t, c.Run("dream", "--user", "사/용자").Out, "no dream of user 사/용자 for")
	forced := commandtest.Decode[dreams.Dreamt](t, c.Run("dream", "--force", "--output", "json"))
	require.Equal(t, schema.DreamUnchanged, forced.Result.Status)
	require.Contains(t, c.Run("dream", "--force").Out, "core memory stays as it is, version 1, 1 item")
	dated := commandtest.Decode[dreams.Dreamt](t, c.Run("dream", "--date", "2026-03-01", "--lookback", "1", "--force", "--dry-run", "--output", "json"))
	require.Equal(t, []any{schema.DreamDry, "2026-03-01", 0}, []any{dated.Result.Status, dated.Result.Date, dated.Result.Added})
}

// Invalid flags are refused before any server is contacted.
func TestDreamRefusesFlags(t *testing.T) {
	t.Parallel()
	c := commandtest.Down()
	for want, args := range map[string][]string{
		`date "yesterday": want a day such as 2026-06-07`: {"--date", "yesterday"},
		"lookback_days -1": {"--lookback", "-1"},
		"user is empty":    {"--user", ""},
	} {
		o := c.Run(append([]string{"dream"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, want)
	}
}

// The command waits for a dream that is already running. A dry run does not wait.
func TestDreamJoins(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	cfg := c.Config(t)
	temporal, err := service.ConnectTemporal(t.Context(), cfg, commandtest.Quiet)
	require.NoError(t, err)
	defer temporal.Close()
	in := schema.DeepDreamInput{User: "default"}
	_, err = temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: in.WorkflowID(), TaskQueue: schema.QueueMain}, schema.WorkflowDeepDream, in)
	require.NoError(t, err)
	said := make(chan string, 10)
	var out bytes.Buffer
	a := &command.App{In: strings.NewReader(""), Out: &out, ErrOut: tellsOf(said), Getenv: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		ended <- program.Main(t.Context(), a, append([]string{"dream", "--output", "json"}, c.Servers...))
	}()
	require.Contains(t, <-said, "a dream of user default is already running")
	c.Work(t, "--memory-root", t.TempDir())
	require.Zero(t, <-ended)
	var joined dreams.Dreamt
	require.NoError(t, json.Unmarshal(out.Bytes(), &joined), out.String())
	require.True(t, joined.Joined)
	require.Equal(t, schema.DreamSkipped, joined.Result.Status)

	in.DryRun = true
	require.NotEqual(t, schema.DeepDreamInput{User: "default"}.WorkflowID(), in.WorkflowID())
	dry := commandtest.Decode[dreams.Dreamt](t, c.Run("dream", "--dry-run", "--output", "json"))
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
