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
	r.RegisterWorkflowWithOptions(strictWriter(ProjectTasks), workflow.RegisterOptions{Name: schema.WorkflowProjectTasks})
	r.RegisterWorkflowWithOptions(strictWriter(MemoryWriter), workflow.RegisterOptions{Name: schema.WorkflowMemoryWriter})
	r.RegisterWorkflowWithOptions(strictWriter(VectorWriter), workflow.RegisterOptions{Name: schema.WorkflowVectorWriter})
}
