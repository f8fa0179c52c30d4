package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func message(text string) []schema.Message { return []schema.Message{{Text: text}} }

// requireTrue checks evidence against the message it names.
func requireTrue(t require.TestingT, messages []schema.Message, e schema.Evidence) {
	for _, m := range messages {
		if m.Index == e.MessageIndex {
			require.NoError(t, Verify(m.Text, e))
			return
		}
	}
	require.Failf(t, "no such message", "index %d", e.MessageIndex)
}

func TestAlignFindsWhatTheQuoteMeans(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, message, quote, want string
		method                     schema.Method
	}{
		{"exact", "We will use Postgres for the ledger.", "use Postgres", "use Postgres", schema.MethodExact},
		{"case", "We will use POSTGRES for it.", "Use Postgres for", "use POSTGRES for", schema.MethodNormalized},
		{"full case folding", "Die STRASSE ist gesperrt.", "die Straße ist", "Die STRASSE ist", schema.MethodNormalized},
		{"no-break and wide spaces", "the\u00a0daily\u3000backup\u2009job", "the daily backup job", "the\u00a0daily\u3000backup\u2009job", schema.MethodNormalized},
		{"lines", "first line\r\n\r\n\tsecond line", "first line second line", "first line\r\n\r\n\tsecond line", schema.MethodNormalized},
		{"quotes and dashes", "“Ship it” — she said – ‘now’", "\"Ship it\" - she said - 'now'", "“Ship it” — she said – ‘now’", schema.MethodNormalized},
		{"double hyphen", "wait — then restart", "wait -- then restart", "wait — then restart", schema.MethodNormalized},
		{"full width", "ＡＰＩ ｋｅｙ １２３４", "API key 1234", "ＡＰＩ ｋｅｙ １２３４", schema.MethodNormalized},
		{"decomposed", "cafe\u0301 menu today", "café menu", "cafe\u0301 menu", schema.MethodNormalized},
		{"jamo", "\u1112\u1161\u11ab\u1100\u1173\u11af 문서 정리", "한글 문서 정리", "\u1112\u1161\u11ab\u1100\u1173\u11af 문서 정리", schema.MethodNormalized},
		{"zero width", "data\u200bbase is re\u00adady", "database is ready", "data\u200bbase is re\u00adady", schema.MethodNormalized},
		{"emphasis", "the **blue** team *won* the __first__ round", "the blue team won the first round", "the **blue** team *won* the __first__ round", schema.MethodNormalized},
		{"emphasis at the ends", "so **never  give up** now", "**never give up**", "**never  give up**", schema.MethodNormalized},
		{"snake case stays", "call do_not_merge  here", "call do_not_merge here", "call do_not_merge  here", schema.MethodNormalized},
		{"ellipsis character", "wait… what happened", "wait... what happened", "wait… what happened", schema.MethodNormalized},
		{"ellipsis joins", "The cache grew because the job that trims it was paused for two weeks.", "The cache grew … was paused for two weeks", "The cache grew because the job that trims it was paused for two weeks", schema.MethodNormalized},
		{"ellipsis at the ends", "The cache grew because of it.", "...cache grew because...", "cache grew because", schema.MethodNormalized},
		{"punctuation", "First, stop the worker; then (if idle) drain it.", "First stop the worker, then if idle drain it.", "First, stop the worker; then (if idle) drain it.", schema.MethodNormalized},
		{"slip", "The scheduler restarts every failed build.", "The schedular restarts every failed build", "The scheduler restarts every failed build", schema.MethodApproximate},
		{"slips in Korean", "데이터베이스 마이그레이션을 먼저 끝내야 합니다", "데이터배이스 마이그레이션을 먼저 끝내야 합니다", "데이터베이스 마이그레이션을 먼저 끝내야 합니다", schema.MethodApproximate},
		{"scanner", "The Government returns the yard", "The Govemment retums the yard", "The Government returns the yard", schema.MethodApproximate},
		{"lost space", "restart the worker pool tonight", "restart theworker pool tonight", "restart the worker pool tonight", schema.MethodNormalized},
		{"emoji", "ship it 👩‍💻 today please", "ship it 👩‍💻 today", "ship it 👩‍💻 today", schema.MethodExact},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, aligned := Align(message(tt.message), []schema.Quote{{Quote: tt.quote}})
			require.True(t, aligned, "%+v", e[0])
			require.Equal(t, tt.want, e[0].Text)
			require.Equal(t, tt.method, e[0].Method)
			require.NoError(t, Verify(tt.message, e[0]))
		})
	}
}

