package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// indexAtOnce and messagesAtOnce are how many outbox rows one activity works on. Messages are long: a model in the process
// embeds some ten of 1 KiB in a second.
const (
	indexAtOnce    = 512
	messagesAtOnce = 256
	// busyAtOnce is the limit while a rebuild is running, so that its next turn comes soon.
	busyAtOnce = 16
)

const indexTitle = "index pending items"

// messagesLater returns how long messages wait. Most sessions are done by then and do not compete with them for the
// machine.
func messagesLater(p schema.Timing, in schema.VectorWriterInput) time.Duration {
	if schema.ContainsMessages(in.Collection) {
		return p.Messages
	}
	return 0
}

var vectors *vector.Activities

// vectorWriter is the only writer of a collection and of its stream. It indexes all sessions that wait for it in one
// batch. Items that no sender waits for are in the outbox: task titles, messages, and failed items to retry. It works
// on the outbox after a signal and when it falls due. One update compares the collection with the log, after which
// differing rows are rewritten. Another rebuilds the collection and switches to it, in turns between other work.
var vectorWriter = writer[schema.VectorWriterInput]{
	updates: []updateHandler{
		batchUpdate[vector.IndexRequest, vector.SessionResult]{
			name:     schema.UpdateSession,
			title:    func(in vector.IndexRequest) string { return "session " + in.SessionID },
			activity: vectors.IndexSessions,
			options:  vectorWork,
			due:      func(r vector.SessionResult) time.Time { return r.NextRetry },
		},
		update[vector.ReconcileInput, vector.Report]{
			name:     schema.UpdateReconcile,
			title:    func(vector.ReconcileInput) string { return "compare with the log" },
			activity: vectors.ReconcileCollection,
			options:  vectorWork,
			due:      func(vector.Report) time.Time { return atOnce },
		},
		longUpdate[vector.RebuildInput, vector.Rebuilding, vector.RebuildResult]{
			name:     schema.UpdateRebuild,
			begin:    func(in vector.RebuildInput) vector.Rebuilding { return vector.Rebuilding{RebuildInput: in} },
			activity: vectors.RebuildCollection,
			options:  vectorWork,
			end:      func(s vector.Rebuilding) (vector.RebuildResult, time.Duration) { return s.Result, s.Wait },
		},
	},
	background: &background[schema.VectorWriterInput]{
		signal: schema.SignalWake,
		delay:  messagesLater,
		title:  indexTitle,
		step:   indexPending,
	},
}

// indexPending indexes some rows. It is due again at once if rows remain, or else when the first failed row falls due.
func indexPending(ctx workflow.Context, in schema.VectorWriterInput, head schema.StreamHead, busy bool) (after schema.StreamHead, due time.Time, err error) {
	work := vector.IndexInput{Collection: in.Collection, Limit: indexAtOnce, Head: head}
	if schema.ContainsMessages(in.Collection) {
		work.Limit = messagesAtOnce
	}
	if busy {
		work.Limit = busyAtOnce
	}
	result, err := call(vectorWork(ctx, indexTitle), vectors.IndexPending, work)
	now := workflow.Now(ctx)
	switch soonest := now.Add(time.Second); {
	case err != nil:
		return schema.StreamHead{}, time.Time{}, err
	case result.More:
		return result.Head, now, nil
	case result.NextRetry.IsZero() || result.NextRetry.After(soonest):
		return result.Head, result.NextRetry, nil
	default:
		return result.Head, soonest, nil
	}
}
