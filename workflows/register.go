// Package workflows holds the durable step sequences. Its code is deterministic: everything that
// reads a clock, a store or a model is an activity.
package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// Register registers every workflow: the worker, the tests and the replayer share it.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(strict(ProcessSession), workflow.RegisterOptions{Name: schema.WorkflowProcessSession})
	r.RegisterWorkflowWithOptions(strict(RealignSession), workflow.RegisterOptions{Name: schema.WorkflowRealignSession})
	r.RegisterWorkflowWithOptions(strict(DeepDream), workflow.RegisterOptions{Name: schema.WorkflowDeepDream})
	r.RegisterWorkflowWithOptions(withoutResult(NotifySummary), workflow.RegisterOptions{Name: schema.WorkflowNotifySummary})
	r.RegisterWorkflowWithOptions(strict(DreamNight), workflow.RegisterOptions{Name: schema.WorkflowDreamNight})
	for _, w := range writers {
		w.register(r)
	}
}

// writers are the workflows that are the only writers of streams.
var writers = []registered{projectTasks, memoryWriter, vectorWriter}

type registered interface {
	register(r worker.WorkflowRegistry)
}

func (w writer[In]) register(r worker.WorkflowRegistry) {
	var in In
	r.RegisterWorkflowWithOptions(withoutResult(w.run), workflow.RegisterOptions{Name: in.Workflow()})
}
