package graduate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// lives is a database for tests that write events of entries.
type lives struct {
	testing.TB
	conn driver.Conn
	log  *projection.Store
	n    int
	// events are those that project will store, by stream.
	events map[string][]schema.Event
}

func newLives(t testing.TB) *lives {
	conn := stacktest.Migrated(t)
	return &lives{TB: t, conn: conn, log: projection.New(conn, eventlog.Options{}), events: map[string][]schema.Event{}}
}

// append adds events to the stream, each an hour after the previous one. The next call of project stores them.
func (l *lives) append(stream string, payloads ...any) {
	l.Helper()
	for _, p := range payloads {
		l.n++
		event, err := schema.NewEvent(p, schema.Event{
			TS: noon.Add(time.Duration(l.n) * time.Hour), Actor: "ann", DedupeKey: fmt.Sprint("test/", l.n), BuildID: "b",
		})
		require.NoError(l, err)
		l.events[stream] = append(l.events[stream], event)
	}
}

// project stores the events and brings the tables up to date.
func (l *lives) project(projectors ...projection.Projector) {
	l.Helper()
	for stream, events := range l.events {
		_, err := l.log.AppendAll(l.Context(), stream, events)
		require.NoError(l, err)
	}
	clear(l.events)
	for _, p := range append(projectors, entry.NewProjector(l.conn)) {
		_, err := l.log.ProjectAll(l.Context(), p)
		require.NoError(l, err)
	}
}

// held is an entry of a test.
func held(id string, session schema.SessionKey, proven bool) schema.EntryMaterializedPayload {
	return schema.EntryMaterializedPayload{Entry: schema.Entry{
		ID: id, Type: schema.EntryDecision, CanonicalKey: "decision:" + id, SessionID: session.SessionID, Scope: session.Scope, Title: "Title of " + id,
		Stage: schema.StageWorking, Status: schema.StatusActive, OccurredAt: noon, EvidenceAligned: true, EvidenceProven: proven,
		Evidence: []schema.Evidence{{Quote: "The quote of " + id + ".", Found: true, Aligned: true, Proven: proven}},
	}}
}

// A happening is an event of the nth entry in a random history. The entries of a session are of its project and user.
type happening struct {
	Kind            string
	Session, N, Too int
}

var happenings = rapid.Custom(func(t *rapid.T) happening {
	return happening{
		Kind:    rapid.SampledFrom([]string{"verify", "certify", "retire", "supersede", "restore", "link", "unlink", "conflict", "resolve", "retrieve", "drop", "confirm", "demote"}).Draw(t, "kind"),
		Session: rapid.IntRange(0, 5).Draw(t, "session"), N: rapid.IntRange(0, 3).Draw(t, "entry"), Too: rapid.IntRange(0, 3).Draw(t, "other"),
	}
})

// sessionOf has two projects, and in each several users and agents.
func sessionOf(n int) schema.SessionKey {
	return schema.SessionKey{
		Scope:     schema.Scope{Project: []string{"p", "q's/%"}[n%2], User: []string{"u", "v"}[n/2%2], Agent: []string{"", "a"}[n/4]},
		SessionID: fmt.Sprint("s", n),
	}
}

func idOf(session, n int) string { return fmt.Sprintf("e%d.%d", session, n) }

