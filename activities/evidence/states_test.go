package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

func TestStating(t *testing.T) {
	t.Parallel()
	var st evidence.Statements
	texts := []string{
		"- Shipped v1. Uses readPulse.\n- Likes tea",
		"Likes Tea! Shipped v1.\nThis sentence\nis wrapped over\nthree lines. Ok.",
		"```go\nx := 1 // one. Two\n```\n~~Gone. Away.~~",
		"10⁶ parts", "", "🎉",
	}
	for i, text := range texts {
		require.Equal(t, i, st.Add(text))
	}
	for quote, want := range map[string][]int{
		"shipped v1":                 {0, 1},
		"Shipped v1.":                {0, 1},
		"Shipped v1!":                nil,
		"Shipped v2.":                nil,
		"uses readPulse":             {0},
		"Uses readpulse.":            nil,
		"likes tea.":                 {0}, // the full stop is added, a mark is not left out
		"likes tea!":                 {1},
		"likes":                      nil,
		"Shipped v1. Uses readPulse": {0},
		"This sentence is wrapped over three lines.": {1},
		"This sentence\nis wrapped":                  nil,
		"is wrapped over":                            {1},
		"ok":                                         {1},
		"x := 1 // one. Two":                         {2},
		"x := 1 // one.":                             nil,
		"Gone.":                                      nil, // is struck through there
		"10⁶ parts":                                  {3},
		"106 parts":                                  nil,
		"🎉":                                          {5},
		"":                                           nil,
		" . ":                                        nil,
		"**":                                         nil,
	} {
		require.Equal(t, want, st.Stating(quote), "%q", quote)
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Likes tea.", "likes  tea", true},
		{"Likes tea.", "Likes tea!", false},
		{"10⁶ parts", "106 parts", false},
		{"Uses readPulse", "uses readpulse", false},
		{"One. Two.", "One.", false},
		{"~~Gone. Away.~~", "~~Gone. Away.~~", true},
		{"", "", true},
		{"a", "", false},
	} {
		require.Equal(t, c.same, evidence.Same(c.a, c.b), "%q, %q", c.a, c.b)
		require.Equal(t, c.same, evidence.Same(c.b, c.a), "%q, %q", c.b, c.a)
		if c.same {
			require.Equal(t, evidence.SameKey(c.a), evidence.SameKey(c.b))
		}
	}
}

// TestStatingProves compares statements with proofs: a quote without a full stop at its end, long enough to look for,
// is stated where the aligner proves it.
func TestStatingProves(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"alpha", "Beta", "readPulse", "10⁶", "v1.5", "차를", "**bold**", "`code`", "--", "e.g.", "~~no~~"})
	sentence := rapid.Map(rapid.SliceOfN(word, 1, 4), func(w []string) string { return strings.Join(w, " ") })
	rapid.Check(t, func(t *rapid.T) {
		sentences := rapid.SliceOfN(sentence, 1, 6).Draw(t, "sentences")
		var text strings.Builder
		for _, s := range sentences {
			text.WriteString(rapid.SampledFrom([]string{"", "- ", "\n", "\n\n- "}).Draw(t, "before") + s + rapid.SampledFrom([]string{". ", ".\n", "! ", "\n", " "}).Draw(t, "after"))
		}
		quote := rapid.SampledFrom(append(sentences, strings.ToLower(sentences[0]), sentences[0]+" "+sentences[len(sentences)-1])).Draw(t, "quote")
		found, _ := evidence.NewAligner([]schema.Message{{Text: text.String()}}, nil).AlignEntry([]schema.Quote{{Quote: quote}})
		var st evidence.Statements
		st.Add(text.String())
		stated := len(st.Stating(quote)) > 0
		switch {
		case found[0].Reason == schema.ReasonTooShort || found[0].Proven == stated:
		case found[0].Proven && strings.Contains(quote, ". "): // more than the sentences of one paragraph
		case stated && strings.HasSuffix(quote, "."):
		default:
			t.Fatalf("%q in %q: proven is %t, stated is %t", quote, text.String(), found[0].Proven, stated)
		}
	})
}

// BenchmarkStating compares 500 items with 2,000 sources of 300 bytes.
func BenchmarkStating(b *testing.B) {
	var texts, quotes []string
	for i := range 2000 {
		var text strings.Builder
		for j := 0; text.Len() < 300; j++ {
			fmt.Fprintf(&text, "- Block %d said that statement %d holds in v1.%d.\n", i, j, i)
		}
		texts = append(texts, text.String())
	}
	for i := range 500 {
		quotes = append(quotes, fmt.Sprintf("block %d said that statement %d holds in v1.%d", 4*i, i%6, 4*i))
	}
	for b.Loop() {
		var st evidence.Statements
		for _, text := range texts {
			st.Add(text)
		}
		for _, quote := range quotes {
			if len(st.Stating(quote)) != 1 {
				b.Fatal(quote)
			}
		}
	}
}
