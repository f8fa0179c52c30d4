package progress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/batch"
	"axiommind/activities/eventlog"
	"axiommind/schema"
	"axiommind/starter/command"
)

// BatchWork is a workflow that processes many sessions.
type BatchWork struct {
	Input   schema.BatchInput
	Summary string
	// Name names the work in errors, such as "the retry".
	Name string
	// Unit is the unit of progress, such as "sessions done".
	Unit string
	// Again is the command that shows the running workflow.
	Again string
	// Scope is the sessions' common scope. If it is set, the progress shows why their steps are retried.
	Scope schema.Scope
	// Busy returns the error if the work is already running as the workflow. Without it a running workflow is joined.
	Busy func(workflowID string) error
}

// BatchRun is a run of a batch. Batch and Listed are its report, which a detached run does not have.
type BatchRun struct {
	Workflow WorkflowLink
	Batch    string
	Listed   batch.Report
}

// Run starts the workflow, or joins the run that is already in progress, and waits for its end unless it is detached.
func (w BatchWork) Run(ctx context.Context, a *command.App, detach bool) (r BatchRun, err error) {
	c, err := a.Temporal(ctx)
	if err != nil {
		return r, err
	}
	run, running, err := w.start(ctx, c)
	switch {
	case err != nil:
		return r, fmt.Errorf("start %s: %w", w.Name, err)
	case running && w.Busy != nil:
		return r, w.Busy(run.GetID())
	}
	r.Workflow = LinkTo(a, run.GetID())
	if detach {
		return r, nil
	}
	result, err := watchBatch(ctx, a, c, w, run, running)
	if err != nil {
		return r, err
	}
	r.Batch = result.Batch
	conn, err := a.ClickHouse(ctx)
	if err == nil {
		r.Listed, err = batch.Read(ctx, eventlog.New(conn, eventlog.Options{}), r.Batch)
	}
	if err != nil {
		err = fmt.Errorf("%s has ended (%s), but its report can't be read: %w", w.Name, StatusCounts(result.Statuses), err)
	}
	return r, err
}

// start starts the workflow, or joins the run that is already in progress.
func (w BatchWork) start(ctx context.Context, c client.Client) (run client.WorkflowRun, running bool, err error) {
	id := w.Input.WorkflowID()
	run, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMain, StaticSummary: w.Summary,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, w.Input.Workflow(), w.Input)
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return c.GetWorkflow(ctx, id, ""), true, nil
	}
	return run, false, err
}

// watchBatch waits for the workflow and shows its progress.
func watchBatch(ctx context.Context, a *command.App, c client.Client, w BatchWork, run client.WorkflowRun, running bool) (schema.BatchResult, error) {
	bar := New(a, 0, w.Unit)
	bar.At(BatchText(schema.BatchProgress{Listing: true}), 0, 0, w.Unit)
	if running {
		bar.PrintOnce("already running as workflow " + run.GetID() + "; this is its progress")
	}
	stop := bar.watchBatch(ctx, c, run.GetID(), w)
	var result schema.BatchResult
	err := run.Get(ctx, &result)
	stop()
	bar.Finish()
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, fmt.Errorf("stopped waiting: %w; the work goes on as workflow %s; to see its progress: %s",
			ctx.Err(), run.GetID(), w.Again)
	case temporal.IsCanceledError(err):
		return result, fmt.Errorf("workflow %s was cancelled; its finished work stays, and the same command does the rest",
			run.GetID())
	default:
		return result, fmt.Errorf("workflow %s: %s", run.GetID(), command.FailureText(err))
	}
}

// PrintDetached prints the report of a batch that runs in the background: its workflow, and the command that shows its
// progress.
func PrintDetached(a *command.App, report any, link WorkflowLink, again string) error {
	return a.Print(report, func(b *strings.Builder) {
		command.Say(b, "started as workflow %s\nto see its progress: %s\n", link, again)
	})
}

// watchBatchEvery is the interval between queries of a batch. Its running sessions are queried once in explainEvery times.
const (
	watchBatchEvery = 500 * time.Millisecond
	explainEvery    = 8
)

// watchBatch shows the progress of a batch until stop is called.
func (p *Progress) watchBatch(ctx context.Context, c client.Client, workflowID string, w BatchWork) (stop func()) {
	look := func(ctx context.Context) (state schema.BatchProgress) {
		value, err := c.QueryWorkflow(ctx, workflowID, "", schema.QueryProgress)
		if err == nil && value.Get(&state) == nil {
			p.At(BatchText(state), state.Done, state.Items, w.Unit)
		}
		return state
	}
	looks := 0
	return p.Follow(ctx, workflowID, watchBatchEvery, func(ctx context.Context) (string, bool) {
		look(ctx)
		return "", false
	}, func(ctx context.Context) {
		looks++
		explains := looks%explainEvery == 1
		if p.a.Interactive || explains {
			state := look(ctx)
			if explains {
				p.Explain(ctx, c, workflowID, &Job{Input: schema.ProcessSessionInput{SessionID: "the batch"}})
				p.explainSessions(ctx, c, w.Scope, state.Running)
			}
		}
	})
}

// explainSessions shows why activities of running sessions are retried.
func (p *Progress) explainSessions(ctx context.Context, c client.Client, scope schema.Scope, sessions []string) {
	if scope.Project == "" {
		return
	}
	for _, id := range sessions {
		in := schema.ProcessSessionInput{Project: scope.Project, User: scope.User, Agent: scope.Agent, SessionID: id}
		p.Explain(ctx, c, in.Key().WorkflowID(), &Job{Input: in})
	}
}

// BatchText describes the current work of a batch.
func BatchText(s schema.BatchProgress) string {
	switch {
	case s.Listing:
		return "looking for sessions"
	case len(s.Running) > 0:
		text := command.OneLine(s.Running[0], 24)
		if more := len(s.Running) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	}
	return ""
}

// StatusCounts lists the number of sessions of each status.
func StatusCounts(statuses map[schema.BuildStatus]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		parts = append(parts, fmt.Sprintf("%d %s", statuses[status], cmp.Or(string(status), "not started")))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}

// StoppedWaiting returns the error for a command that was interrupted before the rebuild ended.
func StoppedWaiting(ctx context.Context, err error, then string) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("stopped waiting: %w; %s", ctx.Err(), then)
	}
	return err
}
