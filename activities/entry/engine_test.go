package entry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// bench is the room on a database of its own.
type bench struct {
	t          testing.TB
	conn       driver.Conn
	log        *projection.Store
	activities *Activities
}

func newBench(t testing.TB) *bench {
	t.Helper()
	conn := stacktest.Migrated(t)
	b := &bench{t: t, conn: conn, log: projection.New(conn, eventlog.Options{})}
	var err error
	b.activities, err = NewActivities(b.log.Store, conn)
	require.NoError(t, err)
	return b
}

func sessionKey(project, user, agent, id string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: project, User: user, Agent: agent}, SessionID: id}
}

// A claim is an extracted entry with the judgement of its one quote: missing, found, aligned or proven.
type claim struct {
	entryType schema.EntryType
	title     string
	task      *schema.ExtractedTask
	// place is where in message 0 the quote begins, and end where it ends: if it is 0, after one byte. Sentences around it
	// end at within, if that is not 0.
	place, end, within int
	is                 string
	// trust is the class of the quoted text.
	trust schema.Trust
}

func decided(title, is string) claim {
	return claim{entryType: schema.EntryDecision, title: title, is: is}
}

func note(title string, status schema.TaskStatus, place int, is string, blockers ...string) claim {
	task := &schema.ExtractedTask{Title: title, Status: status, BlockedBy: blockers}
	return claim{entryType: schema.EntryTaskNote, title: title, task: task, place: place, is: is}
}

func (c claim) judged(index int) schema.AlignedEntry {
	aligned, proven := c.is == "aligned" || c.is == "proven", c.is == "proven"
	e := schema.Evidence{
		Quote: c.title, Found: c.is != "missing", Aligned: aligned, Proven: proven, Trust: c.trust,
		Span: schema.Span{ByteStart: c.place, ByteEnd: max(c.end, c.place+1)},
	}
	if c.within > 0 {
		e.Within = &schema.Passage{Span: schema.Span{ByteEnd: c.within}}
	}
	return schema.AlignedEntry{Index: index, EvidenceAligned: aligned, EvidenceProven: proven, Evidence: []schema.Evidence{e}}
}

func (b *bench) append(session schema.SessionKey, eventType, key, buildID string, payload any) string {
	b.t.Helper()
	raw, err := json.Marshal(payload)
	require.NoError(b.t, err)
	appended, err := b.log.Append(b.t.Context(), session.Stream(), []schema.Event{{
		Type: eventType, TS: sessionDate, Actor: "test", SessionID: session.SessionID, Project: session.Project, BuildID: buildID,
		DedupeKey: schema.HashParts(session.Stream(), eventType, key), Payload: raw,
	}})
	require.NoError(b.t, err)
	return appended.Events[0].ID
}

// extract logs an extraction and its alignment by rule 0, and returns the id of the extraction's event.
func (b *bench) extract(session schema.SessionKey, build string, claims ...claim) string {
	b.t.Helper()
	return b.extractBy(session, build, schema.MemoryExtractedPayload{}, claims...)
}

func (b *bench) extractBy(session schema.SessionKey, build string, p schema.MemoryExtractedPayload, claims ...claim) string {
	b.t.Helper()
	b.append(session, schema.SessionIngested, "", "", schema.SessionIngestedPayload{
		SessionKey: session, Date: sessionDate, Messages: []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: "-"}},
	})
	p.SessionID = session.SessionID
	for _, c := range claims {
		p.Entries = append(p.Entries, schema.ExtractedEntry{Type: c.entryType, Title: c.title, Task: c.task})
	}
	id := b.append(session, schema.MemoryExtracted, build+p.Extractor.ID(), build, p)
	b.judge(session, build, id, 0, claims...)
	return id
}

func (b *bench) judge(session schema.SessionKey, build, extracted string, rule int, claims ...claim) {
	b.t.Helper()
	p := schema.EvidenceAlignedPayload{SessionID: session.SessionID, ExtractedEventID: extracted, Rule: rule}
	for i, c := range claims {
		p.Entries = append(p.Entries, c.judged(i))
	}
	b.append(session, schema.EvidenceAligned, fmt.Sprint(extracted, "/", rule), build, p)
}

func (b *bench) materialize(session schema.SessionKey, build string) MaterializeResult {
	b.t.Helper()
	result, err := b.activities.materialize(b.t.Context(), MaterializeInput{SessionKey: session, BuildID: build})
	require.NoError(b.t, err)
	return result
}

