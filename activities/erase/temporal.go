package erase

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog/poll"
	"axiommind/schema"
)

// pageOfExecutions is how many executions are listed at once.
const pageOfExecutions = 1000

// ExecutionsErased counts the workflow executions that are deleted. Left are those that Temporal has not deleted in time.
type ExecutionsErased struct {
	Executions int               `json:"executions"`
	Left       []schema.Leftover `json:"left,omitempty"`
}

// maxDeleting is how long Temporal may take to delete the executions that it was told to delete. It deletes one that has just ended
// only when its queues note how far they are, by default every half minute.
const maxDeleting = 3 * time.Minute

// pollDeleting is the longest pause between two looks whether it has.
const pollDeleting = 3 * time.Second

// EraseExecutions deletes the workflow executions that may hold something of what is erased, and waits until Temporal has deleted them:
// those of its sessions or, of a text, of all sessions in which it may be, and those of the queues that such may have been enqueued
// in. Their histories hold what was given to them. A queue that runs stores what it was told and ends first, and is then started
// again, unless it is of a user who is forgotten. What begins later is not looked for: a tombstone keeps out what such runs are told.
func (a *Activities) EraseExecutions(ctx context.Context, in Input) (ExecutionsErased, error) {
	return boundary.Run(ctx, in, func(ctx context.Context, in Input) (ExecutionsErased, error) {
		return a.eraseExecutions(ctx, in.ErasureScope, maxDeleting)
	})
}

func (a *Activities) eraseExecutions(ctx context.Context, scope schema.ErasureScope, atMost time.Duration) (out ExecutionsErased, err error) {
	began := time.Now()
	// told and gone hold the runs that Temporal was told to delete, and those of them that it has deleted, by their ids.
	told, gone := map[string]*common.WorkflowExecution{}, map[string]bool{}
	err = poll.Until(ctx, min(pollDeleting, atMost), func() (bool, error) {
		listed, err := a.holding(ctx, scope, began)
		if err != nil {
			return false, err
		}
		var left []*common.WorkflowExecution
		for _, w := range listed {
			left = append(left, w.GetExecution())
			if run := w.GetExecution().GetRunId(); told[run] == nil {
				if err := a.deleteExecution(ctx, scope, w); err != nil {
					return false, err
				}
				told[run] = w.GetExecution()
				out.Executions++
			}
		}
		if len(listed) == 0 { // What is listed no longer may still have its history.
			for run, w := range told {
				if gone[run] {
					continue
				}
				has, err := a.hasExecution(ctx, w)
				if err != nil {
					return false, err
				}
				if has {
					left = append(left, w)
				}
				gone[run] = !has
			}
		}
		late := len(left) > 0 && time.Since(began) >= atMost
		if late {
			for _, w := range left[:min(len(left), maxFound)] {
				out.Left = append(out.Left, leftExecution(w))
			}
		}
		return late || len(left) == 0, nil
	})
	if ctx.Err() != nil {
		err = fmt.Errorf("wait until Temporal has deleted workflow executions: %w", ctx.Err())
	}
	return out, err
}

func leftExecution(w *common.WorkflowExecution) schema.Leftover {
	return schema.Leftover{Store: "temporal", Place: w.GetWorkflowId() + ", run " + w.GetRunId()}
}

// hasExecution reports whether Temporal knows the run.
func (a *Activities) hasExecution(ctx context.Context, w *common.WorkflowExecution) (bool, error) {
	_, err := a.temporal.DescribeWorkflowExecution(ctx, w.GetWorkflowId(), w.GetRunId())
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for workflow %q: %w", w.GetWorkflowId(), err)
	}
	return true, nil
}

// holding returns the executions that may hold something of what is erased and that began before the time.
func (a *Activities) holding(ctx context.Context, scope schema.ErasureScope, before time.Time) (all []*workflow.WorkflowExecutionInfo, err error) {
	parents := map[string]bool{}
	err = a.executions(ctx, "", func(w *workflow.WorkflowExecutionInfo) {
		if w.GetStartTime().AsTime().Before(before) && (erases(scope, w.GetExecution().GetWorkflowId()) || isQueue(w) && mayHold(scope, w)) {
			all = append(all, w)
			parents[w.GetParentExecution().GetRunId()] = true
		}
	})
	if err != nil {
		return nil, err
	}
	// A session that was started under another id has run as a child of that run, which holds the messages.
	delete(parents, "")
	if len(parents) == 0 {
		return all, nil
	}
	err = a.executions(ctx, schema.WorkflowProcessSession, func(w *workflow.WorkflowExecutionInfo) {
		if parents[w.GetExecution().GetRunId()] {
			all = append(all, w)
		}
	})
	return all, err
}

