package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// requireTrue checks evidence against the message it names.
func requireTrue(t require.TestingT, messages []schema.Message, e schema.Evidence) {
	for _, m := range messages {
		if m.Index == e.MessageIndex {
			require.NoError(t, evidence.Verify(m.Text, e, evidence.Rule))
			return
		}
	}
	require.Failf(t, "no such message", "index %d", e.MessageIndex)
}

// TestAlignFinds: finding judges no meaning. A quote that differs from the source is found and not
// aligned.
func TestAlignFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
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
		{"ellipsis joins", "The cache grew because the job that trims it was paused for two weeks.", "The cache grew … was paused for two weeks", "The cache grew because the job that trims it was paused for two weeks", schema.MethodJoined},
		{"ellipsis at the ends", "The cache grew because of it.", "...cache grew because...", "cache grew because", schema.MethodNormalized},
		{"punctuation", "First, stop the worker; then (if idle) drain it.", "First stop the worker, then if idle drain it.", "First, stop the worker; then (if idle) drain it.", schema.MethodNormalized},
		{"typo", "The scheduler restarts every failed build.", "The schedular restarts every failed build", "The scheduler restarts every failed build", schema.MethodApproximate},
		{"typos in Korean", "데이터베이스 마이그레이션을 먼저 끝내야 합니다", "데이터배이스 마이그레이션을 먼저 끝내야 합니다", "데이터베이스 마이그레이션을 먼저 끝내야 합니다", schema.MethodApproximate},
		{"scanner", "The Government returns the yard", "The Govemment retums the yard", "The Government returns the yard", schema.MethodApproximate},
		{"lost space", "restart the worker pool tonight", "restart theworker pool tonight", "restart the worker pool tonight", schema.MethodApproximate},
		{"another number", "The timeout is 30 seconds for every job.", "The timeout is 40 seconds for every job.", "The timeout is 30 seconds for every job.", schema.MethodApproximate},
		{"its denial lost", "Guests may not write to the table at night.", "Guests may write to the table at night.", "Guests may not write to the table at night.", schema.MethodApproximate},
		{"emoji", "ship it 👩‍💻 today please", "ship it 👩‍💻 today", "ship it 👩‍💻 today", schema.MethodExact},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, aligned := evidence.Align(message(tt.message), []schema.Quote{{Quote: tt.quote}})
			e := found[0]
			require.True(t, e.Found, e.Reason)
			require.Equal(t, tt.want, e.Text)
			require.Equal(t, tt.method, e.Method)
			require.Equal(t, tt.method == schema.MethodExact || tt.method == schema.MethodNormalized, e.Aligned)
			require.Equal(t, e.Aligned, aligned)
			require.NoError(t, evidence.Verify(tt.message, e, evidence.Rule))
		})
	}
}

func TestAlignSaysWhyNot(t *testing.T) {
	t.Parallel()
	text := "The timeout is 30 seconds and must never be raised without asking the platform team first."
	for _, tt := range []struct {
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
		{"many other words", 0, "The timeout was thirty minutes and must often be raised", schema.ReasonNotFound},
		{"words in another order", 0, "The platform team must be asked before the timeout is raised", schema.ReasonNotFound},
		{"index outside", 7, "Nothing in here resembles this sentence", schema.ReasonInvalidIndex},
		{"index below", -1, "Nothing in here resembles this sentence", schema.ReasonInvalidIndex},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, aligned := evidence.Align(message(text), []schema.Quote{{MessageIndex: tt.index, Quote: tt.quote}})
			e := found[0]
			require.False(t, aligned || e.Found || e.Aligned || e.Proven)
			require.Equal(t, tt.reason, e.Reason)
			require.Equal(t, tt.index, e.MessageIndex)
			require.Zero(t, e.Span)
			require.Zero(t, e.Confidence)
			require.ErrorIs(t, evidence.Verify(text, e, evidence.Rule), evidence.ErrFalse)
		})
	}
}

