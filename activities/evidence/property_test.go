package evidence

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// passage is a stretch of the prose between two letters.
type passage struct {
	text       string
	runes      []rune
	start, end int
}

func drawPassage(t *rapid.T) passage {
	name := rapid.SampledFrom([]string{"english", "korean", "chinese", "code", "table"}).Draw(t, "prose")
	p := passage{text: prose[name]}
	p.runes = []rune(p.text)
	p.start = rapid.IntRange(0, len(p.runes)-60).Filter(func(i int) bool { return edge(p.runes, i) }).Draw(t, "start")
	p.end = rapid.IntRange(p.start+30, min(len(p.runes), p.start+160)).
		Filter(func(i int) bool { return edge(p.runes, i-1) }).Draw(t, "end")
	return p
}

// harmless are changes that no reader minds: any of them leaves a quote aligned where it was.
var harmlessChanges = map[string]func(*rapid.T, string) string{
	"none":  func(_ *rapid.T, s string) string { return s },
	"upper": func(_ *rapid.T, s string) string { return strings.ToUpper(s) },
	"spaces": func(t *rapid.T, s string) string {
		space := rapid.StringMatching(`[ \t\n\x{a0}\x{3000}\x{2009}]{1,4}`)
		var out strings.Builder
		for _, r := range s {
			if unicode.IsSpace(r) {
				out.WriteString(space.Draw(t, "space"))
				continue
			}
			out.WriteRune(r)
		}
		return out.String()
	},
	"quotes": func(_ *rapid.T, s string) string {
		return strings.NewReplacer(`"`, "“", "“", `"`, "'", "’", "-", "–", "—", "--", "…", "...").Replace(s)
	},
	"invisible": func(t *rapid.T, s string) string {
		var out strings.Builder
		for i, r := range s {
			if i > 0 && unicode.IsLetter(r) && rapid.IntRange(0, 9).Draw(t, "invisible") == 0 {
				out.WriteRune('\u200b')
			}
			out.WriteRune(r)
		}
		return out.String()
	},
	"padding": func(_ *rapid.T, s string) string { return " \n" + s + "\u3000 " },
}

func TestHarmlessChangesKeepTheBorders(t *testing.T) {
	t.Parallel()
	for name, change := range harmlessChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				p := drawPassage(t)
				quote := change(t, string(p.runes[p.start:p.end]))
				e := NewAligner(message(p.text), nil).Align(schema.Quote{Quote: quote})
				require.True(t, e.Aligned, "%q: %s", quote, e.Reason)
				require.NoError(t, Verify(p.text, e))
				if e.Reason != schema.ReasonAmbiguous {
					require.Equal(t, [2]int{p.start, p.end}, [2]int{e.Span.RuneStart, e.Span.RuneEnd}, "%q", quote)
				}
				require.True(t, p.start == e.Span.RuneStart || slices.ContainsFunc(e.Occurrences, func(s schema.Span) bool {
					return s.RuneStart == p.start && s.RuneEnd == p.end
				}), "%q", quote)
				require.Equal(t, p.text[e.Span.ByteStart:e.Span.ByteEnd], e.Text)
			})
		})
	}
}

func TestEvidenceOfAnyQuoteIsTrue(t *testing.T) {
	t.Parallel()
	alphabet := rapid.StringOfN(rapid.SampledFrom([]rune("abcde ABC 12.-*_…\n가나다不了\u0301\u200d👩🇰")), 0, 60, -1)
	rapid.Check(t, func(t *rapid.T) {
		messages := make([]schema.Message, rapid.IntRange(1, 4).Draw(t, "messages"))
		for i := range messages {
			messages[i] = schema.Message{Index: 3 * i, Text: alphabet.Draw(t, "text")}
		}
		quotes := make([]schema.Quote, rapid.IntRange(0, 4).Draw(t, "quotes"))
		for i := range quotes {
			text := alphabet.Draw(t, "quote")
			if m := []rune(messages[0].Text); len(m) > 8 && rapid.Bool().Draw(t, "cut") {
				text = string(m[rapid.IntRange(0, 3).Draw(t, "from") : len(m)-rapid.IntRange(0, 3).Draw(t, "to")])
			}
			quotes[i] = schema.Quote{MessageIndex: rapid.IntRange(-1, 12).Draw(t, "index"), Quote: text}
		}
		evidence, aligned := NewAligner(messages, nil).AlignEntry(quotes)
		require.Len(t, evidence, len(quotes))
		all := len(quotes) > 0
		for i, e := range evidence {
			all = all && e.Proves()
			require.Equal(t, quotes[i].Quote, e.Quote)
			if !e.Aligned {
				require.NotEmpty(t, e.Reason)
				require.Equal(t, quotes[i].MessageIndex, e.MessageIndex)
				continue
			}
			requireTrue(t, messages, e)
			require.Equal(t, e.MessageIndex != quotes[i].MessageIndex, e.RepairedFrom != nil)
		}
		require.Equal(t, all, aligned)
	})
}

func TestAnotherNumberIsNeverTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPassage(t)
		at := rapid.IntRange(p.start+1, p.end-1).Draw(t, "at")
		first := rapid.IntRange(1, 9999).Draw(t, "first")
		second := rapid.IntRange(1, 9999).Filter(func(n int) bool { return n != first }).Draw(t, "second")
		with := func(n int) (string, string) {
			number := " " + strconv.Itoa(n) + " "
			head, tail := string(p.runes[:at]), string(p.runes[at:])
			quote := string(p.runes[p.start:at]) + number + string(p.runes[at:p.end])
			return head + number + tail, quote
		}
		text, _ := with(first)
		_, quote := with(second)
		e := NewAligner(message(text), nil).Align(schema.Quote{Quote: quote})
		require.False(t, e.Aligned, "%d for %d: %q", second, first, e.Text)
	})
}
