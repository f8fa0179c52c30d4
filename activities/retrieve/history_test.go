package retrieve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// Changes made today do not change the beliefs of earlier times.
func TestAsOfKeepsHistory(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	e := b.add(t,
		schema.Entry{Title: "The invoices live in Postgres.", SessionID: "s1", OccurredAt: day(-30)},
		schema.Entry{Title: "The invoices live in MySQL.", SessionID: "s2", OccurredAt: day(-29)},
		schema.Entry{Title: "The invoices are blue.", SessionID: "s3", OccurredAt: day(-29)},
	)
	id := schema.ConflictID("red", e[0].ID, e[1].ID)
	detected := schema.ConflictDetectedPayload{ConflictID: id, OlderID: e[0].ID, NewerID: e[1].ID}
	b.graduate(t, day(-28), "red", detected)
	b.graduate(t, day(-25), "red", schema.EntryRetiredPayload{EntryID: e[2].ID, Status: schema.StatusDeprecated, Because: "misread", By: "ann"})
	ask := func(n int) map[string]Hit {
		out := map[string]Hit{}
		for _, h := range b.search(t, Query{Text: "invoices", AsOf: day(n)}).Hits {
			out[h.ID] = h
		}
		return out
	}
	before := ask(-20)
	require.Len(t, before, 2)
	require.Equal(t, schema.StatusContested, before[e[0].ID].Status)
	require.Equal(t, []Mention{{e[1].ID, e[1].Title}}, before[e[0].ID].ContestedBy)

	b.graduate(t, day(-10), "red",
		schema.ConflictResolvedPayload{ConflictID: id, OlderID: e[0].ID, NewerID: e[1].ID, Kept: e[0].ID, By: "ann"},
		schema.EntryRetiredPayload{EntryID: e[1].ID, Status: schema.StatusSuperseded, SupersededBy: e[0].ID, Because: "moved", By: "ann"})
	b.graduate(t, day(-5), "red", schema.EntryRestoredPayload{EntryID: e[2].ID, By: "ann"})
	b.graduate(t, day(-2), "red", schema.EntryRestoredPayload{EntryID: e[1].ID, By: "ann"}, detected)

	after := ask(-20)
	require.Len(t, after, 2)
	for id, h := range after {
		require.Equal(t, []any{before[id].Status, before[id].ContestedBy}, []any{h.Status, h.ContestedBy})
	}
	require.Equal(t, day(-10), after[e[1].ID].EndedAt.UTC(), "until when it was believed")
	require.Len(t, ask(-26), 3)
	require.Equal(t, schema.StatusActive, ask(-10)[e[0].ID].Status)
	require.NotContains(t, ask(-10), e[1].ID)
	require.Equal(t, schema.StatusActive, ask(-5)[e[2].ID].Status)
	require.Equal(t, schema.StatusActive, ask(-3)[e[0].ID].Status, "contested again later")
	require.Equal(t, schema.StatusContested, ask(-2)[e[0].ID].Status)
}

// told is an act of the test, in the order of the log.
type told struct {
	at time.Time
	// retires, restores and builds name an entry, the others a conflict between two.
	retires, restores, builds, detects, resolves bool
	a, b                                         int
	// by is the entry that a correction is.
	by int
}

// plain returns the status of the entry at the time, by all events up to it.
func plain(all []told, said []time.Time, i int, at time.Time) schema.Status {
	retired, misread, open, seen := false, false, map[int]bool{}, map[int]bool{}
	for _, x := range all {
		since := x.at
		from := time.Time{}
		switch {
		case x.detects && !seen[x.a*10+x.b]:
			seen[x.a*10+x.b] = true
			from = said[max(x.a, x.b)]
		case x.retires && x.by > x.a:
			from = said[x.by]
		}
		if !from.IsZero() && from.Before(since) {
			since = from
		}
		if x.builds && at.Before(start) {
			since = at // Not yet recorded: it is read as it is now.
		}
		if since.After(at) {
			continue
		}
		switch {
		case (x.retires || x.restores) && x.a == i:
			retired = x.retires
		case x.builds && x.a == i:
			misread = x.by > 0
		case x.a == i || x.b == i:
			if x.detects || x.resolves {
				open[x.a*10+x.b] = x.detects
			}
		}
	}
	switch {
	case retired:
		return schema.StatusDeprecated
	case misread:
		return schema.StatusSuperseded
	}
	for _, is := range open {
		if is {
			return schema.StatusContested
		}
	}
	return schema.StatusActive
}

func TestAsOfIsAFold(t *testing.T) {
	t.Parallel()
	asOfIsAFold(t, stacktest.Draw(t, 1, histories))
}

// histories is the number of random histories of the campaign.
const histories = 2

