package stategraph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	sg "axiommind/workflows/stategraph"
)

func TestCompileFindsMistakes(t *testing.T) {
	t.Parallel()
	type graph = sg.StateGraph[context.Context]
	with := func(change func(*graph)) func() *graph {
		return func() *graph {
			g := plainGraph().AddNode("a", logs("a")).AddNode("b", logs("b")).AddEdge(sg.START, "a").AddEdge("a", "b")
			change(g)
			return g
		}
	}
	router := sg.Choose(func(sg.State) string { return sg.END })
	otherKind, err := sg.New[context.Context](sg.Root(sg.LastValue[[]string]("log"))).
		AddNode("x", logs("x")).AddEdge(sg.START, "x").Compile()
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		graph func() *graph
		is    error
		want  string
	}{
		"unknown target":  {with(func(g *graph) { g.AddEdge("a", "ghost") }), sg.ErrUnknownNode, `node "a": an edge ends at unknown node "ghost"`},
		"unknown source":  {with(func(g *graph) { g.AddEdge("ghost", "a") }), sg.ErrUnknownNode, `node "ghost": an edge starts at this unknown node`},
		"unknown join":    {with(func(g *graph) { g.AddJoin([]string{"a", "ghost"}, "b") }), sg.ErrUnknownNode, `node "ghost": a join starts`},
		"join to END":     {with(func(g *graph) { g.AddJoin([]string{"a", "b"}, sg.END) }), nil, `node "__end__": a join cannot end here`},
		"join of START":   {with(func(g *graph) { g.AddJoin([]string{sg.START, "a"}, "b") }), nil, `a join cannot wait for "__start__"`},
		"join of nothing": {with(func(g *graph) { g.AddJoin(nil, "b") }), nil, `a join has no sources`},
		"unknown route":   {with(func(g *graph) { g.AddConditionalEdges("a", "r", router, sg.Paths("ghost")) }), sg.ErrUnknownNode, `router "r" leads to unknown node "ghost"`},
		"unknown router":  {with(func(g *graph) { g.AddConditionalEdges("ghost", "r", router, nil) }), sg.ErrUnknownNode, `a conditional edge starts`},
		"same router": {with(func(g *graph) {
			g.AddConditionalEdges("a", "r", router, nil).AddConditionalEdges("a", "r", router, nil)
		}), nil, `router "r" is already present`},
		"no router":         {with(func(g *graph) { g.AddConditionalEdges("a", "r", nil, nil) }), nil, `has no function`},
		"unknown end":       {with(func(g *graph) { g.AddNode("c", logs("c"), sg.Ends("ghost")).AddEdge("a", "c") }), sg.ErrUnknownNode, `node "c": ends name`},
		"unknown interrupt": {with(func(g *graph) { g.InterruptBefore("ghost") }), sg.ErrUnknownNode, `node "ghost": is to be interrupted`},
		"edge from END":     {with(func(g *graph) { g.AddEdge(sg.END, "a") }), nil, `an edge cannot start here`},
		"edge to START":     {with(func(g *graph) { g.AddEdge("a", sg.START) }), nil, `an edge cannot end here`},
		"same node":         {with(func(g *graph) { g.AddNode("a", logs("a")) }), nil, `node "a": is already present`},
		"reserved name":     {with(func(g *graph) { g.AddNode(sg.END, logs("a")) }), nil, `the name is reserved`},
		"reserved letter":   {with(func(g *graph) { g.AddNode("x|y", logs("a")).AddEdge("a", "x|y") }), nil, `the characters | and : are reserved`},
		"no name":           {with(func(g *graph) { g.AddNode("", logs("a")) }), nil, `a node has no name`},
		"no function":       {with(func(g *graph) { g.AddNode("c", nil) }), nil, `node "c": has no function`},
		"no subgraph":       {with(func(g *graph) { g.AddSubgraph("c", nil) }), nil, `node "c": has no graph`},
		"name of a key":     {with(func(g *graph) { g.AddNode("log", logs("a")).AddEdge("a", "log") }), nil, `node "log": key "log": a node cannot`},
		"unreachable":       {with(func(g *graph) { g.AddNode("c", logs("c")) }), sg.ErrUnreachable, `node "c": is not reachable`},
		"island": {with(func(g *graph) {
			g.AddNode("x", logs("x")).AddNode("y", logs("y")).AddEdge("x", "y").AddEdge("y", "x")
		}), sg.ErrUnreachable, `node "x": is not reachable`},
		"join after itself": {with(func(g *graph) {
			g.AddNode("c", logs("c")).AddNode("d", logs("d")).AddJoin([]string{"b", "d"}, "c").AddEdge("c", "d")
		}), sg.ErrStuckJoin, `node "c": its join can never complete: nothing runs "d" before it`},
		"unknown input":      {with(func(g *graph) { g.AddNode("c", logs("c"), sg.Input(sg.LastValue[int]("x"))).AddEdge("a", "c") }), nil, `node "c": key "x": the schema has no such key`},
		"unknown output":     {with(func(g *graph) { g.OutputKeys(sg.LastValue[int]("x")) }), nil, `key "x": the schema has no such key`},
		"subgraph key kind":  {with(func(g *graph) { g.AddSubgraph("c", otherKind).AddEdge("a", "c") }), nil, `node "c": key "log": is Reduce of []string here and LastValue of []string in the subgraph`},
		"no entry":           {func() *graph { return plainGraph().AddNode("a", logs("a")).AddEdge("a", "a") }, sg.ErrNoEntryPoint, `no edge leaves START`},
		"two keys, one name": {func() *graph { return plainGraph(sg.Topic[int]("log")).AddNode("a", logs("a")).AddEdge(sg.START, "a") }, nil, `key "log": two keys have this name`},
		"key without a name": {func() *graph { return plainGraph(sg.Topic[int]("")).AddNode("a", logs("a")).AddEdge(sg.START, "a") }, nil, `a Topic key has no name`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tc.graph().Compile()
			require.ErrorIs(t, err, sg.ErrInvalidGraph)
			if tc.is != nil {
				require.ErrorIs(t, err, tc.is)
			}
			require.ErrorContains(t, err, tc.want)
			var b *sg.BuildError
			require.ErrorAs(t, err, &b)
		})
	}
}

// All mistakes are reported at once.
func TestCompileReportsAll(t *testing.T) {
	t.Parallel()
	_, err := plainGraph().AddNode("log", logs("a")).AddNode("b", nil).AddEdge("x", "y").Compile()
	for _, want := range []string{`"log"`, `"b"`, `"x"`, `"y"`} {
		require.ErrorContains(t, err, want)
	}
}
