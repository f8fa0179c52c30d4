package truth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/progress"
	"axiommind/starter/command/truth"
	"axiommind/worker/service"
)

// olderSession logs a session as an older program without a rule of proof left it: one entry for each quote, none of which
// proves anything.
func olderSession(t *testing.T, conn driver.Conn, session schema.SessionKey, text string, quotes ...string) *forger {
	t.Helper()
	f := &forger{t, projection.New(conn, eventlog.Options{}), session}
	ingested := schema.SessionIngestedPayload{
		SessionKey: session, Date: time.UnixMicro(1).UTC(),
		Messages: []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: text}},
	}
	said := f.write(schema.SessionIngested, "ingested", ingested)
	extracted := schema.MemoryExtractedPayload{SessionID: session.SessionID}
	for _, q := range quotes {
		extracted.Entries = append(extracted.Entries, schema.ExtractedEntry{Type: schema.EntryDecision, Title: q, Evidence: []schema.Quote{{Quote: q}}})
	}
	aligned := schema.EvidenceAlignedPayload{SessionID: session.SessionID, ExtractedEventID: f.write(schema.MemoryExtracted, "extracted", extracted)}
	aligner := evidence.NewAligner(ingested.Messages, func(int) string { return said })
	for i, x := range extracted.Entries {
		pieces, ok := aligner.AlignEntry(x.Evidence)
		for n := range pieces {
			pieces[n].Proven, pieces[n].Within, pieces[n].Trust = false, nil, ""
		}
		aligned.Entries = append(aligned.Entries, schema.AlignedEntry{Index: i, EvidenceAligned: ok, Evidence: pieces})
	}
	f.write(schema.EvidenceAligned, "aligned", aligned)
	rooms := newEvidenceRooms(t, conn)
	_, err := rooms.env.ExecuteActivity(rooms.entry.MaterializeEntries, entry.MaterializeInput{SessionKey: session, BuildID: "b"})
	require.NoError(t, err)
	_, err = f.log.ProjectAll(t.Context(), entry.NewProjector(conn))
	require.NoError(t, err)
	return f
}

// evidenceRooms runs the activities that judge evidence, without a worker.
type evidenceRooms struct {
	env      *testsuite.TestActivityEnvironment
	evidence *evidence.Activities
	entry    *entry.Activities
}

func newEvidenceRooms(t testing.TB, conn driver.Conn) evidenceRooms {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(temporallog.NewStructuredLogger(commandtest.Quiet))
	r := evidenceRooms{env: suite.NewTestActivityEnvironment()}
	log := projection.New(conn, eventlog.Options{})
	var err error
	r.evidence, err = evidence.NewActivities(log.Store)
	require.NoError(t, err)
	r.entry, err = entry.NewActivities(log.Store, conn)
	require.NoError(t, err)
	r.env.RegisterActivity(r.evidence)
	r.env.RegisterActivity(r.entry)
	return r
}

func (r evidenceRooms) realign(t *testing.T, in evidence.RealignInput) (result evidence.RealignResult) {
	t.Helper()
	value, err := r.env.ExecuteActivity(r.evidence.RealignSession, in)
	require.NoError(t, err)
	require.NoError(t, value.Get(&result))
	return result
}

func (f *forger) alignments() []schema.EvidenceAlignedPayload {
	f.Helper()
	events := f.events(schema.EvidenceAligned)
	out := make([]schema.EvidenceAlignedPayload, len(events))
	for i, event := range events {
		require.NoError(f, json.Unmarshal(event.Payload, &out[i]))
	}
	return out
}

func countEvents(t *testing.T, conn driver.Conn) (n uint64) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&n))
	return n
}

const (
	olderText = "So then. We decided to use ClickHouse for the event log. 금요일에는 배포하지 않기로 했습니다. It is settled."
	korean    = "금요일에는 배포하지 않기로 했습니다."
	fragment  = "use ClickHouse for the"
)

