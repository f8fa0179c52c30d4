package format

import (
	"bytes"
	"encoding/json"
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
		sessions, err := Parse(t.Context(), bytes.NewReader(one.data), one.options())
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
	sessions, err = Parse(t.Context(), strings.NewReader(text+"{"), Options{})
	require.NoError(t, err)
	require.Equal(t, schema.Skipped{Line: 4, Reason: reasonPartial}, sessions[0].Skipped[1])

	// The limits are those of any other source.
	long := string(keptMark) + `"session_id":"s","Format":"codex","Ended":"9999-12-31T23:59:59-12:00","Skipped":[` +
		strings.Repeat(`{"reason":"password: `+secret+`"},`, 9) + `{"reason":"x"}]}
{"role":"user","kind":"text","text":"` + strings.Repeat("long ", 200) + `"}
{"role":"user","kind":"text","text":"hi","at":"9999-12-31T23:59:59-12:00"}
`
	sessions, err = Parse(t.Context(), strings.NewReader(long), Options{MaxLine: 600, MaxSkipped: 3})
	require.NoError(t, err)
	require.Empty(t, sessions[0].Messages)
	require.True(t, sessions[0].Ended.IsZero())
	data, err := json.Marshal(sessions)
	require.NoError(t, err)
	require.NotContains(t, string(data), secret)
	_, err = Parse(t.Context(), strings.NewReader(long), Options{MaxLine: 100})
	require.ErrorIs(t, err, ErrUnknownFormat)
	_, err = Parse(t.Context(), strings.NewReader(text), Options{MaxRecords: 1})
	require.ErrorIs(t, err, ErrTooLarge)
}
