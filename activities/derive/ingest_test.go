package derive_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// published counts how often a stream was published. It projects the stream, but has no collection to index it in.
type published struct {
	log   *projection.Store
	times int
	fail  error
}

func (p *published) EnqueueWith(ctx context.Context, stream string, others []projection.Projector) error {
	p.times++
	if p.fail != nil {
		return p.fail
	}
	return p.log.ProjectEach(ctx, stream, others)
}

// opened is the input of the session's next build.
func (b *bench) opened(t *testing.T, key schema.SessionKey, texts ...string) derive.IngestInput {
	t.Helper()
	session := schema.ProcessSessionInput{Project: key.Project, User: key.User, SessionID: key.SessionID, Messages: []schema.InlineMessage{}}
	for i, text := range texts {
		session.Messages = append(session.Messages, schema.InlineMessage{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	opened, err := b.rooms.Build.OpenBuild(t.Context(), build.OpenInput{SessionKey: key})
	require.NoError(t, err)
	return derive.IngestInput{IngestInput: transcript.IngestInput{Session: session, Build: opened, At: day}}
}

// rows are the ids of the rows of the session's projections.
func (b *bench) rows(t *testing.T) (out []string) {
	t.Helper()
	sql := `SELECT id FROM (SELECT 'entry ' || entry_id AS id FROM entries UNION ALL SELECT 'build ' || build_id || status FROM build_runs
		UNION ALL SELECT 'outbox ' || item_kind || item_id FROM vector_outbox) ORDER BY id`
	rows, err := b.conn.Query(t.Context(), sql)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id))
		out = append(out, id)
	}
	require.NoError(t, rows.Err())
	return out
}

func (b *bench) activities(t *testing.T, steps derive.Steps) *derive.Activities {
	t.Helper()
	activities, err := derive.NewActivities(b.log.Store, steps)
	require.NoError(t, err)
	return activities
}

// The input and all that is derived from it are one append, of the same events as step by step.
func TestIngestAndDeriveAreOneAppend(t *testing.T) {
	t.Parallel()
	key := keyOf("s \"'/\n")
	single, whole := newBench(t, 0), newBench(t, 0)
	stepwise, activities := single.activities(t, single.rooms), whole.activities(t, whole.rooms)
	var said []string
	for _, more := range [][]string{texts(2), {"Never mind.", "Fine."}} {
		said = append(said, more...)
		in := single.opened(t, key, said...)
		in.Alone = true
		alone, err := stepwise.IngestSession(t.Context(), in)
		require.NoError(t, err)
		require.Nil(t, alone.Derived)
		require.Equal(t, 2*in.Build.Ordinal, len(single.events(t, key))-derivedEvents(single.events(t, key)))
		derivation := derive.First(in.Build, false, day)
		derivation.Head = alone.Head
		want, err := stepwise.DeriveEntries(t.Context(), derivation)
		require.NoError(t, err)

		appends, publishes := whole.appends.Load(), whole.published.times
		got, err := activities.IngestSession(t.Context(), whole.opened(t, key, said...))
		require.NoError(t, err)
		require.EqualValues(t, 1, whole.appends.Load()-appends)
		require.Equal(t, 1, whole.published.times-publishes)
		require.Equal(t, single.events(t, key), whole.events(t, key))
		require.Equal(t, at(uint64(len(whole.events(t, key)))), got.Head)
		require.Equal(t, got.Head, got.Derived.Head)
		require.Equal(t, want.Materialized.New, got.Derived.Materialized.New)
		require.Equal(t, len(more), got.NewMessages)
		require.NoError(t, single.rooms.Build.ProjectSession(t.Context(), build.ProjectInput{SessionKey: key}))
		require.NotEmpty(t, whole.rows(t))
		require.Equal(t, single.rows(t), whole.rows(t))
		for _, b := range []*bench{single, whole} {
			require.NoError(t, b.rooms.Build.CloseBuild(t.Context(), build.CloseInput{
				Build: in.Build, Finished: schema.BuildFinishedPayload{
					BuildID: in.Build.BuildID, SessionID: key.SessionID, Status: schema.BuildSuccess, ExtractorID: in.Build.Spec.Extractor.ID(),
				}, StartedAt: day, At: day,
			}))
		}
	}
	before := whole.published.times
	got, err := activities.IngestSession(t.Context(), whole.opened(t, key, said...))
	require.NoError(t, err)
	require.True(t, got.Unchanged)
	require.Nil(t, got.Derived)
	require.Equal(t, single.events(t, key), whole.events(t, key))
	require.Equal(t, before, whole.published.times)
}

// derivedEvents counts the events that are not of the ingest.
func derivedEvents(events []string) (n int) {
	for _, e := range events {
		if !ingestEvent.MatchString(e) {
			n++
		}
	}
	return n
}

// underived fails in some step of the derivation.
type underived struct {
	derive.Steps
	fail func() error
}

func (u underived) PlanWindows(context.Context, llm.PlanInput) (llm.PlanResult, error) {
	return llm.PlanResult{}, u.fail()
}