// An event rejudges the evidence that an older rule judged, and the entries and their rows show the result. The earlier log
// stays unchanged. Evidence is true before and after, and a second run writes nothing.
func TestRealign(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	conn, _ := c.LogOf(t)
	key := func(user, id string) schema.SessionKey {
		return schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: user}, SessionID: id}
	}
	plain := olderSession(t, conn, key("u", "plain"), olderText, commandtest.Decision, korean, fragment)
	strange := olderSession(t, conn, key("나/\"%'", "세션 1/ %2F"), olderText, commandtest.Decision)
	twin := key("v", "plain")
	twin.Agent = "claude"
	olderSession(t, conn, twin, olderText, commandtest.Decision)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", "new").Code)

	before := verify(c, t, command.ExitOK)
	require.Equal(t, map[int]int{0: 5}, before.Older)
	require.Equal(t, 4, before.Sessions)
	require.Equal(t, 6, before.Aligned)
	require.Equal(t, 1, before.Proven)
	o := c.Run("verify", "--user", "u")
	require.Contains(t, o.Out, "; 0 proven, 3 aligned and not proven, 0 found and not aligned, 0 not found; 0 false\n"+
		"3 pieces were judged by rule 0: `starter realign` judges them again by rule 2\n")

	events, was := countEvents(t, conn), plain.events(schema.EvidenceAligned)
	o = c.Run("realign", "--dry-run")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "3 sessions: 5 pieces to judge again by rule 2\n")
	require.Regexp(t, `(?m)^plain +test-\S+ +u +3\nplain +test-\S+ +v / claude +1$`, o.Out)
	require.Equal(t, events, countEvents(t, conn), "a dry run")
	for _, args := range [][]string{{"--session", "nobody's"}, {"--project", "nobody's"}, {"--jobs", "0"}} {
		require.Equal(t, command.ExitUsage, c.Run(append([]string{"realign"}, args...)...).Code, args)
	}

	one := commandtest.Decode[truth.Realignment](t, c.Run("realign", "--user", strange.session.User, "-o", "json"))
	require.Equal(t, truth.Realignment{
		Rule: 2, Sessions: []*truth.Realigned{{SessionKey: strange.session, Pieces: 1, Proven: 1}}, Pieces: 1, Proven: 1,
	}, one)
	o = c.Run("realign")
	require.Zero(t, o.Code, o)
	require.Regexp(t, `(?m)^plain +test-\S+ +u +3 +2 +0\nplain +test-\S+ +v / claude +1 +1 +0$`, o.Out)
	require.Contains(t, o.Out, "2 sessions: 4 pieces judged again by rule 2, 3 newly proven, 0 no longer\n")

	now := plain.events(schema.EvidenceAligned)
	require.Equal(t, was, now[:1], "an event is never rewritten")
	judged := plain.alignments()
	require.Len(t, judged, 2)
	require.Equal(t, 2, judged[1].Rule)
	for i, proven := range []bool{true, true, false} {
		require.False(t, judged[0].Entries[i].EvidenceProven)
		require.Equal(t, proven, judged[1].Entries[i].EvidenceProven)
		require.Equal(t, proven, judged[1].Entries[i].Evidence[0].Proven)
	}
	require.Equal(t, schema.EvidenceAlignedKey(judged[1].ExtractedEventID, 2), now[1].DedupeKey)
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.OfSession(plain.session).OldestFirst(), entry.Whole)
	require.NoError(t, err)
	for _, row := range rows {
		require.Equal(t, row.Title != fragment, row.EvidenceProven, row.Title)
	}

	after := verify(c, t, command.ExitOK)
	require.Empty(t, after.Older)
	require.Zero(t, after.Unprojected)
	require.Equal(t, before.Aligned, after.Aligned)
	require.Equal(t, 5, after.Proven)
	events = countEvents(t, conn)
	o = c.Run("realign")
	require.Zero(t, o.Code, o)
	require.Equal(t, "nothing to judge again: all evidence is judged by rule 2\n", o.Out)
	require.Empty(t, commandtest.Decode[truth.Realignment](t, c.Run("realign", "-o", "json")).Sessions)
	require.Equal(t, events, countEvents(t, conn))
}

