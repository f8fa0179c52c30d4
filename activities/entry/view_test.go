package entry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// An act is an event of a random history: an entry, or a judgement of one, in the stream of a session.
type act struct {
	session, entry, origin int
	is                     string
	made                   bool
	// status is set in a change of the entry's status, in the entry's own session.
	status schema.Status
}

// acts are histories of two sessions with entries of their own, which judge each other's too. The original evidence of
// an entry is judged in its own session alone, as everything of one origin is.
var acts = rapid.Custom(func(t *rapid.T) []act {
	var out []act
	for s := range 2 {
		for e := range 2 {
			out = append(out, act{session: s, entry: 2*s + e, origin: 10*s + 2*s + e, is: is.Draw(t, "made"), made: true})
		}
	}
	for range rapid.IntRange(0, 14).Draw(t, "judgements") {
		s := rapid.IntRange(0, 1).Draw(t, "session")
		if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
			status := rapid.SampledFrom([]schema.Status{schema.StatusActive, schema.StatusSuperseded}).Draw(t, "status")
			out = append(out, act{session: s, entry: 2*s + rapid.IntRange(0, 1).Draw(t, "entry"), status: status})
			continue
		}
		out = append(out, act{
			session: s, entry: rapid.IntRange(0, 3).Draw(t, "entry"), origin: 12*s + rapid.IntRange(0, 3).Draw(t, "origin"), is: is.Draw(t, "is"),
		})
	}
	return out
})

var is = rapid.SampledFrom([]string{"found", "aligned", "proven"})

// log appends the act as the nth of the project.
func (b *bench) logAct(project string, n int, a act) {
	session := sessionKey(project, "u", "a", fmt.Sprint(a.session))
	x := decided(fmt.Sprint("quote ", n), a.is).judged(0)
	id := ID(sessionKey(project, "u", "a", fmt.Sprint(a.entry/2)), schema.EntryDecision, fmt.Sprint("decision:", a.entry))
	if a.made {
		b.append(session, schema.EntryMaterialized, id, "b", schema.EntryMaterializedPayload{
			Entry: schema.Entry{
				ID: id, Type: schema.EntryDecision, CanonicalKey: fmt.Sprint("decision:", a.entry), SessionID: session.SessionID, Scope: session.Scope,
				Title: fmt.Sprint(a.entry), Stage: stageOf(x.EvidenceAligned), Status: schema.StatusActive, OccurredAt: sessionDate,
				EvidenceAligned: x.EvidenceAligned, EvidenceProven: x.EvidenceProven, Evidence: x.Evidence,
			},
			ExtractedEventID: fmt.Sprint("x", a.origin), AlignedEventID: fmt.Sprint("a", n),
		})
		return
	}
	if a.status != "" {
		b.append(session, schema.EntryStatusSet, fmt.Sprint(n), "b", schema.EntryStatusSetPayload{
			EntryID: id, Number: n, Status: a.status, SupersededBy: fmt.Sprint("by ", n),
		})
		return
	}
	b.append(session, schema.EntryEvidenceSet, fmt.Sprint(n), "b", schema.EntryEvidenceSetPayload{
		EntryID: id, ExtractedEventID: fmt.Sprint("x", a.origin), AlignedEventID: fmt.Sprint("a", n), Rule: n,
		Own:             a.origin == 10*(a.entry/2)+a.entry,
		EvidenceAligned: x.EvidenceAligned, EvidenceProven: x.EvidenceProven, Evidence: x.Evidence,
	})
}

// In any order of events, and in whichever order streams are projected, the view shows the same as the fold of the
// events, and a rebuild gives the same rows.
func TestI4ViewIsTheFold(t *testing.T) {
	t.Parallel()
	viewIsTheFold(t, stacktest.Draw(t, 3, allHistories))
}

// allHistories is the number of random histories of the campaign.
const allHistories = 12

