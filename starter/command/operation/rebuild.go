package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

// vectorsWord names the collection of the vector store among the projections.
const vectorsWord = "vectors"

func rebuildCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rebuild [PROJECTION…]", Short: "rebuild projections from the log while work goes on: all tables, those named, or vectors",
		Example: "starter rebuild\n" +
			"starter rebuild entries tasks --verify\n" +
			"starter rebuild --dry-run\n" +
			"starter rebuild vectors",
	}
	f := cmd.Flags()
	in := &schema.RebuildInput{}
	f.BoolVar(&in.Verify, "verify", false, "compare the new rows with those in use, table by table, and fail where they differ")
	f.BoolVar(&in.DryRun, "dry-run", false, "compare, and leave the tables in use as they are")
	cmd.ValidArgsFunction = a.Arguments(command.Fixed(projections()...))
	return a.Online(cmd, func(ctx context.Context, names []string) error {
		for _, name := range names {
			if name == vectorsWord {
				in.Collections = true
			} else {
				in.Projections = append(in.Projections, name)
			}
		}
		return rebuild(ctx, a, *in)
	})
}

// rebuildReport is the output of the command.
type rebuildReport struct {
	schema.RebuildResult
	// Joined is true if an equal rebuild was already running, whose result this is.
	Joined bool `json:"joined,omitempty"`
}

// rebuild starts a rebuild of the projections on a worker and waits for it. The rebuild does not depend on the command: with
// the same arguments the command joins a running rebuild. It first waits for the end of a different one.
func rebuild(ctx context.Context, a *command.App, in schema.RebuildInput) error {
	if err := checkFamilies(ctx, a, in.Projections); err != nil {
		return err
	}
	c, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	var report rebuildReport
	if report.RebuildResult, report.Joined, err = runRebuild(ctx, a, c, in); err != nil {
		return err
	}
	if err := a.Print(report, func(b *strings.Builder) { printRebuild(b, report.RebuildResult) }); err != nil {
		return err
	}
	if n := report.Differing(); n > 0 {
		if report.DryRun {
			return fmt.Errorf("%s from the log; rebuild with: starter rebuild", command.Plural(n, "table differs", "tables differ"))
		}
		return fmt.Errorf("%s from the log; the rebuild has corrected that", command.Plural(n, "table differed", "tables differed"))
	}
	if v := report.Vectors; v != nil && v.Failed > 0 {
		return fmt.Errorf("%s could not be written to %s and will be tried again; see: starter reconcile", command.Plural(v.Failed, "vector", "vectors"), v.Collection)
	}
	return nil
}

func runRebuild(ctx context.Context, a *command.App, c client.Client, in schema.RebuildInput) (result schema.RebuildResult, joined bool, err error) {
	bar := progress.New(a, 0, "events applied")
	defer bar.Finish()
	bar.At("begins", 0, 0, "events applied")
	for {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: schema.RebuildWorkflowID, TaskQueue: schema.QueueMain, StaticSummary: "rebuild projections",
			WorkflowExecutionErrorWhenAlreadyStarted: true,
			WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		}, schema.WorkflowRebuild, in)
		var running *serviceerror.WorkflowExecutionAlreadyStarted
		if !errors.As(err, &running) {
			if err != nil {
				return result, false, fmt.Errorf("start a rebuild: %w", err)
			}
			err = awaitRebuild(ctx, bar, c, run, &result)
			return result, false, progress.StoppedWaiting(ctx, err, "the rebuild goes on as workflow "+run.GetID()+"\nTo see its progress: "+rebuildArgs(in))
		}
		run = c.GetWorkflow(ctx, schema.RebuildWorkflowID, running.RunId)
		other, err := rebuildInput(ctx, c, run)
		if err != nil {
			return result, false, err
		}
		if sameRebuild(other, in) {
			bar.PrintOnce("this rebuild is already running: this is its result")
			err = awaitRebuild(ctx, bar, c, run, &result)
			return result, true, progress.StoppedWaiting(ctx, err, "the rebuild goes on as workflow "+run.GetID()+"\nTo see its progress: "+rebuildArgs(in))
		}
		bar.PrintOnce("another rebuild is running: " + rebuildArgs(other) + "; this one begins after it")
		err = awaitRebuild(ctx, bar, c, run, nil)
		if ctx.Err() != nil {
			return result, false, progress.StoppedWaiting(ctx, err, "this rebuild has not begun")
		}
		if err != nil {
			bar.PrintOnce("the other " + err.Error())
		}
	}
}

