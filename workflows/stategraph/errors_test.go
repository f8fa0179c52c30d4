package stategraph_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	sg "axiommind/workflows/stategraph"
)

var (
	errBroken = errors.New("broken")
	logKey    = sg.Reduce("log", func(acc, v []string) []string { return append(acc, v...) }, nil)
	stepKey   = sg.LastValue[int]("step")
)

func logs(name string) sg.Node[context.Context] {
	return func(context.Context, sg.State) (sg.Result, error) {
		return sg.Update{logKey.Add([]string{name})}, nil
	}
}

func returns(r sg.Result) sg.Node[context.Context] {
	return func(context.Context, sg.State) (sg.Result, error) { return r, nil }
}

func plainGraph(keys ...sg.AnyKey) *sg.StateGraph[context.Context] {
	return sg.New[context.Context](sg.Root(append([]sg.AnyKey{logKey, stepKey}, keys...)...))
}

// runErr compiles and runs g on goroutines, and returns its error.
func runErr(t *testing.T, g *sg.StateGraph[context.Context], opts ...sg.RunOption) error {
	t.Helper()
	c, err := g.Compile()
	require.NoError(t, err)
	_, err = c.Run(t.Context(), sg.Goroutines{}, sg.Update{}, opts...)
	require.Error(t, err)
	return err
}

func TestTwoWritersOfOneLastValue(t *testing.T) {
	t.Parallel()
	err := runErr(t, plainGraph().
		AddNode("a", returns(sg.Update{stepKey.Set(2)})).AddNode("b", returns(sg.Update{stepKey.Set(3)})).
		AddEdge(sg.START, "b").AddEdge(sg.START, "a"))
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)
	var e *sg.InvalidUpdateError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "step", e.Channel)
	require.Equal(t, []string{"a", "b"}, e.Nodes)
	require.Equal(t, []any{2, 3}, e.Values)
	require.EqualError(t, err,
		`apply update of channel "step" from node "a" with value 2, node "b" with value 3: a LastValue takes one write per superstep`)
}

// A node that writes a LastValue twice in a superstep is an error like two nodes that do, whether in one update or in
// two commands.
func TestOneNodeWritesLastValueTwice(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]sg.Result{
		"an update": sg.Update{stepKey.Set(2), stepKey.Set(3)},
		"commands":  sg.Commands{{Update: sg.Update{stepKey.Set(2)}}, {Update: sg.Update{stepKey.Set(3)}}},
		"the same":  sg.Update{stepKey.Set(2), stepKey.Set(2)},
	} {
		err := runErr(t, plainGraph().AddNode("a", returns(result)).AddEdge(sg.START, "a"))
		var e *sg.InvalidUpdateError
		require.ErrorAs(t, err, &e, name)
		require.ErrorIs(t, err, sg.ErrInvalidUpdate)
		require.Equal(t, "step", e.Channel)
		require.Equal(t, []string{"a", "a"}, e.Nodes)
	}
}

func TestNodeErrors(t *testing.T) {
	t.Parallel()
	panics := func(context.Context, sg.State) (sg.Result, error) {
		var list []int
		return nil, errors.New(string(rune(list[3])))
	}
	exits := func(context.Context, sg.State) (sg.Result, error) {
		runtime.Goexit()
		return nil, nil
	}
	fails := func(context.Context, sg.State) (sg.Result, error) { return nil, errBroken }

	err := runErr(t, plainGraph().AddNode("a", logs("a")).AddNode("b", panics).
		AddEdge(sg.START, "a").AddEdge("a", "b"))
	var node *sg.NodeError
	require.ErrorAs(t, err, &node)
	require.Equal(t, "b", node.Node)
	require.Equal(t, 2, node.Step)
	var p *sg.PanicError
	require.ErrorAs(t, err, &p)
	require.ErrorIs(t, err, sg.ErrPanic)
	require.Contains(t, p.Stack, "errors_test.go")

	err = runErr(t, plainGraph().AddNode("a", exits).AddNode("b", logs("b")).AddEdge(sg.START, "a").AddEdge(sg.START, "b"))
	require.ErrorIs(t, err, sg.ErrTaskLost)

	// The first in order of name is the one reported, whoever failed first.
	err = runErr(t, plainGraph().AddNode("z", panics).AddNode("y", fails).AddEdge(sg.START, "z").AddEdge(sg.START, "y"))
	require.ErrorIs(t, err, errBroken)
	require.ErrorAs(t, err, &node)
	require.Equal(t, "y", node.Node)
}