func viewIsTheFold(t *testing.T, seeds []int) {
	t.Helper()
	b := newBench(t)
	for _, seed := range seeds {
		project := fmt.Sprint("p", seed)
		history := acts.Example(seed)
		cut := len(history) / (1 + seed%3)
		for n, a := range history {
			b.logAct(project, n, a)
			if n == cut {
				b.project(sessionKey(project, "u", "a", fmt.Sprint(seed%2)))
			}
		}
		fold := newLedger()
		for s := range 2 {
			key := sessionKey(project, "u", "a", fmt.Sprint((s+seed)%2))
			b.project(key)
			for _, e := range b.events(sessionKey(project, "u", "a", fmt.Sprint(s))) {
				_, err := fold.add(e)
				require.NoError(t, err)
			}
		}
		var want, got []schema.Entry
		for _, h := range fold.own() {
			want = append(want, h.current())
		}
		for s := range 2 {
			for _, r := range b.entries(sessionKey(project, "u", "a", fmt.Sprint(s))) {
				r.OccurredAt = sessionDate
				got = append(got, r.Entry)
			}
		}
		require.ElementsMatch(t, want, got, "%+v", history)
		b.requireFolded(project)
		b.requireConditions(project)
		b.requireUnproven(sessionKey(project, "u", "a", fmt.Sprint(seed%2)), want)
	}
	rows := b.rows()
	b.rebuild()
	require.Equal(t, rows, b.rows(), "I3")
}

// requireFolded checks that the fold of a selection by ids equals the view, for all entries of the project, and in each
// detail.
func (b *bench) requireFolded(project string) {
	for _, detail := range []Detail{Lifecycle, Whole} {
		want, err := NewReader(b.conn).ByID(b.t.Context(), InProject(project), detail)
		require.NoError(b.t, err)
		require.NotEmpty(b.t, want)
		got, err := NewReader(b.conn).ByID(b.t.Context(), InProject(project).IDs(slices.Collect(maps.Keys(want))), detail)
		require.NoError(b.t, err)
		for id, row := range got {
			require.Len(b.t, row.ContestedBy, row.Conflicts)
			row.ContestedBy = nil // The view has their number alone.
			got[id] = row
		}
		require.Equal(b.t, want, got)
	}
}

// requireUnproven checks that the entries of other sessions are found to be unproven that are so among all.
func (b *bench) requireUnproven(session schema.SessionKey, all []schema.Entry) {
	var stating []*entryRecord
	var want []candidate
	for _, e := range all {
		stating = append(stating, &entryRecord{entry: &schema.EntryMaterializedPayload{Entry: e}})
		if e.SessionID != session.SessionID && !e.EvidenceProven {
			want = append(want, candidate{id: e.ID, phrase: phraseOf(&e)})
		}
	}
	got, err := NewReader(b.conn).unproven(b.t.Context(), session, stating)
	require.NoError(b.t, err)
	require.ElementsMatch(b.t, want, got)
	require.True(b.t, slices.IsSortedFunc(got, func(a, b candidate) int { return strings.Compare(a.id, b.id) }))
	conn := &counted{Conn: b.conn}
	none, err := NewReader(conn).unproven(b.t.Context(), sessionKey(session.Project, "u", "other", "s"), stating)
	require.NoError(b.t, err)
	require.Empty(b.t, none)
	require.LessOrEqual(b.t, conn.queries, 1, "judgements are asked for entries alone that state the same")
}

// counted counts queries.
type counted struct {
	clickhouse.Conn
	queries int
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.queries++
	return c.Conn.Query(ctx, query, args...)
}

// In builds one after the other, of any claims and with realignments between them, each entry ends with the best
// evidence stated for it, no judgement is logged twice, and nothing is left for another build.
func TestI4PlanEndsInTheBest(t *testing.T) {
	t.Parallel()
	claims := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) claim {
		title := rapid.SampledFrom([]string{"a", "A.", "b", "c"}).Draw(t, "title")
		if rapid.Bool().Draw(t, "note") {
			status := rapid.SampledFrom([]schema.TaskStatus{schema.TaskDone, schema.TaskPending}).Draw(t, "status")
			return note(title, status, rapid.IntRange(0, 2).Draw(t, "place"), is.Draw(t, "is"))
		}
		return decided(title, is.Draw(t, "is"))
	}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		var sources []extraction
		l := newLedger()
		keys := map[string]bool{}
		for n := range rapid.IntRange(1, 5).Draw(t, "builds") {
			if n > 0 && rapid.Bool().Draw(t, "realign") {
				realign(t, &sources[rapid.IntRange(0, len(sources)-1).Draw(t, "source")], n)
			} else {
				sources = append(sources, sourceOf(n, claims.Draw(t, "claims")))
			}
			all, err := statements(testSession(), sources)
			require.NoError(t, err)
			before := maps.Clone(l.byID)
			p := &planner{ledger: l, session: testSession().SessionKey, buildID: fmt.Sprint(n)}
			_, err = p.plan(indexStatements(all))
			require.NoError(t, err)
			for _, e := range p.events {
				require.False(t, keys[e.DedupeKey], "%s is there twice", e.DedupeKey)
				keys[e.DedupeKey] = true
			}
			for id := range before {
				require.NotNil(t, l.byID[id])
			}
			checkBest(t, l, all)
			again := &planner{ledger: l, session: testSession().SessionKey, buildID: "again"}
			proven, err := again.plan(indexStatements(all))
			require.NoError(t, err)
			require.Empty(t, again.events)
			require.Empty(t, proven)
		}
	})
}

