package tier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/llm"
	"axiommind/schema"
)

var (
	deploy   = said(schema.RoleUser, "deploy the service")
	deployed = said(schema.RoleAssistant, "Deployed to prod.")
	offline  = llm.NewRules().Identity().String()
)

// I1: a session that is given again is flushed once, also by a process that has not seen the first time. A session that
// grew flushes only its new messages.
func TestUpdateMemoryFlushesWhatIsNew(t *testing.T) {
	t.Parallel()
	b := newFlushBenchOf(t, llm.NewRules(), Options{Webhook: Webhook{URL: "http://localhost"}})
	first := b.session("s1", deploy, deployed)
	first.Flush = schema.FlushTrim
	began := time.Now()
	done := b.must(first)[0]
	require.Equal(t, schema.EventID(schema.ContextFlushedKey(first.SessionKey, 0, 1)), done.Flushed)
	require.True(t, done.Notify)
	require.WithinDuration(t, began.Add(schema.Timing{}.WithDefaults().Files), done.FilesDue, 30*time.Second)
	want := schema.ContextFlushedPayload{
		SessionKey: first.SessionKey, BuildID: first.BuildID, Reason: schema.FlushTrim, Date: "2026-06-07", Clock: "21:45",
		First: 0, Last: 1, Turns: 1, Summarizer: offline, Text: "- User: deploy the service → Reply: Deployed to prod.",
	}
	require.Equal(t, []schema.ContextFlushedPayload{want}, b.flushes())
	for _, again := range []*flushBench{b, b.restarted()} {
		require.Equal(t, done.Flushed, again.must(first)[0].Flushed, "the build that is tried again has its result")
		require.Len(t, b.flushes(), 1)
	}

	second := b.session("s1", said(schema.RoleUser, "roll it back"), said(schema.RoleAssistant, "Rolled back."))
	for _, again := range []*flushBench{b, b, b.restarted()} {
		require.Equal(t, schema.EventID(schema.ContextFlushedKey(first.SessionKey, 2, 3)), again.must(second)[0].Flushed)
		flushes := b.flushes()
		require.Len(t, flushes, 2)
		require.Equal(t, [2]int{2, 3}, [2]int{flushes[1].First, flushes[1].Last})
		require.Equal(t, "- User: roll it back → Reply: Rolled back.", flushes[1].Text)
	}

	// Another build without new messages has nothing to report.
	other := second
	other.BuildID = "another"
	require.Equal(t, SessionResult{}, b.must(other)[0])
	require.Len(t, b.records(), 2)
}

// Sessions of one batch are flushed together, in its order, even one that is in it twice.
func TestUpdateMemoryBatch(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	one, two := b.session("s1", deploy, deployed), b.session("s/2 '日本'", said(schema.RoleUser, "デプロイして"))
	results := b.must(one, two, one)
	require.Equal(t, results[0].Flushed, results[2].Flushed)
	require.NotEqual(t, results[0].Flushed, results[1].Flushed)
	flushes := b.flushes()
	require.Len(t, flushes, 2)
	require.Equal(t, "s/2 '日本'", flushes[1].SessionID)
	require.Equal(t, "- User: デプロイして", flushes[1].Text)
	require.Equal(t, SessionResult{}, b.must(FlushRequest{SessionKey: b.key("none"), BuildID: "b", At: evening})[0])
}

// A summary without content is recorded, so that no model is asked again, but adds no block.
func TestUpdateMemoryEmptySummary(t *testing.T) {
	t.Parallel()
	b := newFlushBenchOf(t, llm.NewRules(), Options{Webhook: Webhook{URL: "http://localhost"}})
	in := b.session("s", said(schema.RoleUser, "ok"), schema.Message{Role: schema.RoleTool, Kind: schema.KindToolResult, Text: "deploy the service"})
	require.Equal(t, SessionResult{}, b.must(in)[0])
	require.Len(t, b.flushes(), 1)
	require.Empty(t, b.flushes()[0].Text)
	next := b.session("s", deploy)
	require.NotEmpty(t, b.must(next)[0].Flushed)
	require.Equal(t, [2]int{2, 2}, [2]int{b.flushes()[1].First, b.flushes()[1].Last})
}

