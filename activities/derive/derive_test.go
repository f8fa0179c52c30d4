package derive_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/llm/worth"
	"axiommind/activities/projection"
	"axiommind/activities/transcript"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var ingestEvent = regexp.MustCompile(`^\d+ (` + schema.BuildStarted + `|` + schema.SessionIngested + `) `)

var day = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// bench is the rooms of the steps over a log.
type bench struct {
	conn      driver.Conn
	log       *projection.Store
	rooms     derive.Rooms
	published *published
	// appends counts the appends to the log.
	appends atomic.Int64
}

func newBench(t testing.TB, windowBytes int) *bench {
	t.Helper()
	conn := stacktest.Migrated(t)
	b := &bench{conn: conn}
	b.log = projection.New(conn, eventlog.Options{Appended: func([]schema.Event) { b.appends.Add(1) }})
	b.published = &published{log: b.log}
	model, err := llm.NewModel(t.Context(), llm.Config{Model: worth.Version})
	require.NoError(t, err)
	access, err := transcript.NewAccess(transcript.AccessOptions{})
	require.NoError(t, err)
	errs := make([]error, 5)
	b.rooms.Log, b.rooms.Index = b.log.Store, b.published
	spec := schema.BuildSpec{Extractor: llm.ExtractorOf(model.Identity()), EmbeddingVersion: "hash-v2-384", SchemaVersion: schema.SchemaVersion}
	b.rooms.Build, errs[3] = build.NewActivities(b.log, conn, spec, build.Projections(conn, spec.EmbeddingVersion))
	b.rooms.Transcript, errs[4] = transcript.NewActivities(b.log.Store, access)
	b.rooms.LLM, errs[0] = llm.NewActivities(b.log.Store, model, llm.Params{}, windowBytes)
	b.rooms.Entry, errs[1] = entry.NewActivities(b.log.Store, conn)
	b.rooms.Graduate, errs[2] = graduate.NewActivities(b.log, conn, model, &mocks.Client{}, graduate.Options{})
	require.NoError(t, errors.Join(errs...))
	return b
}

func keyOf(session string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: "p \"'/", User: "안나"}, SessionID: session}
}

// ingest logs messages of the session, of the user and the assistant by turns.
func (b *bench) ingest(t testing.TB, key schema.SessionKey, first int, texts ...string) {
	t.Helper()
	p := schema.SessionIngestedPayload{SessionKey: key, Date: day}
	for i, text := range texts {
		p.Messages = append(p.Messages, schema.Message{
			Index: first + i, Key: fmt.Sprint("key ", first+i), Kind: schema.KindText, Text: text,
			Role: []schema.Role{schema.RoleUser, schema.RoleAssistant}[i%2],
		})
	}
	event, err := schema.NewEvent(p, schema.Event{
		TS: day, Actor: "test", SessionID: key.SessionID, Project: key.Project, BuildID: "b", DedupeKey: fmt.Sprint("ingest ", key.Stream(), first),
	})
	require.NoError(t, err)
	_, err = b.log.Append(t.Context(), key.Stream(), []schema.Event{event})
	require.NoError(t, err)
}

// input is the first build's, with the head that the stream has by now.
func (b *bench) input(t testing.TB, key schema.SessionKey, build string) derive.Input {
	t.Helper()
	head, err := b.log.Load(t.Context(), key.Stream())
	require.NoError(t, err)
	model, err := llm.NewModel(t.Context(), llm.Config{Model: worth.Version})
	require.NoError(t, err)
	return derive.Input{First: build == "b", PlanInput: llm.PlanInput{
		SessionKey: key, BuildID: build, Extractor: llm.ExtractorOf(model.Identity()), At: day, Head: head,
	}}
}

// events are those of the session, without their positions in time.
func (b *bench) events(t testing.TB, key schema.SessionKey) (out []string) {
	t.Helper()
	for e, err := range b.log.Stream(t.Context(), key.Stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		out = append(out, fmt.Sprint(e.Seq, " ", e.Type, " ", e.DedupeKey, " ", e.BuildID, " ", e.Checksum))
	}
	return out
}

// texts are the messages of a conversation in which something is decided, preferred and to be done.
func texts(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("We decided to use ClickHouse %d for the event log, because it is append-only. I prefer tabs over spaces in file %d.", i, i),
			fmt.Sprintf("Noted. TODO: write page %d of the report.", i))
	}
	return out
}