func isQueue(w *workflow.WorkflowExecutionInfo) bool {
	return strings.HasPrefix(w.GetExecution().GetWorkflowId(), schema.QueuePrefix)
}

// mayHold reports whether something of the scope may have been enqueued in the queue: a queue has a user and an agent, and takes
// sessions of all projects.
func mayHold(scope schema.ErasureScope, queue *workflow.WorkflowExecutionInfo) bool {
	_, user, agent, _, ok := ownerOfExecution(queue.GetExecution().GetWorkflowId())
	switch {
	case !ok:
		return false
	case scope.Kind() == schema.EraseSession:
		return user == scope.User && agent == scope.Agent
	default:
		return scope.User == "" || user == scope.User
	}
}

// endExecutions ends the runs that work on what is erased, and the dreams of the memories, which may have read it.
func (a *Activities) endExecutions(ctx context.Context, in Input, memories []Memory) error {
	var all []*workflow.WorkflowExecutionInfo
	err := a.executions(ctx, "", func(w *workflow.WorkflowExecutionInfo) {
		id := w.GetExecution().GetWorkflowId()
		ofIt := in.Kind() != schema.EraseQuery && erases(in.ErasureScope, id)
		for _, m := range memories {
			ofIt = ofIt || strings.TrimSuffix(id, "/dry") == schema.DeepDreamInput{User: m.User, Agent: m.Agent}.WorkflowID()
		}
		if ofIt && w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			all = append(all, w)
		}
	})
	if err != nil {
		return err
	}
	for _, w := range all {
		if err := a.terminate(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (a *Activities) terminate(ctx context.Context, w *workflow.WorkflowExecutionInfo) error {
	id, run := w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId()
	err := a.temporal.TerminateWorkflow(ctx, id, run, "what it holds is to be forgotten")
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("end workflow %q: %w", id, err)
	}
	return nil
}

// executions calls f with the executions of the namespace, of one type or of all.
func (a *Activities) executions(ctx context.Context, workflowType string, f func(*workflow.WorkflowExecutionInfo)) error {
	query := ""
	if workflowType != "" {
		query = "WorkflowType = '" + workflowType + "'"
	}
	for token := []byte(nil); ; {
		page, err := a.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: a.namespace, PageSize: pageOfExecutions, NextPageToken: token, Query: query,
		})
		if err != nil {
			return fmt.Errorf("list workflow executions: %w", err)
		}
		for _, w := range page.GetExecutions() {
			f(w)
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return nil
		}
	}
}

// erases reports whether the workflow with the id is of the session, user or project that is erased, or of a session in which a text
// that is erased may be.
func erases(scope schema.ErasureScope, id string) bool {
	project, user, _, session, ok := ownerOfExecution(id)
	switch scope.Kind() {
	case schema.EraseSession:
		return id == scope.Session().WorkflowID()
	case schema.EraseUser:
		return ok && user == scope.User
	case schema.EraseProject:
		return ok && project == scope.Project
	default:
		return ok && session != "" && (scope.Project == "" || project == scope.Project) && (scope.User == "" || user == scope.User)
	}
}

// executionOwners are the prefixes of the ids of workflows that name an owner, with the names that follow.
var executionOwners = map[string][]string{
	schema.SessionPrefix:                  {"project", "user", "agent", "session"},
	schema.MemoryPrefix:                   {"user", "agent"},
	schema.QueuePrefix:                    {"user", "agent"},
	schema.ProjectPrefix:                  {"project"},
	schema.GraduatePrefix:                 {"project"},
	schema.WorkflowDeepDream + "/":        {"user", "agent"},
	schema.WorkflowImportSessions + "/":   {"project", "user", "agent"},
	schema.WorkflowRetryBuilds + "/":      {"project", "user", "agent"},
	schema.WorkflowBackfillSessions + "/": {"project", "user", "agent"},
}