// A short quote is found only if it is the whole answer to a question of the harness.
func TestAlignShortAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		call, text, quote string
		found             bool
	}{
		{"1", "MGET", "MGET", true}, {"1", " 예\n", "예", true}, {"1", "42", "42", true}, {"1", "MGET, please", "MGET", false},
		{"1", "MGET", "mget", false}, {"1", "", "", false}, {"", "MGET", "MGET", false}, {"", "Yes.", "Yes.", false},
	} {
		m := schema.Message{Role: schema.RoleUser, Kind: schema.KindText, CallID: tt.call, Text: tt.text}
		found, aligned := evidence.Align([]schema.Message{m}, []schema.Quote{{MessageIndex: 0, Quote: tt.quote}})
		require.Equal(t, tt.found, aligned && found[0].Proven, "%q in %q: %+v", tt.quote, tt.text, found[0])
		if tt.found {
			require.Equal(t, strings.TrimSpace(tt.text), found[0].Text)
			require.NoError(t, evidence.VerifyMessage(m, found[0], evidence.Rule))
			require.ErrorIs(t, evidence.Verify(tt.text, found[0], evidence.Rule), evidence.ErrFalse, "of a text alone no more is known")
		}
	}
	elsewhere, _ := evidence.Align([]schema.Message{{Index: 0, Text: "Which one?"}, {Index: 1, Text: "MGET", CallID: "1"}}, []schema.Quote{{MessageIndex: 0, Quote: "MGET"}})
	require.Equal(t, schema.ReasonTooShort, elsewhere[0].Reason)
}

func TestAlignKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	for text, quote := range map[string]string{
		"menu of the cafe\u0301 today": "menu of the cafe",
		"flags 🇰🇷🇯🇵 shown here":        "flags 🇰",
		"team lead 👩‍💻 on call":        "team lead 👩",
		"निर्णय लिया गया कि":           "निर्णय लिय",
	} {
		e := align(text, quote)
		if e.Found {
			require.NoError(t, evidence.Verify(text, e, evidence.Rule))
			require.NotEqual(t, schema.MethodExact, e.Method, "%q in %q", quote, text)
		}
	}
	text := strings.Repeat("then alphax\u0301 ", 1000) + "then alphax is here."
	e := align(text, "then alphax")
	require.True(t, e.Found, e.Reason)
	require.Equal(t, len(text)-len("then alphax is here."), e.Span.ByteStart)
}

func TestAlignRepairsAWrongIndex(t *testing.T) {
	t.Parallel()
	messages := []schema.Message{
		{Index: 10, Text: "Let us talk about the release plan."},
		{Index: 12, Text: "We freeze the branch on Thursday evening."},
		{Index: 15, Text: "The invoices are archived for ten years."},
		{Index: 16, Text: "The invoices are archived for ten years."},
	}
	a := evidence.NewAligner(messages, func(i int) string { return fmt.Sprintf("event-%d", i) })

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
	require.False(t, e.Found)
	require.Equal(t, schema.ReasonAmbiguous, e.Reason)
	require.Equal(t, 10, e.MessageIndex)
}

func TestAlignEntryPrefersTheNearestOccurrence(t *testing.T) {
	t.Parallel()
	text := "Run the tests. " + strings.Repeat("Filler text goes here. ", 20) +
		"Deploy to staging, then run the tests. Tell Priya."
	quotes := []schema.Quote{{Quote: "the tests."}, {Quote: "Deploy to staging"}}

	e, aligned := evidence.NewAligner(message(text), nil).AlignEntry(quotes)
	require.True(t, aligned)
	require.Equal(t, schema.ReasonAmbiguous, e[0].Reason)
	require.Len(t, e[0].Occurrences, 2)
	require.Equal(t, e[0].Occurrences[1], e[0].Span)
	require.NoError(t, evidence.Verify(text, e[0], evidence.Rule))

	alone := evidence.NewAligner(message(text), nil).Align(quotes[0])
	require.Equal(t, alone.Occurrences[0], alone.Span)

	both, aligned := evidence.Align(message("alpha one. beta two. "+text+" beta two. alpha one. gamma"),
		[]schema.Quote{{Quote: "alpha one"}, {Quote: "beta two."}})
	require.True(t, aligned)
	require.Equal(t, 1, max(both[1].Span.ByteStart-both[0].Span.ByteEnd, both[0].Span.ByteStart-both[1].Span.ByteEnd))
}

