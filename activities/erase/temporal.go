package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Execution is a run of a workflow.
type Execution struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
}

func executionOf(w *workflow.WorkflowExecutionInfo) Execution {
	return Execution{w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId()}
}

func (e Execution) leftover() schema.Leftover {
	return schema.Leftover{Store: "temporal", Place: e.WorkflowID + ", run " + e.RunID}
}

// ExecutionsErased counts the workflow executions that are deleted.
type ExecutionsErased struct {
	Executions int `json:"executions"`
	// Left are those that Temporal has not deleted in time, maxLeft at most.
	Left []Execution `json:"left,omitempty"`
}

// maxLeft bounds the executions that an activity returns: an id may have a thousand bytes.
const maxLeft = 32

// EraseExecutions deletes the workflow executions that may hold something of what is erased, and waits until Temporal has deleted
// them: those of its sessions or, of a text, of all sessions in which it may be, and those of the queues that such may have been
// enqueued in. Their histories hold what was given to them. A queue that runs stores what it was told and ends first, and is then
// started again, unless it is of a user who is forgotten.
func (a *Activities) EraseExecutions(ctx context.Context, in Input) (ExecutionsErased, error) {
	return boundary.Run(ctx, in, func(ctx context.Context, in Input) (ExecutionsErased, error) {
		return a.eraseExecutions(ctx, in.ErasureScope)
	})
}

func (a *Activities) eraseExecutions(ctx context.Context, scope schema.ErasureScope) (out ExecutionsErased, err error) {
	d := &deletion{Activities: a, scope: scope, began: time.Now(), requested: map[Execution]bool{}, restarted: map[Execution]bool{}}
	var asked time.Time // when the first requests were made
	err = poll.Until(ctx, a.pollDeleting, func() (bool, error) {
		left, err := d.look(ctx)
		if asked.IsZero() {
			asked = time.Now()
		}
		late := time.Since(asked) >= a.maxDeleting
		if late {
			slices.SortFunc(left, func(a, b Execution) int { return strings.Compare(a.WorkflowID+a.RunID, b.WorkflowID+b.RunID) })
			out.Left = left[:min(len(left), maxLeft)]
		}
		return late || len(left) == 0, err
	})
	out.Executions = len(d.requested)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("wait until Temporal has deleted workflow executions: %w", ctx.Err())
	}
	return out, err
}

// deletion is the deletion of what Temporal holds of an erasure.
type deletion struct {
	*Activities
	scope schema.ErasureScope
	began time.Time
	// requested has an entry for each execution that Temporal was asked to delete: whether it is deleted.
	requested map[Execution]bool
	// restarted are the runs of queues that were started again.
	restarted map[Execution]bool
}

// look returns the executions that are left. It first looks for those that Temporal was asked to delete: an execution that is no
// longer listed may still have its history. When these are gone it lists all, and asks Temporal to delete what is new.
func (d *deletion) look(ctx context.Context) (left []Execution, err error) {
	for e, deleted := range d.requested {
		if deleted {
			continue
		}
		exists, err := d.exists(ctx, e)
		if err != nil {
			return nil, err
		}
		if d.requested[e] = !exists; exists {
			left = append(left, e)
		}
	}
	if len(left) > 0 {
		return left, nil
	}
	listed, err := d.holding(ctx, d.scope)
	if err != nil {
		return nil, err
	}
	for _, w := range listed {
		e := executionOf(w)
		// A text has no tombstone: sessions that begin later may tell it again.
		if later := w.GetStartTime().AsTime().After(d.began); d.restarted[e] || later && d.scope.Kind() == schema.EraseQuery {
			continue
		}
		left = append(left, e)
		if _, requested := d.requested[e]; requested {
			continue
		}
		if err := d.delete(ctx, w); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// exists reports whether Temporal knows the run.
func (a *Activities) exists(ctx context.Context, e Execution) (bool, error) {
	_, err := a.temporal.DescribeWorkflowExecution(ctx, e.WorkflowID, e.RunID)
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return false, fmt.Errorf("look for workflow %q: %w", e.WorkflowID, err)
	}
	return err == nil, nil
}

// holding returns the executions that may hold something of what is erased.
func (a *Activities) holding(ctx context.Context, scope schema.ErasureScope) (all []*workflow.WorkflowExecutionInfo, err error) {
	parents := map[string]bool{}
	err = a.executions(ctx, "", func(w *workflow.WorkflowExecutionInfo) {
		id := w.GetExecution().GetWorkflowId()
		switch {
		case erases(scope, id):
			all = append(all, w)
			parents[w.GetParentExecution().GetRunId()] = true
		case isQueue(w) && mayHold(scope, w):
			all = append(all, w)
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

// delete has Temporal delete the run, which ends it if it runs. A queue that runs is only cancelled: it stores what it was told, and
// is deleted by a later look. One that was cancelled first starts again with what waits in the log, unless it is of a user who is
// forgotten.
func (d *deletion) delete(ctx context.Context, w *workflow.WorkflowExecutionInfo) error {
	e := executionOf(w)
	user, agent, err := schema.ParseQueueStream(streamOf(e.WorkflowID))
	if err == nil {
		status, err := d.status(ctx, e)
		switch {
		case err != nil:
			return err
		case status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
			return d.cancel(ctx, e)
		case status == enums.WORKFLOW_EXECUTION_STATUS_CANCELED && !erases(d.scope, e.WorkflowID):
			if err := d.restart(ctx, schema.MemoryQueueInput{User: user, Agent: agent}); err != nil {
				return err
			}
		}
	} else if w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if err := d.terminate(ctx, w); err != nil {
			return err
		}
	}
	d.requested[e] = false
	return deleteRun(ctx, d.temporal, d.namespace, e)
}

// status returns the present status of a run. A list may still tell an earlier one.
func (a *Activities) status(ctx context.Context, e Execution) (enums.WorkflowExecutionStatus, error) {
	d, err := a.temporal.DescribeWorkflowExecution(ctx, e.WorkflowID, e.RunID)
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return 0, fmt.Errorf("look at workflow %q: %w", e.WorkflowID, err)
	}
	return d.GetWorkflowExecutionInfo().GetStatus(), nil
}

func (a *Activities) cancel(ctx context.Context, e Execution) error {
	err := a.temporal.CancelWorkflow(ctx, e.WorkflowID, e.RunID)
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("have the queue %q end: %w", e.WorkflowID, err)
	}
	return nil
}

// restart starts the queue, unless it runs.
func (d *deletion) restart(ctx context.Context, queue schema.MemoryQueueInput) error {
	q := boundary.WriterOf(queue)
	run, err := d.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: q.ID, TaskQueue: schema.QueueMain, StaticSummary: q.Summary, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, q.Type, q.Input)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &running): // It began after the cancelled one has ended.
		d.restarted[Execution{q.ID, running.RunId}] = true
	case err != nil:
		return fmt.Errorf("start the queue %q: %w", q.ID, err)
	default:
		d.restarted[Execution{run.GetID(), run.GetRunID()}] = true
	}
	return nil
}

func deleteRun(ctx context.Context, c client.Client, namespace string, e Execution) error {
	_, err := c.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: e.WorkflowID, RunId: e.RunID},
	})
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("delete workflow %q: %w", e.WorkflowID, err)
	}
	return nil
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
		if err := deleteRun(ctx, c, namespace, Execution{id.GetWorkflowId(), id.GetRunId()}); err != nil {
			return err
		}
	}
	return nil
}
