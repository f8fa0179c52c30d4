package retrieve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Entries promoted by a session's check or by graduation are found by their stage. Unproven entries are not verified,
// and contested ones not certified.
func TestStagesOfGraduation(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	e := b.add(t,
		schema.Entry{Title: "The invoices live in Postgres.", Stage: schema.StageVerified, SessionID: "s1"},
		schema.Entry{Title: "The invoices are archived.", SessionID: "s2"},
		schema.Entry{Title: "The invoices cost nothing.", SessionID: "s3"},
	)
	stages := func(wanted ...schema.Stage) []string {
		return titles(b.search(t, Query{Text: "invoices", Stages: wanted}).Hits)
	}
	b.promote(t, schema.StageCandidate, e[1])
	b.promote(t, schema.StageVerified, e[2])
	require.Equal(t, []string{e[0].Title}, stages(schema.StageVerified))
	require.ElementsMatch(t, []string{e[1].Title, e[2].Title}, stages(schema.StageCandidate), "what is not proven is not verified")
	b.graduate(t, start, "red", schema.EntryGraduatedPayload{EntryID: e[0].ID, From: schema.StageVerified, To: schema.StageCertified})
	require.Equal(t, []string{e[0].Title}, stages(schema.StageCertified))
	require.Empty(t, stages(schema.StageVerified))
	require.InDelta(t, 1, b.search(t, Query{Text: "invoices in Postgres"}).Hits[0].Explain.StageWeight, 0)

	conflict := schema.ConflictID("red", e[0].ID, e[1].ID)
	b.graduate(t, start, "red", schema.ConflictDetectedPayload{ConflictID: conflict, OlderID: e[0].ID, NewerID: e[1].ID})
	contested := b.search(t, Query{Text: "invoices", Stages: []schema.Stage{schema.StageVerified}}).Hits
	require.Equal(t, []string{e[0].Title}, titles(contested), "what is contested is not certified")
	require.Equal(t, schema.StatusContested, contested[0].Status)
	require.Equal(t, 1, contested[0].Conflicts)
	require.Equal(t, []Mention{{e[1].ID, e[1].Title}}, contested[0].ContestedBy)
	require.InDelta(t, 0.6, contested[0].Explain.StatusPenalty, 0)

	b.graduate(t, start, "red", schema.ConflictResolvedPayload{ConflictID: conflict, OlderID: e[0].ID, NewerID: e[1].ID, Kept: e[0].ID})
	resolved := b.search(t, Query{Text: "invoices", Stages: []schema.Stage{schema.StageCertified}}).Hits
	require.Equal(t, []string{e[0].Title}, titles(resolved))
	require.Empty(t, resolved[0].ContestedBy)
}

// A statement of several sessions in different words is one hit, whether the index finds all of them or not, and is
// shown by the best of them. Without the link they are separate hits again.
func TestSayingTheSameIsOneHit(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	e := b.add(t,
		schema.Entry{Title: "Deploys are forbidden on Fridays.", SessionID: "s1", OccurredAt: start.AddDate(0, 0, -3)},
		schema.Entry{Title: "On Fridays we never deploy.", SessionID: "s2", OccurredAt: start.AddDate(0, 0, -2), Stage: schema.StageVerified},
		schema.Entry{Title: "on fridays we never deploy", SessionID: "s3", OccurredAt: start.AddDate(0, 0, -1)},
		schema.Entry{Title: "No shipping before the weekend!", SessionID: "s4", OccurredAt: start},
		schema.Entry{Title: "We never deploy by hand.", SessionID: "s5"},
	)
	link := func(original string, linked ...schema.Entry) {
		for _, x := range linked {
			b.graduate(t, start, "red", schema.EntryLinkedPayload{EntryID: x.ID, OriginalID: original})
		}
	}
	link(e[0].ID, e[1], e[3])
	r := b.search(t, Query{Text: "never deploy on Fridays"})
	require.Len(t, r.Hits, 2)
	h := r.Hits[0]
	require.Equal(t, []string{e[1].ID, e[0].ID}, []string{h.ID, h.OriginalID}, "the best stands for all")
	require.Len(t, h.Sessions, 4)
	for i, want := range []schema.Entry{e[1], e[3], e[2], e[0]} {
		require.Equal(t, []string{want.ID, want.SessionID, want.Title}, []string{h.Sessions[i].EntryID, h.Sessions[i].SessionID, h.Sessions[i].Title})
		require.Equal(t, want.Title, h.Sessions[i].Evidence[0].Text)
	}
	require.Greater(t, h.Explain.Corroboration, r.Hits[1].Explain.Corroboration)
	require.Len(t, b.search(t, Query{Text: "never deploy on Fridays", SessionID: "s2"}).Hits[0].Sessions, 1)

	b.graduate(t, start, "red", schema.EntryRetiredPayload{EntryID: e[3].ID, Status: schema.StatusDeprecated, Because: "vague", By: "ann"})
	require.Len(t, b.search(t, Query{Text: "never deploy on Fridays"}).Hits[0].Sessions, 3, "what is retired says nothing any longer")
	link("", e[1])
	require.Len(t, b.search(t, Query{Text: "never deploy on Fridays"}).Hits, 3)
}

