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
	registerWriter(r, projectTasks)
	registerWriter(r, memoryWriter)
	registerWriter(r, vectorWriter)
}

func registerWriter[In schema.WriterInput](r worker.WorkflowRegistry, w writer[In]) {
	var in In
	r.RegisterWorkflowWithOptions(strictWriter(w.run), workflow.RegisterOptions{Name: in.Workflow()})
}