// I2: an attempt that stored everything and crashed before it reported success is retried with the same result and writes
// nothing. If the entries were not updated, the next realignment updates them.
func TestI2RealignAgain(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	conn, _ := c.LogOf(t)
	f := olderSession(t, conn, schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: "u"}, SessionID: "s"}, olderText, commandtest.Decision, fragment)
	rooms := newEvidenceRooms(t, conn)
	in := evidence.RealignInput{SessionKey: f.session, At: time.Now().UTC()}
	first := rooms.realign(t, in)
	require.Equal(t, 2, first.Pieces)
	require.Equal(t, 1, first.Proven)
	events := countEvents(t, conn)
	require.Equal(t, first, rooms.realign(t, in), "another attempt")
	in.At = in.At.Add(time.Second)
	require.Equal(t, evidence.RealignResult{Extractions: 1, Head: first.Head}, rooms.realign(t, in), "another act")
	require.Equal(t, events, countEvents(t, conn))
	_, err := evidence.AlignSession(t.Context(), f.log.Store, evidence.AlignInput{SessionKey: f.session, BuildID: "b2", At: in.At})
	require.NoError(t, err)
	require.Equal(t, events, countEvents(t, conn), "to align is for what nobody has aligned")
	require.Zero(t, verify(c, t, command.ExitOK).False)

	o := c.Run("realign", "--dry-run")
	require.Contains(t, o.Out, "1 session: 0 pieces to judge again by rule 2; 2 entries lack an earlier judgement\n")
	require.Zero(t, c.Run("realign").Code)
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.OfSession(f.session).OldestFirst(), entry.Whole)
	require.NoError(t, err)
	for _, row := range rows {
		require.Equal(t, row.Title == commandtest.Decision, row.EvidenceProven, row.Title)
	}
	require.Contains(t, c.Run("realign").Out, "nothing to judge again")
	require.Zero(t, verify(c, t, command.ExitOK).False)
}

// told closes itself on the first write.
type told chan struct{}

func (t told) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("is being processed; it is judged again after that")) {
		close(t)
	}
	return len(p), nil
}

// A session that is being processed has one writer. The realignment follows that run and includes its entries.
func testRealignAfterARun(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	cfg := c.Config(t)
	conn, _ := emptyLog(t, cfg.ClickHouseDSN)
	f := olderSession(t, conn, schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: "u"}, SessionID: "s"}, olderText, commandtest.Decision)
	temporalClient, err := service.ConnectTemporal(t.Context(), cfg, commandtest.Quiet)
	require.NoError(t, err)
	defer temporalClient.Close()
	busy := progress.SessionWork{SessionKey: f.session, Workflow: schema.WorkflowProcessSession, Input: schema.ProcessSessionInput{
		Messages: []schema.InlineMessage{{Role: "user", Content: olderText}, {Role: "user", Content: "I prefer tabs over spaces."}},
		Project:  f.session.Project, User: f.session.User, SessionID: f.session.SessionID,
	}}
	var run client.WorkflowRun
	commandtest.Eventually(t, func() bool {
		run, err = busy.Start(t.Context(), temporalClient, busy.WorkflowID())
		return err == nil
	})

	waits, ended := make(told), make(chan int, 1)
	var out bytes.Buffer
	go func() {
		a := &command.App{Out: &out, ErrOut: waits, Getenv: func(name string) string { return c.Env[name] }}
		ended <- program.Main(context.Background(), a, append([]string{"realign"}, c.Servers...))
	}()
	<-waits
	c.Work(t)
	require.Zero(t, <-ended)
	require.NoError(t, run.Get(t.Context(), nil))
	require.Contains(t, out.String(), "1 session: 1 piece judged again by rule 2, 1 newly proven, 0 no longer\n")
	require.Empty(t, verify(c, t, command.ExitOK).Older)
}
