package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// I5: no word of another system's own memory may prove anything, and an item that the system no longer believes is not even
// extracted.
func TestI5MigratedMemoryProvesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		f, err := lookup(s.format)
		require.NoError(t, err)
		if !f.migrated {
			continue
		}
		sessions, err := Parse(t.Context(), strings.NewReader(string(s.data)), Options{Name: s.name, Format: s.format})
		require.NoError(t, err)
		for _, one := range sessions {
			for _, m := range one.Messages {
				require.True(t, m.Kind != schema.KindStatement || m.Author != "", s.path)
				own := m.Author == f.Name || strings.Contains(m.Author, "/") // By an agent, as in OKF.
				require.Equal(t, m.Kind == schema.KindText, m.Trust().Proves() && !own, "%s: %+v", s.path, m)
			}
		}
	}
	for format, text := range map[string]string{
		"okf": "---\ntype: Reference\nstatus: deprecated\n---\nThe log is in a file.\n",
		"zep": `[{"uuid": "f2", "fact": "Ann lives in Lisbon.", "invalid_at": "2026-03-02T09:02:00Z"}]`,
	} {
		sessions, err := Parse(t.Context(), strings.NewReader(text), Options{Name: "dir/x.md", Format: format})
		require.NoError(t, err, format)
		for _, m := range sessions[0].Messages {
			require.Equal(t, schema.KindContext, m.Kind, format)
		}
	}
}

// A file that is no memory of the named system is refused by its content.
func TestMigratedFormatFits(t *testing.T) {
	t.Parallel()
	for _, name := range Migrated() {
		for _, text := range []string{"User: hello\nAssistant: hi\n", `{"role": "user", "content": "hello"}`, "# Title\n\nNo head.\n", "---\nmemory: facts\n"} {
			_, err := Parse(t.Context(), strings.NewReader(text), Options{Name: "x.md", Format: name})
			require.ErrorIs(t, err, ErrNotTranscript, "%s: %s", name, text)
		}
	}
}

// The blocks of a session keep every text.
func TestFence(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "```text\nb\n```", "````", "a\n", "\n\na\r\nb", "`"} {
		fence := Fence(text)
		require.Equal(t, []block{{1, text}}, blocksOf(fence+"text\n"+text+"\n"+fence+"\n"), "%q", text)
	}
}

// A long note is several statements, which lose nothing of it.
func TestLongNote(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"word ", "줄\n", "문단\n\n", "긴"} {
		text := strings.Repeat(unit, 2*schema.MaxStatementBytes/len(unit)+7)
		sessions, err := Parse(t.Context(), strings.NewReader("---\ntype: note\ntitle: x\n---\n"+text), Options{Name: "x.md", Format: "basic-memory"})
		require.NoError(t, err)
		joined := ""
		for _, m := range sessions[0].Messages {
			if m.Kind == schema.KindStatement {
				joined += m.Text
			}
		}
		without := strings.NewReplacer("\n", "", "\r", "")
		require.Equal(t, without.Replace(strings.ToValidUTF8(text, "\uFFFD")), without.Replace(joined), "%q", unit)
	}
}

// sessionOf returns a session as starter export writes it, with so many messages and blocks.
func sessionOf(messages, blocks int) string {
	return "---\ntype: Session\nsession: s\nmessages:\n" +
		strings.Repeat("  - { role: user, kind: text, at: 2026-03-01T09:00:01Z, author: Ann, id: \"0123456789abcdef0123456789abcdef\" }\n", messages) +
		"---\n\n" + strings.Repeat("```text\nWe use ClickHouse.\n```\n\n", blocks)
}

// A head may be longer than the bytes by which a format is recognized.
func TestLongHead(t *testing.T) {
	t.Parallel()
	sessions, err := Parse(t.Context(), strings.NewReader(sessionOf(5000, 5000)), Options{Name: "s.md", Format: "okf"})
	require.NoError(t, err)
	require.Len(t, sessions[0].Messages, 5000)
	tags := "tags: [" + strings.Repeat("coffee, ", headSize/8) + "tea]\n"
	sessions, err = Parse(t.Context(), strings.NewReader("---\ntitle: x\n"+tags+"---\n- [method] Grind.\n"), Options{Name: "s.md", Format: "basic-memory"})
	require.NoError(t, err)
	require.Equal(t, "Grind.", sessions[0].Messages[len(sessions[0].Messages)-1].Text)
	for _, format := range []string{"okf", "basic-memory"} {
		_, err = Parse(t.Context(), strings.NewReader("---\n"+tags), Options{Name: "s.md", Format: format})
		require.ErrorIs(t, err, ErrNotTranscript, format)
	}
	_, err = Parse(t.Context(), strings.NewReader("---\n"+tags+"---\nNo type.\n"), Options{Name: "s.md", Format: "okf"})
	require.ErrorIs(t, err, ErrNotTranscript)
}

// A damaged note is an error that names the file, the fault and the remedy: it is neither passed over nor read in part.
func TestDamagedNote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		sessionOf(3, 2): "the head describes 3 messages and the body holds 2 fenced blocks: restore",
		"---\ntype: Reference\ntitle: a: b\n---\nText.\n": "line 3: mapping values are not allowed in this context: correct that line",
	} {
		_, err := Parse(t.Context(), strings.NewReader(text), Options{Name: "dir/s.md", Format: "okf"})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `"dir/s.md"`)
		require.NotErrorIs(t, err, ErrNotTranscript)
	}
}
