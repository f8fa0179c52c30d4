package evidence

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var fuzzTexts = []string{
	"The **nightly** backup — see “ops” — runs at 02:30…\r\n\r\nand keeps 14 copies.",
	"데이터베이스 마이그레이션을\t먼저 끝내야 합니다 👩‍💻 🇰🇷",
	"ＡＰＩ ｋｅｙ　１２３４ ﬁnal cafe\u0301 \u1112\u1161\u11ab İstanbul ß ½ ﷺ ¨",
	"सत्यापन निर्णय का काम पूरा हुआ", "do_not_merge *ptr **kw* a*b 2 * 3 ~~old~~ __init__",
	"\u200b\u00ad e\u200d\u0301 \uff76\uff9e \u0345\u0399 =\u0338", "-- a--b --flag ---- .. ... .... ‥…", "＿0 ＊a ．．．． 。。。。 —— a——b 0--*0",
}

// FuzzNormalize holds the normal form to its word: it is stable, and every place of it leads to a
// place of the text, in order.
func FuzzNormalize(f *testing.F) {
	for _, text := range fuzzTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		v := fold(text, false)
		require.True(t, utf8.ValidString(v.text))
		require.Equal(t, v.text, Normalize(v.text), "normalizing %q twice", text)
		requireMonotone(t, v, text)
		requireMonotone(t, strip(v), text)
		requireMonotone(t, v.trim(), text)
		requireMonotone(t, fold(text, true), text)
	})
}

func requireMonotone(t *testing.T, v *view, text string) {
	t.Helper()
	last := extent{}
	for i := 0; i < len(v.text); {
		_, size := utf8.DecodeRuneInString(v.text[i:])
		x := v.original(i, i+size)
		require.True(t, x.start >= last.start && x.end >= last.end && x.start < x.end && x.end <= len(text),
			"%q: %d of %q leads to %v after %v", text, i, v.text, x, last)
		require.True(t, utf8.ValidString(text[x.start:x.end]))
		from, to := v.within(x)
		require.True(t, from <= i && i+size <= to, "%q: %v leads back to [%d,%d), not to %d", text, x, from, to, i)
		last = x
		i += size
	}
}

// FuzzAlign holds every aligned quote to Verify, and never fails on any text.
func FuzzAlign(f *testing.F) {
	for i, text := range fuzzTexts {
		f.Add(text, fuzzTexts[(i+1)%len(fuzzTexts)])
		f.Add(text, strings.ToUpper(text))
		f.Add(strings.Repeat(text, 2), text)
		f.Add(text, strings.Replace(text, "a", "ax", 1))
	}
	f.Add("broken \xff\xfe text \xe2\x82 of 12\xc3 bytes", "broken text of 12 bytes")
	f.Add("start of it and then the end of it", "start of it … the end of it")
	f.Fuzz(func(t *testing.T, text, quote string) {
		messages := []schema.Message{{Text: text}}
		evidence, aligned := Align(messages, []schema.Quote{{Quote: quote}})
		e := evidence[0]
		if !utf8.ValidString(text) || !utf8.ValidString(quote) {
			return // it must not fail, that is all
		}
		require.Equal(t, aligned, e.Proves())
		if !e.Aligned {
			require.NotEmpty(t, e.Reason)
			return
		}
		require.NoError(t, Verify(text, e))
	})
}

// FuzzVerify gives Verify spans and claims of any kind: it must judge them without failing.
func FuzzVerify(f *testing.F) {
	for _, text := range fuzzTexts {
		f.Add(text, text, 0, len(text), 0, utf8.RuneCountInString(text), 1.0, 0)
		f.Add(text, strings.ToUpper(text), 0, len(text), 0, utf8.RuneCountInString(text), 0.99, 1)
	}
	f.Fuzz(func(t *testing.T, text, quote string, start, end, runeStart, runeEnd int, confidence float64, method int) {
		if !utf8.ValidString(text) || !utf8.ValidString(quote) {
			return
		}
		methods := []schema.Method{schema.MethodExact, schema.MethodNormalized, schema.MethodApproximate}
		e := schema.Evidence{
			Quote: quote, Aligned: true, Method: methods[uint(method)%3], Confidence: confidence,
			Span:      schema.Span{ByteStart: start, ByteEnd: end, RuneStart: runeStart, RuneEnd: runeEnd},
			QuoteHash: hashOf(quote), SourceHash: hashOf(text),
		}
		if 0 <= start && start <= end && end <= len(text) {
			e.Text = text[start:end]
		}
		if Verify(text, e) == nil && e.Method == schema.MethodExact {
			require.Equal(t, quote, text[start:end])
		}
	})
}

// FuzzEdits compares the bit-parallel search and the banded path with the plain edit matrix.
func FuzzEdits(f *testing.F) {
	f.Add("kitten", "the sitting cat", 3)
	f.Add(strings.Repeat("abcdefg한글", 20), strings.Repeat("abcdeg한글", 25), 40)
	f.Fuzz(func(t *testing.T, pattern, text string, limit int) {
		p, s := []rune(pattern), []rune(text)
		if len(p) == 0 || len(p) > 300 || len(s) > 600 || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		limit = min(max(limit, 0), len(p)-1)
		want := map[int]int{}
		row, previous := make([]int, len(p)+1), make([]int, len(p)+1)
		whole := make([]int, len(p)+1)
		for i := range row {
			previous[i], whole[i] = i, i
		}
		at := 0
		for j, r := range s {
			at += utf8.RuneLen(r)
			diagonal := whole[0]
			row[0], whole[0] = 0, j+1
			for i, q := range p {
				cost := 0
				if q != r {
					cost = 1
				}
				row[i+1] = min(previous[i]+cost, previous[i+1]+1, row[i]+1)
				diagonal, whole[i+1] = whole[i+1], min(diagonal+cost, whole[i+1]+1, whole[i]+1)
			}
			if row[len(p)] <= limit {
				want[at] = row[len(p)]
			}
			row, previous = previous, row
		}
		got := map[int]int{}
		newPattern(p).ends(text, limit, func(end, distance int) { got[end] = distance })
		require.Equal(t, want, got)

		columns, distance, ok := path(p, s, max(len(p), len(s)))
		require.True(t, ok)
		require.Equal(t, whole[len(p)], distance)
		edits := 0
		for _, c := range columns {
			if c.q < 0 || c.s < 0 || p[c.q] != s[c.s] {
				edits++
			}
		}
		require.Equal(t, distance, edits)
		for end, d := range want {
			lengths := startsOf(p, []rune(text[:end]), d)
			require.True(t, len(lengths) > 0 || d == len(p), "no start for an end within the limit")
			for _, n := range lengths {
				_, distance, ok := path(p, lastRunes(text[:end], n), d)
				require.True(t, ok)
				require.Equal(t, d, distance)
			}
		}
	})
}