// Prompts that the harness scheduled are left out with their answers, also where the flush begins between the two.
func TestUpdateMemoryLeavesOutScheduled(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	in := b.session("s", deploy, deployed, said(schema.RoleUser, " [SCHEDULED] check the price"))
	b.must(in)
	in = b.session("s", said(schema.RoleAssistant, "price=1013, all is normal"),
		schema.Message{Role: schema.RoleTool, Kind: schema.KindToolResult, Text: "1013"},
		said(schema.RoleAssistant, "And so is the rest."), said(schema.RoleUser, "what is the price?"), said(schema.RoleAssistant, "It is 1013."))
	b.must(in)
	require.Equal(t, "- User: deploy the service → Reply: Deployed to prod.", b.flushes()[0].Text)
	require.Equal(t, "- User: what is the price? → Reply: It is 1013.", b.flushes()[1].Text)
	require.Equal(t, 1, b.flushes()[1].Turns)
}

// The day is that of the last message in the worker's zone, or that of the build if no message has a time.
func TestUpdateMemoryDay(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("east", 9*3600)
	b := newFlushBenchOf(t, llm.NewRules(), Options{Zone: zone})
	timed := deploy
	timed.At = time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)
	b.must(b.session("timed", timed, deployed))
	b.must(b.session("untimed", deploy))
	flushes := b.flushes()
	require.Equal(t, "2026-03-02 08:30", flushes[0].Date+" "+flushes[0].Clock)
	require.Equal(t, "2026-06-08 06:45", flushes[1].Date+" "+flushes[1].Clock)
}

// Names that look like paths, or like other names, keep their records apart (I10).
func TestUpdateMemoryNames(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	var keys []schema.SessionKey
	for _, scope := range []schema.Scope{
		{Project: "p/q", User: "ann", Agent: "../x"}, {Project: "p", User: "q/ann", Agent: "../x"}, {Project: "p%2Fq", User: "ann", Agent: "../x"},
		{Project: "프로젝트", User: "사용자 'o\"", Agent: ""}, {Project: "p", User: "ANN", Agent: "Coder"},
	} {
		keys = append(keys, schema.SessionKey{Scope: scope, SessionID: "s/1?#%"})
	}
	for i, key := range keys {
		b.head = schema.StreamHead{}
		b.must(b.sessionOf(key, said(schema.RoleUser, fmt.Sprint("question number ", i))))
		b.must(b.sessionOf(key, said(schema.RoleUser, fmt.Sprint("another question ", i))))
	}
	for i, key := range keys {
		records, err := b.tables.Records(t.Context(), key.User, key.Agent, schema.RecordDaily)
		require.NoError(t, err)
		var texts []string
		for _, r := range records {
			if r.Project == key.Project {
				texts = append(texts, r.Text)
			}
		}
		require.Equal(t, []string{fmt.Sprint("- User: question number ", i), fmt.Sprint("- User: another question ", i)}, texts)
	}
}

// A batch that the server refuses for good is stored session by session.
func TestUpdateMemoryRefusedByTheServer(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	items := []FlushRequest{b.state(b.session("one", deploy), evening, "Likes Go"), b.session("two", deployed, deploy)}
	out, err := b.over(&hookedConn{Conn: b.conn, n: 2, before: func() error {
		return &clickhouse.Exception{Code: 497, Message: "not enough privileges"}
	}}).update(items...)
	require.NoError(t, err)
	require.Equal(t, schema.ErrorStoreRejected, out[0].Failed.Type)
	require.Zero(t, out[0].Result)
	require.Nil(t, out[1].Failed)
	require.NotEmpty(t, out[1].Result.Flushed)
	require.Equal(t, []string{schema.ContextFlushed}, b.types())
	for _, done := range b.must(items...) {
		require.NotEmpty(t, done.Flushed)
	}
	require.Equal(t, []string{schema.ContextFlushed, schema.FactCreated, schema.ContextFlushed}, b.types())
}

func TestSessionInputValidate(t *testing.T) {
	t.Parallel()
	good := FlushRequest{SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}, At: evening, Messages: 1}
	require.NoError(t, good.Validate())
	for name, change := range map[string]func(in *FlushRequest){
		"session_id is empty": func(in *FlushRequest) { in.SessionID = "" },
		`flush "whim"`:        func(in *FlushRequest) { in.Flush = "whim" },
		"messages -1":         func(in *FlushRequest) { in.Messages = -1 },
		"at is missing":       func(in *FlushRequest) { in.At = time.Time{} },
	} {
		in := good
		change(&in)
		require.ErrorContains(t, in.Validate(), name)
	}
}

// A long session is summarized in little memory, and only its first events are quoted.
func TestUpdateMemoryLongSession(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	var in FlushRequest
	for i := range 4 {
		var messages []schema.Message
		for n := range 200 {
			messages = append(messages, said(schema.RoleUser, fmt.Sprintf("question %d of part %d", n, i)), said(schema.RoleAssistant, strings.Repeat("answer ", 200)))
		}
		in = b.session("long", messages...)
	}
	b.must(in)
	p := b.flushes()[0]
	require.Equal(t, [2]int{0, 1599}, [2]int{p.First, p.Last})
	require.Equal(t, 800, p.Turns)
	require.Len(t, strings.Split(p.Text, "\n"), maxEvents)
	require.Less(t, len(p.Text), 10*(2*maxQuoted+40))
}

