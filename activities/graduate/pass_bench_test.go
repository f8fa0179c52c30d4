package graduate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// spring is the day of the first session of a test.
var spring = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// passBench has the activities on a database of their own.
type passBench struct {
	t          testing.TB
	conn       driver.Conn
	log        *projection.Store
	activities *Activities
	ledgers    *Ledgers
	// passes counts the passes and commands, which have an hour each.
	passes int
}

func newPassBench(t testing.TB) *passBench {
	t.Helper()
	return process(t, stacktest.Migrated(t))
}

// process is a bench over the connection that remembers nothing.
func process(t testing.TB, conn driver.Conn) *passBench {
	log := projection.New(conn, eventlog.Options{})
	return &passBench{
		t: t, conn: conn, log: log, ledgers: NewLedgers(conn),
		activities: &Activities{log: log, conn: conn, entries: entry.NewReader(conn)},
	}
}

// spoken is an entry of a test's session: a sentence of a message and the entry extracted from it.
type spoken struct {
	text string
	// title is the sentence, unless it is set; quote is the whole sentence, unless it is set.
	title, quote string
	entryType    schema.EntryType
	category     string
	corrects     string
	// refused is set for entries that the session's check has refused.
	refused bool
	// at is the time of the message, which follows the one before by a minute unless told otherwise.
	at time.Time
}

func (s spoken) entryTitle() string {
	if s.title != "" {
		return s.title
	}
	return s.text
}

func inSession(project, user, id string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: project, User: user, Agent: "a"}, SessionID: id}
}

// buildOf is the id of the build of a test's session.
func buildOf(sessionID string) string { return "build of " + sessionID }

// say stores and projects a session in which each sentence is a message, with its entries and the promotions of its
// check. It returns the ids of the entries.
func (b *passBench) say(key schema.SessionKey, day int, sentences ...spoken) []string {
	b.t.Helper()
	date := spring.AddDate(0, 0, day)
	messages := make([]schema.Message, len(sentences))
	for i, s := range sentences {
		messages[i] = schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: s.text, At: date.Add(time.Duration(i) * time.Minute)}
		if !s.at.IsZero() {
			messages[i].At = s.at
		}
	}
	ingested := schema.SessionIngestedPayload{SessionKey: key, Date: date, Messages: messages}
	var events []schema.Event
	store := func(name string, payload any) {
		event, err := schema.NewEvent(payload, schema.Event{TS: date, Actor: "test", BuildID: buildOf(key.SessionID), DedupeKey: name})
		require.NoError(b.t, err)
		events = append(events, event)
	}
	store(schema.SessionIngestedKey(key, messages), ingested)
	eventID := schema.EventID(schema.SessionIngestedKey(key, messages))
	aligner := evidence.NewAligner(messages, func(int) string { return eventID })
	ids := make([]string, len(sentences))
	var promotions []schema.Promotion
	for i, s := range sentences {
		e := schema.Entry{
			Type: schema.EntryFact, SessionID: key.SessionID, Scope: key.Scope, Title: s.entryTitle(), Category: s.category, Corrects: s.corrects,
			Status: schema.StatusActive, EvidenceRule: evidence.Rule, OccurredAt: messages[i].At, Stage: schema.StageRaw,
		}
		if s.entryType != "" {
			e.Type = s.entryType
		}
		quote := s.text
		if s.quote != "" {
			quote = s.quote
		}
		e.Evidence, e.EvidenceAligned = aligner.AlignEntry([]schema.Quote{{MessageIndex: i, Quote: quote}})
		e.EvidenceProven = evidence.Proven(e.Evidence)
		e.CanonicalKey = entry.CanonicalKey(e)
		e.ID = entry.ID(key, e.Type, e.CanonicalKey)
		ids[i] = e.ID
		if e.EvidenceAligned {
			e.Stage = schema.StageWorking
		}
		store(schema.EntryMaterializedKey(e.ID), schema.EntryMaterializedPayload{
			Entry: e, ExtractedEventID: "x" + e.ID, AlignedEventID: "a" + e.ID,
		})
		if e.EvidenceProven && !s.refused {
			promotions = append(promotions, schema.Promotion{EntryID: e.ID, From: e.Stage, To: schema.StageVerified, Number: 1, Reasons: []string{"checked"}})
		}
	}
	if len(promotions) > 0 {
		store(schema.EntriesPromotedKey(key, promotions), schema.EntriesPromotedPayload{
			SessionID: key.SessionID, Policy: PolicyVersion, Verifier: schema.VerifierGo, Promotions: promotions,
		})
	}
	_, err := b.log.Append(b.t.Context(), key.Stream(), events)
	require.NoError(b.t, err)
	_, err = b.log.Project(b.t.Context(), entry.NewProjector(b.conn), key.Stream())
	require.NoError(b.t, err)
	return ids
}

