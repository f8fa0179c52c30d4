// Package workflows holds the durable step sequences. Its code is deterministic: everything that
// reads a clock, a store or a model is an activity.
package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// What becomes of a run when another version of the worker is made the current one, where workers have versions.
const (
	// pinned runs end on the version they began on. They are short: the old workers need to stay for minutes.
	pinned = workflow.VersioningBehaviorPinned
	// moving runs go on with the new version. They live for long, or wait for others: their code changes with
	// workflow.GetVersion, so that what they began goes on.
	moving = workflow.VersioningBehaviorAutoUpgrade
)

// Register registers every workflow: the worker, the tests and the replayer share it.
func Register(r worker.WorkflowRegistry) {
	RegisterQueue(r)
	RegisterWithoutQueue(r)
}

// RegisterQueue registers memory_queue.
func RegisterQueue(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(withoutResult(MemoryQueue), as(schema.WorkflowMemoryQueue, moving))
}

// RegisterWithoutQueue registers every workflow except memory_queue, for a worker that has memory switched off.
func RegisterWithoutQueue(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(strict(ProcessSession), as(schema.WorkflowProcessSession, pinned))
	r.RegisterWorkflowWithOptions(strict(RealignSession), as(schema.WorkflowRealignSession, pinned))
	r.RegisterWorkflowWithOptions(strict(DeepDream), as(schema.WorkflowDeepDream, pinned))
	r.RegisterWorkflowWithOptions(withoutResult(NotifySummary), as(schema.WorkflowNotifySummary, moving))
	r.RegisterWorkflowWithOptions(strict(DreamNight), as(schema.WorkflowDreamNight, moving))
	r.RegisterWorkflowWithOptions(strict(ImportSessions), as(schema.WorkflowImportSessions, moving))
	r.RegisterWorkflowWithOptions(strict(RetryBuilds), as(schema.WorkflowRetryBuilds, moving))
	r.RegisterWorkflowWithOptions(strict(BackfillSessions), as(schema.WorkflowBackfillSessions, moving))
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
	r.RegisterWorkflowWithOptions(withoutResult(w.run), as(in.Workflow(), moving))
}