func (l *lives) happen(h happening) {
	s, id, other := sessionOf(h.Session), idOf(h.Session, h.N), idOf(h.Session, h.Too)
	stream := schema.GraduateStream(s.Project)
	switch h.Kind {
	case "verify":
		l.append(s.Stream(), schema.EntriesPromotedPayload{SessionID: s.SessionID, Promotions: []schema.Promotion{{EntryID: id, To: schema.StageVerified}}})
	case "drop":
		l.append(s.Stream(), schema.EntryStatusSetPayload{EntryID: id, Number: 1, Status: schema.StatusSuperseded})
	case "certify":
		l.append(stream, schema.EntryGraduatedPayload{Scope: s.Scope, EntryID: id, To: schema.StageCertified})
	case "demote":
		l.append(stream, schema.EntryGraduatedPayload{Scope: s.Scope, EntryID: id, To: schema.StageCandidate, Demotes: true})
	case "confirm":
		l.append(stream, schema.EntryConfirmedPayload{Scope: s.Scope, EntryID: id, By: "ann"})
	case "retire":
		l.append(stream, schema.EntryRetiredPayload{Scope: s.Scope, EntryID: id, Status: schema.StatusDeprecated, Because: "it's over"})
	case "supersede":
		l.append(stream, schema.EntryRetiredPayload{Scope: s.Scope, EntryID: id, Status: schema.StatusSuperseded, SupersededBy: other})
	case "restore":
		l.append(stream, schema.EntryRestoredPayload{Scope: s.Scope, EntryID: id})
	case "link":
		l.append(stream, schema.EntryLinkedPayload{Scope: s.Scope, EntryID: id, OriginalID: other})
	case "unlink":
		l.append(stream, schema.EntryLinkedPayload{Scope: s.Scope, EntryID: id})
	case "conflict":
		l.append(stream, schema.ConflictDetectedPayload{Scope: s.Scope, ConflictID: schema.ConflictID(s.Project, id, other), OlderID: id, NewerID: other})
	case "resolve":
		l.append(stream, schema.ConflictResolvedPayload{Scope: s.Scope, ConflictID: schema.ConflictID(s.Project, id, other), OlderID: id, NewerID: other})
	case "retrieve":
		require.NoError(l, RecordRetrieved(l.Context(), l.log, l.conn, "w", Retrieved{
			Scope: s.Scope, RequestID: fmt.Sprint(l.n, h), By: schema.RetrievedBySearch, EntryIDs: []string{id, other}, At: noon, Actor: "ann",
		}))
	}
}

// counted is the naive count of an entry.
func counted(r entry.Row, retrieved bool, age aging) (h Health) {
	is := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	_, _, aged := age.demotion(later)
	held := r.Status == schema.StatusActive || r.Status == schema.StatusContested
	return Health{
		Entries: 1, Believed: is(held), Proven: is(held && r.EvidenceProven), Unproven: is(held && !r.EvidenceProven),
		Verified: is(held && r.Stage == schema.StageVerified), Certified: is(held && r.Stage == schema.StageCertified),
		Contested: is(r.Status == schema.StatusContested), Superseded: is(r.Status == schema.StatusSuperseded),
		Retired: is(r.Status == schema.StatusDeprecated), NearDuplicates: is(held && r.OriginalID != ""),
		NeverRetrieved: is(held && r.OriginalID == "" && !retrieved), PastHalfLife: is(r.Status == schema.StatusActive && aged),
	}
}

// later is a time after the half-lives of some entries.
var later = noon.AddDate(0, 0, 200)

// agesOf returns the input of the rule of half-lives for each entry, from the rows and the times of confirmations and
// demotions.
func agesOf(rows []entry.Row, confirmed, fell map[string]time.Time) map[string]aging {
	out, restated := map[string]aging{}, map[string]time.Time{}
	saying := func(r entry.Row) string {
		return r.Project + "/" + r.User + "/" + r.Agent + "/" + cmp.Or(r.OriginalID, r.ID)
	}
	for _, r := range rows {
		if (r.Status == schema.StatusActive || r.Status == schema.StatusContested) && r.OccurredAt.After(restated[saying(r)]) {
			restated[saying(r)] = r.OccurredAt
		}
	}
	for _, r := range rows {
		out[r.ID] = aging{
			stage: r.Stage, of: r.Type, occurred: r.OccurredAt, restated: restated[saying(r)], confirmed: confirmed[r.ID], demotedAt: fell[r.ID],
		}
	}
	return out
}

// After any history, the counts are those of a naive fold over all entries, and each list has as many.
func TestHealthIsTheFold(t *testing.T) {
	t.Parallel()
	healthIsTheFold(t, 2)
}