func (b *bench) project(session schema.SessionKey) {
	b.t.Helper()
	_, err := b.log.Project(b.t.Context(), NewProjector(b.conn), session.Stream())
	require.NoError(b.t, err)
}

// build logs, materializes and projects the claims of a session.
func (b *bench) build(session schema.SessionKey, build string, claims ...claim) MaterializeResult {
	b.t.Helper()
	b.extract(session, build, claims...)
	result := b.materialize(session, build)
	b.project(session)
	return result
}

func (b *bench) events(session schema.SessionKey) []schema.Event {
	b.t.Helper()
	var out []schema.Event
	for e, err := range b.log.Stream(b.t.Context(), session.Stream(), eventlog.StreamOptions{}) {
		require.NoError(b.t, err)
		out = append(out, e)
	}
	return out
}

// entries returns the session's entries as the view has them, by title and place.
func (b *bench) entries(session schema.SessionKey) []Row {
	b.t.Helper()
	rows, err := NewReader(b.conn).Read(b.t.Context(), OfSession(session), Whole)
	require.NoError(b.t, err)
	slices.SortFunc(rows, func(x, y Row) int { return slices.Compare([]byte(x.CanonicalKey), []byte(y.CanonicalKey)) })
	return rows
}

// rows returns every row of both tables and of the view.
func (b *bench) rows() []string {
	b.t.Helper()
	var out []string
	for _, from := range []string{"entries", "entries_raw FINAL", "entry_changes_raw FINAL"} {
		rows, err := b.conn.Query(b.t.Context(), "SELECT toString(tuple(*)) FROM "+from+" ORDER BY ALL")
		require.NoError(b.t, err)
		for rows.Next() {
			var row string
			require.NoError(b.t, rows.Scan(&row))
			out = append(out, from+" "+row)
		}
		require.NoError(b.t, rows.Err())
		require.NoError(b.t, rows.Close())
	}
	return out
}

func (b *bench) rebuild() {
	b.t.Helper()
	_, err := stacktest.Rebuild(b.t.Context(), b.conn, NewProjector(b.conn))
	require.NoError(b.t, err)
}

// An entry that a later build of its session states in whole sentences is proven from then on: by one event, and the
// row of the entry stays the same. The build's counts match the log.
func TestI1GainedInTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := sessionKey("p/%'", "여자", "", `s"1`)
	require.Equal(t, MaterializeResult{Entries: 3, New: 3, Aligned: 1}, b.build(s, "b1",
		decided("Use Kafka", "found"), decided("Keep it small", "aligned"), decided("Ship on Friday", "found")))
	before := b.entries(s)
	require.Equal(t, MaterializeResult{Entries: 4, New: 1, Aligned: 4, Proven: 2, Gained: 2}, b.build(s, "b2",
		decided("use kafka!", "proven"), decided("keep it small", "found"), decided("Ship on Friday.", "aligned"), decided("Use Go", "proven")))
	after := b.entries(s)
	require.Len(t, after, 4)
	require.Equal(t, before[0].ID, after[0].ID)
	require.Equal(t, "Keep it small", after[0].Evidence[0].Quote, "what is worse changes nothing")
	require.Equal(t, before[0], after[0])
	require.Equal(t, "Ship on Friday.", after[1].Evidence[0].Quote)
	require.False(t, after[1].EvidenceProven)
	require.Equal(t, schema.StageWorking, after[1].Stage)

	kafka := after[3]
	require.Equal(t, "Use Kafka", kafka.Title, "the entry is immutable")
	require.Equal(t, "use kafka!", kafka.Evidence[0].Quote)
	require.True(t, kafka.EvidenceAligned && kafka.EvidenceProven)
	require.Equal(t, schema.StageWorking, kafka.Stage)
	require.Equal(t, schema.StageRaw, before[2].Stage)
	require.Equal(t, before[2].EventID, kafka.EventID)
	require.NotEqual(t, kafka.EventID, kafka.EvidenceEventID)
	require.Equal(t, s, kafka.EvidenceSession())

	// Twice, in the same build and in another, and a build that says nothing new.
	events, rows := b.events(s), b.rows()
	require.Equal(t, MaterializeResult{Entries: 4, New: 1, Aligned: 4, Proven: 2, Gained: 2}, b.materialize(s, "b2"))
	require.Equal(t, MaterializeResult{Entries: 4, Aligned: 4, Proven: 2}, b.materialize(s, "b3"))
	require.Equal(t, events, b.events(s))
	b.rebuild()
	require.Equal(t, rows, b.rows(), "I3")

	logged, err := ReadLogged(t.Context(), b.log.Store, s, func(e schema.Entry) bool { return e.ID == kafka.ID })
	require.NoError(t, err)
	require.Equal(t, []schema.Entry{kafka.Entry}, logged, "who decides by the log sees what the view shows")
}

