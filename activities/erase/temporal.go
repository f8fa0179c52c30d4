package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// pageOfExecutions is how many executions are listed at once.
const pageOfExecutions = 1000

// ExecutionsErased counts workflow executions.
type ExecutionsErased struct {
	Executions int `json:"executions"`
}

// EraseExecutions deletes the workflow executions that hold something of what is erased: those of its sessions, and those of the
// queues that such was enqueued in. Their histories hold what was given to them. A queue that runs is started again.
func (a *Activities) EraseExecutions(ctx context.Context, in Input) (ExecutionsErased, error) {
	return boundary.Run(ctx, in, a.eraseExecutions)
}

func (a *Activities) eraseExecutions(ctx context.Context, in Input) (out ExecutionsErased, err error) {
	queues, err := a.lockedStreams(ctx, in, schema.QueuePrefix)
	if err != nil {
		return out, err
	}
	parents := map[string]bool{}
	var all []*workflow.WorkflowExecutionInfo
	if err := a.executions(ctx, "", func(w *workflow.WorkflowExecutionInfo) {
		if a.erases(in.ErasureScope, queues, w) {
			all = append(all, w)
			parents[w.GetParentExecution().GetRunId()] = true
		}
	}); err != nil {
		return out, err
	}
	// A session that was started under another id has run as a child of that run, which holds the messages.
	delete(parents, "")
	if err := a.executions(ctx, schema.WorkflowProcessSession, func(w *workflow.WorkflowExecutionInfo) {
		if parents[w.GetExecution().GetRunId()] {
			all = append(all, w)
		}
	}); err != nil {
		return out, err
	}
	for _, w := range all {
		if err := a.deleteExecution(ctx, w); err != nil {
			return out, err
		}
		out.Executions++
	}
	return out, nil
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

// erases reports whether the execution is of what is erased.
func (a *Activities) erases(scope schema.ErasureScope, queues []string, w *workflow.WorkflowExecutionInfo) bool {
	id := w.GetExecution().GetWorkflowId()
	project, user, agent, session, ok := ownerOfExecution(id)
	isQueue := strings.HasPrefix(id, schema.QueuePrefix)
	switch scope.Kind() {
	case schema.EraseSession:
		// What was enqueued of it stands in the history of the queue.
		return id == scope.Session().WorkflowID() || isQueue && ok && user == scope.User && agent == scope.Agent
	case schema.EraseUser:
		return ok && user == scope.User
	case schema.EraseProject:
		return ok && project == scope.Project || isQueue
	default:
		ofIt := ok && (scope.Project == "" || project == scope.Project || project == "") && (scope.User == "" || user == scope.User || user == "")
		// Sessions, writers and queues are told what people say. A writer starts again with the next work.
		return ofIt && !(session == "" && isQueue && !slices.Contains(queues, streamOf(id)))
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

// deleteExecution deletes the run. One that runs is ended first, and a queue among them starts again with what waits in the log.
func (a *Activities) deleteExecution(ctx context.Context, w *workflow.WorkflowExecutionInfo) error {
	id, run := w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId()
	runs := w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	var gone *serviceerror.NotFound
	if runs {
		err := a.temporal.TerminateWorkflow(ctx, id, run, "what it holds is to be forgotten")
		if err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("end workflow %q: %w", id, err)
		}
	}
	_, err := a.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: a.namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: id, RunId: run},
	})
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("delete workflow %q: %w", id, err)
	}
	user, agent, err := schema.ParseQueueStream(streamOf(id))
	if err != nil || !runs || a.log.Admits(ctx, schema.SessionKey{Scope: schema.Scope{User: user, Agent: agent}}) != nil {
		return nil //nolint:nilerr // it is no queue, or that of a user who is forgotten
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

// DeleteOwnRuns deletes the runs of forget that have ended well: their inputs name what was erased. The audit trail stays.
func DeleteOwnRuns(ctx context.Context, c client.Client, namespace string) error {
	page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, PageSize: pageOfExecutions, Query: "WorkflowType = '" + schema.WorkflowForget + "' AND ExecutionStatus = 'Completed'",
	})
	if err != nil {
		return fmt.Errorf("list erasures that have ended: %w", err)
	}
	for _, w := range page.GetExecutions() {
		id := w.GetExecution()
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
