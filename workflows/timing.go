package workflows

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

type timingKey struct{}

// timingOf returns the timing of the worker that runs the workflow.
func timingOf(ctx workflow.Context) schema.Timing {
	t, _ := ctx.Value(timingKey{}).(schema.Timing)
	return t.WithDefaults()
}

// WithTiming sets the durations that a worker's workflows wait for. All workers of a namespace must have the same.
func WithTiming(t schema.Timing) interceptor.WorkerInterceptor { return &timer{timing: t} }

type timer struct {
	interceptor.WorkerInterceptorBase
	timing schema.Timing
}

// InterceptWorkflow implements [interceptor.WorkerInterceptor].
func (t *timer) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	i := &timed{timing: t.timing}
	i.Next = next
	return i
}

type timed struct {
	interceptor.WorkflowInboundInterceptorBase
	timing schema.Timing
}

// ExecuteWorkflow implements [interceptor.WorkflowInboundInterceptor].
func (t *timed) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return t.Next.ExecuteWorkflow(workflow.WithValue(ctx, timingKey{}, t.timing), in)
}
