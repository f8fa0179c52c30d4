package task_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// overtaken is a log that a late attempt writes to while its successor plans.
type overtaken struct {
	*projection.Store
	// planning is called before planning, and planned before the append.
	planning, planned func()
}

func (o *overtaken) Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error {
	return o.Store.Steady(ctx, p, stream, func() error {
		if late := o.planning; late != nil {
			o.planning = nil
			late()
		}
		return plan()
	})
}

func (o *overtaken) AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error) {
	if late := o.planned; late != nil {
		o.planned = nil
		late()
	}
	return o.Store.AppendAll(ctx, stream, events)
}

// TestLateAttempt: the tables keep the events of an abandoned attempt that appends and projects them while the same
// worker plans another batch.
func TestLateAttempt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stream := schema.ProjectStream("p")
	head, err := b.log.Load(t.Context(), stream)
	require.NoError(t, err)
	ctx := eventlog.WithHead(t.Context(), stream, head)
	apply := func(w *task.Writer, e schema.Entry) {
		_, err := w.Apply(ctx, []task.Batch{{Project: "p", SessionID: "s", BuildID: "b", Entries: []schema.Entry{e}}})
		require.NoError(t, err)
	}
	apply(task.NewWriter(b.log, b.conn, task.Rules{}), b.report("p", "Deploy", schema.TaskPending))

	// The late attempt is between its append and its projection when the other one reads the tables.
	projector := task.NewProjector(b.conn)
	late, err := task.Plan(ctx, task.NewTables(b.conn), task.Rules{}, []task.Batch{{Project: "p", SessionID: "late", Entries: []schema.Entry{
		b.report("p", "Deploy", schema.TaskBlocked, "the keys"),
	}}})
	require.NoError(t, err)
	log := &overtaken{Store: b.log}
	log.planning = func() {
		_, err := b.log.Append(ctx, stream, late.Events)
		require.NoError(t, err)
	}
	log.planned = func() {
		_, err := b.log.Project(ctx, projector, stream)
		require.NoError(t, err)
	}
	e := b.report("p", "Deploy", schema.TaskPending)
	e.Task.Priority = schema.PriorityHigh
	apply(task.NewWriter(log, b.conn, task.Rules{}), e)

	rows := b.rows(t)
	_, err = stacktest.Rebuild(t.Context(), b.conn, projector)
	require.NoError(t, err)
	require.Equal(t, b.rows(t), rows)
}