// healthIsTheFold counts after each of some rounds of happenings.
func healthIsTheFold(t *testing.T, rounds int) {
	t.Helper()
	l := newLives(t)
	for s := range 6 {
		for n := range 4 {
			e := held(idOf(s, n), sessionOf(s), (s+n)%3 != 0)
			e.Type = []schema.EntryType{schema.EntryDecision, schema.EntryFact}[(s+n)%2]
			e.OccurredAt = noon.AddDate(0, 0, -130*(n%3))
			l.append(sessionOf(s).Stream(), e)
		}
	}
	retrieved, confirmed, fell := map[string]bool{}, map[string]time.Time{}, map[string]time.Time{}
	past := 0
	for round := range rounds {
		for _, h := range rapid.SliceOfN(happenings, 15, 15).Example(round) {
			l.happen(h)
			id, at := idOf(h.Session, h.N), noon.Add(time.Duration(l.n)*time.Hour)
			switch h.Kind {
			case "retrieve":
				retrieved[id], retrieved[idOf(h.Session, h.Too)] = true, true
			case "confirm":
				confirmed[id] = at
			case "demote":
				fell[id] = at
			case "certify":
				delete(fell, id)
			}
		}
		l.project()
		for _, byOwner := range []bool{false, true} {
			want := map[string]*Health{}
			for _, project := range []string{"p", "q's/%"} {
				rows, err := entry.NewReader(l.conn).Read(t.Context(), entry.InProject(project), entry.Whole)
				require.NoError(t, err)
				require.Len(t, rows, 12)
				ages := agesOf(rows, confirmed, fell)
				for _, r := range rows {
					h := Health{Project: r.Project}
					if byOwner {
						h.User, h.Agent = r.User, r.Agent
					}
					key := h.Project + "/" + h.User + "/" + h.Agent
					if want[key] == nil {
						want[key] = &h
					}
					one := counted(r, retrieved[r.ID], ages[r.ID])
					for _, m := range measures {
						*m.of(want[key]) += *m.of(&one)
					}
				}
			}
			got, err := ReadHealth(t.Context(), l.conn, HealthQuery{AllProjects: true, ByOwner: byOwner, Now: later})
			require.NoError(t, err)
			require.True(t, slices.IsSortedFunc(got, func(a, b Health) int { return b.Entries - a.Entries }))
			all := map[string]*Health{}
			for _, h := range got {
				all[h.Project+"/"+h.User+"/"+h.Agent] = &h
			}
			require.Equal(t, want, all)
		}
		for _, project := range []string{"p", "q's/%"} {
			one, err := ReadHealth(t.Context(), l.conn, HealthQuery{Project: project, Now: later})
			require.NoError(t, err)
			require.Len(t, one, 1)
			require.Less(t, one[0].PastHalfLife, one[0].Believed)
			past += one[0].PastHalfLife
			for _, m := range measures {
				listed, err := ListMeasured(t.Context(), l.conn, m.Name, HealthQuery{Project: project, Now: later}, 1000, 0)
				require.NoError(t, err)
				require.Len(t, listed, m.Count(one[0]), m.Name)
				for _, c := range listed {
					require.Equal(t, project, c.Project)
				}
			}
		}
	}
	require.NotZero(t, past, "some half-lives are over, and not all")
	few, err := ReadHealth(t.Context(), l.conn, HealthQuery{AllProjects: true, ByOwner: true, Limit: 2})
	require.NoError(t, err)
	require.Len(t, few, 2)
	none, err := ReadHealth(t.Context(), l.conn, HealthQuery{Project: "no such"})
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = ListMeasured(t.Context(), l.conn, "entries; DROP", HealthQuery{}, 1, 0)
	require.ErrorContains(t, err, `there is no measure "entries; DROP"`)
}

// Each count of the struct is a measure of the same name, in the same order.
func TestMeasuresAreTheFields(t *testing.T) {
	t.Parallel()
	var h Health
	var want []string
	for i := range reflect.TypeFor[Health]().NumField() {
		f := reflect.TypeFor[Health]().Field(i)
		if f.Type.Kind() == reflect.Int {
			want = append(want, strings.Split(f.Tag.Get("json"), ",")[0])
		}
	}
	require.Equal(t, want, MeasureNames())
	for i, m := range Measures() {
		*m.of(&h) = i + 1
	}
	data, err := json.Marshal(h)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(data, &got))
	for i, m := range Measures() {
		require.EqualValues(t, i+1, got[m.Name], m.Name)
		require.Equal(t, i+1, m.Count(h))
		require.NotEmpty(t, m.Meaning)
	}
}
