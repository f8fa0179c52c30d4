package erase

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// leftover returns the run as a leftover. A queue ends only on a worker that processes queues.
func (e Execution) leftover() schema.Leftover {
	place := e.WorkflowID + ", run " + e.RunID
	if strings.HasPrefix(e.WorkflowID, schema.QueuePrefix) {
		place += ": run a worker without --no-queue, and give the command again"
	}
	return schema.Leftover{Store: "temporal", Place: place}
}

// ExecutionsErased counts the deleted workflow executions.
type ExecutionsErased struct {
	Executions int `json:"executions"`
	// Left are the executions that Temporal has not deleted in time and the queues that have not ended in time, maxLeft
	// at most.
	Left []Execution `json:"left,omitempty"`
	// More counts the rest.
	More int `json:"more,omitempty"`
}

// maxLeft bounds the executions that an activity returns: an id may have a thousand bytes.
const maxLeft = 32

// EraseExecutions deletes the workflow executions whose histories may contain erased content, and waits until Temporal
// has deleted them. These are the runs of its sessions and of the queues that may have received them. For a query they
// are those of all sessions that may contain the text. A running queue first stores its signals and ends. It is then
// started again, unless it belongs to an erased user.
func (a *Activities) EraseExecutions(ctx context.Context, in Input) (ExecutionsErased, error) {
	return boundary.Run(ctx, in, signed(a, func(ctx context.Context, in Input) (ExecutionsErased, error) {
		return a.eraseExecutions(ctx, in.ErasureScope)
	}))
}

func (a *Activities) eraseExecutions(ctx context.Context, scope schema.ErasureScope) (out ExecutionsErased, err error) {
	d := &deletion{Activities: a, scope: scope, began: time.Now(), requested: map[Execution]bool{}, restarted: map[Execution]bool{}}
	var asked time.Time // when the first requests were made
	err = poll.Until(ctx, a.pollDeleting, func() (bool, error) {
		if asked.IsZero() {
			if err := errors.Join(a.deleteSchedules(ctx, scope), a.deleteEndedErasures(ctx)); err != nil {
				return false, err
			}
		}
		left, err := d.poll(ctx)
		if asked.IsZero() {
			asked = time.Now()
		}
		late := time.Since(asked) >= a.maxDeleting
		if late {
			slices.SortFunc(left, func(a, b Execution) int { return strings.Compare(a.WorkflowID+a.RunID, b.WorkflowID+b.RunID) })
			out.Left = left[:min(len(left), maxLeft)]
			out.More = len(left) - len(out.Left)
		}
		return late || len(left) == 0, err
	})
	out.Executions = len(d.requested)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("wait until Temporal has deleted workflow executions: %w", ctx.Err())
	}
	return out, err
}

// deletion is the deletion of an erasure's executions from Temporal.
type deletion struct {
	*Activities
	scope schema.ErasureScope
	began time.Time
	// requested maps each execution that Temporal was asked to delete to whether it is deleted. It lasts for one
	// attempt. The next one starts from the executions that are listed then.
	requested map[Execution]bool
	// restarted are the runs of queues that were started again.
	restarted map[Execution]bool
}

// poll returns the remaining executions, after it has asked Temporal to delete the new ones among them.
func (d *deletion) poll(ctx context.Context) (left []Execution, err error) {
	all, err := d.affectedExecutions(ctx, d.scope)
	if err != nil {
		return nil, err
	}
	listed := map[Execution]bool{}
	for _, w := range all {
		e := executionOf(w)
		// A query has no tombstone, so sessions that begin later may contain the text again.
		if later := w.GetStartTime().AsTime().After(d.began); d.restarted[e] || later && d.scope.Kind() == schema.EraseQuery {
			continue
		}
		listed[e] = true
		left = append(left, e)
		if _, requested := d.requested[e]; requested {
			continue
		}
		if err := d.delete(ctx, w); err != nil {
			return nil, err
		}
	}
	// An execution that is no longer listed may still have its history.
	for e, gone := range d.requested {
		if gone || listed[e] {
			continue
		}
		status, err := d.status(ctx, e)
		if err != nil {
			return nil, err
		}
		if d.requested[e] = status == 0; status != 0 {
			left = append(left, e)
		}
	}
	return left, nil
}

