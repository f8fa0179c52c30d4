package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/transcript"
	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/worker/statedir"
)

// The copy of standard input yields the same messages as a file, and contains no secret. (I9)
func TestI9CopyOfStandardInput(t *testing.T) {
	t.Parallel()
	secret := "hunter2" + strings.Repeat("Kx9", 4)
	tool := `{"type":"assistant","uuid":"u9","sessionId":"","timestamp":"2026-03-01T09:00:09Z","message":{"role":"assistant","content":` +
		`[{"type":"tool_use","id":"t1","name":"login","input":{"password":"` + secret + `"}}]}}` + "\n"
	text := strings.ReplaceAll(said(1, "user", "My password: "+secret+" <private>and a ring</private>")+tool+said(2, "assistant", "Noted."),
		`"sessionId":""`, `"sessionId":"세션 \"1\""`)
	a := &app{in: strings.NewReader(text)}
	a.cfg.State = statedir.Dir(t.TempDir())
	o := &processOptions{}
	o.input.Project, o.input.User = "프로젝트/'", "ann\n"
	copies, err := a.spool(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, copies, 1)
	info, err := os.Stat(copies[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	held, err := os.ReadFile(copies[0])
	require.NoError(t, err)
	require.NotContains(t, string(held), secret)
	require.NotContains(t, string(held), "a ring")

	want, _, err := transcript.ReadSource(t.Context(), write(t, "s.jsonl", text), "")
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
		strings.ReplaceAll(said(1, "user", decision), `"sessionId":""`, `"sessionId":"ghp_`+redacttest.NewMaker(1).Of(36)+`"`): "holds a credential",
	} {
		a := &app{in: strings.NewReader(text)}
		a.cfg.State = statedir.Dir(t.TempDir())
		_, err := a.spool(t.Context(), &processOptions{})
		require.ErrorContains(t, err, says)
		require.True(t, isUsage(err))
		left, err := a.cfg.State.Copies()
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