// checkBest compares each entry with its statements: none is worse than any statement of the same id and phrase, and
// each judgement equals the current one of the source.
func checkBest(t require.TestingT, l *ledger, all []statement) {
	s := indexStatements(all)
	for i := range all {
		h := l.byID[all[i].ID]
		require.True(t, h != nil && h.entry != nil)
		if phraseOf(&h.entry.Entry) == phraseOf(&all[i].Entry) {
			require.GreaterOrEqual(t, h.rank(), all[i].judgement().rank())
		}
	}
	for _, h := range l.own() {
		for o, j := range h.judged {
			x := all[s.position[o]]
			require.True(t, j.sameVerdict(x.judgement()))
			require.Equal(t, phraseOf(&h.entry.Entry), phraseOf(&x.Entry))
		}
	}
}

func sourceOf(n int, claims []claim) extraction {
	s := extraction{ExtractedEventID: fmt.Sprint("x", n), AlignedEventID: fmt.Sprint("a", n), AlignedAt: time.Unix(int64(n), 0)}
	for i, c := range claims {
		s.Extracted.Entries = append(s.Extracted.Entries, schema.ExtractedEntry{Type: c.entryType, Title: c.title, Task: c.task})
		s.Aligned.Entries = append(s.Aligned.Entries, c.judged(i))
	}
	return s
}

// realign judges the source again, and moves its spans.
func realign(t *rapid.T, s *extraction, n int) {
	if s.First == nil {
		first := s.Aligned
		s.First = &first
	}
	s.AlignedEventID, s.Aligned = fmt.Sprint("a", n), schema.EvidenceAlignedPayload{Rule: n, Entries: slices.Clone(s.Aligned.Entries)}
	for i, x := range s.Extracted.Entries {
		c := claim{
			entryType: x.Type, title: x.Title, task: x.Task, place: rapid.IntRange(0, 2).Draw(t, "moved"), is: is.Draw(t, "is now"),
		}
		s.Aligned.Entries[i] = c.judged(i)
	}
}

// The ledger takes an event twice as it takes it once.
func TestLedgerTakesEventsTwice(t *testing.T) {
	t.Parallel()
	payload, err := json.Marshal(schema.EntryMaterializedPayload{Entry: schema.Entry{ID: "e"}, ExtractedEventID: "x"})
	require.NoError(t, err)
	l := newLedger()
	for range 2 {
		gained, err := l.add(schema.Event{Type: schema.EntryMaterialized, Payload: payload})
		require.NoError(t, err)
		require.Empty(t, gained)
	}
	require.Len(t, l.own(), 1)
	require.Equal(t, map[Origin][]string{{"x", 0}: {"e"}}, l.of)
	_, err = l.add(schema.Event{ID: "bad", Type: schema.EntryEvidenceSet, Payload: []byte("[")})
	require.ErrorContains(t, err, `decode entry_evidence_set event "bad"`)
}

// requireConditions checks that each condition keeps the same entries in the fold as in the view.
func (b *bench) requireConditions(project string) {
	r := NewReader(b.conn)
	all, err := r.IDs(b.t.Context(), InProject(project))
	require.NoError(b.t, err)
	for i, s := range judgedSelections(InProject(project)) {
		viewed, err := r.IDs(b.t.Context(), s)
		require.NoError(b.t, err)
		folded, err := r.Read(b.t.Context(), judgedSelections(InProject(project).IDs(all))[i], Lifecycle)
		require.NoError(b.t, err)
		require.Equal(b.t, viewed, idsOf(folded), i)
	}
}

func judgedSelections(s Selection) []Selection {
	return []Selection{
		s.Proven(), s.Aligned(), s.Unproven(), s.Believed(), s.Stages([]schema.Stage{schema.StageCandidate, schema.StageVerified}),
		s.Statuses([]schema.Status{schema.StatusSuperseded, schema.StatusContested}), s.Believed().Aligned(),
		s.NotType(schema.EntryFact).Believed(), s.Prefix("8").Aligned(), s.After(s.project, "8"), s.Unanswered(), s.and(key, "user = ?", "u"),
	}
}

func idsOf(rows []Row) (out []string) {
	for _, row := range rows {
		out = append(out, row.ID)
	}
	return out
}
