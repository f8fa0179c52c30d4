package runner

import (
	"context"
	"log/slog"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"axiommind/activities/spans"
)

// failures logs the failures of traced activities with the ids of their spans. Temporal's own line about a failure has none, because
// it is written without a context.
type failures struct {
	interceptor.WorkerInterceptorBase
	logger *slog.Logger
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (f *failures) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &failure{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, logger: f.logger}
}

type failure struct {
	interceptor.ActivityInboundInterceptorBase
	logger *slog.Logger
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (f *failure) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	out, err := f.Next.ExecuteActivity(ctx, in)
	if err != nil && spans.On(ctx) {
		info := activity.GetInfo(ctx)
		f.logger.WarnContext(ctx, "an activity failed", "activity", info.ActivityType.Name, "attempt", info.Attempt,
			"workflow", info.WorkflowExecution.ID, "reason", err)
	}
	return out, err
}
