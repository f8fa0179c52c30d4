package tier

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/activities/ledger"
	"axiommind/schema"
)

// A dream reads no fact and no entry that graduation has ended or that is contested. A day that holds one less than it
// did is read again.
func TestGatherReadsWhatIsBelieved(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, silent), user: "ann", agent: "coder"}
	scope := schema.Scope{Project: "red", User: m.user, Agent: m.agent}
	w, err := fact.NewWriter(m.log, m.conn, fact.Options{})
	require.NoError(t, err)
	confidence := 0.9
	ids := map[string]string{}
	for _, title := range []string{"Likes tea.", "Owns a boat.", "Lives in Bonn.", "Lives in Rome."} {
		e := schema.Entry{
			Type: schema.EntryFact, Category: schema.CategoryContext, Title: title, Scope: scope, Confidence: &confidence,
			OccurredAt: m.clock, EvidenceProven: true, EvidenceAligned: true,
		}
		e.ID = m.entry(t, scope, e)
		ids[title] = e.ID
		in := FlushRequest{SessionKey: schema.SessionKey{Scope: scope, SessionID: "s"}}
		_, err = ledger.Batch(t.Context(), m.log, w.Sessions(), boundary.Batch[FlushRequest]{Items: []FlushRequest{in}}, func(context.Context, FlushRequest) (fact.Batch, error) {
			return fact.Batch{User: m.user, Agent: m.agent, Project: "red", SessionID: "s", Entries: []schema.Entry{e}}, nil
		})
		require.NoError(t, err)
	}
	read := func() map[string][]schema.SourceKind {
		out := map[string][]schema.SourceKind{}
		_, p := m.gather(t, GatherInput{})
		require.Len(t, p.Days, 1)
		for _, s := range p.Days[0].Sources {
			out[s.Text] = append(out[s.Text], s.Kind)
		}
		return out
	}
	both := []schema.SourceKind{schema.SourceEntry, schema.SourceFact}
	require.Equal(t, map[string][]schema.SourceKind{"Likes tea.": both, "Owns a boat.": both, "Lives in Bonn.": both, "Lives in Rome.": both}, read())
	_, p := m.gather(t, GatherInput{})
	m.read(t, 1, schema.DreamUnchanged, p.Days...)

	for _, payload := range []any{
		schema.EntryRetiredPayload{Scope: scope, EntryID: ids["Owns a boat."], Status: schema.StatusDeprecated, Because: "sold", By: "ann"},
		schema.ConflictDetectedPayload{Scope: scope, ConflictID: "c", OlderID: ids["Lives in Bonn."], NewerID: ids["Lives in Rome."]},
	} {
		data, err := json.Marshal(payload)
		require.NoError(t, err)
		event, err := schema.NewEvent(payload, schema.Event{TS: m.clock, Actor: "test", DedupeKey: schema.GraduateOfCommandKey("red", schema.HashText(string(data)), 0)})
		require.NoError(t, err)
		_, err = m.log.Append(t.Context(), schema.GraduateStream("red"), []schema.Event{event})
		require.NoError(t, err)
	}
	_, err = m.log.Project(t.Context(), entry.NewProjector(m.conn), schema.GraduateStream("red"))
	require.NoError(t, err)
	require.Equal(t, map[string][]schema.SourceKind{"Likes tea.": both}, read())
}
