package erase

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/transcript/grant"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// withLog sets the event log of the activities.
func (a *Activities) withLog(t *testing.T) *Activities {
	t.Helper()
	a.conn = stacktest.Migrated(t)
	a.eraser, a.log, a.unsigned = a.conn, projection.New(a.conn, eventlog.Options{}), true
	return a
}

// said stores an event in the stream.
func (a *Activities) said(t *testing.T, stream string, payload any, e schema.Event) {
	t.Helper()
	e.TS, e.Actor = time.Now(), "test"
	event, err := schema.NewEvent(payload, e)
	require.NoError(t, err)
	_, err = a.log.Append(t.Context(), stream, []schema.Event{event})
	require.NoError(t, err)
}

// hold stores a held message of the thread, for which no queue has a signal yet.
func (a *Activities) hold(t *testing.T, thread schema.SessionKey, text string) string {
	t.Helper()
	stream := schema.ContextStream(thread, "hash")
	a.said(t, stream, schema.ContextHeldPayload{Messages: []schema.InlineMessage{{Role: "user", Content: text}, {Role: "user", Content: "Lunch is at noon."}}},
		schema.Event{Project: thread.Project, SessionID: thread.SessionID, DedupeKey: schema.ContextHeldKey(thread, "hash")})
	return stream
}

const erasedText = "The code of the harbour door is 4711, and only the night porter knows it."

func (a *Activities) input(id string, scope schema.ErasureScope) Input {
	return Input{ForgetInput: schema.ForgetInput{ErasureScope: scope, ID: id, By: "ann"}, ErasureID: id, At: time.Now()}
}

// Messages that are held for a queue belong to the thread for which they were enqueued. They are erased with it, even
// if the queue never got its signal, and the tombstone keeps new ones out.
func TestHeldMessagesAreErased(t *testing.T) {
	t.Parallel()
	a := newActivities(t).withLog(t)
	ann := schema.SessionKey{Scope: schema.Scope{Project: "p/'x'", User: "ann", Agent: "ü"}, SessionID: "standup-1"}
	bob, longer := ann, ann
	bob.User, longer.SessionID = "bob", "standup-12"
	of := a.hold(t, ann, erasedText)
	ofBob := a.hold(t, bob, erasedText)
	ofLonger := a.hold(t, longer, "The code of the harbour door is secret.")
	for name, tt := range map[string]struct {
		scope   schema.ErasureScope
		streams []string
	}{
		"session": {schema.ErasureScope{Project: ann.Project, User: "ann", Agent: "ü", SessionID: "standup-1"}, []string{of}},
		"user":    {schema.ErasureScope{User: "ann"}, []string{of, ofLonger}},
		"project": {schema.ErasureScope{Project: ann.Project}, []string{of, ofLonger, ofBob}},
	} {
		var texts []string
		plan, err := Make(t.Context(), a.log.Store, a.conn, "e", tt.scope, func(text string) { texts = append(texts, text) })
		require.NoError(t, err)
		require.Equal(t, tt.streams, plan.Streams, name)
		require.Contains(t, texts, erasedText, "it is looked for afterwards")
	}
	plan, err := Make(t.Context(), a.log.Store, a.conn, "e", schema.ErasureScope{User: "ann", Query: "harbour DOOR is 4711"}, nil)
	require.NoError(t, err)
	require.Empty(t, plan.Streams)
	require.Equal(t, []string{of}, plan.Changed())
	left, err := schema.Decode[schema.ContextHeldPayload](plan.Replacements[0].New)
	require.NoError(t, err)
	require.Equal(t, []schema.InlineMessage{{Role: "user", Content: "Lunch is at noon."}}, left.Messages)

	_, err = a.begin(t.Context(), a.input("e", schema.ErasureScope{User: "ann"}))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		err = a.log.AdmitsTo(t.Context(), of)
		return err != nil
	}, time.Minute, 50*time.Millisecond)
	require.ErrorAs(t, err, new(*eventlog.ErasedError))
	require.NoError(t, a.log.AdmitsTo(t.Context(), ofBob))
}

