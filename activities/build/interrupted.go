package build

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
)

// StatusInterrupted is the status of a build whose end is not in the log, although its workflow has ended. It is never
// stored.
const StatusInterrupted schema.BuildStatus = "interrupted"

const (
	// visibilityLag is how long Temporal may take to list a workflow that was started.
	visibilityLag = 10 * time.Second
	// Temporal lists so many workflows at a time, and is asked for so many pages at most.
	runningPage     = 1000
	maxRunningPages = 10
)

// Running returns which of the workflows are running, or may be.
type Running func(ctx context.Context, workflowIDs []string) (map[string]bool, error)

// RunningSessions asks Temporal which sessions are being processed. It asks for all of them: in a query for ids, some of
// Temporal's stores take no quotes. If there are too many to list, each of the workflows may be running.
func RunningSessions(c client.Client) Running {
	return func(ctx context.Context, workflowIDs []string) (map[string]bool, error) {
		out := map[string]bool{}
		request := &workflowservice.ListWorkflowExecutionsRequest{
			PageSize: runningPage,
			Query:    fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", schema.WorkflowProcessSession),
		}
		for range maxRunningPages {
			page, err := c.ListWorkflow(ctx, request)
			if err != nil {
				return nil, fmt.Errorf("ask temporal which sessions are processed: %w", err)
			}
			for _, w := range page.GetExecutions() {
				out[w.GetExecution().GetWorkflowId()] = true
			}
			if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
				return out, nil
			}
		}
		for _, id := range workflowIDs {
			out[id] = true
		}
		return out, nil
	}
}

// Statuses returns those by which builds can be listed.
func Statuses() []schema.BuildStatus { return append(schema.BuildStatuses(), StatusInterrupted) }

// MarkInterrupted sets the status [StatusInterrupted] for the running builds without a workflow. Builds that ended
// meanwhile are read again.
func MarkInterrupted(ctx context.Context, conn driver.Conn, running Running, runs []Run) error {
	now := time.Now()
	asked := func(r Run) bool { return r.Status == schema.BuildRunning && now.Sub(r.StartedAt) > visibilityLag }
	var workflows []string
	for _, r := range runs {
		if asked(r) {
			workflows = append(workflows, r.WorkflowID())
		}
	}
	if len(workflows) == 0 {
		return nil
	}
	found, err := running(ctx, workflows)
	if err != nil {
		return err
	}
	var ids []string
	for _, r := range runs {
		if asked(r) && !found[r.WorkflowID()] {
			ids = append(ids, r.BuildID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	// A workflow that is not running has written its end, if it has written one.
	ended, err := readRuns(ctx, conn, "build_id IN ?", ids)
	if err != nil {
		return err
	}
	for _, r := range ended {
		if r.Status == schema.BuildRunning {
			r.Status, r.ErrorType = StatusInterrupted, schema.ErrorInterrupted
			r.Class, r.Error = schema.ClassOf(r.ErrorType), "its workflow ended without recording how"
		}
		at := slices.IndexFunc(runs, func(one Run) bool { return one.BuildID == r.BuildID })
		runs[at] = r
	}
	return nil
}