// now is the time of the next pass or command: weeks after the sessions.
func (b *passBench) now() time.Time {
	b.passes++
	return spring.AddDate(0, 0, 50).Add(time.Duration(b.passes) * time.Hour)
}

// pass runs passes until none is pending, and returns the sum of their results.
func (b *passBench) pass(project string) PassResult {
	b.t.Helper()
	var sum PassResult
	for range 20 {
		r, err := b.activities.GraduateProject(b.t.Context(), PassInput{Project: project, At: b.now()})
		require.NoError(b.t, err)
		sum.Sessions += r.Sessions
		sum.Verified += r.Verified
		sum.Certified += r.Certified
		sum.Linked += r.Linked
		sum.Superseded += r.Superseded
		sum.Conflicts += r.Conflicts
		sum.Decisions += r.Decisions
		if !r.More {
			return sum
		}
	}
	require.Fail(b.t, "passes find something new for ever")
	return sum
}

// command gives a command its name, time and actor.
func (b *passBench) command(c Command) Command {
	c.At, c.Actor = b.now(), "ann"
	if c.RequestID == "" {
		c.RequestID = fmt.Sprint("request ", b.passes)
	}
	return c
}

func (b *passBench) do(c Command) CommandResult {
	b.t.Helper()
	result, err := b.activities.RunGraduationCommand(b.t.Context(), c)
	require.NoError(b.t, err)
	return result
}

// refuse runs a command that must be refused and change nothing.
func (b *passBench) refuse(c Command, says string) {
	b.t.Helper()
	before, err := b.log.Load(b.t.Context(), schema.GraduateStream(c.Project))
	require.NoError(b.t, err)
	_, err = b.activities.RunGraduationCommand(b.t.Context(), c)
	require.ErrorContains(b.t, err, says)
	after, err := b.log.Load(b.t.Context(), schema.GraduateStream(c.Project))
	require.NoError(b.t, err)
	require.Equal(b.t, before, after)
}

func (b *passBench) entry(project, id string) entry.Row {
	b.t.Helper()
	row, err := entry.NewReader(b.conn).Get(b.t.Context(), project, id)
	require.NoError(b.t, err)
	return row
}

// standing returns the stage and status of each entry.
func (b *passBench) standing(project string, ids ...string) []string {
	b.t.Helper()
	rows, err := entry.NewReader(b.conn).ByID(b.t.Context(), entry.InProject(project).IDs(ids), entry.Lifecycle)
	require.NoError(b.t, err)
	out := make([]string, len(ids))
	for i, id := range ids {
		row, there := rows[id]
		require.True(b.t, there, "there is no entry %q in project %q", id, project)
		out[i] = fmt.Sprintf("%s %s", row.Stage, row.Status)
	}
	return out
}

func (b *passBench) open(project string) []Conflict {
	b.t.Helper()
	found, err := b.ledgers.Conflicts(b.t.Context(), ConflictQuery{Project: project})
	require.NoError(b.t, err)
	return found
}

// digests returns the digests of the tables that graduation writes.
func (b *passBench) digests(ctx context.Context) map[string]projection.Digest {
	b.t.Helper()
	out := map[string]projection.Digest{}
	for _, p := range b.projectors() {
		for _, table := range p.Tables() {
			d, err := b.log.Digest(ctx, table)
			require.NoError(b.t, err)
			out[table.Name] = d
		}
	}
	return out
}

func (b *passBench) projectors() []projection.Projector {
	return []projection.Projector{entry.NewProjector(b.conn), NewProjector(b.conn)}
}

// rebuilt drops the rows of all projections and rebuilds them.
func (b *passBench) rebuilt() {
	b.t.Helper()
	for _, p := range b.projectors() {
		_, err := stacktest.Rebuild(b.t.Context(), b.conn, p)
		require.NoError(b.t, err)
	}
	b.log = projection.New(b.conn, eventlog.Options{})
	b.activities.log = b.log
}
