package format

import (
	"strings"
	"testing"
	"time"

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
		"zep": `[{"uuid_": "f2", "fact": "Ann lives in Lisbon.", "invalid_at": "2026-03-02T09:02:00Z"}]`,
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

func textsOf(t *testing.T, format, text string, opts Options) (all []string) {
	t.Helper()
	opts.Name, opts.Format = "dir/x.md", format
	sessions, err := Parse(t.Context(), strings.NewReader(text), opts)
	require.NoError(t, err, text)
	for _, s := range sessions {
		for _, m := range s.Messages {
			all = append(all, string(m.Trust())+" "+m.Author+": "+m.Text)
		}
	}
	return all
}

// I10: a file with memory of several users is not taken in as memory of one.
func TestI10MigratedFileOfSeveralUsers(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]string{
		"mem0":   `[{"id": "1", "memory": "Likes tea.", "user_id": "bob"}, {"id": "2", "memory": "Likes milk.", "user_id": "ann"}]`,
		"engram": `{"memories": [{"content": "a", "topic": "t", "user_id": "bob"}, {"content": "b", "topic": "t", "user_id": "ann"}]}`,
		"zep":    `{"user_id": "bob", "edges": [{"uuid": "1", "fact": "Likes tea.", "user_id": "ann"}]}`,
	} {
		_, err := Parse(t.Context(), strings.NewReader(text), Options{Name: "x.json", Format: format})
		require.ErrorContains(t, err, "memory of 2 users, ann, bob: split it by user_id", format)
	}
	const thread = `{"messages": [{"uuid": "1", "role": "user", "name": "Ann", "content": "I am Ann."}, {"uuid": "2", "role": "user", "name": "Bob", "content": "I am Bob."}]}`
	require.Equal(t, []string{"user Ann: I am Ann.", "agent Bob: I am Bob."}, textsOf(t, "zep", thread, Options{User: "ann"}))
	require.Equal(t, []string{"agent Ann: I am Ann.", "agent Bob: I am Bob."}, textsOf(t, "zep", thread, Options{User: "default"}))
}

// An item ends at the time that its system gives, and not before.
func TestMigratedItemEnds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ format, text string }{
		{"mem0", `[{"memory": "X.", "expiration_date": "2026-06-01"}]`},
		{"zep", `[{"uuid": "1", "fact": "X.", "invalid_at": "2026-06-01T00:00:00Z"}]`},
		{"zep", `[{"uuid": "1", "fact": "X.", "invalid_at": "2027-06-01T00:00:00Z", "expired_at": "2026-06-01T00:00:00Z"}]`},
		{"okf", "---\ntype: Reference\nstale_after: 2026-06-01\n---\nX.\n"},
	} {
		last := func(now time.Time) string {
			texts := textsOf(t, c.format, c.text, Options{Now: now})
			return texts[len(texts)-1][:6]
		}
		require.Equal(t, "agent ", last(at.Add(-time.Second)), c.text)
		require.Equal(t, "system", last(at), c.text)
	}
}

// Footnotes of sources go, and no other text that looks like one.
func TestFootnotes(t *testing.T) {
	t.Parallel()
	const head = "---\ntype: Reference\nsources: [{ id: m3 }, { id: 4 }]\n---\n"
	for body, want := range map[string]string{
		"Match `[^0-9]+` or [^0-9]+.[^m3]\n\n[^m3]: Minutes": "Match `[^0-9]+` or [^0-9]+.",
		"A `[^m3]` b[^m3][^4].\n\n[^m3]: x\n[^4]: y\n":       "A `[^m3]` b.",
		"~~~\n[^m3]: x\n~~~\nB[^m3].\n\n[^note]: z\n":        "~~~\n[^m3]: x\n~~~\nB.\n\n[^note]: z",
	} {
		texts := textsOf(t, "okf", head+body, Options{})
		require.Equal(t, "agent okf: "+want, texts[len(texts)-1])
	}
}

// An episode of messages is a conversation.
func TestGraphitiMessages(t *testing.T) {
	t.Parallel()
	for content, want := range map[string][]string{
		`Ann: Hello.\nNote: it rains.\nassistant: Hi.`: {"user Ann: Hello.\nNote: it rains.", "assistant : Hi."},
		`Ann(user): Hello.\nRob(assistant): Hi.\nyou`:  {"user Ann: Hello.", "assistant Rob: Hi.\nyou"},
		`Ann: Hello.`: {"user Ann: Hello."},
		`it rains.`:   {"agent zep: it rains."},
	} {
		text := `[{"uuid": "e", "source": "message", "content": "` + content + `"}]`
		require.Equal(t, want, textsOf(t, "zep", text, Options{})[1:], content)
	}
}

// Relations are kept, and an export in one line is read whole or refused.
func TestMem0(t *testing.T) {
	t.Parallel()
	const text = `{"results": [{"memory": "Likes tea."}], "relations": [{"source": "ann", "relationship": "likes", "target": "tea"}]}`
	for _, opts := range []Options{{}, {MaxLine: 20}} {
		texts := textsOf(t, "mem0", text, opts)
		require.Equal(t, "agent mem0: Likes tea.", texts[0])
		require.Contains(t, texts[1], `system mem0: {"relations": [`)
	}
	_, err := Parse(t.Context(), strings.NewReader(text), Options{Name: "x.json", Format: "mem0", MaxLine: 20, MaxDocument: 40})
	require.ErrorContains(t, err, "split it")
}