// The input is stored even if nothing can be derived from it. The next activity derives it, or fails.
func TestIngestKeepsUnderivableInput(t *testing.T) {
	t.Parallel()
	calm := newBench(t, 0)
	_, err := calm.activities(t, calm.rooms).IngestSession(t.Context(), calm.opened(t, keyOf("s"), texts(2)...))
	require.NoError(t, err)
	for name, wrap := range map[string]func(derive.Rooms) derive.Steps{
		"a permanent error": func(r derive.Rooms) derive.Steps {
			return underived{r, func() error { return boundary.Invalid(schema.ErrorCorruptLog, errors.New("it is broken")) }}
		},
		"an outage": func(r derive.Rooms) derive.Steps {
			return underived{r, func() error { return temporal.NewApplicationError("it is away", schema.ErrorStoreUnavailable) }}
		},
		"a panic":        func(r derive.Rooms) derive.Steps { return panicking{r} },
		"the last step":  func(r derive.Rooms) derive.Steps { return broken{r, errors.New("it is broken")} },
		"no other place": func(r derive.Rooms) derive.Steps { return underived{r, func() error { panic("no place") }} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 0)
			activities := b.activities(t, wrap(b.rooms))
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(activities)
			value, err := env.ExecuteActivity(activities.IngestSession, b.opened(t, keyOf("s"), texts(2)...))
			require.NoError(t, err)
			var got derive.IngestResult
			require.NoError(t, value.Get(&got))
			require.Nil(t, got.Derived)
			require.Equal(t, []int{4, 4}, []int{got.Messages, got.NewMessages})
			require.Equal(t, at(2), got.Head)
			require.Len(t, b.events(t, keyOf("s")), 2)
			require.Zero(t, derivedEvents(b.events(t, keyOf("s"))))

			_, err = env.ExecuteActivity(activities.DeriveEntries, b.input(t, keyOf("s"), "b"))
			require.Error(t, err)
			in := b.input(t, keyOf("s"), build.ID(keyOf("s"), 1))
			in.First = true
			_, err = b.activities(t, b.rooms).DeriveEntries(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, calm.events(t, keyOf("s")), b.events(t, keyOf("s")))
		})
	}
}

// asking has a question for a model.
type asking struct{ derive.Steps }

func (asking) PlanWindows(context.Context, llm.PlanInput) (llm.PlanResult, error) {
	return llm.PlanResult{Windows: []schema.Window{{Last: 1, Hash: "h"}}}, nil
}

// A model is asked after the input is stored and its messages can be found.
func TestIngestBeforeQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	got, err := b.activities(t, asking{b.rooms}).IngestSession(t.Context(), b.opened(t, keyOf("s"), texts(2)...))
	require.NoError(t, err)
	require.Len(t, got.Derived.Plan.Windows, 1)
	require.Len(t, b.events(t, keyOf("s")), 2)
	require.Equal(t, 1, b.published.times)
	require.Len(t, b.rows(t), 5, "the build, and four messages to index")
}

// What is stored counts, even if the tables can't have it yet. An attempt that is repeated after that finds all of it, and
// so does the derivation.
func TestIngestIsNotPublished(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	b.published.fail = errors.New("a table is away")
	in := b.opened(t, keyOf("s"), texts(2)...)
	activities := b.activities(t, b.rooms)
	got, err := activities.IngestSession(t.Context(), in)
	require.NoError(t, err)
	require.False(t, got.Published)
	require.Positive(t, got.Derived.Materialized.New)
	require.Equal(t, at(uint64(len(b.events(t, keyOf("s"))))), got.Head)
	require.Empty(t, b.rows(t))
	stored := b.events(t, keyOf("s"))

	b.published.fail, in.Alone = nil, true
	again, err := b.activities(t, b.rooms).IngestSession(t.Context(), in)
	require.NoError(t, err)
	require.True(t, again.Published)
	require.Equal(t, []int{got.Messages, got.NewMessages}, []int{again.Messages, again.NewMessages})
	first := derive.First(in.Build, false, day)
	first.Head = again.Head
	derived, err := activities.DeriveEntries(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, got.Derived.Materialized.New, derived.Materialized.New)
	require.Equal(t, stored, b.events(t, keyOf("s")), "I2: twice is once")
	rows := b.rows(t)
	require.Greater(t, len(rows), 5)
	require.NoError(t, activities.PublishSession(t.Context(), build.ProjectInput{SessionKey: keyOf("s"), Head: again.Head}))
	require.Equal(t, rows, b.rows(t))
}

// An attempt that is cancelled stores nothing more, and says so.
func TestIngestIsCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	in := b.opened(t, keyOf("s"), texts(2)...)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.activities(t, underived{b.rooms, func() error { cancel(); return ctx.Err() }}).IngestSession(ctx, in)
	require.True(t, temporal.IsCanceledError(err), err)
	require.Empty(t, b.events(t, keyOf("s")))
}
