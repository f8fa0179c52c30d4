package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/batch"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// batchWork is a workflow that processes many sessions.
type batchWork struct {
	input   schema.BatchInput
	summary string
	// unit is the unit of progress, such as "sessions done".
	unit string
	// again is the command that shows the running workflow.
	again string
	// scope is the sessions' common scope. If it is set, the progress shows why their steps are retried.
	scope schema.Scope
}

// start starts the workflow, or joins the run that is already in progress.
func (w batchWork) start(ctx context.Context, c client.Client) (run client.WorkflowRun, running bool, err error) {
	id := w.input.WorkflowID()
	run, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMain, StaticSummary: w.summary,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, w.input.Workflow(), w.input)
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return c.GetWorkflow(ctx, id, ""), true, nil
	}
	return run, false, err
}

// watchBatch waits for the workflow and shows its progress.
func (a *app) watchBatch(ctx context.Context, c client.Client, w batchWork, run client.WorkflowRun, running bool) (schema.BatchResult, error) {
	bar := a.newProgress(0, w.unit)
	bar.at(batchText(schema.BatchProgress{Listing: true}), 0, 0, w.unit)
	if running {
		bar.printOnce("already running as workflow " + run.GetID() + "; this is its progress")
	}
	stop := bar.watchBatch(ctx, c, run.GetID(), w)
	var result schema.BatchResult
	err := run.Get(ctx, &result)
	stop()
	bar.finish()
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, fmt.Errorf("stopped waiting: %w; the work goes on as workflow %s; to see its progress: %s",
			ctx.Err(), run.GetID(), w.again)
	case temporal.IsCanceledError(err):
		return result, fmt.Errorf("workflow %s was cancelled; its finished work stays, and the same command does the rest",
			run.GetID())
	default:
		return result, fmt.Errorf("workflow %s: %s", run.GetID(), failureText(err))
	}
}

// printDetached prints the report of a batch that runs in the background: its workflow, and the command that shows its
// progress.
func (a *app) printDetached(report any, link workflowLink, again string) error {
	return a.print(report, func(out io.Writer) error {
		var b strings.Builder
		say(&b, "started as workflow %s\nto see its progress: %s\n", link, again)
		_, err := io.WriteString(out, b.String())
		return err
	})
}

// readBatch reads the log's report of a batch.
func (a *app) readBatch(ctx context.Context, id string) (batch.Report, error) {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return batch.Report{}, err
	}
	defer func() { _ = conn.Close() }()
	return batch.Read(ctx, eventlog.New(conn, eventlog.Options{}), id)
}

// watchBatchEvery is the interval between queries of a batch. Its running sessions are queried once in explainEvery times.
const (
	watchBatchEvery = 500 * time.Millisecond
	explainEvery    = 8
)

// watchBatch shows the progress of a batch until stop is called.
func (p *progress) watchBatch(ctx context.Context, c client.Client, workflowID string, w batchWork) (stop func()) {
	look := func(ctx context.Context) (state schema.BatchProgress) {
		value, err := c.QueryWorkflow(ctx, workflowID, "", schema.QueryProgress)
		if err == nil && value.Get(&state) == nil {
			p.at(batchText(state), state.Done, state.Items, w.unit)
		}
		return state
	}
	looks := 0
	return p.follow(ctx, workflowID, watchBatchEvery, func(ctx context.Context) (string, bool) {
		look(ctx)
		return "", false
	}, func(ctx context.Context) {
		looks++
		explains := looks%explainEvery == 1
		if p.a.interactive || explains {
			state := look(ctx)
			if explains {
				p.explain(ctx, c, workflowID, &job{Input: schema.ProcessSessionInput{SessionID: "the batch"}})
				p.explainSessions(ctx, c, w.scope, state.Running)
			}
		}
	})
}

// explainSessions shows why activities of running sessions are retried.
func (p *progress) explainSessions(ctx context.Context, c client.Client, scope schema.Scope, sessions []string) {
	if scope.Project == "" {
		return
	}
	for _, id := range sessions {
		in := schema.ProcessSessionInput{Project: scope.Project, User: scope.User, Agent: scope.Agent, SessionID: id}
		p.explain(ctx, c, in.Key().WorkflowID(), &job{Input: in})
	}
}

// batchText describes the current work of a batch.
func batchText(s schema.BatchProgress) string {
	switch {
	case s.Listing:
		return "looking for sessions"
	case len(s.Running) > 0:
		text := oneLine(s.Running[0], 24)
		if more := len(s.Running) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	}
	return ""
}

// statusCounts lists the number of sessions of each status.
func statusCounts(statuses map[schema.BuildStatus]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		parts = append(parts, fmt.Sprintf("%d %s", statuses[status], cmp.Or(string(status), "not started")))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}
