package durable_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/workflows/durable"
	sg "axiommind/workflows/stategraph"
	"axiommind/workflows/workflowtest"
)

func environment() *testsuite.TestWorkflowEnvironment {
	env := workflowtest.New()
	env.RegisterActivity(Speak)
	return env
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			env := environment()
			env.ExecuteWorkflow(workflowOf(p))
			require.True(t, env.IsWorkflowCompleted())
			if p.fails {
				var app *temporal.ApplicationError
				require.ErrorAs(t, env.GetWorkflowError(), &app)
				require.Equal(t, "Unspeakable", app.Type())
				return
			}
			require.NoError(t, env.GetWorkflowError())
			var got []string
			require.NoError(t, env.GetWorkflowResult(&got))
			require.Equal(t, p.want, got)
		})
	}
}

// The slowest branch is the one whose write comes first: order is by name.
func TestOrderIgnoresDuration(t *testing.T) {
	t.Parallel()
	waits := func(name string, d time.Duration) node {
		return func(ctx workflow.Context, _ sg.State) (sg.Result, error) {
			return sg.Update{names.Add([]string{name})}, workflow.Sleep(ctx, d)
		}
	}
	env := environment()
	env.ExecuteWorkflow(func(ctx workflow.Context) ([]string, error) {
		g, err := builder().
			AddNode("a", waits("a", time.Hour)).AddNode("b", waits("b", time.Minute)).AddNode("c", waits("c", time.Second)).
			AddEdge(sg.START, "a").AddEdge(sg.START, "b").AddEdge(sg.START, "c").
			Compile()
		if err != nil {
			return nil, err
		}
		before := workflow.Now(ctx)
		out, err := g.Run(ctx, durable.Runner{}, sg.Update{})
		if took := workflow.Now(ctx).Sub(before); took != time.Hour {
			return nil, errors.New("branches did not wait side by side: " + took.String())
		}
		return names.Get(out), err
	})
	require.NoError(t, env.GetWorkflowError())
	var got []string
	require.NoError(t, env.GetWorkflowResult(&got))
	require.Equal(t, []string{"a", "b", "c"}, got)
}

// Limit bounds how many branches wait at once.
func TestLimit(t *testing.T) {
	t.Parallel()
	var running, most int
	g := func() (*graph, error) {
		b := builder()
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			b.AddNode(name, func(ctx workflow.Context, _ sg.State) (sg.Result, error) {
				running++
				most = max(most, running)
				err := workflow.Sleep(ctx, time.Second)
				running--
				return nil, err
			}).AddEdge(sg.START, name)
		}
		return b.Compile()
	}
	env := environment()
	env.ExecuteWorkflow(workflowOf(pattern{graph: g, runner: durable.Runner{Limit: 2}}))
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 2, most)
}

func TestPanics(t *testing.T) {
	t.Parallel()
	run := func(fn node) error {
		env := environment()
		var failure error
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			g, err := builder().
				AddNode("calm", says("a")).AddNode("wild", fn).
				AddEdge(sg.START, "calm").AddEdge(sg.START, "wild").Compile()
			if err != nil {
				return err
			}
			_, failure = g.Run(ctx, durable.Runner{}, sg.Update{})
			return nil
		})
		return errors.Join(failure, env.GetWorkflowError())
	}

	t.Run("a node's own panic is its error", func(t *testing.T) {
		t.Parallel()
		err := run(func(workflow.Context, sg.State) (sg.Result, error) {
			var m map[string]int
			m["x"] = 1 //nolint:staticcheck // the panic is what is tested
			return nil, nil
		})
		var failed *sg.NodeError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "wild", failed.Node)
		var p *sg.PanicError
		require.ErrorAs(t, err, &p)
		require.Contains(t, p.Stack, "TestPanics")
		var re runtime.Error
		require.ErrorAs(t, err, &re)
	})
	t.Run("the SDK's panic reaches the SDK", func(t *testing.T) {
		t.Parallel()
		err := run(func(ctx workflow.Context, _ sg.State) (sg.Result, error) {
			workflow.NewWaitGroup(ctx).Add(-1)
			return nil, nil
		})
		require.NotErrorIs(t, err, sg.ErrPanic)
		var p *temporal.PanicError
		require.ErrorAs(t, err, &p)
		require.Contains(t, p.Error(), "negative WaitGroup counter")
	})
}

// A cancelled workflow stops before the next superstep.
func TestCancel(t *testing.T) {
	t.Parallel()
	env := environment()
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		g, err := builder().
			AddNode("turn", func(ctx workflow.Context, _ sg.State) (sg.Result, error) {
				free, _ := workflow.NewDisconnectedContext(ctx)
				return nil, workflow.Sleep(free, 2*time.Second)
			}).
			AddEdge(sg.START, "turn").AddEdge("turn", "turn").Compile()
		if err != nil {
			return err
		}
		_, err = g.Run(ctx, durable.Runner{}, sg.Update{})
		return err
	})
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
}

// A workflow cancelled while a node waits ends as cancelled.
func TestCancelInNode(t *testing.T) {
	t.Parallel()
	env := environment()
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
	env.ExecuteWorkflow(workflowOf(pattern{graph: func() (*graph, error) {
		return builder().
			AddNode("a", func(ctx workflow.Context, _ sg.State) (sg.Result, error) {
				return nil, workflow.Sleep(ctx, time.Hour)
			}).
			AddNode("b", says("b")).
			AddEdge(sg.START, "a").AddEdge(sg.START, "b").Compile()
	}}))
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
}

// A node can ask and a signal answers. The parallel branch is not repeated.
func TestAskBySignal(t *testing.T) {
	t.Parallel()
	env := environment()
	env.RegisterDelayedCallback(func() { env.SignalWorkflow("answer", "yes") }, time.Hour)
	spoken := 0
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { spoken++ })
	env.ExecuteWorkflow(func(ctx workflow.Context) ([]string, error) {
		g, err := builder().
			AddNode("ask", func(_ workflow.Context, s sg.State) (sg.Result, error) {
				answer, err := sg.Ask[string](s, "proceed?")
				return sg.Update{names.Add([]string{answer})}, err
			}).
			AddNode("side", says("side")).
			AddEdge(sg.START, "ask").AddEdge(sg.START, "side").Compile()
		if err != nil {
			return nil, err
		}
		th := g.NewThread(durable.Runner{})
		out, err := th.Invoke(ctx, sg.Update{})
		var stop *sg.InterruptError
		for errors.As(err, &stop) {
			var answer string
			workflow.GetSignalChannel(ctx, "answer").Receive(ctx, &answer)
			out, err = th.Resume(ctx, answer)
		}
		return names.Get(out), err
	})
	require.NoError(t, env.GetWorkflowError())
	var got []string
	require.NoError(t, env.GetWorkflowResult(&got))
	require.Equal(t, []string{"yes", "side"}, got)
	require.Equal(t, 1, spoken)
}