// One append stores the same events as the steps one by one. This is true for the first build, for one that adds to it,
// and for a session too long for the log's memory.
func TestDeriveStoresWhatTheStepsStore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		messages    []string
		windowBytes int
	}{
		"short":         {texts(1), 0},
		"many windows":  {texts(10), 1 << 10},
		"long messages": {append(texts(2), strings.Repeat("All is well. ", 180_000), "Fine."), 0},
		"nothing":       {[]string{"Hello.", "Hi!"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := keyOf("s/" + name)
			single, whole := newBench(t, tt.windowBytes), newBench(t, tt.windowBytes)
			activities, err := derive.NewActivities(whole.log.Store, whole.rooms)
			require.NoError(t, err)
			first := 0
			for _, build := range []string{"b", "b2"} {
				for _, b := range []*bench{single, whole} {
					b.ingest(t, key, first, tt.messages...)
				}
				first += len(tt.messages)
				want, err := derive.Run(t.Context(), single.rooms, single.input(t, key, build), func() error { return nil })
				require.NoError(t, err)
				got, err := activities.DeriveEntries(t.Context(), whole.input(t, key, build))
				require.NoError(t, err)
				require.Equal(t, single.events(t, key), whole.events(t, key))
				require.Equal(t, at(uint64(len(whole.events(t, key)))), got.Head)
				for _, r := range []*derive.Result{&want, &got} {
					r.Metrics, r.Head, r.Plan.Recorded.Head, r.Aligned.Head, r.Materialized.Head, r.Checked.Head = nil, at(0), at(0), at(0), at(0), at(0)
				}
				require.Equal(t, want, got)
				require.Equal(t, name == "nothing" && build == "b", got.Empty)
			}
			stored := whole.events(t, key)
			_, err = activities.DeriveEntries(t.Context(), whole.input(t, key, "b2"))
			require.NoError(t, err)
			require.Equal(t, stored, whole.events(t, key), "I2: twice is once")
		})
	}
}

func at(seq uint64) schema.StreamHead { return schema.StreamHead{Known: true, Seq: seq} }

// broken fails in the check.
type broken struct {
	derive.Rooms
	err error
}

func (b broken) CheckEntries(context.Context, graduate.CheckInput) (graduate.CheckResult, error) {
	return graduate.CheckResult{}, b.err
}

// panicking panics in align.
type panicking struct{ derive.Steps }

func (panicking) AlignSession(context.Context, evidence.AlignInput) (evidence.AlignResult, error) {
	panic("no such span")
}

// A panic is an error of its step, like any other.
func TestDerivePanics(t *testing.T) {
	t.Parallel()
	b, key := newBench(t, 0), keyOf("s")
	b.ingest(t, key, 0, texts(2)...)
	before := b.events(t, key)
	activities, err := derive.NewActivities(b.log.Store, panicking{b.rooms})
	require.NoError(t, err)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(activities)
	_, err = env.ExecuteActivity(activities.DeriveEntries, b.input(t, key, "b"))
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Contains(t, application.Message(), "panic: no such span")
	var failure derive.Failure
	require.NoError(t, application.Details(&failure))
	require.Equal(t, schema.StepAlign, failure.Step)
	require.Len(t, failure.Metrics, 2)
	require.Equal(t, before, b.events(t, key))
}

// A step that fails leaves nothing behind, and the error says which one it was. The next attempt derives all.
func TestDeriveFails(t *testing.T) {
	t.Parallel()
	b, key := newBench(t, 0), keyOf("s")
	b.ingest(t, key, 0, texts(2)...)
	before := b.events(t, key)
	for name, tt := range map[string]struct {
		err       error
		retryable bool
	}{
		"for good":   {boundary.Invalid(schema.ErrorCorruptLog, errors.New("it is broken")), false},
		"for a time": {temporal.NewApplicationError("it is broken", schema.ErrorStoreUnavailable), true},
	} {
		activities, err := derive.NewActivities(b.log.Store, broken{b.rooms, tt.err})
		require.NoError(t, err)
		_, err = activities.DeriveEntries(t.Context(), b.input(t, key, "b"))
		var application *temporal.ApplicationError
		require.ErrorAs(t, err, &application, name)
		require.Equal(t, tt.retryable, !application.NonRetryable(), name)
		require.Equal(t, "it is broken", application.Message())
		var failure derive.Failure
		require.NoError(t, application.Details(&failure))
		require.Equal(t, schema.StepCheck, failure.Step)
		require.Len(t, failure.Metrics, 4)
		require.False(t, failure.Metrics[3].Success)
		require.Nil(t, failure.Recorded)
		require.Equal(t, before, b.events(t, key))
	}
	activities, err := derive.NewActivities(b.log.Store, broken{b.rooms, context.Canceled})
	require.NoError(t, err)
	_, err = activities.DeriveEntries(t.Context(), b.input(t, key, "b"))
	require.True(t, temporal.IsCanceledError(err))
	require.Equal(t, before, b.events(t, key))

	activities, err = derive.NewActivities(b.log.Store, b.rooms)
	require.NoError(t, err)
	result, err := activities.DeriveEntries(t.Context(), b.input(t, key, "b"))
	require.NoError(t, err)
	require.Positive(t, result.Materialized.New)
	require.Greater(t, len(b.events(t, key)), len(before)+2)
}