func TestAPlaceThatProvesIsChosen(t *testing.T) {
	t.Parallel()
	text := "First, they say, we ship it on Friday. It was late. We ship it on Friday. Bob left."
	e := align(text, "We ship it on Friday.")
	require.True(t, e.Proven)
	require.Equal(t, "We ship it on Friday.", e.Text, "the second place, although the quote stands at both in normal form")

	text = "we ship it on Friday, they say, since we ship it on Friday.\n- we ship it on Friday\n"
	found, aligned := evidence.Align(message(text), []schema.Quote{{Quote: "we ship it on Friday"}, {Quote: "they say"}})
	require.True(t, aligned)
	require.Len(t, found[0].Occurrences, 3)
	require.True(t, found[0].Proven, "a nearer place at which it proves nothing is none")
	require.Equal(t, found[0].Occurrences[2], found[0].Span)
	require.Nil(t, found[0].Within)
	require.Equal(t, "we ship it on Friday, they say, since we ship it on Friday.", found[1].Within.Text)
	require.False(t, evidence.Proven(found), "one of two pieces is a fragment")
	require.True(t, evidence.Proven(found[:1]))
	require.False(t, evidence.Proven(nil))
}

func TestAlignEntryIsAlignedOnlyAsAWhole(t *testing.T) {
	t.Parallel()
	messages := message("The ledger moves to Postgres in May.")
	_, aligned := evidence.Align(messages, nil)
	require.False(t, aligned, "an entry without evidence")
	_, aligned = evidence.Align(messages, []schema.Quote{{Quote: "ledger moves"}, {Quote: "and the moon is made of cheese"}})
	require.False(t, aligned, "one of two quotes is invented")
	_, aligned = evidence.Align(messages, []schema.Quote{{Quote: "ledger moves"}, {Quote: "to Postgres in May"}})
	require.True(t, aligned)
}

func TestAlignListsOccurrencesThatDoNotOverlap(t *testing.T) {
	t.Parallel()
	e, _ := evidence.Align(message(strings.Repeat("ab", 10)), []schema.Quote{{Quote: "ababab"}})
	require.Len(t, e[0].Occurrences, 3)
	e, _ = evidence.Align(message(strings.Repeat("again ", 1000)), []schema.Quote{{Quote: "again"}})
	require.Len(t, e[0].Occurrences, evidence.MaxOccurrences)
}

// TestSeed12_1EvidenceAlignment: a quote that is in the source has its exact span, one that is not
// leaves its entry unaligned.
func TestSeed12_1EvidenceAlignment(t *testing.T) {
	t.Parallel()
	messages := []schema.Message{{Index: 0, Text: "먼저 결정합시다."}, {Index: 1, Text: "content JSONB → JSON 으로 바꿉니다."}}
	found, aligned := evidence.Align(messages, []schema.Quote{{MessageIndex: 1, Quote: "JSONB → JSON"}})
	require.True(t, aligned)
	require.Equal(t, schema.Span{ByteStart: 8, ByteEnd: 22, RuneStart: 8, RuneEnd: 20}, found[0].Span)
	require.Equal(t, "JSONB → JSON", messages[1].Text[found[0].Span.ByteStart:found[0].Span.ByteEnd])
	missing, aligned := evidence.Align(messages, []schema.Quote{{MessageIndex: 1, Quote: "JSONB → JSON"}, {MessageIndex: 1, Quote: "VARCHAR instead of JSON"}})
	require.False(t, aligned)
	require.True(t, missing[0].Aligned)
	require.Equal(t, schema.ReasonNotFound, missing[1].Reason)
}

func TestAnEllipsisMayLeaveOutNothing(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("½ ", 40) + "alphax,gammax"
	e := align(text, "alphax,…gammax")
	require.True(t, e.Found)
	require.NoError(t, evidence.Verify(text, e, evidence.Rule))
}
