package durable_test

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/workflows/durable"
	sg "axiommind/workflows/stategraph"
)

// The patterns whose histories are recorded: every node runs an activity.

type (
	node  = sg.Node[workflow.Context]
	graph = sg.Graph[workflow.Context]
)

var (
	names = sg.Reduce("log", func(acc, v []string) []string { return append(acc, v...) }, nil)
	count = sg.LastValue[int]("n").Default(0)
	item  = sg.LastValue[string]("item")
)

// pattern is one way to combine nodes, with the log it produces.
type pattern struct {
	name   string
	graph  func() (*graph, error)
	runner durable.Runner
	want   []string
	fails  bool
}

var patterns = []pattern{
	{name: "parallel", graph: parallelGraph, want: []string{"a", "b", "c"}},
	{name: "parallel_bounded", graph: parallelGraph, runner: durable.Runner{Limit: 2}, want: []string{"a", "b", "c"}},
	{name: "join", graph: joinGraph, want: []string{"a", "b", "c", "d"}},
	{name: "send", graph: sendGraph, want: []string{"x", "y", "z", "fin"}},
	{name: "loop", graph: loopGraph, want: []string{"turn", "turn", "turn"}},
	{name: "error", graph: errorGraph, fails: true},
}

// Speak is the activity of every node. It returns its word.
func Speak(_ context.Context, word string) (string, error) {
	if word == "fail" {
		return "", temporal.NewNonRetryableApplicationError("no such word", "Unspeakable", nil)
	}
	return word, nil
}

func speak(ctx workflow.Context, word string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 3},
	})
	var said string
	err := workflow.ExecuteActivity(ctx, Speak, word).Get(ctx, &said)
	return said, err
}

func says(word string) node {
	return func(ctx workflow.Context, _ sg.State) (sg.Result, error) {
		said, err := speak(ctx, word)
		return sg.Update{names.Add([]string{said})}, err
	}
}

func builder() *sg.StateGraph[workflow.Context] {
	return sg.New[workflow.Context](sg.Root(names, count))
}

func parallelGraph() (*graph, error) {
	return builder().
		AddNode("c", says("c")).AddNode("a", says("a")).AddNode("b", says("b")).
		AddEdge(sg.START, "c").AddEdge(sg.START, "a").AddEdge(sg.START, "b").
		Compile()
}

func joinGraph() (*graph, error) {
	return builder().
		AddNode("a", says("a")).AddNode("b", says("b")).AddNode("c", says("c")).AddNode("d", says("d")).
		AddEdge(sg.START, "a").AddEdge(sg.START, "b").AddEdge("b", "c").
		AddJoin([]string{"a", "c"}, "d").
		Compile()
}

func sendGraph() (*graph, error) {
	return builder().
		AddNode("worker", func(ctx workflow.Context, s sg.State) (sg.Result, error) {
			said, err := speak(ctx, item.Get(s))
			return sg.Update{names.Add([]string{said})}, err
		}).
		AddNode("fin", says("fin")).
		AddConditionalEdges(sg.START, "each", func(sg.State) ([]sg.Target, error) {
			return []sg.Target{
				sg.Send("worker", item.Set("x")), sg.Send("worker", item.Set("y")), sg.Send("worker", item.Set("z")),
			}, nil
		}, sg.Paths("worker")).
		AddEdge("worker", "fin").
		Compile()
}

func loopGraph() (*graph, error) {
	return builder().
		AddNode("turn", func(ctx workflow.Context, s sg.State) (sg.Result, error) {
			said, err := speak(ctx, "turn")
			return sg.Update{names.Add([]string{said}), count.Set(count.Get(s) + 1)}, err
		}).
		AddEdge(sg.START, "turn").
		AddConditionalEdges("turn", "enough", sg.Choose(func(s sg.State) string {
			if count.Get(s) < 3 {
				return "turn"
			}
			return sg.END
		}), sg.Paths("turn", sg.END)).
		Compile()
}

func errorGraph() (*graph, error) {
	return builder().
		AddNode("a", says("a")).AddNode("bad", says("fail")).
		AddEdge(sg.START, "a").AddEdge(sg.START, "bad").
		Compile()
}

// workflowOf returns the workflow that runs a pattern. A failed node fails the workflow with the activity's own error.
func workflowOf(p pattern) func(workflow.Context) ([]string, error) {
	return func(ctx workflow.Context) ([]string, error) {
		g, err := p.graph()
		if err != nil {
			return nil, err
		}
		out, err := g.Run(ctx, p.runner, sg.Update{})
		return names.Get(out), durable.Cause(err)
	}
}

// register registers the patterns for worker and replayer.
func register(r worker.WorkflowRegistry) {
	for _, p := range patterns {
		registerOne(r, p)
	}
}

func registerOne(r worker.WorkflowRegistry, p pattern) {
	r.RegisterWorkflowWithOptions(workflowOf(p), workflow.RegisterOptions{Name: p.name})
}