func asOfIsAFold(t *testing.T, seeds []int) {
	t.Helper()
	b := newHashBench(t)
	const entries = 4
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			project := fmt.Sprintf("fold-%d", seed)
			e := make([]schema.Entry, entries)
			said := make([]time.Time, entries)
			for i := range e {
				said[i] = start.AddDate(0, 0, -20+4*i)
				e[i] = schema.Entry{Scope: schema.Scope{Project: project}, Title: fmt.Sprintf("The invoices, part %d.", i), SessionID: fmt.Sprintf("s%d", i), OccurredAt: said[i]}
			}
			e = b.add(t, e...)
			var all []told
			events := map[string][]schema.Event{}
			acted := func(at time.Time, payload any) {
				stream := schema.GraduateStream(project)
				event, err := schema.NewEvent(payload, schema.Event{
					TS: at, Actor: "test", Project: project, DedupeKey: schema.GraduateOfCommandKey(project, fmt.Sprint(len(events[stream])), 0),
				})
				require.NoError(t, err)
				events[stream] = append(events[stream], event)
			}
			for n := range 25 {
				x := told{at: start.AddDate(0, 0, r.IntN(40)-25), a: r.IntN(entries), by: -1}
				x.b = x.a
				conflict := func() (string, string, string) {
					if x.a == entries-1 {
						x.a--
					}
					x.b = x.a + 1 + r.IntN(entries-x.a-1)
					return schema.ConflictID(project, e[x.a].ID, e[x.b].ID), e[x.a].ID, e[x.b].ID
				}
				switch r.IntN(6) {
				case 0:
					x.retires = true
					p := schema.EntryRetiredPayload{EntryID: e[x.a].ID, Status: schema.StatusDeprecated, Because: fmt.Sprint(n), By: "ann"}
					if x.a < entries-1 && r.IntN(2) == 0 {
						x.by = x.a + 1
						p.By, p.SupersededBy = schema.RetiredByCorrection, e[x.by].ID
					}
					acted(x.at, p)
				case 1:
					x.restores = true
					acted(x.at, schema.EntryRestoredPayload{EntryID: e[x.a].ID, Because: fmt.Sprint(n), By: "ann"})
				case 2:
					x.builds, x.by, x.at = true, r.IntN(2), start.AddDate(0, 0, r.IntN(15))
					p := schema.EntryStatusSetPayload{EntryID: e[x.a].ID, Number: n, Status: schema.StatusActive}
					if x.by > 0 {
						p.Status = schema.StatusSuperseded
					}
					event, err := schema.NewEvent(p, schema.Event{
						TS: x.at, Actor: "test", SessionID: e[x.a].SessionID, Project: project, DedupeKey: schema.EntryStatusSetKey(e[x.a].ID, n),
					})
					require.NoError(t, err)
					stream := e[x.a].Session().Stream()
					events[stream] = append(events[stream], event)
				case 3:
					x.resolves = true
					id, older, newer := conflict()
					acted(x.at, schema.ConflictResolvedPayload{ConflictID: id, OlderID: older, NewerID: newer, Because: fmt.Sprint(n)})
				default:
					x.detects = true
					id, older, newer := conflict()
					acted(x.at, schema.ConflictDetectedPayload{ConflictID: id, OlderID: older, NewerID: newer, Reason: fmt.Sprint(n)})
				}
				all = append(all, x)
			}
			for stream, of := range events {
				b.appendTo(t, stream, of)
			}
			for day := -21; day <= 16; day += 2 {
				at := start.AddDate(0, 0, day)
				want, got := map[string]schema.Status{}, map[string]schema.Status{}
				for i := range e {
					if !said[i].After(at) {
						want[e[i].Title] = plain(all, said, i, at)
					}
				}
				for _, h := range b.search(t, Query{Project: project, Text: "invoices", AsOf: at, Superseded: true}).Hits {
					got[h.Title] = h.Status
				}
				require.Equal(t, want, got, "day %d of %+v", day, all)
			}
			// The final status equals the tables'.
			rows, err := entry.NewReader(b.conn).Read(t.Context(), entry.InProject(project), entry.Lifecycle)
			require.NoError(t, err)
			for i, row := range rows {
				for k := range e {
					if e[k].ID == row.ID {
						require.Equal(t, row.Status, plain(all, said, k, start.AddDate(1, 0, 0)), i)
					}
				}
			}
		})
	}
}

// BenchmarkAsOf searches a project with 100,000 acts of graduation, now and as of an earlier day.
func BenchmarkAsOf(b *testing.B) {
	n := newHashBench(b)
	var e []schema.Entry
	for i := range 100 {
		e = append(e, schema.Entry{Title: fmt.Sprintf("The invoices, part %d.", i), SessionID: fmt.Sprintf("s%d", i), OccurredAt: start.AddDate(0, 0, -9)})
	}
	e = n.add(b, e...)
	detected, err := json.Marshal(schema.ConflictDetectedPayload{
		Scope: e[0].Scope, OlderID: "OLDER", NewerID: "newer", ConflictType: "value", Reason: "one says 30 seconds, and the other one 60 seconds",
	})
	require.NoError(b, err)
	require.NoError(b, n.conn.Exec(b.Context(), `INSERT INTO events_raw (event_id, stream, seq, event_type, ts, project, payload_json)
		SELECT lower(hex(sipHash128(number))), ?, number + 1, if(number % 3 = 0, 'conflict_detected', 'session_graduated'), ?, 'red',
		replaceOne(?, 'OLDER', lower(hex(sipHash128(number, 1)))) FROM numbers(300000)`,
		schema.GraduateStream("red"), start, string(detected)))
	for name, at := range map[string]time.Time{"now": {}, "then": start.AddDate(0, 0, -1)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NotEmpty(b, n.search(b, Query{Text: "invoices", AsOf: at}).Hits)
			}
		})
	}
}
