package task

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// TestSessionsAtOnce: the plan for several sessions has the events of planning one after the other, each in its
// session's part.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		apart, together := newProject(t, "alpha"), newProject(t, "alpha")
		for range rapid.IntRange(0, 3).Draw(t, "before") {
			e := apart.drawEntry(t)
			apart.say(e)
			together.say(e)
		}
		var batches []Batch
		for i := range rapid.IntRange(1, 4).Draw(t, "sessions") {
			batch := Batch{Project: "alpha", SessionID: fmt.Sprint("s", i), BuildID: fmt.Sprint("b", i)}
			for range rapid.IntRange(0, 4).Draw(t, "entries") {
				batch.Entries = append(batch.Entries, apart.drawEntry(t))
			}
			if i > 0 && rapid.Bool().Draw(t, "says the same") {
				batch.Entries = append(batch.Entries, batches[i-1].Entries...)
			}
			batches = append(batches, batch)
		}
		planned, err := Plan(context.Background(), together.memory, together.rules, batches)
		require.NoError(t, err)
		for i, batch := range batches {
			one, err := Plan(context.Background(), apart.memory, apart.rules, []Batch{batch})
			require.NoError(t, err)
			require.Equal(t, one.Skipped[0], planned.Skipped[i])
			require.Equal(t, len(one.Events), len(planned.Of[i]))
			for k, event := range planned.Of[i] {
				require.Equal(t, one.Events[k], event)
			}
			apart.append(one.Events)
		}
		together.append(planned.Events)
		require.Equal(t, apart.memory.view(), together.memory.view())
	})
}

// broken is an index that cannot load one entity.
type broken struct {
	*memory
	id  string
	err error
}

func (b *broken) Read(ctx context.Context, project string, w Wants) (Found, error) {
	for _, id := range w.IDs {
		if id == b.id && len(w.IDs) == 1 {
			return Found{}, b.err
		}
	}
	return b.memory.Read(ctx, project, w)
}

// logged is a log over a project in memory.
type logged struct{ p *project }

func (l logged) AppendAll(_ context.Context, _ string, events []schema.Event) (eventlog.Appended, error) {
	before := len(l.p.log)
	l.p.append(events)
	var out eventlog.Appended
	for _, e := range events {
		for _, stored := range l.p.log {
			if stored.DedupeKey == e.DedupeKey {
				out.Events = append(out.Events, stored)
			}
		}
	}
	out.New = len(l.p.log) - before
	return out, nil
}

func (l logged) Append(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error) {
	return l.AppendAll(ctx, stream, events)
}

func (logged) Head(string) schema.StreamHead { return schema.StreamHead{} }

func (logged) GetMany(context.Context, []string) (map[string]schema.Event, error) { return nil, nil }

func (logged) ProjectEach(context.Context, string, []projection.Projector) error { return nil }

func (logged) AsWriter(ctx context.Context, _ string, _ schema.StreamHead) (context.Context, error) {
	return ctx, nil
}

func (logged) Since(context.Context, string, uint64, []string) (_ []schema.Event, _ uint64, known bool, _ error) {
	return nil, 0, false, nil
}

func (logged) Steady(_ context.Context, _ projection.Projector, _ string, plan func() error) error {
	return plan()
}

// TestRefusedSessionFailsAlone: a permanently refused session does not affect the others, and a transient error fails
// them all.
func TestRefusedSessionFailsAlone(t *testing.T) {
	t.Parallel()
	const lost = "3d9f1b3c-1f0f-5a3e-8a53-0f5d9f1b3c1f"
	p := newTestProject(t)
	// The second session names a task with a chain of blockers to an entity that the index fails to load.
	p.say(p.report("Ship", schema.TaskInProgress), p.report("Release", schema.TaskInProgress))
	batches := []Batch{
		{Project: p.name, SessionID: "first", Entries: []schema.Entry{p.report("Write", schema.TaskInProgress)}},
		{Project: p.name, SessionID: "second", Entries: []schema.Entry{
			p.report("Half done", schema.TaskInProgress), p.report("Chained", schema.TaskBlocked, "Ship"),
		}},
		{Project: p.name, SessionID: "third", Entries: []schema.Entry{
			p.report("Write", schema.TaskBlocked, "VPN"), p.report(" ", schema.TaskPending),
		}},
	}
	// The chain is longer than prefetch reads.
	ids := []string{p.task("Ship").ID, "a", "b", "c", lost}
	for i, id := range ids[:len(ids)-1] {
		e := p.memory.entities[p.task("Ship").ID]
		e.ID, e.Blockers = id, []schema.Blocker{{EntityRef: schema.EntityRef{Type: schema.EntityTask, ID: ids[i+1]}}}
		p.memory.entities[id] = e
	}
	index := &broken{memory: p.memory, id: lost, err: boundary.Invalid(schema.ErrorInvalidInput, errors.New("corrupt"))}
	w := &Writer{log: logged{p}, projector: NewProjector(nil), index: index}
	before := len(p.log)
	out, err := w.Apply(context.Background(), batches)
	require.NoError(t, err)
	require.Equal(t, schema.ErrorInvalidInput, out[1].Failed.Type)
	require.Contains(t, out[1].Failed.Message, `"second"`)
	require.Nil(t, out[0].Failed)
	require.Nil(t, out[2].Failed)
	require.Equal(t, 2, out[0].Result.Events, "created, observed")
	require.Equal(t, 1, out[0].Result.Created)
	require.Equal(t, 2, out[2].Result.Entries)
	require.Len(t, out[2].Result.Skipped, 1)
	require.EqualValues(t, before+2, out[0].Result.LastSeq)
	require.Equal(t, len(p.log)-before, out[0].Result.Events+out[2].Result.Events)
	for _, e := range p.log[before:] {
		require.NotEqual(t, "second", e.SessionID, "no half of it is in the log")
	}

	index.err = errors.New("connection reset")
	_, err = w.Apply(context.Background(), []Batch{{Project: p.name, SessionID: "fourth", Entries: []schema.Entry{
		p.report("Good", schema.TaskPending),
	}}, batches[1]})
	require.ErrorContains(t, err, "connection reset")
}