// A session that states other sessions' entries in whole sentences lends them its evidence: those of the same project,
// user and agent, and no other.
func TestI10GainedFromAnotherSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second := sessionKey("p", "u", "a", "one"), sessionKey("p", "u", "a", "two/2")
	strangers := []schema.SessionKey{
		sessionKey("q", "u", "a", "one"), sessionKey("p", "v", "a", "one"), sessionKey("p", "u", "", "one"), sessionKey("p", "u", "b", "one"),
	}
	unsure := []claim{
		decided("Use Kafka", "found"), note("Ship", schema.TaskBlocked, 3, "aligned", "VPN"), note("Ship", schema.TaskBlocked, 4, "aligned", "Review"),
		note("Ship", schema.TaskDone, 5, "aligned"), {entryType: schema.EntryFact, title: "Use Kafka", is: "found"},
	}
	for _, s := range append(strangers, first) {
		b.build(s, "of "+s.Stream(), unsure...)
	}
	before := map[string][]Row{}
	for _, s := range strangers {
		before[s.Stream()] = b.entries(s)
	}
	require.Equal(t, MaterializeResult{Entries: 3, New: 3, Aligned: 3, Proven: 2, Gained: 2, TaskNotes: 2}, b.build(second, "b",
		decided("Use  KAFKA.", "proven"), note("ship!", schema.TaskBlocked, 70, "proven", "vpn"), note("Ship", schema.TaskDone, 9, "aligned")))
	for _, s := range strangers {
		require.Equal(t, before[s.Stream()], b.entries(s), "%+v", s)
	}
	rows := b.entries(first)
	require.Len(t, rows, 5)
	gained := 0
	for _, r := range rows {
		if r.EvidenceSessionID == first.SessionID {
			require.Equal(t, r.EventID, r.EvidenceEventID)
			require.False(t, r.EvidenceProven, r.CanonicalKey)
			continue
		}
		gained++
		require.Equal(t, second, r.EvidenceSession())
		require.Equal(t, first.SessionID, r.SessionID)
		require.True(t, r.EvidenceAligned && r.EvidenceProven && r.Stage == schema.StageWorking)
		require.Contains(t, []string{"decision:use kafka", "task_note:ship@0.3"}, r.CanonicalKey, "no other status, blocker or type")
	}
	require.Equal(t, 2, gained)

	var stored []Stored
	for row, err := range NewReader(b.conn).AllEvidence(t.Context(), schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u", Agent: "a"}}) {
		require.NoError(t, err)
		stored = append(stored, row)
	}
	require.Len(t, stored, 5+3+2)
	require.True(t, slices.IsSortedFunc(stored, func(x, y Stored) int { return slices.Compare([]byte(x.Stream), []byte(y.Stream)) }))
	for i, row := range stored {
		require.Equal(t, i >= 5, row.Stream == second.Stream())
		require.Equal(t, row.Origin != Origin{}, slices.ContainsFunc(rows, func(r Row) bool { return r.ID == row.EntryID }) && i >= 5)
	}
	n, err := NewReader(b.conn).CountAllEvidence(t.Context(), second)
	require.NoError(t, err)
	require.EqualValues(t, 5, n)

	// A third session that proves it too finds nothing left to lend to, and all again changes nothing.
	require.Zero(t, b.build(sessionKey("p", "u", "a", "three"), "b", decided("Use Kafka", "proven")).Gained)
	all := b.rows()
	for _, s := range []schema.SessionKey{first, second} {
		events := b.events(s)
		require.Zero(t, b.materialize(s, "again").Gained)
		b.project(s)
		require.Equal(t, events, b.events(s))
	}
	b.rebuild()
	require.Equal(t, all, b.rows(), "I3")
}

// The user's words alone prove an agent's statement: those of an assistant, which may be the agent itself, lend it nothing.
func TestAgentsWordIsLiftedByTheUser(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	agent, said := sessionKey("p", "u", "a", "agent"), func(by schema.Trust, is string) claim {
		return claim{entryType: schema.EntryFact, title: "Deploys run on 'Mondays'.", trust: by, is: is}
	}
	b.build(agent, "b1", said(schema.TrustAgent, "aligned"))
	require.Equal(t, schema.StageWorking, b.entries(agent)[0].Stage)
	require.Zero(t, b.build(sessionKey("p", "u", "a", "talk"), "b2", said(schema.TrustAssistant, "proven")).Gained)
	require.False(t, b.entries(agent)[0].EvidenceProven)
	require.Equal(t, 1, b.build(sessionKey("p", "u", "a", "user"), "b3", said(schema.TrustUser, "proven")).Gained)
	row := b.entries(agent)[0]
	require.True(t, row.EvidenceProven)
	require.Equal(t, "user", row.EvidenceSessionID)
	require.Empty(t, schema.SaidByAgent(row.Evidence), "its evidence is the user's now")
}

