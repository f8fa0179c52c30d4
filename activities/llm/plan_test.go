package llm

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

const (
	windowSize = 64
	tooSmall   = 8
)

// drawMessage draws a message of any length, a blank one at times, which need not be one to extract from.
func drawMessage(t *rapid.T, index int) schema.Message {
	return schema.Message{
		Index: index, Role: schema.RoleUser,
		Kind: rapid.SampledFrom([]schema.Kind{schema.KindText, schema.KindText, schema.KindThinking}).Draw(t, "kind"),
		Text: rapid.StringOfN(rapid.RuneFrom([]rune("ab é한국👩‍👩‍👧\n\t　")), 0, 200, -1).Draw(t, "text"),
	}
}

func streamOf(messages []schema.Message) iter.Seq2[schema.Message, error] {
	return func(yield func(schema.Message, error) bool) {
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Of a window that nothing is kept of, the log is not read: there is none here.
func TestKeptReadsNoLogInVain(t *testing.T) {
	t.Parallel()
	a := &Activities{}
	for _, windows := range [][]schema.Window{nil, {{Hash: "h"}}, {{Hash: "h", Asked: 3}, {Hash: "i"}}} {
		kept, err := a.kept(t.Context(), schema.SessionKey{}, schema.Extractor{}, windows...)
		require.NoError(t, err)
		require.Empty(t, kept)
	}
	require.Panics(t, func() {
		_, _ = a.kept(t.Context(), schema.SessionKey{}, schema.Extractor{}, schema.Window{Hash: "h", Asked: 1, Kept: true})
	})
}

func entryOf(title string, quotes ...string) schema.ExtractedEntry {
	e := schema.ExtractedEntry{Type: schema.EntryDecision, Title: title}
	for i, q := range quotes {
		e.Evidence = append(e.Evidence, schema.Quote{MessageIndex: i, Quote: q})
	}
	return e
}

// The answer after a truncated one adds new entries. Repeated ones are not kept twice, and other titles for the same
// quotes are rejected.
func TestAddRest(t *testing.T) {
	t.Parallel()
	kept := []schema.ExtractedEntry{entryOf("Use Go", "we use Go"), entryOf("Two", "a", "b")}
	fact := entryOf("Use Go", "we use Go")
	fact.Type = schema.EntryFact
	turned := schema.ExtractedEntry{Type: schema.EntryDecision, Title: "Both", Evidence: []schema.Quote{
		{MessageIndex: 1, Quote: "b"}, {MessageIndex: 0, Quote: "a"},
	}}
	added := []schema.ExtractedEntry{
		entryOf("Use tabs", "we use tabs"), fact, entryOf("Use Go", "we use Go", "and tabs"), entryOf("Unproven"),
	}
	p := schema.MemoryExtractedPayload{}
	require.NoError(t, addRest(&p, kept, append([]schema.ExtractedEntry{kept[0], entryOf("Go it is", "we use Go"), turned}, added...)))
	require.Equal(t, added, p.Entries)
	require.Len(t, p.Rejected, 2)
	require.Equal(t, 1, p.Rejected[0].Index)
	require.Equal(t, `an earlier answer gave "Use Go" with the same quotes`, p.Rejected[0].Reason)
	require.Contains(t, string(p.Rejected[0].Raw), "Go it is")
	require.Equal(t, 2, p.Rejected[1].Index)
}

func TestRestRequest(t *testing.T) {
	t.Parallel()
	req := ExtractionRequest(testWindow(), Params{})
	rest := RestRequest(req, []schema.ExtractedEntry{entryOf("Use \"Go\"\n{\"entries\":[]}"), entryOf("Use tabs")})
	require.Contains(t, rest.Prompt, req.Prompt+"\n"+restPrompt)
	require.Contains(t, rest.Prompt, `{"type":"decision","title":"Use \"Go\"\n{\"entries\":[]}"}`+"\n"+`{"type":"decision","title":"Use tabs"}`)
	require.Equal(t, req.System, rest.System)
	require.Equal(t, req.Schema, rest.Schema)
}

func TestGroundedTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, quote, want string }{
		{"You're welcome!", "Thank you, that **helped**.", "Thank you, that helped."},
		{"The dog needs a garden.", "Ich habe einen Hund, deshalb brauche ich einen Garten.", "Ich habe einen Hund, deshalb brauche ich einen Garten."},
		{"Backups run at two.", "The backup runs at 02:00.", "Backups run at two."},
		{"周五不部署", "不要在周五部署，周五没有人值班。", "周五不部署"},
		{"The user likes it.", "!?", "The user likes it."},
	} {
		said := []schema.Message{{Index: 1, Text: "Well. " + c.quote + " Bye."}}
		e := schema.ExtractedEntry{Title: c.title, Task: &schema.ExtractedTask{Title: c.title}, Evidence: []schema.Quote{
			{Quote: "Invented.", MessageIndex: 1}, {Quote: c.quote, MessageIndex: 1},
		}}
		if !grounded(e) {
			ground(&e, said)
		}
		require.Equal(t, c.want, e.Title)
		require.Equal(t, c.want, e.Task.Title)
	}
	require.True(t, grounded(schema.ExtractedEntry{Title: "Works in shifts.", Section: "work", Evidence: []schema.Quote{{Quote: "I'm a nurse."}}}))
}
