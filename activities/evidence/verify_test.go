package evidence_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// tampering changes one claim of evidence. It returns false if evidence of this kind makes no such claim.
var tampering = map[string]func(source string, e *schema.Evidence) bool{
	"found":   func(_ string, e *schema.Evidence) bool { e.Found = false; return true },
	"aligned": func(_ string, e *schema.Evidence) bool { e.Aligned = !e.Aligned; return true },
	"proven":  func(_ string, e *schema.Evidence) bool { e.Proven = !e.Proven; return true },
	"quote":   func(_ string, e *schema.Evidence) bool { e.Quote += "x"; return true },
	"quote hash": func(_ string, e *schema.Evidence) bool {
		e.QuoteHash = e.SourceHash
		return e.QuoteHash != e.SourceHash
	},
	"no quote hash": func(_ string, e *schema.Evidence) bool { e.QuoteHash = ""; return true },
	"source hash":   func(_ string, e *schema.Evidence) bool { e.SourceHash = ""; return true },
	"text":          func(_ string, e *schema.Evidence) bool { e.Text += "."; return true },
	"no text":       func(_ string, e *schema.Evidence) bool { e.Text = ""; return true },
	"byte start":    func(_ string, e *schema.Evidence) bool { e.Span.ByteStart++; return true },
	"byte end":      func(_ string, e *schema.Evidence) bool { e.Span.ByteEnd--; return true },
	"rune start":    func(_ string, e *schema.Evidence) bool { e.Span.RuneStart++; return true },
	"rune end":      func(_ string, e *schema.Evidence) bool { e.Span.RuneEnd++; return true },
	"out of range":  func(source string, e *schema.Evidence) bool { e.Span.ByteEnd = len(source) + 1; return true },
	"before it":     func(_ string, e *schema.Evidence) bool { e.Span.ByteStart = -1; return true },
	"empty":         func(_ string, e *schema.Evidence) bool { e.Span.ByteEnd = e.Span.ByteStart; return true },
	"backwards": func(_ string, e *schema.Evidence) bool {
		e.Span.ByteStart, e.Span.ByteEnd = e.Span.ByteEnd, e.Span.ByteStart
		return true
	},
	"confidence":     func(_ string, e *schema.Evidence) bool { e.Confidence = 0.2; return true },
	"no confidence":  func(_ string, e *schema.Evidence) bool { e.Confidence = math.NaN(); return true },
	"method":         func(_ string, e *schema.Evidence) bool { e.Method = "guess"; return true },
	"reason":         func(_ string, e *schema.Evidence) bool { e.Reason = schema.ReasonNotFound; return true },
	"occurrences":    func(_ string, e *schema.Evidence) bool { e.Occurrences = nil; return e.Reason != "" },
	"one occurrence": func(_ string, e *schema.Evidence) bool { e.Occurrences = []schema.Span{e.Span}; return true },
	"occurrence twice": func(_ string, e *schema.Evidence) bool {
		e.Occurrences, e.Reason = []schema.Span{e.Span, e.Span}, schema.ReasonAmbiguous
		return true
	},
	"another occurrence": func(source string, e *schema.Evidence) bool {
		whole := schema.Span{ByteEnd: len(source), RuneEnd: len([]rune(source))}
		e.Occurrences, e.Reason = append(slices.Clone(e.Occurrences), whole), schema.ReasonAmbiguous
		return e.Span != whole
	},
	"passage": func(_ string, e *schema.Evidence) bool {
		if e.Within == nil {
			e.Within = &schema.Passage{Span: e.Span, Text: e.Text}
			return true
		}
		p := *e.Within
		p.Span.ByteEnd, p.Text = p.Span.ByteEnd-1, p.Text[:max(0, len(p.Text)-1)]
		e.Within = &p
		return true
	},
	"passage's text": func(_ string, e *schema.Evidence) bool {
		if e.Within == nil {
			return false
		}
		e.Within = &schema.Passage{Span: e.Within.Span, Text: e.Within.Text + "!"}
		return true
	},
	"no passage": func(_ string, e *schema.Evidence) bool { had := e.Within != nil; e.Within = nil; return had },
}

// TestVerifyRefusesTampering: of evidence that is true nothing can be changed that Verify does not see.
func TestVerifyRefusesTampering(t *testing.T) {
	t.Parallel()
	messages := realMessages(t)
	methods := map[schema.Method]int{}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(messages).Draw(t, "message")
		e := align(m, drawQuote(t, m))
		if !e.Found {
			return
		}
		methods[e.Method]++
		require.NoError(t, evidence.Verify(m, e, evidence.Rule))
		require.ErrorIs(t, evidence.Verify(m+" ", e, evidence.Rule), evidence.ErrFalse, "another source")
		for name, change := range tampering {
			changed := e
			if change(m, &changed) {
				require.ErrorIs(t, evidence.Verify(m, changed, evidence.Rule), evidence.ErrFalse, "%s of %+v", name, e)
			}
		}
		for _, stronger := range []schema.Method{schema.MethodExact, schema.MethodNormalized} {
			if changed := e; !e.Aligned {
				changed.Method, changed.Aligned = stronger, true
				changed.Confidence = map[schema.Method]float64{schema.MethodExact: 1, schema.MethodNormalized: 0.99}[stronger]
				require.ErrorIs(t, evidence.Verify(m, changed, evidence.Rule), evidence.ErrFalse, "%s as %s", e.Method, stronger)
			}
		}
	})
	require.GreaterOrEqual(t, len(methods), 3, "%v", methods)
}

func TestVerifyKnowsItsRules(t *testing.T) {
	t.Parallel()
	text := "We ship it on Friday. Bob left."
	e := align(text, "We ship it on Friday.")
	for _, rule := range []int{-1, evidence.Rule + 1} {
		require.ErrorIs(t, evidence.Verify(text, e, rule), evidence.ErrUnknownRule)
	}
}

// TestEvidenceOfAnyQuoteIsTrue: for any quotes of several messages at once, the evidence found is true.
func TestEvidenceOfAnyQuoteIsTrue(t *testing.T) {
	t.Parallel()
	alphabet := rapid.StringOfN(rapid.SampledFrom([]rune("abcde ABC 12.-*_…\n가나다不了\u0301\u200d👩🇰`?")), 0, 60, -1)
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
		found, aligned := evidence.NewAligner(messages, nil).AlignEntry(quotes)
		require.Len(t, found, len(quotes))
		all := len(quotes) > 0
		for i, e := range found {
			all = all && e.Aligned
			require.Equal(t, quotes[i].Quote, e.Quote)
			if !e.Found {
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
