package evidence

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// BenchmarkCorpus aligns every case of the alignment files, each with an aligner of its own, so that
// the time includes preparing the message.
func BenchmarkCorpus(b *testing.B) {
	var items []caseItem
	for _, file := range alignmentFiles(b) {
		items = append(items, file.Items...)
	}
	byClass := map[string][]caseItem{"all": items}
	for _, item := range items {
		byClass[item.Class] = append(byClass[item.Class], item)
	}
	for class, items := range byClass {
		b.Run(class, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, item := range items {
					NewAligner(message(item.Message), nil).Align(schema.Quote{Quote: item.Quote})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/quote")
		})
	}
}

// megabyte is a message of English prose without repeated sentences.
func megabyte() string {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(prose["english"])
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
	text := megabyte()
	at := len(text) / 2
	quote := "ZZ marks the only place of it"
	text = text[:at] + quote + text[at:]
	b.Run("align", func(b *testing.B) {
		a := NewAligner(message(text), nil)
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
	text := megabyte()
	quote := strings.Repeat("gardeners plant tulips under old oaks when frost has left ", 4)[:200]
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewAligner(message(text), nil).Align(schema.Quote{Quote: quote})
		}
	})
	b.Run("prepared", func(b *testing.B) {
		a := NewAligner(message(text), nil)
		a.Align(schema.Quote{Quote: quote})
		b.ReportAllocs()
		for b.Loop() {
			a.Align(schema.Quote{Quote: quote})
		}
	})
}

// BenchmarkQuote states the cost of one more quote against a prepared message of ordinary length.
func BenchmarkQuote(b *testing.B) {
	a := NewAligner(message(prose["english"]), nil)
	for name, quote := range map[string]string{
		"exact":       "measure before you change anything, keep the old path open",
		"normalized":  "Measure before you  change anything; keep the OLD path open",
		"approximate": "measure before you chqnge anything, keep the old pathopen",
		"absent":      "nothing of this kind was ever written in that message at all",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.Align(schema.Quote{Quote: quote})
			}
		})
	}
}