// awaitRebuild shows the progress of the run until it ends.
func awaitRebuild(ctx context.Context, p *progress.Progress, c client.Client, run client.WorkflowRun, result *schema.RebuildResult) error {
	stop := progress.EveryTick(ctx, progress.WatchEvery, func(ctx context.Context) { lookAtRebuild(ctx, p, c) })
	defer stop()
	var err error
	if result == nil {
		err = run.Get(ctx, nil)
	} else {
		err = run.Get(ctx, result)
	}
	if err != nil {
		return fmt.Errorf("rebuild: %s", command.FailureText(err))
	}
	return nil
}

// rebuildInput reads the input of a run from its history, which needs no worker.
func rebuildInput(ctx context.Context, c client.Client, run client.WorkflowRun) (in schema.RebuildInput, err error) {
	history := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := history.Next()
	if err != nil {
		return in, fmt.Errorf("read the input of the running rebuild: %w", err)
	}
	started := first.GetWorkflowExecutionStartedEventAttributes()
	if err := converter.GetDefaultDataConverter().FromPayloads(started.GetInput(), &in); err != nil {
		return in, fmt.Errorf("read the input of the running rebuild: %w", err)
	}
	return in, nil
}

// sameRebuild reports whether the inputs request the same rebuild. The order of the names is irrelevant, and a dry run
// always compares.
func sameRebuild(a, b schema.RebuildInput) bool {
	for _, in := range []*schema.RebuildInput{&a, &b} {
		in.Verify = in.Verify || in.DryRun
		in.Projections = slices.Compact(slices.Sorted(slices.Values(in.Projections)))
	}
	return a.Verify == b.Verify && a.DryRun == b.DryRun && a.Collections == b.Collections && slices.Equal(a.Projections, b.Projections)
}

// rebuildArgs returns the command that requests the rebuild.
func rebuildArgs(in schema.RebuildInput) string {
	args := append([]string{"rebuild"}, in.Projections...)
	if in.Collections {
		args = append(args, vectorsWord)
	}
	if in.Verify {
		args = append(args, "--verify")
	}
	if in.DryRun {
		args = append(args, "--dry-run")
	}
	return build.Command(args...)
}

// pickUpTime is how long a worker may take to pick up pending work.
const pickUpTime = 5 * time.Second

func lookAtRebuild(ctx context.Context, p *progress.Progress, c client.Client) {
	ctx, cancel := context.WithTimeout(ctx, progress.AnswerTimeout)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, schema.RebuildWorkflowID, "")
	if err != nil {
		p.Explain(ctx, c, schema.RebuildWorkflowID, &progress.Job{Input: schema.ProcessSessionInput{SessionID: "rebuild"}})
		return
	}
	if t := d.GetPendingWorkflowTask(); t.GetState() == enums.PENDING_WORKFLOW_TASK_STATE_SCHEDULED && time.Since(t.GetScheduledTime().AsTime()) > pickUpTime {
		p.PrintOnce("no worker has picked up the rebuild: start one with: go run ./worker")
		p.At("waits for a worker", 0, 0, "events applied")
		return // No worker would answer a query.
	}
	var writer string
	for _, activity := range d.GetPendingActivities() {
		p.Retried("rebuild", activity)
		if activity.GetState() == enums.PENDING_ACTIVITY_STATE_SCHEDULED && time.Since(activity.GetScheduledTime().AsTime()) > pickUpTime {
			p.PrintOnce("no worker continues the rebuild: start one with: go run ./worker")
		}
		writer = cmp.Or(writer, progress.WriterOf(activity))
	}
	if writer != "" {
		lookAtCollection(ctx, p, c, writer)
		return
	}
	var state schema.RebuildProgress
	value, err := c.QueryWorkflow(ctx, schema.RebuildWorkflowID, "", schema.QueryProgress)
	if err != nil || value.Get(&state) != nil {
		return
	}
	p.At(phaseText(state), state.Events, state.Total, "events applied")
}

