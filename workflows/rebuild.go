package workflows

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/vector"
	"axiommind/schema"
)

var rebuilds *build.Rebuilds

const (
	// fillFirst is how long each of the first slowFills activities fills tables. It is short, so that people see
	// progress. Later ones take fillLast, so that the history of a long rebuild stays short.
	fillFirst = 10 * time.Second
	fillLast  = time.Minute
	slowFills = 60
	// fewEvents is how many events may be left for the time in which writers are blocked.
	fewEvents = 500
)

// fillWork is for activities that make rows for a long time. Each continues where the previous one stopped.
func fillWork(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              schema.QueueMain,
		StartToCloseTimeout:    time.Hour,
		ScheduleToCloseTimeout: 6 * time.Hour,
		HeartbeatTimeout:       timingOf(ctx).Heartbeat,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: 700,
		},
	})
}

// Rebuild rebuilds projections into shadow tables while sessions are processed, and then swaps them in. Only one runs
// at a time. Started under another id than [schema.RebuildWorkflowID] it runs itself as a child.
func Rebuild(ctx workflow.Context, in schema.RebuildInput) (schema.RebuildResult, error) {
	if !hasID(ctx, schema.RebuildWorkflowID) {
		return runAsOwner[schema.RebuildResult](ctx, schema.RebuildWorkflowID, "rebuild projections", in)
	}
	r := &rebuild{
		// The id names the tables. It is greater than that of every earlier rebuild.
		id:       strconv.FormatInt(workflow.Now(ctx).UnixMicro(), 10),
		progress: schema.RebuildProgress{RebuildInput: in, Phase: schema.RebuildPrepare},
		result:   schema.RebuildResult{Projections: []schema.RebuiltProjection{}, DryRun: in.DryRun},
	}
	err := workflow.SetQueryHandler(ctx, schema.QueryProgress, func() (schema.RebuildProgress, error) { return r.progress, nil })
	if err != nil {
		return r.result, fmt.Errorf("set query handler: %w", err)
	}
	if err := r.run(ctx); err != nil {
		return r.result, describeFailure(r.progress.Phase, err).end(err)
	}
	r.enter(ctx, schema.RebuildDone)
	return r.result, nil
}

// rebuild is one run of the workflow.
type rebuild struct {
	id       string
	plan     build.RebuildPlan
	names    []string
	switched build.SwitchResult
	progress schema.RebuildProgress
	result   schema.RebuildResult
	// metrics are the completed phases, and since is the start of the current one.
	metrics []schema.StepMetric
	since   time.Time
}

func (r *rebuild) run(ctx workflow.Context) (err error) {
	if !r.progress.Collections || len(r.progress.Projections) > 0 {
		err = r.tables(ctx)
	}
	if err == nil && r.progress.Collections {
		err = r.vectors(ctx)
	}
	if !r.progress.DryRun {
		r.record(ctx, err)
	}
	return err
}

// recording is the time limit for recording a rebuild's phases, because an erasure may wait for the rebuild.
const recording = time.Minute

// record records the phases. A failure to do so does not fail the rebuild.
func (r *rebuild) record(ctx workflow.Context, err error) {
	apart, _ := workflow.NewDisconnectedContext(ctx)
	in := build.RecordInput{
		ShadowInput: build.ShadowInput{ID: r.id, Projections: r.names},
		Metrics:     append(r.metrics, measured(ctx, r.progress.Phase, r.since, err)),
	}
	work := workflow.WithScheduleToCloseTimeout(storeWork(apart, "record phases"), recording)
	if err := workflow.ExecuteActivity(work, rebuilds.RecordRebuild, in).Get(apart, nil); err != nil {
		workflow.GetLogger(ctx).Error("the phases of the rebuild are not recorded", "rebuild", r.id, "reason", err)
	}
}

