package evidence_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

var fuzzTexts = []string{
	"The **nightly** backup — see “ops” — runs at 02:30…\r\n\r\nand keeps 14 copies.",
	"데이터베이스 마이그레이션을\t먼저 끝내야 합니다 👩‍💻 🇰🇷",
	"ＡＰＩ ｋｅｙ　１２３４ ﬁnal cafe\u0301 \u1112\u1161\u11ab İstanbul ß ½ ﷺ ¨",
	"सत्यापन निर्णय का काम पूरा हुआ", "do_not_merge *ptr **kw* a*b 2 * 3 ~~old~~ __init__",
	"\u200b\u00ad e\u200d\u0301 \uff76\uff9e \u0345\u0399 =\u0338", "-- a--b --flag ---- .. ... .... ‥…", "＿0 ＊a ．．．． 。。。。 —— a——b 0--*0",
}

// FuzzAlign checks all evidence found with Verify, and must not fail on any text.
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
		found, aligned := evidence.Align(message(text), []schema.Quote{{Quote: quote}})
		e := found[0]
		if !utf8.ValidString(text) || !utf8.ValidString(quote) {
			return // it must not fail, that is all
		}
		require.Equal(t, aligned, e.Aligned)
		require.True(t, e.Found || !e.Aligned && e.Reason != "")
		require.True(t, e.Aligned || !e.Proven)
		if e.Found {
			require.NoError(t, evidence.Verify(text, e, evidence.Rule))
			require.Equal(t, text[e.Span.ByteStart:e.Span.ByteEnd], e.Text)
		}
	})
}

// FuzzVerify gives Verify spans and claims of any kind: it must judge them without failing.
func FuzzVerify(f *testing.F) {
	for _, text := range fuzzTexts {
		f.Add(text, text, 0, len(text), 0, utf8.RuneCountInString(text), 1.0, 0, true)
		f.Add(text, strings.ToUpper(text), 0, len(text), 0, utf8.RuneCountInString(text), 0.99, 1, false)
	}
	f.Fuzz(func(t *testing.T, text, quote string, start, end, runeStart, runeEnd int, confidence float64, method int, proven bool) {
		if !utf8.ValidString(text) || !utf8.ValidString(quote) {
			return
		}
		methods := []schema.Method{schema.MethodExact, schema.MethodNormalized, schema.MethodJoined, schema.MethodApproximate}
		e := schema.Evidence{
			Quote: quote, Found: true, Aligned: uint(method)%4 < 2, Proven: proven, Method: methods[uint(method)%4], Confidence: confidence,
			Span:      schema.Span{ByteStart: start, ByteEnd: end, RuneStart: runeStart, RuneEnd: runeEnd},
			QuoteHash: hexHash(quote), SourceHash: hexHash(text),
		}
		if 0 <= start && start <= end && end <= len(text) {
			e.Text = text[start:end]
		}
		if evidence.Verify(text, e, evidence.Rule) == nil && e.Method == schema.MethodExact {
			require.Equal(t, quote, text[start:end])
		}
	})
}

func hexHash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