// The log contains nothing by which the erased content could be guessed: no fingerprints, no key, and for a query no
// hash. Still, an unfinished erasure of the same text is continued. Once a check has found nothing, the key is
// destroyed.
func TestErasureLeavesNoTrace(t *testing.T) {
	t.Parallel()
	a := newActivities(t).withLog(t)
	thread := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "ann"}, SessionID: "s"}
	a.hold(t, thread, erasedText)
	scope := schema.ErasureScope{User: "ann", Query: "harbour door is 4711"}
	one, err := a.begin(t.Context(), a.input("first", scope))
	require.NoError(t, err)
	require.Equal(t, "first", one.ErasureID)
	again, err := a.begin(t.Context(), a.input("second", scope))
	require.NoError(t, err)
	require.Equal(t, "first", again.ErasureID, "the same text")
	other := scope
	other.Query = "harbour door is 4712"
	third, err := a.begin(t.Context(), a.input("third", other))
	require.NoError(t, err)
	require.Equal(t, "third", third.ErasureID, "another text")
	_, err = a.begin(t.Context(), a.input("first", other))
	require.ErrorContains(t, err, `erasure "first" has erased something else`)

	in := a.input("first", scope)
	secret, err := a.secretOf(t.Context(), in)
	require.NoError(t, err)
	keyed := newFingerprints(secret.key)
	keyed.add(erasedText)
	secret.fingerprints = keyed.bytes()
	require.NoError(t, a.remember(t.Context(), secret))
	stored, err := a.secretOf(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, secret, stored)
	require.NoError(t, a.conn.Exec(t.Context(), "OPTIMIZE TABLE erasure_secrets FINAL"), "the merge leaves old parts")
	events := a.rows(t, "startsWith(stream, ?)", schema.ErasurePrefix)
	require.NotEmpty(t, events)
	for _, e := range events {
		require.NotContains(t, e, secret.key)
		require.NotContains(t, e, secret.scope)
		require.NotContains(t, e, "print")
		require.NotContains(t, e, "harbour")
	}
	stone, _, err := tombstoneOf(t.Context(), a.log.Store, "first")
	require.NoError(t, err)
	require.Empty(t, stone.Scope)

	const kept = `SELECT count() FROM system.parts
		WHERE database = currentDatabase() AND table = 'erasure_secrets' AND rows > 0 AND partition = 'first'`
	var parts uint64
	require.NoError(t, a.conn.QueryRow(t.Context(), kept).Scan(&parts))
	require.NotZero(t, parts)
	require.NoError(t, a.destroySecret(t.Context(), "first"))
	all, err := a.secrets(t.Context(), "")
	require.NoError(t, err)
	require.NotContains(t, all, "first")
	require.Contains(t, all, "third")
	require.NoError(t, a.conn.QueryRow(t.Context(), kept).Scan(&parts))
	require.Zero(t, parts, "no part on disk holds the key")
}

// A killed replay leaves a database with copies of events. An erasure drops it, and a search finds a remaining one.
func TestScratchesAreErased(t *testing.T) {
	t.Parallel()
	a := newActivities(t).withLog(t)
	thread := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "ann"}, SessionID: "s"}
	scope := schema.ErasureScope{User: "ann"}
	stream := a.hold(t, thread, erasedText)
	left := func() []schema.Leftover {
		keyed := newFingerprints("key")
		keyed.add(erasedText)
		s := newSearch(secret{key: "key", fingerprints: keyed.bytes()}, scope)
		require.NoError(t, s.clickhouse(t.Context(), a.conn))
		return s.found.Left
	}
	require.Equal(t, []schema.Leftover{{Store: "clickhouse", Place: "events " + stream + " at 1"}}, left())
	scratch, err := clickhouse.OpenScratch(t.Context(), a.conn, clickhouse.ScratchKey{Purpose: clickhouse.PurposeReplay, ID: "killed"})
	require.NoError(t, err)
	require.NoError(t, a.conn.Exec(t.Context(), "INSERT INTO "+clickhouse.Identifier(scratch.Database)+".events_raw SELECT * FROM events_raw"))
	require.NoError(t, scratch.Close())
	require.Contains(t, left(), schema.Leftover{Store: "clickhouse", Place: scratch.Database + ".events_raw"})

	in := a.input("e", scope)
	a.log = projection.New(a.conn, eventlog.Options{Lease: time.Millisecond})
	_, err = a.begin(t.Context(), in)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		erased, err := a.eraseLog(t.Context(), in)
		require.NoError(t, err)
		return erased.Wait == 0 && erased.Counts.Deleted == 1
	}, time.Minute, 10*time.Millisecond)
	require.Empty(t, left())
	scratches, err := clickhouse.Scratches(t.Context(), a.conn)
	require.NoError(t, err)
	require.Empty(t, scratches)
}

