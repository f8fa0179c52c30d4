package feed_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/transcript"
	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/feed"
	"axiommind/worker/statedir"
)

// The copy of standard input yields the same messages as a file, and contains no secret. (I9)
func TestI9CopyOfStandardInput(t *testing.T) {
	t.Parallel()
	secret := "hunter2" + strings.Repeat("Kx9", 4)
	tool := `{"type":"assistant","uuid":"u9","sessionId":"","timestamp":"2026-03-01T09:00:09Z","message":{"role":"assistant","content":` +
		`[{"type":"tool_use","id":"t1","name":"login","input":{"password":"` + secret + `"}}]}}` + "\n"
	text := strings.ReplaceAll(commandtest.Said(1, "user", "My password: "+secret+" <private>and a ring</private>")+tool+commandtest.Said(2, "assistant", "Noted."),
		`"sessionId":""`, `"sessionId":"세션 \"1\""`)
	a := &command.App{In: strings.NewReader(text)}
	a.Cfg.State = statedir.Dir(t.TempDir())
	o := &feed.ProcessOptions{}
	o.Input.Project, o.Input.User = "프로젝트/'", "ann\n"
	copies, err := feed.Spool(t.Context(), a, o)
	require.NoError(t, err)
	require.Len(t, copies, 1)
	info, err := os.Stat(copies[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	held, err := os.ReadFile(copies[0])
	require.NoError(t, err)
	require.NotContains(t, string(held), secret)
	require.NotContains(t, string(held), "a ring")

	want, _, err := transcript.ReadSource(t.Context(), commandtest.Write(t, "s.jsonl", text), "")
	require.NoError(t, err)
	got, source, err := transcript.ReadSource(t.Context(), copies[0], "")
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, "claude-code", source.Format)
}

func TestSpoolRefuses(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		" \n": "standard input is empty", "\x00\x01 nothing": "cannot tell the format",
		strings.ReplaceAll(commandtest.Said(1, "user", commandtest.Decision), `"sessionId":""`, `"sessionId":"ghp_`+redacttest.NewMaker(1).Of(36)+`"`): "holds a credential",
	} {
		a := &command.App{In: strings.NewReader(text)}
		a.Cfg.State = statedir.Dir(t.TempDir())
		_, err := feed.Spool(t.Context(), a, &feed.ProcessOptions{})
		require.ErrorContains(t, err, says)
		require.True(t, command.IsUsage(err))
		left, err := a.Cfg.State.Copies()
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