// affectedExecutions returns the executions that may contain erased content.
func (a *Activities) affectedExecutions(ctx context.Context, scope schema.ErasureScope) (all []*workflow.WorkflowExecutionInfo, err error) {
	parents := map[string]bool{}
	err = a.executions(ctx, "", func(w *workflow.WorkflowExecutionInfo) {
		switch parent := w.GetParentExecution(); {
		case erases(scope, w.GetExecution().GetWorkflowId()):
			all = append(all, w)
			parents[parent.GetRunId()] = true
		case erases(scope, parent.GetWorkflowId()), isQueue(w) && mayContain(scope, w):
			all = append(all, w)
		}
	})
	if err != nil {
		return nil, err
	}
	// A session or a dream that was started under another id ran as a child of that run, whose history contains the
	// input.
	delete(parents, "")
	if len(parents) == 0 {
		return all, nil
	}
	for _, of := range []string{schema.WorkflowProcessSession, schema.WorkflowDeepDream} {
		err := a.executions(ctx, of, func(w *workflow.WorkflowExecutionInfo) {
			if parents[w.GetExecution().GetRunId()] {
				all = append(all, w)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// deleteEndedErasures deletes the runs of earlier erasures. Their inputs name the erased content, or contain its text.
func (a *Activities) deleteEndedErasures(ctx context.Context) error {
	var all []Execution
	err := a.executions(ctx, schema.WorkflowForget, func(w *workflow.WorkflowExecutionInfo) {
		if w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			all = append(all, executionOf(w))
		}
	})
	for _, e := range all {
		if err := deleteRun(ctx, a.temporal, a.namespace, e); err != nil {
			return err
		}
	}
	return err
}

// schedules returns the ids of the schedules that dream for an erased user.
func (a *Activities) schedules(ctx context.Context, scope schema.ErasureScope) (ids []string, err error) {
	if scope.Kind() != schema.EraseUser {
		return nil, nil
	}
	all, err := a.temporal.ScheduleClient().List(ctx, client.ScheduleListOptions{PageSize: pageOfExecutions})
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	for all.HasNext() {
		s, err := all.Next()
		if err != nil {
			return nil, fmt.Errorf("list schedules: %w", err)
		}
		if user, _, ok := schema.ParseDreamScheduleID(s.ID); ok && user == scope.User {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}

// deleteSchedules deletes the schedules that dream for an erased user. Each night they would start a run that names the
// user.
func (a *Activities) deleteSchedules(ctx context.Context, scope schema.ErasureScope) error {
	ids, err := a.schedules(ctx, scope)
	for _, id := range ids {
		if err := a.temporal.ScheduleClient().GetHandle(ctx, id).Delete(ctx); err != nil && !errors.As(err, new(*serviceerror.NotFound)) {
			return fmt.Errorf("delete schedule %q: %w", id, err)
		}
	}
	return err
}

func isQueue(w *workflow.WorkflowExecutionInfo) bool {
	return strings.HasPrefix(w.GetExecution().GetWorkflowId(), schema.QueuePrefix)
}

// mayContain reports whether content of the scope may have been enqueued in the queue. A queue belongs to a user and an
// agent, and takes sessions of all projects.
func mayContain(scope schema.ErasureScope, queue *workflow.WorkflowExecutionInfo) bool {
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

// endExecutions terminates the runs that work on erased content, and the dreams of the memories, which may have read
// it.
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
		if err := a.terminate(ctx, executionOf(w)); err != nil {
			return err
		}
	}
	return nil
}

func (a *Activities) terminate(ctx context.Context, e Execution) error {
	return failed("end", e, a.temporal.TerminateWorkflow(ctx, e.WorkflowID, e.RunID, "its content is being erased"))
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

// erases reports whether the workflow with the id belongs to the erased session, user or project, or to a session that
// may contain the text to erase.
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

// executionOwners maps the prefixes of workflow ids that name an owner to the names that follow.
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

// ownerOfExecution returns the owner of the workflow with the id, as far as the id contains it.
func ownerOfExecution(id string) (project, user, agent, session string, ok bool) {
	for prefix, names := range executionOwners {
		rest, found := strings.CutPrefix(schema.WorkflowStream(id), prefix)
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

// delete asks Temporal to delete the run, which also ends a running one. A running queue is only cancelled, so that it
// stores its signals, and is deleted by a later look. A cancelled queue, which an earlier attempt may have cancelled,
// is started again with its backlog in the log, unless it belongs to an erased user.
func (d *deletion) delete(ctx context.Context, w *workflow.WorkflowExecutionInfo) error {
	e := executionOf(w)
	if user, agent, err := schema.ParseQueueStream(schema.WorkflowStream(e.WorkflowID)); err == nil {
		status, err := d.status(ctx, e)
		switch {
		case err != nil:
			return err
		case status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
			return failed("cancel", e, d.temporal.CancelWorkflow(ctx, e.WorkflowID, e.RunID))
		case status == enums.WORKFLOW_EXECUTION_STATUS_CANCELED && !erases(d.scope, e.WorkflowID):
			if err := d.restart(ctx, schema.MemoryQueueInput{User: user, Agent: agent}); err != nil {
				return err
			}
		}
	}
	d.requested[e] = false
	return deleteRun(ctx, d.temporal, d.namespace, e)
}

// status returns the current status of a run, or 0 if Temporal does not know it. A list may show an older status.
func (a *Activities) status(ctx context.Context, e Execution) (enums.WorkflowExecutionStatus, error) {
	d, err := a.temporal.DescribeWorkflowExecution(ctx, e.WorkflowID, e.RunID)
	return d.GetWorkflowExecutionInfo().GetStatus(), failed("look at", e, err)
}

// failed wraps the error of an act on a run. It returns nil if Temporal does not know the run.
func failed(act string, e Execution, err error) error {
	var gone *serviceerror.NotFound
	if err == nil || errors.As(err, &gone) {
		return nil
	}
	return fmt.Errorf("%s workflow %q: %w", act, e.WorkflowID, err)
}

// restart starts the queue unless it is running.
func (d *deletion) restart(ctx context.Context, queue schema.MemoryQueueInput) error {
	q := boundary.WriterOf(queue)
	run, err := d.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: q.ID, TaskQueue: q.Queue, StaticSummary: q.Summary, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, q.Type, q.Input)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &running): // A later look cancels that run, and starts the queue again.
		return nil
	case err != nil:
		return fmt.Errorf("start the queue %q: %w", q.ID, err)
	}
	d.restarted[Execution{run.GetID(), run.GetRunID()}] = true
	return nil
}

func deleteRun(ctx context.Context, c client.Client, namespace string, e Execution) error {
	_, err := c.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: namespace, WorkflowExecution: &common.WorkflowExecution{WorkflowId: e.WorkflowID, RunId: e.RunID},
	})
	return failed("delete", e, err)
}

// DeleteOwnRuns deletes the ended run of forget and its child run, because their inputs name the erased content or
// contain its text. It finds the child in the run's own history, because lists may lag. The audit trail stays, and runs
// of other erasures are deleted by the next one.
func DeleteOwnRuns(ctx context.Context, c client.Client, namespace string, run Execution) error {
	all := []Execution{run}
	events := c.GetWorkflowHistory(ctx, run.WorkflowID, run.RunID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return failed("read the history of", run, err)
		}
		if child := e.GetChildWorkflowExecutionStartedEventAttributes().GetWorkflowExecution(); child != nil {
			all = append(all, Execution{child.GetWorkflowId(), child.GetRunId()})
		}
	}
	for _, e := range all {
		if err := deleteRun(ctx, c, namespace, e); err != nil {
			return err
		}
	}
	return nil
}