func TestAlignSaysWhyNot(t *testing.T) {
	t.Parallel()
	text := "The timeout is 30 seconds and must never be raised without asking the platform team first."
	tests := []struct {
		name   string
		index  int
		quote  string
		reason string
	}{
		{"nothing", 0, "", schema.ReasonEmpty},
		{"blank", 0, " \u3000\u200b\n", schema.ReasonEmpty},
		{"four letters", 0, "is 30", schema.ReasonTooShort},
		{"punctuation", 0, "...", schema.ReasonTooShort},
		{"other text", 0, "Nothing in here resembles this sentence about gardening", schema.ReasonNotFound},
		{"another number", 0, "The timeout is 40 seconds and must never be raised", schema.ReasonBelowThreshold},
		{"negation dropped", 0, "and must be raised without asking the platform team first", schema.ReasonBelowThreshold},
		{"ellipsis over a negation", 0, "The timeout is 30 seconds and must ... be raised", schema.ReasonBelowThreshold},
		{"index outside", 7, "Nothing in here resembles this sentence", schema.ReasonInvalidIndex},
		{"index below", -1, "Nothing in here resembles this sentence", schema.ReasonInvalidIndex},
		{"cut character", 0, "prefix cafe suffix", schema.ReasonNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, aligned := Align(message(text), []schema.Quote{{MessageIndex: tt.index, Quote: tt.quote}})
			require.False(t, aligned)
			require.False(t, e[0].Aligned)
			require.Equal(t, tt.reason, e[0].Reason)
			require.Equal(t, tt.index, e[0].MessageIndex)
			require.Zero(t, e[0].Span)
			require.Zero(t, e[0].Confidence)
			require.ErrorIs(t, Verify(text, e[0]), ErrFalse)
		})
	}
}

func TestAlignKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	for text, quote := range map[string]string{
		"menu of the cafe\u0301 today": "menu of the cafe",
		"flags 🇰🇷🇯🇵 shown here":        "flags 🇰",
		"team lead 👩‍💻 on call":        "team lead 👩",
		"निर्णय लिया गया कि":           "निर्णय लिय",
	} {
		e, _ := Align(message(text), []schema.Quote{{Quote: quote}})
		if e[0].Aligned {
			require.NoError(t, Verify(text, e[0]))
			require.NotEqual(t, schema.MethodExact, e[0].Method, "%q in %q", quote, text)
		}
	}
}

func TestAlignRepairsAWrongIndex(t *testing.T) {
	t.Parallel()
	messages := []schema.Message{
		{Index: 10, Text: "Let us talk about the release plan."},
		{Index: 12, Text: "We freeze the branch on Thursday evening."},
		{Index: 15, Text: "The invoices are archived for ten years."},
		{Index: 16, Text: "The invoices are archived for ten years."},
	}
	a := NewAligner(messages, func(i int) string { return fmt.Sprintf("event-%d", i) })

	for _, stated := range []int{10, 99, -3} {
		e := a.Align(schema.Quote{MessageIndex: stated, Quote: "freeze the branch"})
		require.True(t, e.Aligned)
		require.Equal(t, 12, e.MessageIndex)
		require.Equal(t, "event-12", e.EventID)
		require.Equal(t, stated, *e.RepairedFrom)
		requireTrue(t, messages, e)
	}

	e := a.Align(schema.Quote{MessageIndex: 10, Quote: "freeze the brannch on Thursday evening"})
	require.Equal(t, 12, e.MessageIndex)
	require.Equal(t, schema.MethodApproximate, e.Method)

	e = a.Align(schema.Quote{MessageIndex: 16, Quote: "archived for ten years"})
	require.Nil(t, e.RepairedFrom)
	require.Equal(t, "event-16", e.EventID)
	require.Empty(t, e.Reason)

	e = a.Align(schema.Quote{MessageIndex: 10, Quote: "archived for ten years"})
	require.False(t, e.Aligned)
	require.Equal(t, schema.ReasonAmbiguous, e.Reason)
	require.Equal(t, 10, e.MessageIndex)
}