// ownerOfExecution returns whose the workflow with the id is, as far as the id tells.
func ownerOfExecution(id string) (project, user, agent, session string, ok bool) {
	for prefix, names := range executionOwners {
		rest, found := strings.CutPrefix(streamOf(id), prefix)
		parts := strings.Split(rest, "/")
		if !found || len(parts) < len(names) {
			continue
		}
		for i, name := range names {
			value := strings.NewReplacer("%25", "%", "%2F", "/").Replace(parts[i])
			switch name {
			case "project":
				project = value
			case "user":
				user = value
			case "agent":
				agent = value
			case "session":
				session = value
			}
		}
		return project, user, agent, session, true
	}
	return "", "", "", "", false
}

// streamOf is the inverse of [schema.WorkflowID]: in the name of a stream 25 or 2F follows each percent sign.
func streamOf(id string) string {
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		if id[i] == '%' && i+2 < len(id) {
			if digits := id[i+1 : i+3]; digits != "25" && digits != "2F" {
				if n, err := strconv.ParseUint(digits, 16, 8); err == nil {
					b.WriteByte(byte(n))
					i += 2
					continue
				}
			}
		}
		b.WriteByte(id[i])
	}
	return b.String()
}

// deleteExecution has Temporal delete the run. A queue that runs is asked to end, so that it stores what it was told, and starts again
// with what waits in the log, unless it is of a user who is forgotten. Other runs are ended.
func (a *Activities) deleteExecution(ctx context.Context, scope schema.ErasureScope, w *workflow.WorkflowExecutionInfo) error {
	id, run := w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId()
	var gone *serviceerror.NotFound
	runs := w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	user, agent, err := schema.ParseQueueStream(streamOf(id))
	queue := err == nil
	switch {
	case runs && queue:
		if err := a.temporal.CancelWorkflow(ctx, id, run); err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("have the queue %q end: %w", id, err)
		}
		if err := a.awaitEnd(ctx, id, run); err != nil {
			return err
		}
	case runs:
		if err := a.terminate(ctx, w); err != nil {
			return err
		}
	}
	_, err = a.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: a.namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: id, RunId: run},
	})
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("delete workflow %q: %w", id, err)
	}
	if !runs || !queue || erases(scope, id) {
		return nil
	}
	q := boundary.WriterOf(schema.MemoryQueueInput{User: user, Agent: agent})
	_, err = a.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: q.ID, TaskQueue: schema.QueueMain, StaticSummary: q.Summary, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, q.Type, q.Input)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if err != nil && !errors.As(err, &running) {
		return fmt.Errorf("start the queue %q: %w", id, err)
	}
	return nil
}

// awaitEnd waits until the run has ended.
func (a *Activities) awaitEnd(ctx context.Context, id, run string) error {
	err := a.temporal.GetWorkflow(ctx, id, run).GetWithOptions(ctx, nil, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
	if ctx.Err() != nil {
		return fmt.Errorf("wait for the end of workflow %q: %w", id, ctx.Err())
	}
	var unavailable *serviceerror.Unavailable
	if errors.As(err, &unavailable) {
		return err
	}
	return nil // How it ended is no matter.
}

// DeleteOwnRuns deletes the runs of forget of the workflow that have ended, and those that it had as children: their inputs name what was
// erased. The audit trail stays.
func DeleteOwnRuns(ctx context.Context, c client.Client, namespace, workflowID string) error {
	page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, PageSize: pageOfExecutions, Query: "WorkflowType = '" + schema.WorkflowForget + "' AND ExecutionStatus != 'Running'",
	})
	if err != nil {
		return fmt.Errorf("list erasures that have ended: %w", err)
	}
	for _, w := range page.GetExecutions() {
		id := w.GetExecution()
		if id.GetWorkflowId() != workflowID && id.GetWorkflowId() != schema.ForgetWorkflowID {
			continue
		}
		_, err := c.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: id.GetWorkflowId(), RunId: id.GetRunId()},
		})
		var gone *serviceerror.NotFound
		if err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("delete workflow %q: %w", id.GetWorkflowId(), err)
		}
	}
	return nil
}