// An event of another user's stream that names an entry gives it nothing.
func TestI10ForeignEvidenceIsNotShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine, theirs := sessionKey("p", "u", "a", "one"), sessionKey("p", "v", "a", "one")
	b.build(mine, "b", decided("Use Kafka", "found"))
	before := b.entries(mine)
	x := decided("Use Kafka", "proven").judged(0)
	b.append(theirs, schema.EntryEvidenceSet, "forged", "b", schema.EntryEvidenceSetPayload{
		EntryID: before[0].ID, ExtractedEventID: "x", EvidenceAligned: true, EvidenceProven: true, Evidence: x.Evidence,
	})
	b.project(theirs)
	require.Equal(t, before, b.entries(mine))
}

// A build counts all entries of the session for the writers of tasks and of facts, including those of earlier builds:
// these may have been interrupted before the writers were asked.
func TestI2CountsWhatIsForWriters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := sessionKey("p", "사용자", "", "notes")
	fact := claim{entryType: schema.EntryFact, title: "Lives in Berlin", is: "proven"}
	require.Equal(t, MaterializeResult{Entries: 3, New: 3, Aligned: 3, Proven: 2, TaskNotes: 1, Facts: 1},
		b.build(s, "b1", decided("Use Go", "proven"), note("Ship", schema.TaskDone, 3, "aligned"), fact))
	require.Equal(t, MaterializeResult{Entries: 4, New: 1, Aligned: 4, Proven: 3, TaskNotes: 1, Facts: 1},
		b.build(s, "b2", decided("Use Rust", "proven")))
}

// A newer rule's judgement of the same extraction becomes an event if it differs, better or worse, by the origin of the
// entries. This includes a moved span that a task note's id depends on.
func TestRealigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other, s := sessionKey("p", "u", "a", "0"), sessionKey("p", "u", "a", "1")
	b.build(other, "b0", decided("Use Kafka", "found"), decided("Use Go", "found"), decided("Use Rust", "found"))
	extracted := b.extract(s, "b1", decided("Use Kafka", "proven"), decided("Use Go", "aligned"),
		note("Ship", schema.TaskDone, 3, "aligned"), decided("Same", "proven"), note("ship", schema.TaskDone, 3, "aligned"))
	require.Equal(t, MaterializeResult{Entries: 4, New: 4, Aligned: 4, Proven: 2, Gained: 1, TaskNotes: 1}, b.materialize(s, "b1"))
	b.project(s)
	events := len(b.events(s))

	b.judge(s, "b2", extracted, 1, decided("Use Kafka", "aligned"), decided("Use Go", "proven"),
		note("Ship", schema.TaskDone, 5, "proven"), decided("Same", "proven"), note("ship", schema.TaskDone, 8, "aligned"))
	want := MaterializeResult{Entries: 4, Aligned: 4, Proven: 3, Gained: 3, TaskNotes: 1}
	require.Equal(t, want, b.materialize(s, "b2"))
	b.project(s)
	rows := b.entries(s)
	require.Len(t, rows, 4, "no origin makes another entry")
	for _, r := range rows {
		require.Equal(t, s, r.EvidenceSession())
		switch r.Title {
		case "Use Kafka":
			require.True(t, r.EvidenceAligned && !r.EvidenceProven)
		case "Ship":
			require.Equal(t, "task_note:ship@0.3", r.CanonicalKey)
			require.Equal(t, 5, r.Evidence[0].Span.ByteStart)
			require.True(t, r.EvidenceProven)
			require.Equal(t, 1, r.EvidenceRule)
		case "Same":
			require.Zero(t, r.EvidenceRule, "what did not change is no event")
			require.Equal(t, r.EventID, r.EvidenceEventID)
		}
	}
	for _, r := range b.entries(other) {
		require.Equal(t, r.Title == "Use Go", r.EvidenceProven, "what was lent follows the judgement of its origin: %s", r.Title)
		require.Equal(t, r.Title != "Use Rust", r.EvidenceAligned, r.Title)
	}
	// Own Kafka, lent Kafka, own Go, lent Go, the note, and the new alignment.
	require.Len(t, b.events(s), events+1+5)
	require.Equal(t, want, b.materialize(s, "b2"))
	require.Len(t, b.events(s), events+1+5)

	// Worse than found: the stage goes back.
	b.judge(s, "b3", extracted, 2, decided("Use Kafka", "found"), decided("Use Go", "proven"),
		note("Ship", schema.TaskDone, 5, "proven"), decided("Same", "proven"), note("ship", schema.TaskDone, 8, "aligned"))
	require.Equal(t, MaterializeResult{Entries: 4, Aligned: 3, Proven: 3, TaskNotes: 1}, b.materialize(s, "b3"))
	b.project(s)
	for _, r := range append(b.entries(s), b.entries(other)...) {
		if r.Title == "Use Kafka" {
			require.False(t, r.EvidenceAligned)
			require.Equal(t, schema.StageRaw, r.Stage)
		}
	}
	all := b.rows()
	b.rebuild()
	require.Equal(t, all, b.rows(), "I3")
}