func TestAlignEntryPrefersTheNearestOccurrence(t *testing.T) {
	t.Parallel()
	text := "Run the tests. " + strings.Repeat("Filler text goes here. ", 20) +
		"Deploy to staging, then run the tests. Tell Priya."
	quotes := []schema.Quote{{Quote: "the tests."}, {Quote: "Deploy to staging"}}

	e, aligned := NewAligner(message(text), nil).AlignEntry(quotes)
	require.True(t, aligned)
	require.Equal(t, schema.ReasonAmbiguous, e[0].Reason)
	require.Len(t, e[0].Occurrences, 2)
	require.Equal(t, e[0].Occurrences[1], e[0].Span)
	require.NoError(t, Verify(text, e[0]))

	alone := NewAligner(message(text), nil).Align(quotes[0])
	require.Equal(t, alone.Occurrences[0], alone.Span)

	both, aligned := Align(message("alpha one. beta two. "+text+" beta two. alpha one. gamma"),
		[]schema.Quote{{Quote: "alpha one"}, {Quote: "beta two."}})
	require.True(t, aligned)
	require.Equal(t, 2, away(both[0].Span, both[1].Span)+1)
}

func TestAlignEntryIsAlignedOnlyAsAWhole(t *testing.T) {
	t.Parallel()
	messages := message("The ledger moves to Postgres in May.")
	_, aligned := Align(messages, nil)
	require.False(t, aligned, "an entry without evidence")
	_, aligned = Align(messages, []schema.Quote{{Quote: "ledger moves"}, {Quote: "and the moon is made of cheese"}})
	require.False(t, aligned, "one of two quotes is invented")
	_, aligned = Align(messages, []schema.Quote{{Quote: "ledger moves"}, {Quote: "to Postgres in May"}})
	require.True(t, aligned)
}

func TestAlignListsOccurrencesThatDoNotOverlap(t *testing.T) {
	t.Parallel()
	e, _ := Align(message(strings.Repeat("ab", 10)), []schema.Quote{{Quote: "ababab"}})
	require.Len(t, e[0].Occurrences, 3)
	e, _ = Align(message(strings.Repeat("again ", 1000)), []schema.Quote{{Quote: "again"}})
	require.Len(t, e[0].Occurrences, MaxOccurrences)
}

