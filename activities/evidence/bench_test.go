package evidence_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// BenchmarkCorpus aligns every case of the alignment files, each with an aligner of its own, so that
// the time includes preparing the message.
func BenchmarkCorpus(b *testing.B) {
	var items []alignmentCase
	for _, cases := range alignmentCases(b) {
		items = append(items, cases...)
	}
	byClass := map[string][]alignmentCase{"all": items}
	for _, item := range items {
		byClass[item.Class] = append(byClass[item.Class], item)
	}
	for class, items := range byClass {
		b.Run(class, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, item := range items {
					evidence.NewAligner(message(item.Message), nil).Align(schema.Quote{Quote: item.Quote})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/quote")
		})
	}
}

// megabyte is a message of English prose without repeated sentences.
func megabyte(tb testing.TB) string {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(prose(tb)["english"])
	var text strings.Builder
	for text.Len() < 1<<20 {
		text.WriteString(words[r.IntN(len(words))])
		text.WriteByte(' ')
	}
	return text.String()
}

// BenchmarkExact compares finding a verbatim quote in 1 MB with bytes.Index over the same bytes to
// the end, which the search for a second occurrence has to read too.
func BenchmarkExact(b *testing.B) {
	text := megabyte(b)
	at := len(text) / 2
	quote := "ZZ marks the only place of it"
	text = text[:at] + ". " + quote + ". " + text[at:]
	b.Run("align", func(b *testing.B) {
		a := evidence.NewAligner(message(text), nil)
		require.True(b, a.Align(schema.Quote{Quote: quote}).Aligned)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			a.Align(schema.Quote{Quote: quote})
		}
	})
	b.Run("bytes.Index", func(b *testing.B) {
		haystack, needle := []byte(text), []byte(quote)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			i := bytes.Index(haystack, needle)
			bytes.Index(haystack[i+len(needle):], needle)
		}
	})
}

// BenchmarkAbsent looks for 200 characters that a message of 1 MB does not have: first with a message
// not seen before, then with a prepared one.
func BenchmarkAbsent(b *testing.B) {
	text := megabyte(b)
	quote := strings.Repeat("gardeners plant tulips under old oaks when frost has left ", 4)[:200]
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			evidence.NewAligner(message(text), nil).Align(schema.Quote{Quote: quote})
		}
	})
	b.Run("prepared", func(b *testing.B) {
		a := evidence.NewAligner(message(text), nil)
		a.Align(schema.Quote{Quote: quote})
		b.ReportAllocs()
		for b.Loop() {
			a.Align(schema.Quote{Quote: quote})
		}
	})
}

// BenchmarkQuote states the cost of one more quote against a prepared message of ordinary length.
func BenchmarkQuote(b *testing.B) {
	a := evidence.NewAligner(message(prose(b)["english"]), nil)
	for name, quote := range map[string]string{
		"exact":       "measure before you change anything, keep the old path open",
		"normalized":  "Measure before you  change anything; keep the OLD path open",
		"approximate": "measure before you chqnge anything, keep the old pathopen",
		"absent":      "nothing of this kind was ever written in that message at all",
		"long":        strings.TrimSpace(prose(b)["english"]),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.Align(schema.Quote{Quote: quote})
			}
		})
	}
}

// hostile are messages and quotes that make a careless search slow.
var hostile = map[string][2]string{
	"hexadecimal": {strings.Repeat("0123456789abcdef", 1<<16), "89abcdef0123"},
	"one letter":  {strings.Repeat("a", 1<<20), strings.Repeat("a", 4000)},
	"almost":      {strings.Repeat("a", 1<<18), strings.Repeat("a", 4000) + strings.Repeat("b", 40)},
	"underscores": {strings.Repeat("ab_", 1<<18), strings.Repeat("ab_", 20)},
	"digits":      {strings.Repeat("1,", 1<<19), "1,1,1,1,1,1"},
	"ellipses":    {strings.Repeat("one two three four ", 1<<15), strings.Repeat("three four … ", 15) + "one two"},
	"expansions":  {strings.Repeat("ﷺ", 1<<18), strings.Repeat("ﷺ", 6)},
	"jamo":        {strings.Repeat("\u1100", 1<<18), strings.Repeat("\u1100", 12)},
	"marks":       {"a" + strings.Repeat("\u0301", 1<<18), "a\u0301\u0301\u0301bcde"},
	"emphasis":    {strings.Repeat("*_~", 1<<18), "*_~*_~ words and *_~ more"},
	"no spaces":   {strings.Repeat("ตัดสินใจใช้ฐานข้อมูล", 1<<13), "ใช้ฐานข้อมูล"},
	"long word":   {strings.Repeat("x", 1<<20) + "the marked place 0123", "the marked place 0123"},
}

// BenchmarkHostile aligns the hostile quotes with messages not seen before.
func BenchmarkHostile(b *testing.B) {
	for name, c := range hostile {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c[0])))
			for b.Loop() {
				evidence.NewAligner(message(c[0]), nil).Align(schema.Quote{Quote: c[1]})
			}
		})
	}
}
