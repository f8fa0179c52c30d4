package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// indexAtOnce is how many outbox rows one activity works on.
const indexAtOnce = 512

var vectors *vector.Activities

// vectorWriter is the only writer of a collection and of its stream. It works on the outbox until nothing
// is left. Asked by an update, it compares the collection with the log; then the rows that this has asked
// to be written again are written.
var vectorWriter = writer[schema.VectorWriterInput]{
	updates: []updateHandler{
		update[vector.ReconcileInput, vector.Report]{
			name:     schema.UpdateReconcile,
			title:    func(vector.ReconcileInput) string { return "compare with the log" },
			activity: vectors.ReconcileCollection,
			options:  vectorWork,
		},
	},
	background: &background[schema.VectorWriterInput]{
		signal: schema.SignalWake,
		title:  "index what is pending",
		step:   indexPending,
	},
}

// indexPending works on some rows. There is more to do at once where rows remain, and when the first row
// that failed falls due.
func indexPending(ctx workflow.Context, in schema.VectorWriterInput, title string) (due time.Time, err error) {
	work := vector.IndexInput{Collection: in.Collection, Limit: indexAtOnce}
	result, err := call(vectorWork(ctx, title), vectors.IndexPending, work)
	now := workflow.Now(ctx)
	switch soonest := now.Add(time.Second); {
	case err != nil:
		return time.Time{}, err
	case result.Remaining > 0:
		return now, nil
	case result.NextRetry.IsZero() || result.NextRetry.After(soonest):
		return result.NextRetry, nil
	default:
		return soonest, nil
	}
}