func TestVerifyRefusesWhatIsNotTrue(t *testing.T) {
	t.Parallel()
	source := "헤더 — the nightly  backup runs at 02:30 and keeps 14 copies. The nightly backup is encrypted."
	good := map[schema.Method]schema.Evidence{}
	for _, quote := range []string{"backup runs at 02:30", "The Nightly backup runs at 02:30", "the nightly bakcup runs at 02:30 and keeps"} {
		e, aligned := Align(message(source), []schema.Quote{{Quote: quote}})
		require.True(t, aligned, quote)
		require.NoError(t, Verify(source, e[0]))
		good[e[0].Method] = e[0]
	}
	require.Len(t, good, 3)
	ambiguous, _ := Align(message(source), []schema.Quote{{Quote: "NIGHTLY BACKUP"}})
	require.Len(t, ambiguous[0].Occurrences, 2)
	require.NoError(t, Verify(source, ambiguous[0]))

	changes := map[string]func(*schema.Evidence){
		"not aligned":     func(e *schema.Evidence) { e.Aligned = false },
		"quote hash":      func(e *schema.Evidence) { e.QuoteHash = hashOf("x") },
		"source hash":     func(e *schema.Evidence) { e.SourceHash = "" },
		"text":            func(e *schema.Evidence) { e.Text += "." },
		"start":           func(e *schema.Evidence) { e.Span.ByteStart++; e.Span.RuneStart++; e.Text = e.Text[1:] },
		"runes":           func(e *schema.Evidence) { e.Span.RuneEnd++ },
		"out of range":    func(e *schema.Evidence) { e.Span.ByteEnd = len(source) + 1 },
		"before the text": func(e *schema.Evidence) { e.Span.ByteStart = -1 },
		"empty span":      func(e *schema.Evidence) { e.Span.ByteEnd = e.Span.ByteStart; e.Text = "" },
		"inside a rune":   func(e *schema.Evidence) { e.Span.ByteStart = 1 },
		"confidence":      func(e *schema.Evidence) { e.Confidence = 0.2 },
		"no confidence":   func(e *schema.Evidence) { e.Confidence = nan() },
		"method":          func(e *schema.Evidence) { e.Method = "guess" },
		"other quote":     func(e *schema.Evidence) { e.Quote = "gardens are green today"; e.QuoteHash = hashOf(e.Quote) },
		"short quote":     func(e *schema.Evidence) { e.Quote = "at"; e.QuoteHash = hashOf(e.Quote) },
		"reason":          func(e *schema.Evidence) { e.Reason = schema.ReasonAmbiguous },
		"lone occurrence": func(e *schema.Evidence) { e.Occurrences = []schema.Span{e.Span}; e.Reason = schema.ReasonAmbiguous },
		"false occurrences": func(e *schema.Evidence) {
			e.Occurrences = []schema.Span{e.Span, {ByteEnd: 3, RuneEnd: 1}}
			e.Reason = schema.ReasonAmbiguous
		},
	}
	for method, e := range good {
		for name, change := range changes {
			changed := e
			change(&changed)
			require.ErrorIs(t, Verify(source, changed), ErrFalse, "%s of method %q", name, method)
		}
		require.ErrorIs(t, Verify(source+" ", e), ErrFalse)
	}
	for from, e := range good {
		for to, other := range good {
			if from != to {
				e.Method, e.Confidence = to, other.Confidence
				if to != schema.MethodApproximate && from != schema.MethodExact {
					require.ErrorIs(t, Verify(source, e), ErrFalse, "%q as %q", from, to)
				}
			}
		}
	}
	elsewhere := ambiguous[0]
	elsewhere.Occurrences = elsewhere.Occurrences[1:]
	require.ErrorIs(t, Verify(source, elsewhere), ErrFalse)
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestSeed12_1EvidenceAlignment: a quote that is in the source has its exact span, one that is not
// leaves its entry unaligned.
func TestSeed12_1EvidenceAlignment(t *testing.T) {
	t.Parallel()
	messages := []schema.Message{{Index: 0, Text: "먼저 결정합시다."}, {Index: 1, Text: "content JSONB → JSON 으로 바꿉니다."}}
	found, aligned := Align(messages, []schema.Quote{{MessageIndex: 1, Quote: "JSONB → JSON"}})
	require.True(t, aligned)
	require.Equal(t, schema.Span{ByteStart: 8, ByteEnd: 22, RuneStart: 8, RuneEnd: 20}, found[0].Span)
	require.Equal(t, "JSONB → JSON", messages[1].Text[found[0].Span.ByteStart:found[0].Span.ByteEnd])
	missing, aligned := Align(messages, []schema.Quote{{MessageIndex: 1, Quote: "JSONB → JSON"}, {MessageIndex: 1, Quote: "VARCHAR instead of JSON"}})
	require.False(t, aligned)
	require.True(t, missing[0].Aligned)
	require.Equal(t, schema.ReasonNotFound, missing[1].Reason)
}

func TestAlignPassesOverWhatCutsACharacter(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("then alphax\u0301 ", 1000) + "then alphax is here."
	e, aligned := Align(message(text), []schema.Quote{{Quote: "then alphax"}})
	require.True(t, aligned, "%+v", e[0])
	require.Equal(t, len(text)-len("then alphax is here."), e[0].Span.ByteStart)
}

func TestAnEllipsisMayLeaveOutNothing(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("½ ", 40) + "alphax,gammax"
	e, _ := Align(message(text), []schema.Quote{{Quote: "alphax,…gammax"}})
	require.True(t, e[0].Aligned)
	require.NoError(t, Verify(text, e[0]))
}
