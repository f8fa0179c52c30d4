package llm

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/session"
	"axiommind/schema"
)

// A statement of one line is its own title; a longer one has its first sentence for a title, and is kept whole.
func TestStatedTitle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("그리고 또 하나. ", 40)
	for statement, want := range map[string][2]string{
		" The limit is 8 since May. \n":              {"The limit is 8 since May.", ""},
		"Call __init__ in `C#`: \"it's\" 的":          {"Call __init__ in `C#`: \"it's\" 的", ""},
		"The limit is 8.\nIt was 5.":                 {"The limit is 8.", "The limit is 8.\nIt was 5."},
		"```\nmake all\n```":                         {"make all", "```\nmake all\n```"},
		"상한은 8이다. " + long:                           {"상한은 8이다.", strings.TrimSpace("상한은 8이다. " + long)},
		"one\u2028two":                               {"one", "one\u2028two"},
		strings.Repeat("word ", 100) + "and the end": {strings.TrimSpace(strings.Repeat("word ", 39)) + " word…", strings.Repeat("word ", 100) + "and the end"},
	} {
		title, content := statedTitle(statement)
		require.Equal(t, want, [2]string{title, content})
	}
}

// Whatever a person states is one entry, with a title that is not too long and the whole message as its quote.
func TestPersonStatesOneEntry(t *testing.T) {
	t.Parallel()
	a := (&Activities{}).asPerson(schema.Statement{Type: schema.EntryFact, Corrects: "e'1"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Filter(func(s string) bool {
			return utf8.ValidString(s) && !strings.Contains(s, "\x00") && strings.ContainsFunc(s, schema.Worded)
		}).Draw(t, "text")
		response, err := a.model.Generate(t.Context(), Request{Window: []schema.Message{{Index: 7, Text: text}}})
		require.NoError(t, err)
		result, err := readResponse(response)
		require.NoError(t, err)
		require.Empty(t, result.Rejected)
		require.Len(t, result.Entries, 1)
		e := result.Entries[0]
		require.Empty(t, e.Corrects, "no answer says what is corrected")
		require.NotEmpty(t, e.Title)
		require.LessOrEqual(t, utf8.RuneCountInString(e.Title), maxStatedTitle)
		require.Equal(t, []schema.Quote{{MessageIndex: 7, Quote: strings.TrimSpace(text)}}, e.Evidence)
	})
}

// A person's statement is recorded as the person's, without a model, once, and in one window that no setting of the
// worker divides. Only a person corrects an entry.
func TestPlanTakesStatement(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.windowBytes = 1 << 10
	b.say(t, message(schema.RoleUser, schema.KindText, "The limit is 8.\n"+strings.Repeat("가나다. ", 600)))
	said := schema.Statement{Type: schema.EntryFact, Category: schema.CategoryKnowledge, Corrects: "e'1"}
	in := PlanInput{SessionKey: b.key, BuildID: "b1", Extractor: schema.PersonExtractor(), At: time.UnixMicro(1), Statement: &said}
	for range 2 {
		plan, err := Plan(t.Context(), b.Activities, in)
		require.NoError(t, err)
		require.Empty(t, plan.Windows)
		require.False(t, plan.More)
		require.Equal(t, 1, plan.Recorded.Entries)
	}
	var found []schema.MemoryExtractedPayload
	for x, err := range extractions(t.Context(), b.log, b.key) {
		require.NoError(t, err)
		found = append(found, x.MemoryExtractedPayload)
	}
	require.Len(t, found, 1)
	require.Equal(t, schema.PersonExtractor(), found[0].Extractor)
	require.Equal(t, "The limit is 8.", found[0].Entries[0].Title)
	require.Equal(t, "e'1", found[0].Entries[0].Corrects)
	require.Equal(t, schema.CategoryKnowledge, found[0].Entries[0].Category)

	in.Statement = nil
	_, err := Plan(t.Context(), b.Activities, in)
	require.ErrorContains(t, err, "the build began with extractor person/statement")
	s, err := session.Open(t.Context(), b.log, b.key)
	require.NoError(t, err)
	replayed, err := b.asPerson(said).readHere(t.Context(), s, ExtractInput{SessionKey: b.key, Window: found[0].Window})
	require.NoError(t, err)
	require.Equal(t, found[0].Entries, replayed.Entries)
}
