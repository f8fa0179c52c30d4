package llm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// An act of an agent is remembered whichever model is asked, and once: not again by the model's own words.
func TestActsBesideAModel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	commit := message(schema.RoleAssistant, schema.KindCommit, "We decided to use SQLite")
	commit.CallID = "1"
	b.say(t, message(schema.RoleUser, schema.KindText, "We decided to use the database for all parts."), commit)
	plan, err := b.plan(t.Context(), PlanInput{SessionKey: b.key, BuildID: "b", Extractor: ExtractorOf(b.model.Identity()), At: time.UnixMicro(1)})
	require.NoError(t, err)
	require.Len(t, plan.Windows, 1)
	require.True(t, plan.Windows[0].Acts)
	in := ExtractInput{SessionKey: b.key, BuildID: "b", Extractor: ExtractorOf(b.model.Identity()), Window: plan.Windows[0]}
	require.Contains(t, b.ask(t, plan.Windows[0]).Prompt, commit.Text, "a model reads it, to understand the rest")
	answered, err := b.extract(t.Context(), in)
	require.NoError(t, err)
	p := schema.MemoryExtractedPayload{SessionID: "s", Window: in.Window, Extractor: in.Extractor, ResponseKeys: []string{answered.Key}}
	require.NoError(t, b.readInto(t.Context(), b.key, nil, &p))
	require.Len(t, p.Entries, 2)
	require.Equal(t, schema.EntryDecision, p.Entries[0].Type)
	require.Equal(t, []schema.Quote{{MessageIndex: 1, Quote: commit.Text}}, p.Entries[1].Evidence)
	require.Equal(t, schema.EntryReference, p.Entries[1].Type)
}