// An erasure can't be undone, so each step is refused unless the erasure's id and scope are signed with the worker's
// key. A signed erasure that a person has lifted does not start again.
func TestErasuresAreSigned(t *testing.T) {
	t.Parallel()
	a := newActivities(t).withLog(t)
	a.unsigned, a.keyFile = false, filepath.Join(t.TempDir(), "state 'x'", "source.key")
	in := a.input("e", schema.ErasureScope{User: "ü/ann"})
	suite := &testsuite.WorkflowTestSuite{}
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(a)
	_, err := env.ExecuteActivity(a.BeginErasure, in)
	require.ErrorContains(t, err, "read key of grants")
	key, err := grant.Key(a.keyFile)
	require.NoError(t, err)
	for _, signed := range []string{
		"", "x", grant.OfErasure(key, "e", schema.ErasureScope{User: "ü/bob"}), grant.OfErasure(key, "other", in.ErasureScope), grant.OfErasure([]byte("another key"), "e", in.ErasureScope),
	} {
		in.Grant = signed
		for step, input := range map[any]any{
			"BeginErasure": in, "LockStreams": in, "EraseLog": in, "EraseFiles": in, "UnlockStreams": in, "ResumeWriters": in, "EraseExecutions": in,
			"PurgeParts": PurgeInput{Input: in}, "FindErased": FindInput{Input: in}, "EndErasure": EndInput{Input: in},
		} {
			_, err = env.ExecuteActivity(step, input)
			require.ErrorContains(t, err, `erasure "e" is not signed by the key`, step)
			require.ErrorContains(t, err, "--unsigned-erasures")
		}
	}
	all, err := List(t.Context(), a.log.Store)
	require.NoError(t, err)
	require.Empty(t, all)
	in.Grant = grant.OfErasure(key, "e", in.ErasureScope)
	for range 2 {
		_, err = env.ExecuteActivity(a.BeginErasure, in)
		require.NoError(t, err)
	}
	require.NoError(t, Lift(t.Context(), a.log.Store, schema.ErasureLiftedPayload{ErasureID: "e", By: "ann"}))
	_, err = env.ExecuteActivity(a.BeginErasure, in)
	require.ErrorContains(t, err, `erasure "e" was lifted: give another id`)
}

// A program that does not know the locks yet may write about the erased session in an unlocked stream. That stream is
// locked and waited for before anything is erased, also by an attempt after one that died, and the others stay locked.
func TestLateStreamIsLockedFirst(t *testing.T) {
	t.Parallel()
	a := newActivities(t).withLog(t)
	quick := a.log
	a.log = projection.New(a.conn, eventlog.Options{Lease: time.Hour})
	ann := schema.SessionKey{Scope: schema.Scope{Project: "p/'x'", User: "ann"}, SessionID: "gone"}
	bob := schema.SessionKey{Scope: schema.Scope{Project: "p/'x'", User: "bob"}, SessionID: "kept"}
	entry := schema.EntryMaterializedPayload{}
	entry.ID, entry.SessionID, entry.Scope, entry.Title, entry.Type = schema.DerivedID("entry", "e"), ann.SessionID, ann.Scope, erasedText, schema.EntryDecision
	a.said(t, ann.Stream(), entry, schema.Event{Project: ann.Project, SessionID: ann.SessionID, DedupeKey: schema.EntryMaterializedKey(entry.ID)})
	a.said(t, bob.Stream(), schema.SessionIngestedPayload{SessionKey: bob}, schema.Event{Project: bob.Project, SessionID: bob.SessionID, DedupeKey: "bob"})
	in := a.input("late", schema.ErasureScope{Project: ann.Project, User: ann.User, SessionID: ann.SessionID})
	_, err := a.begin(t.Context(), in)
	require.NoError(t, err)
	locked := func(streams ...string) {
		t.Helper()
		stone, _, err := tombstoneOf(t.Context(), a.log.Store, in.ErasureID)
		require.NoError(t, err)
		found, err := locksOf(t.Context(), a.log.Store, in.ErasureID)
		require.NoError(t, err)
		for _, stream := range append(streams, schema.ProjectStream(ann.Project), schema.MemoryStream("ann", "")) {
			require.Contains(t, found.since, eventlog.StreamHash(stone.Salt, stream), stream)
		}
	}
	for range 2 { // The second one is an attempt after one that died.
		out, err := a.lock(t.Context(), in)
		require.NoError(t, err)
		require.Positive(t, out.Wait)
		locked()
	}
	late := schema.EntryEvidenceSetPayload{EntryID: entry.ID, AlignedEventID: "aligned", ExtractedEventID: "extracted"}
	a.said(t, bob.Stream(), late, schema.Event{Project: bob.Project, SessionID: bob.SessionID, DedupeKey: schema.EntryEvidenceSetKey(entry.ID, "aligned", 0)})
	for range 2 {
		erased, err := a.eraseLog(t.Context(), in)
		require.NoError(t, err)
		require.Positive(t, erased.Wait)
		require.Len(t, a.rows(t, "stream = ?", ann.Stream()), 1, "nothing is erased yet")
		locked(bob.Stream())
	}
	for _, stream := range []string{bob.Stream(), schema.ProjectStream(ann.Project)} {
		require.ErrorAs(t, quick.AdmitsTo(t.Context(), stream), new(*eventlog.ErasingError))
	}

	a.log = projection.New(a.conn, eventlog.Options{Lease: time.Millisecond})
	erased, err := a.eraseLog(t.Context(), in)
	require.NoError(t, err)
	require.Zero(t, erased.Wait)
	require.Empty(t, a.rows(t, "stream = ?", ann.Stream()))
	require.NotContains(t, strings.Join(a.rows(t, "stream = ?", bob.Stream()), " "), entry.ID)
}

