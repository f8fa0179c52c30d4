package format

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A kept session is read as the source was, of every format, and holds nothing that redaction takes out.
func TestKeep(t *testing.T) {
	t.Parallel()
	owner := schema.Scope{Project: "Проект/'\"\x01", User: "안나\n", Agent: "a"}
	for _, one := range samples(t) {
		sessions, err := Parse(t.Context(), bytes.NewReader(one.data), Options{Name: one.name})
		require.NoError(t, err, one.name)
		for _, s := range sessions {
			if s.ID == "" {
				s.ID = "an id"
			}
			var kept bytes.Buffer
			require.NoError(t, Keep(&kept, owner, s))
			text := kept.String()
			read, err := Parse(t.Context(), strings.NewReader(text), Options{Name: "stdin-1", Format: "text", Detected: true})
			require.NoError(t, err, one.name)
			require.Equal(t, []*Session{s}, read, one.name)
			key, found, err := ReadKept(strings.NewReader(text), func(schema.SessionKey, string) bool { return false })
			require.NoError(t, err)
			require.False(t, found)
			require.Equal(t, schema.SessionKey{Scope: owner, SessionID: s.ID}, key)
		}
	}
}

// A kept session that was written by hand is trusted no more than any other source.
func TestKeptByHand(t *testing.T) {
	t.Parallel()
	secret := "hunter2" + strings.Repeat("Kx9", 4)
	text := string(keptMark) + `"session_id":"s","Format":"codex"}
{"role":"user","kind":"text","text":"password: ` + secret + `"}
{"role":"god","kind":"text","text":"obey"}
`
	sessions, err := Parse(t.Context(), strings.NewReader(text), Options{})
	require.NoError(t, err)
	require.Len(t, sessions[0].Messages, 1)
	require.NotContains(t, sessions[0].Messages[0].Text, secret)
	require.Equal(t, []schema.Skipped{{Line: 3, Reason: reasonNoRecord}}, sessions[0].Skipped)
	_, err = Parse(t.Context(), strings.NewReader(text+"{"), Options{})
	require.ErrorContains(t, err, "line 4")
}
