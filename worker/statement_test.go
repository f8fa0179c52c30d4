package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// stating is the input of a person's statement, in its own session.
func (b *bench) stating(text string, s schema.Statement) schema.ProcessSessionInput {
	in := b.input("", "")
	in.Messages = []schema.InlineMessage{{Role: "user", Content: text}}
	in.Statement, in.Date = &s, "2026-03-01T10:00:00Z"
	in.SessionID = in.StatementSessionID()
	return in
}

// A person's statement takes the way of every session: it is proven, found, replayed and rebuilt. Stated again it is
// the same act (I1), and no other extractor supersedes it.
func TestI1StatementIsOneAct(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	in := b.stating("The limit of exports is 8 「여덟」 since 'May'.", schema.Statement{
		Type: schema.EntryFact, Category: schema.CategoryKnowledge, Corrects: "0e9f1d3c-5a0b-5a52-9d3e-000000000001",
	})
	result := b.process(t, in)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, 1, result.Counts.Entries)
	require.Equal(t, 1, result.Counts.Facts)
	require.Equal(t, 1, result.Counts.Indexed)
	rows := b.requireProven(t, in.SessionID)
	require.Len(t, rows, 1)
	row, err := entry.NewReader(b.ClickHouse).Get(t.Context(), b.project, rows[0].ID)
	require.NoError(t, err)
	require.Equal(t, in.Messages[0].Content, row.Title)
	require.Equal(t, in.Statement.Corrects, row.Corrects)
	require.Equal(t, schema.CategoryKnowledge, row.Category)
	require.True(t, row.EvidenceProven)
	require.Equal(t, "2026-03-01T10:00:00Z", row.OccurredAt.Format("2006-01-02T15:04:05Z"))

	long := b.stating("Exports run at night.\nThey take two hours.\n\n- and they must not fail", schema.Statement{Type: schema.EntryInsight})
	require.Equal(t, 1, b.process(t, long).Counts.ProvenEntries)
	b.requireSame(t, result.BuildID)

	before := b.once(t)
	in.Date = "2026-04-01"
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status, "I1")
	fromLog := b.input(in.SessionID, "")
	fromLog.FromLog = true
	require.Equal(t, schema.BuildUnchanged, b.process(t, fromLog).Status)
	talk := b.input(in.SessionID, "")
	talk.Messages = []schema.InlineMessage{{Role: "user", Content: "We decided to use Kafka."}}
	_, err = b.try(t.Context(), talk)
	requireFailure(t, err, schema.ErrorInvalidInput, "holds a person's statement")
	require.Equal(t, before, b.once(t))
	require.Zero(t, b.backfilled(t, schema.BackfillSessionsInput{}).Items, "no other extractor is asked")
	b.awaitGraduated(t.Context(), t)
	if inCampaign(t) {
		before = b.rows(t)
		b.rebuild(t)
		require.Equal(t, before, b.rows(t), "I3")
		t.Log("survived: rebuild of a statement")
	}
}

// A statement whose build failed is tried again as a statement.
func retryOfStatement(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	b := newBench(t)
	b.start(t)
	rename := func(from, to string) {
		require.NoError(t, b.ClickHouse.Exec(t.Context(), "RENAME TABLE "+from+" TO "+to))
	}
	rename("entries_raw", "entries_lost")
	in := b.stating("We ship on Mondays.", schema.Statement{Type: schema.EntryDecision})
	_, err := b.try(t.Context(), in)
	require.Error(t, err)
	starts, _ := b.builds(t, in.SessionID)
	rename("entries_lost", "entries_raw")
	result, err := b.retry(t, in.SessionID, starts[0].BuildID)
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Len(t, b.requireProven(t, in.SessionID), 1)
	starts, ends := b.builds(t, in.SessionID)
	require.Equal(t, in.Statement, starts[1].Statement)
	require.Equal(t, schema.PersonExtractor().ID(), ends[1].ExtractorID)
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
}