func TestRoutingErrors(t *testing.T) {
	t.Parallel()
	routed := func(r sg.Router, paths sg.PathMap) error {
		return runErr(t, plainGraph().AddNode("a", logs("a")).AddNode("b", logs("b")).
			AddEdge(sg.START, "a").AddEdge("a", "b").AddConditionalEdges("a", "pick", r, paths))
	}
	var unknown *sg.UnknownNodeError

	err := routed(sg.Choose(func(sg.State) string { return "ghost" }), nil)
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, sg.UnknownNodeError{From: "a", Router: "pick", Target: "ghost"}, *unknown)
	require.ErrorIs(t, err, sg.ErrUnknownNode)

	err = routed(sg.Choose(func(sg.State) string { return "b" }), sg.PathMap{"label": "b"})
	require.ErrorIs(t, err, sg.ErrUnknownNode)

	err = routed(func(sg.State) ([]sg.Target, error) { return []sg.Target{sg.Send("ghost")}, nil }, nil)
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)
	require.ErrorIs(t, err, sg.ErrUnknownNode)

	err = routed(func(sg.State) ([]sg.Target, error) { return nil, errBroken }, nil)
	var router *sg.RouterError
	require.ErrorAs(t, err, &router)
	require.Equal(t, "pick", router.Router)
	require.ErrorIs(t, err, errBroken)

	err = routed(func(sg.State) ([]sg.Target, error) { panic("no way") }, nil)
	require.ErrorIs(t, err, sg.ErrPanic)

	err = runErr(t, plainGraph().AddNode("a", returns(sg.Command{Goto: []sg.Target{sg.To("ghost")}})).AddEdge(sg.START, "a"))
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, sg.UnknownNodeError{From: "a", Target: "ghost"}, *unknown)

	err = runErr(t, plainGraph().AddNode("a", returns(sg.Command{Parent: true})).AddEdge(sg.START, "a"))
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)
}

// A failing reducer applies nothing, not even the keys without an error.
func TestReducerErrorAppliesNothing(t *testing.T) {
	t.Parallel()
	even := sg.Fold("even", func(acc, v int) (int, error) {
		switch {
		case v == 13:
			panic("unlucky")
		case v%2 != 0:
			return acc + 1000, errBroken
		}
		return acc + v, nil
	}, 0)
	odd := 7
	c, err := plainGraph(even).
		AddNode("a", logs("a")).
		AddNode("b", func(context.Context, sg.State) (sg.Result, error) {
			return sg.Update{stepKey.Set(1), even.Add(2), even.Add(odd)}, nil
		}).
		AddEdge(sg.START, "a").AddEdge(sg.START, "b").Compile()
	require.NoError(t, err)
	th := c.NewThread(sg.Goroutines{})
	_, err = th.Invoke(t.Context(), sg.Update{even.Add(4)})
	var e *sg.ReducerError
	require.ErrorAs(t, err, &e)
	require.Equal(t, sg.ReducerError{Channel: "even", Node: "b", Value: 7, Err: errBroken}, *e)

	out, err := th.Continue(t.Context()) // both nodes finished: the same writes fail again
	require.ErrorIs(t, err, errBroken)
	require.Zero(t, out)
	require.Equal(t, 4, even.Get(th.State()))
	require.Nil(t, logKey.Get(th.State()))

	odd = 13
	_, err = c.Run(t.Context(), sg.Goroutines{}, sg.Update{})
	require.ErrorIs(t, err, sg.ErrPanic)
	require.ErrorAs(t, err, &e)
}

func TestForeignKey(t *testing.T) {
	t.Parallel()
	other := sg.LastValue[int]("step") // same name, another key
	err := runErr(t, plainGraph().AddNode("a", returns(sg.Update{other.Set(1)})).AddEdge(sg.START, "a"))
	var e *sg.InvalidUpdateError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "step", e.Channel)
	require.Equal(t, []string{"a"}, e.Nodes)

	err = runErr(t, plainGraph().AddNode("a", returns(sg.Update{{}})).AddEdge(sg.START, "a"))
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)

	err = runErr(t, plainGraph().AddNode("a", returns(sg.Commands{})).AddEdge(sg.START, "a"))
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	loop := plainGraph().AddNode("a", logs("a")).AddNode("b", logs("b")).AddEdge(sg.START, "a").AddEdge("a", "b").AddEdge("b", "a")
	err := runErr(t, loop, sg.RecursionLimit(3))
	var e *sg.RecursionError
	require.ErrorAs(t, err, &e)
	require.Equal(t, sg.RecursionError{Limit: 3, Next: []string{"b"}}, *e)
	require.ErrorIs(t, runErr(t, loop, sg.RecursionLimit(0)), sg.ErrInvalidLimit)

	ctx, cancel := context.WithCancel(t.Context())
	c, err := plainGraph().
		AddNode("a", func(context.Context, sg.State) (sg.Result, error) {
			cancel()
			return nil, nil
		}).
		AddEdge(sg.START, "a").AddEdge("a", "a").Compile()
	require.NoError(t, err)
	_, err = c.Run(ctx, sg.Goroutines{}, sg.Update{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestStuckJoin(t *testing.T) {
	t.Parallel()
	branch := func(join func(*sg.StateGraph[context.Context])) *sg.StateGraph[context.Context] {
		g := plainGraph().AddNode("a", logs("a")).AddNode("b", logs("b")).AddNode("c", logs("c")).AddNode("d", logs("d")).
			AddEdge(sg.START, "d").
			AddConditionalEdges("d", "one", sg.Choose(func(sg.State) string { return "a" }), sg.Paths("a", "b"))
		join(g)
		return g
	}
	err := runErr(t, branch(func(g *sg.StateGraph[context.Context]) { g.AddJoin([]string{"a", "b", "d"}, "c") }))
	var e *sg.StuckJoinError
	require.ErrorAs(t, err, &e)
	require.Equal(t, []sg.WaitingJoin{{To: "c", Missing: []string{"b"}}}, e.Joins)

	c, err := branch(func(g *sg.StateGraph[context.Context]) { g.AddOptionalJoin([]string{"a", "b"}, "c") }).Compile()
	require.NoError(t, err)
	out, err := c.Run(t.Context(), sg.Goroutines{}, sg.Update{})
	require.NoError(t, err)
	require.Equal(t, []string{"d", "a"}, logKey.Get(out))
}
