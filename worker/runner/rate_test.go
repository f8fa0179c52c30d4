package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/service"
)

// asking is a workflow that makes the calls all at once, on the task queue.
func asking(calls int) func(ctx workflow.Context, queue string) error {
	return func(ctx workflow.Context, queue string) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: queue, StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		var all []workflow.Future
		for range calls {
			all = append(all, workflow.ExecuteActivity(ctx, "Ask"))
		}
		for _, f := range all {
			if err := f.Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}
}

// A worker asks a model by four calls at a time: the fifth waits until one of them has ended.
func TestModelConcurrency(t *testing.T) {
	t.Parallel()
	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	require.NoError(t, cfg.Load(flags, func(string) string { return "" }, ""))
	const calls, most = 7, 4
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: stacktest.Temporal(t), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	defer c.Close()
	id := fmt.Sprintf("concurrency-%d", time.Now().UnixNano())
	starter := worker.New(c, id, worker.Options{})
	starter.RegisterWorkflowWithOptions(asking(calls), workflow.RegisterOptions{Name: "asking"})
	require.NoError(t, starter.Start())
	defer starter.Stop()
	begun, end := make(chan int32, calls), make(chan struct{})
	var running atomic.Int32
	model := worker.New(c, id+"-model", workerOptions(cfg)[schema.QueueModel])
	model.RegisterActivityWithOptions(func(ctx context.Context) error {
		defer running.Add(-1)
		begun <- running.Add(1)
		select {
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, activity.RegisterOptions{Name: "Ask"})
	require.NoError(t, model.Start())
	defer model.Stop()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: id}, "asking", id+"-model")
	require.NoError(t, err)
	for range most {
		require.LessOrEqual(t, <-begun, int32(most))
	}
	for range calls - most { // Each call that begins now has waited for one to end.
		require.Empty(t, begun, "a fifth call waits")
		end <- struct{}{}
		require.LessOrEqual(t, <-begun, int32(most))
	}
	close(end)
	require.NoError(t, run.Get(t.Context(), nil))
}

// The rate holds for the task queue, so for all workers together. The server lets some calls pass at once, and then counts.
func TestModelRate(t *testing.T) {
	t.Parallel()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: stacktest.Temporal(t), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	defer c.Close()
	const calls = 8
	took := func(rate float64) time.Duration {
		id := fmt.Sprintf("rate-%v-%d", rate, time.Now().UnixNano())
		starter := worker.New(c, id, worker.Options{})
		starter.RegisterWorkflowWithOptions(asking(calls), workflow.RegisterOptions{Name: "asking"})
		require.NoError(t, starter.Start())
		defer starter.Stop()
		for range 2 {
			w := worker.New(c, id+"-model", workerOptions(service.Config{ModelRate: rate, ModelConcurrency: calls})[schema.QueueModel])
			w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "Ask"})
			require.NoError(t, w.Start())
			defer w.Stop()
		}
		begun := time.Now()
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: id}, "asking", id+"-model")
		require.NoError(t, err)
		require.NoError(t, run.Get(t.Context(), nil))
		return time.Since(begun)
	}
	limited, free := took(2), took(0)
	require.Greater(t, limited, 2*time.Second, "%d calls, at most 2 a second", calls)
	require.Less(t, free, limited)
	t.Logf("%d calls: %v at 2 a second, %v without a limit", calls, limited, free)
}
