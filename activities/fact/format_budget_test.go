package fact

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// plainly formats by the definition: the most lines whose whole text fits, found by trying all.
func plainly(f Formatter, c Context) string {
	all := f
	all.MaxTokens = math.MaxInt
	_, facts, _ := strings.Cut(all.Format(Context{Facts: c.Facts}), factsHeader)
	best := c.summaries()
	if best != "" && f.Counter.Count(best) > f.MaxTokens {
		return f.cut(best)
	}
	text := factsHeader
	if best != "" {
		text = best + sectionBreak + factsHeader
	}
	if facts == "" {
		return best
	}
	for i, line := range strings.Split(facts, "\n") {
		if i > 0 {
			text += "\n"
		}
		if text += line; f.Counter.Count(text) <= f.MaxTokens {
			best = text
		}
	}
	return best
}

func drawContext(t *rapid.T) Context {
	word := rapid.SampledFrom([]string{"a", "tea ", "prefers ", "漢字", "かな", "한국어 ", "👨‍👩‍👧", "e\u0301", "\n", " ", ".", "\n...",
		"&", "<", "</memory>", "&lt;", "1234 ", "\xff", "\u202e"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 25).Draw(t, "words"), "")
	})
	c := Context{}
	if rapid.Bool().Draw(t, "profile") {
		c.User = UserContext{Work: text.Draw(t, "work"), Personal: text.Draw(t, "personal"), CurrentFocus: text.Draw(t, "focus")}
		c.History = History{Recent: text.Draw(t, "recent"), Earlier: text.Draw(t, "earlier"), Background: text.Draw(t, "background")}
	}
	for range rapid.IntRange(0, 12).Draw(t, "facts") {
		c.Facts = append(c.Facts, Statement{
			Content: text.Draw(t, "content"), Category: rapid.SampledFrom(categories).Draw(t, "category"),
			Confidence: rapid.SampledFrom(confidences).Draw(t, "confidence"), SourceError: text.Draw(t, "wrong"),
			Contested: rapid.IntRange(0, 9).Draw(t, "contested") == 0,
		})
	}
	return c
}

// memories is the number of random memories of the campaign.
const memories = 10_000

// Each random memory is within its budget, whatever counts, and holds as many facts as fit.
func TestNoMemoryIsOverBudget(t *testing.T) {
	t.Parallel()
	noMemoryIsOverBudget(t, stacktest.Draw(t, memories/40, memories))
}

func noMemoryIsOverBudget(t *testing.T, seeds []int) {
	t.Helper()
	exact, err := CL100K()
	require.NoError(t, err)
	random := rapid.Custom(drawContext)
	for _, seed := range seeds {
		c := random.Example(seed)
		for name, counter := range map[string]Counter{"char4": Char4, "cjk2": CJK2, "cl100k": exact} {
			f := Formatter{MaxTokens: (seed*37)%400 - 1, Counter: counter, Ranked: seed%3 == 0}
			text, told := f.FormatIndexed(c)
			if text != "" && counter.Count(text) > f.MaxTokens {
				t.Fatalf("memory %d by %s: %d tokens are over %d", seed, name, counter.Count(text), f.MaxTokens)
			}
			if want := plainly(f, c); text != want {
				t.Fatalf("memory %d by %s: got %q, want %q", seed, name, text, want)
			}
			if lines := strings.Count(text[max(0, strings.LastIndex(text, factsHeader)):], "\n- ["); len(told) > 0 && lines+1 < len(told) {
				t.Fatalf("memory %d: %d facts are told in %d lines", seed, len(told), lines)
			}
		}
	}
}

// No remembered text ends its block.
func TestFormatCutsNoEntity(t *testing.T) {
	t.Parallel()
	const end = "</memory>&<b>"
	text := FormatContext(Context{
		User:  UserContext{Work: end},
		Facts: []Statement{{Content: end, Category: schema.CategoryCorrection, Confidence: 1, SourceError: end}, {Content: "x", Category: end}},
	}, schema.DefaultMaxTokens, Char4)
	const safe = "&lt;/memory&gt;&amp;&lt;b&gt;"
	require.Equal(t, "User Context:\n- Work: "+safe+"\n\nFacts:\n- [correction | 1.00] "+safe+" (avoid: "+safe+")\n- ["+safe+" | 0.00] x", text)
	for budget := range 60 {
		text = FormatContext(Context{User: UserContext{Work: strings.Repeat("<&", 40)}}, budget, Char4)
		require.NotRegexp(t, `&[a-z]*\n`, text, "an entity is whole")
	}
}

// The text has facts in the given order if asked, and reports their places.
func TestFormatRanked(t *testing.T) {
	t.Parallel()
	c := Context{Facts: []Statement{{Content: "b", Confidence: 0.5}, {Content: " "}, {Content: "a", Confidence: 0.9}}}
	f := Formatter{MaxTokens: 100, Counter: Char4}
	text, told := f.FormatIndexed(c)
	require.Equal(t, "Facts:\n- [context | 0.90] a\n- [context | 0.50] b", text)
	require.Equal(t, []int{2, 0}, told)
	f.Ranked = true
	text, told = f.FormatIndexed(c)
	require.Equal(t, "Facts:\n- [context | 0.50] b\n- [context | 0.90] a", text)
	require.Equal(t, []int{0, 2}, told)
}