// I2: an attempt that was interrupted anywhere in its events is finished by the next one, with the same end.
func TestI2MaterializeBrokenOff(t *testing.T) {
	t.Parallel()
	materializeBrokenOff(t, stacktest.Draw(t, 2, brokenOff))
}

// brokenOff is the number of points at which an attempt can break off.
const brokenOff = 7

func materializeBrokenOff(t *testing.T, points []int) {
	t.Helper()
	b := newBench(t)
	run := func(project string, broken int) ([]string, MaterializeResult) {
		first, second := sessionKey(project, "u", "a", "1"), sessionKey(project, "u", "a", "2")
		b.build(first, "b1", decided("A", "found"), decided("B", "aligned"))
		b.build(second, "b2", decided("C", "found"), decided("D", "aligned"))
		b.extract(second, "b3", decided("A", "proven"), decided("C", "proven"), decided("B", "proven"), decided("E", "aligned"))
		if broken >= 0 {
			planned := b.planned(second, "b3")
			require.Len(b.t, planned, 6)
			_, err := b.log.AppendAll(b.t.Context(), second.Stream(), planned[:broken])
			require.NoError(b.t, err)
		}
		result := b.materialize(second, "b3")
		b.project(second)
		var keys []string
		for _, e := range append(b.events(first), b.events(second)...) {
			keys = append(keys, e.Type)
		}
		for _, r := range append(b.entries(first), b.entries(second)...) {
			keys = append(keys, fmt.Sprint(r.Title, r.EvidenceProven, r.EvidenceAligned, r.EvidenceSessionID))
		}
		slices.Sort(keys)
		return keys, result
	}
	want, result := run("whole", -1)
	require.Equal(t, MaterializeResult{Entries: 5, New: 3, Aligned: 5, Proven: 3, Gained: 3}, result)
	for _, broken := range points {
		got, again := run(fmt.Sprint("broken ", broken), broken)
		require.Equal(t, want, got, broken)
		require.Equal(t, result, again, "broken off after %d events", broken)
	}
}

// planned returns the events that a build would append.
func (b *bench) planned(session schema.SessionKey, build string) []schema.Event {
	b.t.Helper()
	p, err := b.activities.plan(b.t.Context(), MaterializeInput{SessionKey: session, BuildID: build})
	require.NoError(b.t, err)
	return p.events
}

// I1: builds at once, of one session and of two that state the same, leave each event once.
func TestI1MaterializeAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := sessionKey("p", "u", "a", "old")
	b.build(old, "b0", decided("A", "found"), decided("B", "found"))
	sessions := []schema.SessionKey{sessionKey("p", "u", "a", "x"), sessionKey("p", "u", "a", "y")}
	for _, s := range sessions {
		b.extract(s, "b1", decided("A", "proven"), decided("B", "proven"), decided("C", "found"))
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := b.activities.materialize(context.Background(), MaterializeInput{SessionKey: sessions[i%2], BuildID: fmt.Sprint("b", i)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range sessions {
		b.project(s)
		require.Len(t, b.events(s), 3+3+2, "messages, extraction, alignment, three entries, two gains")
	}
	for _, r := range b.entries(old) {
		require.True(t, r.EvidenceProven)
		require.NotEqual(t, old.SessionID, r.EvidenceSessionID)
	}
	rows := b.rows()
	b.rebuild()
	require.Equal(t, rows, b.rows())
}