// state logs entries of the session that state facts.
func (b *flushBench) state(in FlushRequest, at time.Time, contents ...string) FlushRequest {
	b.t.Helper()
	return b.stateOf(in.Scope, in, at, contents...)
}

// stateOf is state with entries of the scope.
func (b *flushBench) stateOf(scope schema.Scope, in FlushRequest, at time.Time, contents ...string) FlushRequest {
	b.t.Helper()
	confidence := 0.9
	var events []schema.Event
	for i, content := range contents {
		id := schema.DerivedID(in.Stream(), content)
		event, err := schema.NewEvent(schema.EntryMaterializedPayload{Entry: schema.Entry{
			ID: id, Type: schema.EntryFact, SessionID: in.SessionID, Scope: scope, Title: content, Category: schema.CategoryGoal,
			Confidence: &confidence, Status: schema.StatusActive, EvidenceAligned: true, OccurredAt: at,
		}, ExtractedEventID: "x", AlignedEventID: "y", Index: i}, schema.Event{
			TS: evening, Actor: "test", SessionID: in.SessionID, Project: in.Project, DedupeKey: schema.EntryMaterializedKey(id),
		})
		require.NoError(b.t, err)
		events = append(events, event)
	}
	ctx, err := b.log.AsWriter(b.t.Context(), in.Stream(), in.Head)
	require.NoError(b.t, err)
	_, err = b.log.Append(ctx, in.Stream(), events)
	require.NoError(b.t, err)
	in.Facts, in.Head = true, b.log.Head(in.Stream())
	return in
}

// A session's facts come before its summary. One whose facts, or whose summary, is refused for good is refused alone.
func TestUpdateMemoryStoresFacts(t *testing.T) {
	t.Parallel()
	ancient := time.Date(1066, 10, 14, 0, 0, 0, 0, time.UTC)
	b := newFlushBench(t)
	items := []FlushRequest{
		b.state(b.session("good", deploy), evening, "Likes Go"),
		b.state(b.session("ancient fact", deploy), ancient, "Likes runes"),
		b.session("ancient flush", deploy),
		b.state(b.session("last", deployed, deploy), evening, "Owns a cat"),
	}
	items[2].At = ancient
	for range 2 { // The second time changes nothing (I1).
		out, err := b.update(items...)
		require.NoError(t, err)
		require.Equal(t, schema.ErrorStoreRejected, out[1].Failed.Type)
		require.Equal(t, schema.ErrorStoreRejected, out[2].Failed.Type)
		for _, i := range []int{0, 3} {
			require.Nil(t, out[i].Failed)
			require.NotEmpty(t, out[i].Result.Flushed)
			require.Equal(t, 1, out[i].Result.Facts.Entries)
		}
		require.Len(t, b.flushes(), 2)
	}
	require.Equal(t, []string{schema.FactCreated, schema.ContextFlushed, schema.FactCreated, schema.ContextFlushed}, b.types())
	require.Equal(t, []string{"Likes Go", "Owns a cat"}, b.contents())

	// The head that is handed on is the stream's.
	require.Equal(t, schema.StreamHead{Known: true, Seq: 4}, b.head)
}

// The cost of a session is an insert into the log, which is read back, and one into each table. No table is asked about a
// memory that the log remembers.
func TestUpdateMemoryRequests(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	b.must(b.session("first", deploy)) // Asks for the writer of the tables, and for the stream.
	counted := &countedConn{Conn: b.conn}
	counted.reset()
	b.lease = time.Hour // A busy machine outlives a short one, and the log asks for it again.
	c := b.over(counted)
	c.must(c.state(c.session("warm", deploy), evening, "Likes tea"))
	for i, messages := range [][]schema.Message{{deploy, deployed}, {said(schema.RoleUser, "and again")}} {
		in := c.state(c.session("s", messages...), evening, fmt.Sprint("Likes ", i))
		counted.reset()
		c.must(in)
		queries, inserts := counted.reset()
		require.Equal(t, map[string]int{"events_raw": 1, "facts_raw": 1, "records_raw": 1}, inserts)
		require.LessOrEqual(t, queries["events_raw"], 1)
		require.Zero(t, queries["facts_raw"]+queries["records_raw"])
	}
}