// tables rebuilds the tables. However it ends, leftover tables are dropped and blocked writers are released.
func (r *rebuild) tables(ctx workflow.Context) error {
	err := r.replace(ctx)
	if err == nil {
		r.enter(ctx, schema.RebuildFinish)
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	in := build.ShadowInput{ID: r.id, Projections: r.names}
	dropped := workflow.ExecuteActivity(storeWork(apart, "drop unused tables"), rebuilds.FinishRebuild, in).Get(apart, nil)
	if err == nil {
		err = dropped
	}
	return err
}

func (r *rebuild) replace(ctx workflow.Context) (err error) {
	r.enter(ctx, schema.RebuildPrepare)
	prepare := build.PrepareInput{ID: r.id, Names: r.progress.Projections}
	if r.plan, err = call(storeWork(ctx, "make tables"), rebuilds.PrepareRebuild, prepare); err != nil {
		return err
	}
	r.result.Restored = r.plan.Restored
	for _, p := range r.plan.Projections {
		r.names = append(r.names, p.Name)
		r.progress.Total += p.Events
	}
	r.enter(ctx, schema.RebuildFill)
	for _, p := range r.plan.Projections {
		if err := r.fill(ctx, p); err != nil {
			return err
		}
	}
	r.enter(ctx, schema.RebuildCatchUp)
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	r.enter(ctx, schema.RebuildSwitch)
	in := build.SwitchInput{
		ShadowInput: build.ShadowInput{ID: r.id, Projections: r.names}, Compare: r.compares(), DryRun: r.progress.DryRun,
	}
	if r.switched, err = call(storeWork(ctx, "last events, exchange tables"), rebuilds.SwitchShadow, in); err != nil {
		return err
	}
	r.result.Waited = r.switched.Waited.Seconds()
	r.enter(ctx, schema.RebuildCompare)
	return r.compare(ctx)
}

// compares reports whether the new rows are compared with those in use.
func (r *rebuild) compares() bool { return r.progress.Verify || r.progress.DryRun }

// fill makes the rows of a projection from the existing events.
func (r *rebuild) fill(ctx workflow.Context, p build.PlannedProjection) error {
	began, made, at := workflow.Now(ctx), schema.RebuiltProjection{Name: p.Name}, build.FillResult{}
	planned := p.Events
	r.progress.Projection = p.Name
	for n := 0; !at.Done; n++ {
		in := build.FillInput{ID: r.id, Projection: p.Name, After: at.After, For: fillFirst}
		if n >= slowFills {
			in.For = fillLast
		}
		var err error
		if at, err = call(fillWork(ctx, "rows of "+p.Name), rebuilds.FillShadow, in); err != nil {
			return err
		}
		made.Events += at.Events
		r.progress.Events += at.Events
		// There may be more events than planned, or fewer, if some were duplicates.
		if made.Events > planned || at.Done {
			r.progress.Total += made.Events - planned
			planned = made.Events
		}
		r.showProgress(ctx)
	}
	made.Seconds = workflow.Now(ctx).Sub(began).Seconds()
	r.result.Projections = append(r.result.Projections, made)
	r.progress.Projection = ""
	return nil
}

// catchUp applies new events in rounds. Each round applies the events that arrived during the previous one. A round is
// the last if it found few events, or more than half as many as the previous one. In the latter case events arrive
// about as fast as they are applied, on a slow machine or under heavy load. More rounds would not shorten the time in
// which writers are blocked.
func (r *rebuild) catchUp(ctx workflow.Context) error {
	for before := math.MaxInt; ; {
		in := build.ShadowInput{ID: r.id, Projections: r.names}
		done, err := call(fillWork(ctx, "events that came meanwhile"), rebuilds.CatchUpShadow, in)
		if err != nil {
			return err
		}
		r.progress.Events += done.Events
		r.progress.Total += done.Events
		r.showProgress(ctx)
		if done.Events <= fewEvents || done.Events > before/2 {
			return nil
		}
		before = done.Events
	}
}

func (r *rebuild) compare(ctx workflow.Context) error {
	for i := range r.result.Projections {
		p := &r.result.Projections[i]
		r.progress.Projection = p.Name
		in := build.CompareInput{
			ID: r.id, Projection: p.Name, Generation: r.switched.Generation, Compare: r.compares(), Restored: r.plan.Restored,
		}
		found, err := call(fillWork(ctx, "rows of "+p.Name), rebuilds.CompareShadow, in)
		if err != nil {
			return err
		}
		p.Tables = found.Tables
		for _, t := range found.Tables {
			p.Rows += t.Rows
		}
	}
	r.progress.Projection = ""
	return nil
}

// vectors has the collection of the worker's embedder rebuilt by the workflow that writes it.
func (r *rebuild) vectors(ctx workflow.Context) error {
	r.enter(ctx, schema.RebuildVectors)
	in := vector.RebuildInput{Verify: r.compares(), DryRun: r.progress.DryRun}
	work := workflow.WithScheduleToCloseTimeout(vectorWork(ctx, "collection of the vector store"), 24*time.Hour)
	work = workflow.WithStartToCloseTimeout(work, 24*time.Hour)
	made, err := call(work, vectors.RebuildVectors, in)
	r.result.Vectors = &schema.RebuiltVectors{
		Collection: made.Collection, Items: made.Items, Copied: made.Copied, Embedded: made.Embedded, Failed: made.Failed, Pending: made.Pending,
		Missing: made.Missing, Extra: made.Extra, Changed: made.Changed, Examples: made.Examples, Switched: made.Switched,
	}
	return err
}

// enter begins a phase.
func (r *rebuild) enter(ctx workflow.Context, phase string) {
	if !r.since.IsZero() {
		r.metrics = append(r.metrics, measured(ctx, r.progress.Phase, r.since, nil))
	}
	r.progress.Phase, r.since = phase, workflow.Now(ctx)
	r.showProgress(ctx)
}

func (r *rebuild) showProgress(ctx workflow.Context) {
	p := r.progress
	text := fmt.Sprintf("**%s** %s · %d of %d events", p.Phase, p.Projection, p.Events, p.Total)
	if p.Phase == schema.RebuildDone {
		text = fmt.Sprintf("%d events applied · writers waited %.1f s · %d tables differ", p.Events, r.result.Waited, r.result.Differing())
	}
	workflow.SetCurrentDetails(ctx, text)
}