// rows returns the payloads of the events in ClickHouse for which the condition on the stream is true.
func (a *Activities) rows(t *testing.T, where, stream string) (out []string) {
	t.Helper()
	require.NoError(t, clickhouse.Query(t.Context(), a.conn, clickhouse.Column(&out), "SELECT payload_json FROM events_raw WHERE "+where, stream))
	return out
}

// A task that remains waits for one that is erased with its session. Its own words for that one become a condition, declared
// in the place of the erased task. Words of the erased session become nothing.
func TestErasedBlockerBecomesACondition(t *testing.T) {
	t.Parallel()
	a := newActivities(t).withLog(t)
	gone := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "ann"}, SessionID: "gone"}
	a.said(t, gone.Stream(), schema.EntryMaterializedPayload{Entry: schema.Entry{ID: "e1", SessionID: gone.SessionID, Scope: gone.Scope, Title: "Order the pump"}},
		schema.Event{Project: "p", SessionID: gone.SessionID, DedupeKey: schema.EntryMaterializedKey("e1")})
	blocker := func(id, text, entry string) schema.Blocker {
		return schema.Blocker{EntityRef: schema.EntityRef{Type: schema.EntityTask, ID: id}, Text: text, Confidence: 1, EntryID: entry}
	}
	for i, payload := range []any{
		schema.TaskCreatedPayload{Act: schema.Act{EntryID: "e1"}, TaskID: "t1", CanonicalKey: "task:p:order the pump", Title: "Order the pump"},
		schema.TaskCreatedPayload{Act: schema.Act{EntryID: "e1"}, TaskID: "t3", CanonicalKey: "task:p:call zoe", Title: "Call Zoe"},
		schema.TaskCreatedPayload{Act: schema.Act{EntryID: "e2"}, TaskID: "t2", CanonicalKey: "task:p:test the well", Title: "Test the well"},
		schema.TaskBlockersSetPayload{Act: schema.Act{EntryID: "e2"}, TaskID: "t2", Blockers: []schema.Blocker{
			blocker("t1", "the new pump", "e2"), blocker("t3", "Zoe's answer", "e1"),
		}},
	} {
		a.said(t, schema.ProjectStream("p"), payload, schema.Event{Project: "p", DedupeKey: schema.TaskOfEntryKey("p", "e", strconv.Itoa(i))})
	}
	plan, err := Make(t.Context(), a.log.Store, a.conn, "e", schema.ErasureScope{Project: "p", User: "ann", SessionID: "gone"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{gone.Stream()}, plan.Streams)
	require.Len(t, plan.Replacements, 3)
	condition, err := schema.Decode[schema.ConditionDeclaredPayload](plan.Replacements[0].New)
	require.NoError(t, err)
	require.Equal(t, "the new pump", condition.Text)
	require.Empty(t, plan.Replacements[1].New.Type)
	set, err := schema.Decode[schema.TaskBlockersSetPayload](plan.Replacements[2].New)
	require.NoError(t, err)
	require.Len(t, set.Blockers, 1)
	require.Equal(t, schema.EntityRef{Type: schema.EntityCondition, ID: condition.ConditionID}, set.Blockers[0].EntityRef)
}
