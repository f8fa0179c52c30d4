package workflows_test

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// The activities of the writers that sessions share: tasks, memory and vectors.

func (r *rooms) SubmitTasks(ctx context.Context, in task.ResolveRequest) (task.Result, error) {
	return called(ctx, r, "SubmitTasks", in, func() (task.Result, error) { return r.resolved, nil })
}

func (r *rooms) ResolveTasks(ctx context.Context, in boundary.Batch[task.ResolveRequest]) (boundary.Outcomes[task.Result], error) {
	return called(ctx, r, "ResolveTasks", in, func() (boundary.Outcomes[task.Result], error) { return each(r, in, r.resolved) })
}

// each returns the result for every item of the batch, or the failure that the test has set for the item's session.
func each[In interface{ Stream() string }, Out any](r *rooms, in boundary.Batch[In], out Out) (all boundary.Outcomes[Out], err error) {
	for _, item := range in.Items {
		all.Items = append(all.Items, boundary.Outcome[Out]{Result: out, Failed: r.refused[item.Stream()]})
	}
	if r.forgets {
		all.Items = all.Items[1:]
	}
	all.Head = schema.StreamHead{Known: true, Seq: in.Head.Seq + uint64(len(in.Items))}
	return all, nil
}

func (r *rooms) RunTaskCommand(ctx context.Context, in task.Command) (task.Result, error) {
	return called(ctx, r, "RunTaskCommand", in, func() (task.Result, error) { return r.resolved, nil })
}

// PlanSummary plans summariesAtOnce windows at a time.
func (r *rooms) PlanSummary(ctx context.Context, in tier.SummaryInput) (tier.SummaryPlan, error) {
	return called(ctx, r, "PlanSummary", in, func() (tier.SummaryPlan, error) {
		plan := tier.SummaryPlan{Messages: in.Messages}
		done := len(r.inputs["SubmitMemory"]) * r.summariesAtOnce
		for i := done; i < r.summaries; i++ {
			if r.summariesAtOnce > 0 && len(plan.Windows) == r.summariesAtOnce {
				plan.More, plan.Messages = true, 10*i
				break
			}
			plan.Windows = append(plan.Windows, tier.SummaryWindow{First: 10 * i, Last: 10*i + 9})
		}
		if r.reviewed > 0 {
			plan.Review = &tier.ReviewPlan{Shown: "shown", Groups: r.reviewGroups}
			for i := range r.reviewed {
				plan.Review.Windows = append(plan.Review.Windows, tier.SummaryWindow{First: 10 * i, Last: 10*i + 9})
			}
			plan.Head = at(in.Head.Seq + 1)
		}
		return plan, nil
	})
}

func (r *rooms) ReviewFacts(ctx context.Context, in tier.ReviewInput) (tier.ReviewAnswer, error) {
	return called(ctx, r, "ReviewFacts", in, func() (tier.ReviewAnswer, error) { return r.review(in) })
}

func (r *rooms) SummarizeSession(ctx context.Context, in tier.SummarizeInput) (tier.SummarizedWindow, error) {
	return called(ctx, r, "SummarizeSession", in, func() (tier.SummarizedWindow, error) { return r.summarize(in) })
}

func (r *rooms) SubmitMemory(ctx context.Context, in tier.FlushRequest) (tier.SessionResult, error) {
	return called(ctx, r, "SubmitMemory", in, func() (tier.SessionResult, error) { return r.remembered, nil })
}

func (r *rooms) UpdateMemory(ctx context.Context, in boundary.Batch[tier.FlushRequest]) (boundary.Outcomes[tier.SessionResult], error) {
	return called(ctx, r, "UpdateMemory", in, func() (boundary.Outcomes[tier.SessionResult], error) { return each(r, in, r.remembered) })
}

func (r *rooms) SendWebhook(ctx context.Context, in schema.NotifySummaryInput) error {
	_, err := called(ctx, r, "SendWebhook", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) SignalSummary(ctx context.Context, in schema.NotifySummaryInput) error {
	_, err := called(ctx, r, "SignalSummary", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) RunFactCommand(ctx context.Context, in fact.Command) (fact.Result, error) {
	return called(ctx, r, "RunFactCommand", in, func() (fact.Result, error) { return r.learned, nil })
}

func (r *rooms) ReconcileCollection(ctx context.Context, in vector.ReconcileInput) (vector.Report, error) {
	return called(ctx, r, "ReconcileCollection", in, func() (vector.Report, error) { return vector.Report{}, nil })
}

// RebuildCollection is one turn of as many as the test has set.
func (r *rooms) RebuildCollection(ctx context.Context, in vector.Rebuilding) (vector.Rebuilding, error) {
	return called(ctx, r, "RebuildCollection", in, func() (vector.Rebuilding, error) {
		in.Wait = 0
		in.Seen, in.Total = in.Seen+1, r.anew
		switch in.Seen {
		case r.anew - 1:
			in.Step, in.Wait, in.Result.Switched = "drop", schema.Timing{}.WithDefaults().Vectors, true
		case r.anew:
			in.Step = "done"
		default:
			in.Step = "fill"
		}
		in.Result.Items = in.Seen
		return in, nil
	})
}

func (r *rooms) IndexSession(ctx context.Context, in vector.IndexRequest) (vector.SessionResult, error) {
	return called(ctx, r, "IndexSession", in, func() (vector.SessionResult, error) { return r.indexed, nil })
}

func (r *rooms) IndexSessions(ctx context.Context, in boundary.Batch[vector.IndexRequest]) (boundary.Outcomes[vector.SessionResult], error) {
	return called(ctx, r, "IndexSessions", in, func() (boundary.Outcomes[vector.SessionResult], error) { return each(r, in, r.indexed) })
}

// FindMemories returns the page that begins after the one named, each page under the name of its place.
func (r *rooms) FindMemories(ctx context.Context, in tier.FindInput) (tier.Found, error) {
	return called(ctx, r, "FindMemories", in, func() (tier.Found, error) {
		page := 0
		if in.After != "" {
			page, _ = strconv.Atoi(in.After)
		}
		found := r.found[page]
		found.Date = cmp.Or(in.Date, in.At.Format(schema.DateLayout))
		if page+1 < len(r.found) {
			found.Next = strconv.Itoa(page + 1)
		}
		return found, nil
	})
}

// IndexPending returns the pending results one after the other, and then that nothing is left.
func (r *rooms) IndexPending(ctx context.Context, in vector.IndexInput) (vector.Result, error) {
	return called(ctx, r, "IndexPending", in, func() (vector.Result, error) {
		if len(r.pending) == 0 {
			return vector.Result{Head: schema.StreamHead{Known: true, Seq: in.Head.Seq + 1000}}, nil
		}
		next := r.pending[0]
		r.pending = r.pending[1:]
		if !next.NextRetry.IsZero() {
			next.NextRetry = time.Now().Add(time.Second)
		}
		return next, nil
	})
}