// phaseText describes the current phase of a rebuild.
func phaseText(s schema.RebuildProgress) string {
	return strings.TrimSpace(strings.ReplaceAll(s.Phase, "_", " ") + " " + command.OneLine(s.Projection, 40))
}

// lookAtCollection shows how far the writer of a collection has rebuilt it.
func lookAtCollection(ctx context.Context, p *progress.Progress, c client.Client, writer string) {
	for _, work := range p.PendingActivities(ctx, c, writer) {
		p.Retried(writer, work)
	}
	var queue schema.WriterQueue
	value, err := c.QueryWorkflow(ctx, writer, "", schema.QueryQueue)
	if err != nil || value.Get(&queue) != nil {
		return
	}
	p.At(strings.TrimSpace(schema.RebuildVectors+" "+command.OneLine(queue.Long, 80)), queue.LongSeen, queue.LongTotal, "objects looked at")
}

func printRebuild(b *strings.Builder, r schema.RebuildResult) {
	if len(r.Restored) > 0 {
		command.Say(b, "%s missing and recreated: %s\n",
			command.Plural(len(r.Restored), "table or view was", "tables or views were"), strings.Join(r.Restored, ", "))
	}
	for _, p := range r.Projections {
		command.Say(b, "%s: %s, %s, %.1f s\n", p.Name, command.Plural(p.Events, "event", "events"), command.Plural(int(p.Rows), "row", "rows"), p.Seconds)
		for _, t := range p.Tables {
			sayTable(b, t, slices.Contains(r.Restored, t.Name))
		}
	}
	if v := r.Vectors; v != nil {
		command.Say(b, "%s: %s, %d copied, %d embedded, %d failed\n", v.Collection, command.Plural(v.Items, "object", "objects"), v.Copied, v.Embedded, v.Failed)
		if v.Pending > 0 {
			command.Say(b, "  %s pending\n", command.Plural(v.Pending, "item is", "items are"))
		}
		if v.Missing+v.Extra+v.Changed > 0 {
			command.Say(b, "  differs from the log: %d missing, %d extra, %d changed\n", v.Missing, v.Extra, v.Changed)
		}
		for _, example := range v.Examples {
			command.Say(b, "    %s\n", command.OneLine(example, 160))
		}
	}
	if r.DryRun {
		b.WriteString("nothing was changed\n")
	} else if len(r.Projections) > 0 {
		command.Say(b, "writers had to wait up to %.1f s for the new tables\n", r.Waited)
	}
	if r.Vectors == nil {
		b.WriteString("vectors were left as they are; to rebuild them: starter rebuild vectors\n")
	}
}

// sayTable writes how the rows compare, if that was requested.
func sayTable(b *strings.Builder, t schema.RebuiltTable, restored bool) {
	switch {
	case t.After == nil:
	case restored || t.Before == nil:
		command.Say(b, "  %s: was not there (now %s, hash %016x)\n", t.Name, command.Plural(int(t.After.Rows), "row", "rows"), t.After.Sum)
	case t.Difference == nil:
		command.Say(b, "  %s: same (%s, hash %016x)\n", t.Name, command.Plural(int(t.After.Rows), "row", "rows"), t.After.Sum)
	default:
		d := t.Difference
		command.Say(b, "  %s: differs: %s only before, %d only after, %d changed\n", t.Name, command.Plural(d.OnlyBefore, "row", "rows"), d.OnlyAfter, d.Changed)
		for _, example := range d.Examples {
			command.Say(b, "    %s %s\n", example.Kind, command.OneLine(example.Key, 160))
		}
	}
}

// projections returns the names of all projections, and the family names of versioned ones.
func projections() []string {
	names := []string{vectorsWord}
	for _, p := range build.Projections(nil, "") {
		family, _, _ := strings.Cut(p.Name(), "/")
		names = append(names, family)
	}
	return names
}