// Retired and superseded entries are left out and counted, never rank above their successors, and were believed until
// their end.
func TestBelief(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	e := b.add(t,
		schema.Entry{Title: "The queue is Redis, the queue of orders.", SessionID: "s1", OccurredAt: day(-30), Stage: schema.StageVerified},
		schema.Entry{Title: "Orders wait in Kafka.", SessionID: "s2", OccurredAt: day(-20)},
		schema.Entry{Title: "Orders wait in NATS.", SessionID: "s3", OccurredAt: day(-10)},
		schema.Entry{Title: "The queue of orders is long.", SessionID: "s4", OccurredAt: day(-25)},
		schema.Entry{Title: "The queue of orders is short.", SessionID: "s5", OccurredAt: day(-5)},
		schema.Entry{Title: "The queue of orders is misread.", SessionID: "s6", OccurredAt: day(-28), Status: schema.StatusSuperseded},
	)
	// The correction was found long after it was said; a person retired and contested later still.
	b.graduate(t, day(-1), "red",
		schema.EntryRetiredPayload{EntryID: e[0].ID, Status: schema.StatusSuperseded, SupersededBy: e[1].ID, Because: "said so", By: schema.RetiredByCorrection})
	b.graduate(t, day(0), "red",
		schema.EntryRetiredPayload{EntryID: e[1].ID, Status: schema.StatusSuperseded, SupersededBy: e[2].ID, Because: "moved", By: "ann"},
		schema.ConflictDetectedPayload{ConflictID: "c", OlderID: e[3].ID, NewerID: e[4].ID})

	now := b.search(t, Query{Text: "the queue of orders"})
	require.ElementsMatch(t, []string{e[2].Title, e[3].Title, e[4].Title}, titles(now.Hits))
	require.Equal(t, 3, now.Superseded)

	all := b.search(t, Query{Text: "the queue of orders is Redis", Superseded: true})
	place := map[string]int{}
	for i, h := range all.Hits {
		place[h.ID] = i
	}
	require.Len(t, place, 6)
	require.Less(t, place[e[2].ID], place[e[1].ID])
	require.Less(t, place[e[1].ID], place[e[0].ID])
	oldest := all.Hits[place[e[0].ID]]
	require.NotNil(t, oldest.Explain.Limit)
	require.Equal(t, []string{e[1].ID, e[1].Title, "said so", schema.RetiredByCorrection},
		[]string{oldest.SupersededBy, oldest.SupersededByTitle, oldest.EndedBecause, oldest.EndedBy})
	require.Equal(t, day(-20), oldest.EndedAt.UTC(), "when the correction was said")
	require.Equal(t, day(0), all.Hits[place[e[1].ID]].EndedAt.UTC())
	// This also holds if the successor came by way of one that is not found.
	require.Equal(t, []string{e[2].ID, e[0].ID}, func() (ids []string) {
		for _, h := range b.search(t, Query{Text: "Redis NATS", Superseded: true}).Hits {
			ids = append(ids, h.ID)
		}
		return ids
	}())

	asOf := func(at time.Time) map[string]schema.Status {
		out := map[string]schema.Status{}
		for _, h := range b.search(t, Query{Text: "the queue of orders", AsOf: at}).Hits {
			out[h.Title] = h.Status
		}
		return out
	}
	require.Empty(t, asOf(day(-30).Add(-time.Microsecond)))
	require.Equal(t, map[string]schema.Status{e[0].Title: schema.StatusActive}, asOf(day(-30)))
	require.Equal(t, map[string]schema.Status{e[0].Title: schema.StatusActive, e[3].Title: schema.StatusActive},
		asOf(day(-20).Add(-time.Microsecond)), "nothing contested it yet")
	require.Equal(t, map[string]schema.Status{e[1].Title: schema.StatusActive, e[3].Title: schema.StatusActive}, asOf(day(-20)))
	require.Equal(t, map[string]schema.Status{
		e[1].Title: schema.StatusActive, e[2].Title: schema.StatusActive,
		e[3].Title: schema.StatusContested, e[4].Title: schema.StatusContested,
	}, asOf(day(-5)))
	require.Equal(t, map[string]schema.Status{
		e[2].Title: schema.StatusActive, e[3].Title: schema.StatusContested, e[4].Title: schema.StatusContested,
	}, asOf(day(0)))
	then := b.search(t, Query{Text: "Redis", AsOf: day(-21)}).Hits
	require.Equal(t, []string{e[0].Title}, titles(then))
	require.Equal(t, day(-20), then[0].EndedAt.UTC(), "it says until when it was believed")
	require.Zero(t, b.search(t, Query{Text: "the queue", AsOf: day(-21)}).Hits[0].Conflicts)
	require.InDelta(t, 1, then[0].Explain.StatusPenalty, 0)
	require.Len(t, b.search(t, Query{Text: "the queue of orders", AsOf: day(-5), To: day(-20), From: day(-29)}).Hits, 1, "To is a bound of its own")

	b.graduate(t, day(1), "red", schema.EntryRestoredPayload{EntryID: e[0].ID, By: "ann"})
	require.Contains(t, titles(b.search(t, Query{Text: "Redis"}).Hits), e[0].Title)
}
