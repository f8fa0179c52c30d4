package redact

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/schema"
)

// fragments are pieces of generated texts: the strings that rules look for.
var fragments = []string{
	"<private>", "</private>", "<private a='b'>", "<PRIVATE", "`<private>`", `\u003cprivate\u003e`, "&lt;private&gt;", "password", "비밀번호", "密码", "API key", "token",
	"=", ": ", "：", " is ", "는 ", "是", "\"", "'", "`", "\\", "\\n", "\\\"", "\n", "\r\n", " ", "\\\n", "\" + \"", "hunter2Summer!", "https://a:", "@", "b.test/", "%3A", "%",
	"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "[redacted: private]", "[redacted: ", "]", "Bearer ", "Cookie: a=", "ghp_", "| ", "ÿ", "é", "\xff", "{", "}", "--password ",
}

func drawText(t *rapid.T) string {
	m := redacttest.NewMaker(rapid.Uint64().Draw(t, "seed"))
	var b strings.Builder
	for range rapid.IntRange(0, 20).Draw(t, "fragments") {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			b.WriteString(m.Of(rapid.IntRange(1, 60).Draw(t, "length")))
		case 1:
			b.WriteString(rapid.StringN(0, 8, -1).Draw(t, "text"))
		default:
			b.WriteString(rapid.SampledFrom(fragments).Draw(t, "fragment"))
		}
	}
	return b.String()
}

// placeholdersOf returns the placeholders of a text as their own originals.
func placeholdersOf(text string) (all schema.Removed) {
	for _, p := range schema.Redactions(text) {
		all = append(all, text[p[0]:p[1]])
	}
	return all
}

// A text that is redacted again, with more behind it, still gives back all of it: a chunk of a message may be redacted first.
func TestTakeOutAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawText(t), drawText(t)
		redacted, taken := takenOut(t, first, nil)
		if taken == nil {
			taken = placeholdersOf(redacted)
		}
		rest := "\n" + second
		again, all := takenOut(t, redacted+rest, append(taken, placeholdersOf(rest)...))
		whole, err := all.Restore(again)
		require.NoError(t, err)
		require.Equal(t, first+rest, whole)
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	m := redacttest.NewMaker(4)
	random, token := "0x"+m.Of(30), "ghp_"+m.Of(36)
	path, other := "file:///w/"+random+"/s.jsonl", "file:///w/"+token+"/s.jsonl"
	Names(&path, &other)
	require.Equal(t, "file:///w/"+random+"/s.jsonl", path, "long names are no credentials")
	require.NotContains(t, other, token)
	require.Contains(t, other, "file:///w/"+schema.Redacted("github-pat"))
}

// For any text, findings are in order and apart, the text between them stays, and placeholders stay as they are.
func TestTextProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkText(t, drawText(t)) })
}

func checkText(t require.TestingT, text string) {
	at, kept := 0, ""
	for _, f := range Find(text) {
		require.True(t, at <= f.Start && f.Start < f.End && f.End <= len(text), "%+v of %q", f, text)
		kept += text[at:f.Start] + schema.Redacted(f.Rule)
		at = f.End
	}
	kept += text[at:]
	got, counts := Text(text)
	whole, _ := Text(kept)
	require.Equal(t, whole, got, "one pass and the others are all passes")
	require.Equal(t, utf8.ValidString(text), utf8.ValidString(text) && utf8.ValidString(got), "%q became %q", text, got)
	if kept == got {
		require.GreaterOrEqual(t, len(schema.Redactions(got)), counts.Total())
	}
	same, taken := takenOut(t, text, nil)
	require.Equal(t, got, same)
	if counts == nil {
		require.Nil(t, taken)
		taken = placeholdersOf(got)
	}
	whole, err := taken.Restore(got)
	require.NoError(t, err, "%q", text)
	require.Equal(t, text, whole)
	_, later := takenOut(t, got, taken)
	require.Equal(t, []string(taken), []string(later))
	again, more := Text(got)
	require.Equal(t, got, again, "%q", text)
	require.Empty(t, more)
}

func FuzzText(f *testing.F) {
	for _, c := range redacttest.Cases(1)[:40] {
		f.Add(c.Text)
	}
	for _, fragment := range fragments {
		f.Add(fragment)
	}
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

// BenchmarkHostile redacts texts that repeat the beginning of a match: the time for each byte must not grow with their
// length.
func BenchmarkHostile(b *testing.B) {
	for _, fragment := range append(fragments, " a:*:*:*:", "password is the ", "\"password\": \"", "export TOKEN=abc\\\n", strings.Repeat("aB3", 30)) {
		for _, size := range []int{20 << 10, 200 << 10} {
			text := strings.Repeat(fragment, size/len(fragment))
			b.Run(strings.ToValidUTF8(strings.Trim(fragment, "\r\n"), "")+map[bool]string{true: "/long", false: "/short"}[size > 100<<10], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Find(text)
				}
			})
		}
	}
}

func takenOut(t require.TestingT, text string, before schema.Removed) (string, schema.Removed) {
	text, taken, err := TakeOut(context.Background(), text, before)
	require.NoError(t, err)
	return text, taken
}
