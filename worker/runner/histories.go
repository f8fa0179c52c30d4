package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	sdk "go.temporal.io/sdk/workflow"

	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/workflows"
)

// DefaultHistoryLimit is how many histories of each type of workflow are replayed.
const DefaultHistoryLimit = 100

// HistoryCheck replays the histories of a namespace on the workflows of this program.
type HistoryCheck struct {
	// Limit bounds the histories of each type of workflow, the latest first. Default: [DefaultHistoryLimit].
	Limit int
	// Closed replays the histories of runs that have ended too.
	Closed bool
}

// Flags adds the flags of the check.
func (h *HistoryCheck) Flags(f *pflag.FlagSet) {
	f.IntVar(&h.Limit, "limit", DefaultHistoryLimit, "histories to replay of each type of workflow, the latest first")
	f.BoolVar(&h.Closed, "closed", false, "replay the runs that have ended too")
}

// ErrNotReplayed is returned by [HistoryCheck.Run] if a history does not replay.
var ErrNotReplayed = errors.New("histories do not replay")

// Run prints a line for each history that it replays, and returns [ErrNotReplayed] if one does not replay.
func (h *HistoryCheck) Run(ctx context.Context, cfg service.Config, logger *slog.Logger, out io.Writer) error {
	if h.Limit < 1 {
		return fmt.Errorf("--limit %d: want 1 or more", h.Limit)
	}
	c, err := service.ConnectTemporal(ctx, cfg, logger)
	if err != nil {
		return err
	}
	defer c.Close()
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "WORKFLOW\tID\tRUN\tSTATUS\tEVENTS\tREPLAYS")
	replayed, failed, left := 0, 0, int64(0)
	for _, query := range h.queries() {
		runs, total, err := h.list(ctx, c, cfg.TemporalNamespace, query)
		if err != nil {
			return err
		}
		left += total - int64(len(runs))
		for _, run := range runs {
			events, err := replayRun(ctx, c, run, cfg.Timing)
			var gone *serviceerror.NotFound
			if errors.As(err, &gone) {
				continue // Its retention has passed since it was listed.
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			said := "yes"
			if replayed++; err != nil {
				failed++
				said = "no: " + text.Visible(strings.ReplaceAll(err.Error(), "\n", " "))
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\n", text.Visible(run.GetType().GetName()),
				text.Visible(run.GetExecution().GetWorkflowId()), run.GetExecution().GetRunId(), run.GetStatus(), events, said)
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	_, _ = fmt.Fprintf(out, "\n%d replayed, %d do not replay", replayed, failed)
	if left > 0 {
		_, _ = fmt.Fprintf(out, "; %d not read: raise --limit", left)
	}
	_, _ = fmt.Fprintln(out)
	if failed > 0 {
		return fmt.Errorf("%d of %d %w: deploy next to the old workers with --build-id, or keep the old code behind workflow.GetVersion",
			failed, replayed, ErrNotReplayed)
	}
	return nil
}

// queries returns a query for each type of workflow, and one for types that this program does not know. Runs of unknown
// types on its task queue would wait for a worker for ever.
func (h *HistoryCheck) queries() []string {
	var types typeList
	workflows.Register(&types)
	slices.Sort(types)
	quoted := make([]string, len(types))
	for i, name := range types {
		quoted[i] = "'" + name + "'"
	}
	queries := []string{fmt.Sprintf("TaskQueue IN ('%s', '%s') AND WorkflowType NOT IN (%s)", schema.QueueMain, schema.QueueMemory, strings.Join(quoted, ", "))}
	for _, name := range quoted {
		queries = append(queries, "WorkflowType = "+name)
	}
	if !h.Closed {
		for i := range queries {
			queries[i] += " AND ExecutionStatus = 'Running'"
		}
	}
	return queries
}

// list returns the latest runs, and how many there are.
func (h *HistoryCheck) list(ctx context.Context, c client.Client, namespace, query string) ([]*workflow.WorkflowExecutionInfo, int64, error) {
	count, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: query})
	if err != nil {
		return nil, 0, fmt.Errorf("count workflows of namespace %q: %w", namespace, err)
	}
	var runs []*workflow.WorkflowExecutionInfo
	for token := []byte(nil); ; {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: namespace, Query: query, PageSize: int32(min(h.Limit-len(runs), 1000)), NextPageToken: token, //nolint:gosec // at most 1000
		})
		if err != nil {
			return nil, 0, fmt.Errorf("list workflows of namespace %q: %w", namespace, err)
		}
		runs, token = append(runs, page.GetExecutions()...), page.GetNextPageToken()
		if len(token) == 0 || len(runs) >= h.Limit {
			return runs, max(count.GetCount(), int64(len(runs))), nil
		}
	}
}

// replayRun replays a run as far as it has come, and returns how many events its history has.
func replayRun(ctx context.Context, c client.Client, run *workflow.WorkflowExecutionInfo, timing schema.Timing) (events int, err error) {
	id, runID := run.GetExecution().GetWorkflowId(), run.GetExecution().GetRunId()
	h := &history.History{}
	it := c.GetWorkflowHistory(ctx, id, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return 0, fmt.Errorf("read the history of %q: %w", id, err)
		}
		h.Events = append(h.Events, event)
	}
	return len(h.Events), Replay(h, timing)
}

// Replay replays a history on the workflows of this program, with the data converter of its clients, which is the SDK's.
// The timing is that of the workers whose history it is. A workflow that is at its beginning has nothing to replay yet.
func Replay(h *history.History, timing schema.Timing) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		Interceptors: []interceptor.WorkerInterceptor{workflows.WithTiming(timing)},
	})
	if err != nil {
		return fmt.Errorf("make a replayer: %w", err)
	}
	var types typeList
	workflows.Register(&types)
	started := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
	if name := started.GetWorkflowType().GetName(); !slices.Contains(types, name) {
		return fmt.Errorf("this worker has no workflow %q: it would wait for another one", name)
	}
	if !slices.ContainsFunc(h.GetEvents(), func(e *history.HistoryEvent) bool {
		return e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
	}) {
		return nil
	}
	workflows.Register(replayer)
	return replayer.ReplayWorkflowHistoryWithOptions(slog.New(slog.DiscardHandler), h, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: sdk.Execution{ID: started.GetWorkflowId(), RunID: started.GetOriginalExecutionRunId()},
	})
}

// typeList contains the names of the workflows registered with it.
type typeList []string

// RegisterWorkflow implements [worker.WorkflowRegistry].
func (l *typeList) RegisterWorkflow(any) {}

// RegisterWorkflowWithOptions implements [worker.WorkflowRegistry].
func (l *typeList) RegisterWorkflowWithOptions(_ any, options sdk.RegisterOptions) {
	*l = append(*l, options.Name)
}

// RegisterDynamicWorkflow implements [worker.WorkflowRegistry].
func (l *typeList) RegisterDynamicWorkflow(any, sdk.DynamicRegisterOptions) {}
