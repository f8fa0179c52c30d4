package workflows

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/erase"
	"axiommind/schema"
)

var erasures *erase.Activities

// eraseWork is for the steps of an erasure, which read the log and wait for ClickHouse to rewrite it. Each is
// idempotent, so they are retried for as long as a server may be unavailable.
var eraseWork = work{schema.QueueErase, 4 * time.Hour, 24 * time.Hour, time.Second, time.Minute, 1000}.options

// Forget erases the scope of its input from every store: see package erase. Only one runs at a time. Started under
// another id than [schema.ForgetWorkflowID] it runs itself as a child.
func Forget(ctx workflow.Context, in schema.ForgetInput) (schema.ForgetResult, error) {
	if err := in.Validate(); err != nil {
		return schema.ForgetResult{}, invalidInput(err)
	}
	info := workflow.GetInfo(ctx)
	in.ID = in.ErasureID(info.WorkflowExecution.ID, info.OriginalRunID)
	if !hasID(ctx, schema.ForgetWorkflowID) {
		return runAsOwner[schema.ForgetResult](ctx, schema.ForgetWorkflowID, "forget", in)
	}
	f := &forget{
		in:     erase.Input{ForgetInput: in, ErasureID: in.ID, At: info.WorkflowStartTime.UTC()},
		result: schema.ForgetResult{ID: in.ID},
	}
	f.steps = []forgetStep{
		{"store the tombstone", f.begin},
		{"take in edits of files, and lock streams", f.lock},
		{"erase events", f.eraseLog},
		{"rebuild tables", f.rebuildTables},
		{"delete files of memories", f.eraseFiles},
		{"unlock streams", f.unlock},
		{"write files, wake writers", f.resume},
		{"delete workflow executions", f.eraseExecutions},
		{"wait until ClickHouse has removed old parts", f.purge},
		{"rebuild vectors", f.rebuildVectors},
		{"look for leftovers", f.find},
	}
	if in.Verify {
		f.steps = f.steps[len(f.steps)-1:]
	}
	err := workflow.SetQueryHandler(ctx, schema.QueryProgress, func() (schema.ForgetProgress, error) { return f.progress(), nil })
	if err != nil {
		return f.result, fmt.Errorf("set query handler: %w", err)
	}
	return f.run(ctx)
}

// forget is one run of the workflow.
type forget struct {
	// begun is true once there is a tombstone, locked while streams are locked, and stale while tables contain rows of
	// erased events.
	begun, locked, stale bool
	in                   erase.Input
	// erasedLog and erasedFiles are the times when rows were deleted, by ClickHouse's clock.
	erasedLog, erasedFiles time.Time
	steps                  []forgetStep
	// vectors is the rebuild of the collections.
	vectors workflow.Future
	done    int
	// left contains the workflow executions that Temporal has not deleted in time.
	left   erase.ExecutionsErased
	result schema.ForgetResult
}

type forgetStep struct {
	name string
	do   func(ctx workflow.Context) error
}

func (f *forget) progress() schema.ForgetProgress {
	p := schema.ForgetProgress{Steps: f.done, Total: len(f.steps)}
	if f.done < len(f.steps) {
		p.Step = f.steps[f.done].name
	}
	return p
}

// run does all steps and records the outcome. Streams stay locked only if tables still contain erased content, because
// new events would be derived from it. Continuing the erasure resolves that, and the locks expire after half a day.
func (f *forget) run(ctx workflow.Context) (schema.ForgetResult, error) {
	var failed error
	for _, step := range f.steps {
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("**%s** · step %d of %d", step.name, f.done+1, len(f.steps)))
		if failed = step.do(ctx); failed != nil {
			failed = describeFailure(step.name, failed).end(failed)
			break
		}
		f.done++
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	finished := schema.ErasureFinishedPayload{
		ErasureID: f.in.ErasureID, Counts: f.result.ErasureCounts, Executions: f.result.Executions, Files: f.result.Files,
		Vectors: f.result.Vectors, Left: len(f.result.Left),
	}
	if failed != nil {
		finished.Failed = "it broke off at the step: " + f.steps[f.done].name
	}
	if !f.begun {
		return f.result, failed // There is no tombstone, or the run only verifies.
	}
	if f.locked && !f.stale {
		_ = f.unlock(apart) // The lock also expires by itself.
	}
	if failed != nil && f.vectors != nil {
		_ = f.vectors.Get(apart, nil) // The next erasure must not find it unfinished.
	}
	end := erase.EndInput{Input: f.in, Finished: finished}
	err := workflow.ExecuteActivity(eraseWork(apart, "record the end"), erasures.EndErasure, end).Get(apart, nil)
	if failed == nil {
		failed = err
	}
	return f.result, failed
}

