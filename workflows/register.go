// Package workflows contains the durable step sequences. Its code is deterministic: everything that reads a clock, a
// store or a model is an activity.
package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// Behaviors of a run when another version of the worker becomes the current one, if workers have versions.
const (
	// pinned runs end on the version on which they began. They are short, so the old workers must stay for minutes
	// only.
	pinned = workflow.VersioningBehaviorPinned
	// autoUpgrade runs continue on the new version, because they live long or wait for others. Their code changes with
	// workflow.GetVersion, so that existing runs can continue.
	autoUpgrade = workflow.VersioningBehaviorAutoUpgrade
)

// Register registers every workflow. The worker, the tests and the replayer share it.
func Register(r worker.WorkflowRegistry) {
	RegisterQueue(r)
	RegisterWithoutQueue(r)
}

// RegisterQueue registers memory_queue.
func RegisterQueue(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(withoutResult(MemoryQueue), as(schema.WorkflowMemoryQueue, autoUpgrade))
}

// RegisterWithoutQueue registers every workflow except memory_queue, for a worker that has memory switched off.
func RegisterWithoutQueue(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(strict(ProcessSession), as(schema.WorkflowProcessSession, pinned))
	r.RegisterWorkflowWithOptions(strict(RealignSession), as(schema.WorkflowRealignSession, pinned))
	r.RegisterWorkflowWithOptions(strict(DeepDream), as(schema.WorkflowDeepDream, pinned))
	r.RegisterWorkflowWithOptions(withoutResult(NotifySummary), as(schema.WorkflowNotifySummary, autoUpgrade))
	r.RegisterWorkflowWithOptions(strict(DreamNight), as(schema.WorkflowDreamNight, autoUpgrade))
	r.RegisterWorkflowWithOptions(strict(ImportSessions), as(schema.WorkflowImportSessions, autoUpgrade))
	r.RegisterWorkflowWithOptions(strict(RetryBuilds), as(schema.WorkflowRetryBuilds, autoUpgrade))
	r.RegisterWorkflowWithOptions(strict(BackfillSessions), as(schema.WorkflowBackfillSessions, autoUpgrade))
	r.RegisterWorkflowWithOptions(strict(Rebuild), as(schema.WorkflowRebuild, pinned))
	r.RegisterWorkflowWithOptions(strict(Forget), as(schema.WorkflowForget, pinned))
	for _, w := range writers {
		w.register(r)
	}
}

func as(name string, behavior workflow.VersioningBehavior) workflow.RegisterOptions {
	return workflow.RegisterOptions{Name: name, VersioningBehavior: behavior}
}

// writers are the workflows that are the only writers of streams.
var writers = []registered{projectTasks, memoryWriter, graduation, vectorWriter}

type registered interface {
	register(r worker.WorkflowRegistry)
}

func (w writer[In]) register(r worker.WorkflowRegistry) {
	var in In
	r.RegisterWorkflowWithOptions(withoutResult(w.run), as(in.Workflow(), autoUpgrade))
}
