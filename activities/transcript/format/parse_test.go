package format

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// render shows the messages of sessions in short: line role/kind tool#call @author: text.
func render(sessions []*Session) []string {
	var out []string
	for i, s := range sessions {
		if len(sessions) > 1 {
			out = append(out, fmt.Sprintf("== %d %s", i, s.ID))
		}
		for _, m := range s.Messages {
			label := fmt.Sprintf("%d %s/%s", m.Line, m.Role, m.Kind)
			if m.Tool != "" || m.CallID != "" {
				label += " " + m.Tool + "#" + m.CallID
			}
			if m.Author != "" {
				label += " @" + m.Author
			}
			out = append(out, label+": "+m.Text)
		}
	}
	return out
}

// requireSound checks the invariants of every source's sessions.
func requireSound(t require.TestingT, sessions []*Session) {
	require.NotEmpty(t, sessions)
	for _, s := range sessions {
		keys := make(map[string]bool)
		for i, m := range s.Messages {
			require.Equal(t, i, m.Index)
			require.NotEmpty(t, m.Role)
			require.NotEmpty(t, m.Kind)
			require.False(t, keys[m.Key], "key %q comes twice", m.Key)
			keys[m.Key] = true
			for _, text := range []string{m.Text, m.Tool, m.CallID, m.Author, m.SourceID} {
				require.True(t, utf8.ValidString(text), "%q is not valid UTF-8", text)
				require.NotContains(t, text, "\x00")
			}
		}
		for _, text := range []string{s.ID, s.Title, s.CWD} {
			require.True(t, utf8.ValidString(text))
		}
		require.False(t, s.Ended.Before(s.Started))
	}
}

// parseOne reads a source of one session.
func parseOne(r io.Reader, opts Options) (*Session, error) {
	sessions, err := Parse(context.Background(), r, opts)
	if err != nil {
		return nil, err
	}
	if len(sessions) != 1 {
		return nil, fmt.Errorf("%q holds %d sessions, not one", opts.Name, len(sessions))
	}
	return sessions[0], nil
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func TestParseTellsOfTheSession(t *testing.T) {
	t.Parallel()
	s, err := parseOne(strings.NewReader(lines(
		`{"type":"summary","summary":"Fix the build","leafUuid":"b"}`,
		`{"type":"user","uuid":"a","sessionId":"s1","cwd":"/w/app","timestamp":"2026-01-02T05:04:05+02:00","message":{"role":"user","content":"why red?"}}`,
		`{"type":"assistant","uuid":"b","sessionId":"s1","cwd":"/w/app/x","timestamp":"2026-01-02T03:05:00.5Z","message":{"role":"assistant","content":"a typo"}}`,
	)), Options{Name: "other.jsonl"})
	require.NoError(t, err)
	require.Equal(t, "s1", s.ID)
	require.Equal(t, "Fix the build", s.Title)
	require.Equal(t, "/w/app", s.CWD)
	require.Equal(t, "2026-01-02T03:04:05Z", s.Started.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, "2026-01-02T03:05:00.5Z", s.Ended.Format("2006-01-02T15:04:05.9Z07:00"))
	require.Equal(t, "b", s.Messages[2].SourceID)
	require.Equal(t, s.Ended, s.Messages[2].At)
}

func TestParseEmptySource(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "\n \r\n", "\xef\xbb\xbf", "\x00\x00", "[]", " [\n]\n"} {
		for _, format := range []string{"", "claude-code"} {
			s, err := parseOne(strings.NewReader(in), Options{Format: format})
			require.NoError(t, err)
			require.Empty(t, s.Messages)
		}
	}
}

func TestParseUnknownFormat(t *testing.T) {
	t.Parallel()
	_, err := Parse(t.Context(), strings.NewReader(`{"a":1}`), Options{Name: "x.json"})
	require.ErrorIs(t, err, ErrUnknownFormat)
	require.ErrorContains(t, err, `"x.json"`)
	require.ErrorContains(t, err, "claude-code, codex")
	require.ErrorContains(t, err, "--format")

	_, err = Parse(t.Context(), strings.NewReader(`[]`), Options{Format: "wordstar"})
	require.ErrorIs(t, err, ErrUnknownFormat)
	require.ErrorContains(t, err, `"wordstar"`)
}