// waitPropagation waits until all programs know the last event.
func waitPropagation(ctx workflow.Context, wait time.Duration) error {
	return workflow.Sleep(ctx, wait)
}

func (f *forget) begin(ctx workflow.Context) error {
	begun, err := call(eraseWork(ctx, "store the tombstone"), erasures.BeginErasure, f.in)
	if err != nil {
		return err
	}
	f.begun = true
	f.in.ErasureID = cmp.Or(begun.ErasureID, f.in.ErasureID)
	f.result.ID = f.in.ErasureID
	return nil // The wait for the locks covers the tombstone, too.
}

func (f *forget) lock(ctx workflow.Context) error {
	f.locked = true
	begun, err := call(eraseWork(ctx, "lock streams"), erasures.LockStreams, f.in)
	if err != nil {
		return err
	}
	return waitPropagation(ctx, begun.Wait)
}

func (f *forget) eraseLog(ctx workflow.Context) error {
	f.stale = true
	var erased erase.Erased
	for again := true; again; again = erased.Wait > 0 {
		var err error
		if erased, err = call(eraseWork(ctx, "erase events"), erasures.EraseLog, f.in); err != nil {
			return err
		}
		if err := waitPropagation(ctx, erased.Wait); err != nil {
			return err
		}
	}
	f.result.ErasureCounts, f.erasedLog = erased.Counts, erased.At
	return nil // The rebuild that follows takes longer than the time until all programs know the event.
}

// rebuildTables rebuilds the projections, as starter rebuild does, and starts the rebuild of the vectors, which
// rebuildVectors awaits. Streams can be unlocked before that, because writers read text from tables only.
func (f *forget) rebuildTables(ctx workflow.Context) error {
	if err := f.rebuild(ctx, schema.RebuildInput{}).Get(ctx, nil); err != nil {
		return err
	}
	f.stale, f.vectors = false, f.rebuild(ctx, schema.RebuildInput{Collections: true})
	return nil
}

func (f *forget) rebuildVectors(ctx workflow.Context) error {
	var made schema.RebuildResult
	err := f.vectors.Get(ctx, &made)
	if made.Vectors != nil {
		f.result.Vectors = made.Vectors.Items
	}
	return err
}

func (f *forget) rebuild(ctx workflow.Context, in schema.RebuildInput) workflow.ChildWorkflowFuture {
	part := "tables"
	if in.Collections {
		part = "vectors"
	}
	return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: fmt.Sprintf("%s/%s/%s", schema.WorkflowRebuild, f.in.ErasureID, part), TaskQueue: schema.QueueMain,
		WorkflowExecutionTimeout: 24 * time.Hour, StaticSummary: "rebuild after an erasure",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 20},
	}), schema.WorkflowRebuild, in)
}

func (f *forget) eraseFiles(ctx workflow.Context) error {
	erased, err := call(eraseWork(ctx, "delete files"), erasures.EraseFiles, f.in)
	f.result.Files, f.erasedFiles = erased.Files, erased.At
	return err
}

func (f *forget) unlock(ctx workflow.Context) error {
	err := workflow.ExecuteActivity(eraseWork(ctx, "unlock streams"), erasures.UnlockStreams, f.in).Get(ctx, nil)
	f.locked = f.locked && err != nil
	return err
}

func (f *forget) resume(ctx workflow.Context) error {
	return workflow.ExecuteActivity(eraseWork(ctx, "write files"), erasures.ResumeWriters, f.in).Get(ctx, nil)
}

func (f *forget) eraseExecutions(ctx workflow.Context) error {
	erased, err := call(eraseWork(ctx, "delete executions"), erasures.EraseExecutions, f.in)
	f.result.Executions, f.left = erased.Executions, erased
	return err
}

func (f *forget) purge(ctx workflow.Context) error {
	return workflow.ExecuteActivity(eraseWork(ctx, "old parts"), erasures.PurgeParts, erase.PurgeInput{Input: f.in, Log: f.erasedLog, Files: f.erasedFiles}).Get(ctx, nil)
}

func (f *forget) find(ctx workflow.Context) error {
	found, err := call(eraseWork(ctx, "look for leftovers"), erasures.FindErased, erase.FindInput{Input: f.in, Executions: f.left.Left, More: f.left.More})
	f.result.Left, f.result.Elsewhere, f.result.NamesOnly = found.Left, found.Elsewhere, found.NamesOnly
	return err
}
