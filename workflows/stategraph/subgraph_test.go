package stategraph_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	sg "axiommind/workflows/stategraph"
)

func compiled(t *testing.T, g *sg.StateGraph[context.Context]) *sg.Graph[context.Context] {
	t.Helper()
	c, err := g.Compile()
	require.NoError(t, err)
	return c
}

func sets(writes ...sg.Write) sg.Node[context.Context] { return returns(sg.Update(writes)) }

// chain is a graph whose nodes run one after the other.
func chain(g *sg.StateGraph[context.Context], names ...string) *sg.StateGraph[context.Context] {
	from := sg.START
	for _, name := range names {
		g.AddEdge(from, name)
		from = name
	}
	return g
}

// A subgraph's update contains its own writes once, together with those of its siblings.
func TestSubgraphReturnsDelta(t *testing.T) {
	t.Parallel()
	total := sg.Reduce("total", add, 100)
	child := compiled(t, chain(plainGraph(total).
		AddNode("one", sets(logKey.Add([]string{"one"}), total.Add(1), stepKey.Set(1))).
		AddNode("two", sets(logKey.Add([]string{"two"}), total.Add(2), stepKey.Set(2))), "one", "two"))
	g := compiled(t, plainGraph(total).
		AddSubgraph("b", child).AddNode("a", sets(logKey.Add([]string{"a"}), total.Add(10))).AddNode("c", logs("c")).
		AddEdge(sg.START, "a").AddEdge(sg.START, "b").AddEdge(sg.START, "c"))
	out, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{logKey.Add([]string{"in"})})
	require.NoError(t, err)
	require.Equal(t, []string{"in", "a", "one", "two", "c"}, logKey.Get(out))
	require.Equal(t, 113, total.Get(out))
	require.Equal(t, 2, stepKey.Get(out))
}

// An Overwrite inside a subgraph replaces the parent's value by the child's.
func TestSubgraphOverwrite(t *testing.T) {
	t.Parallel()
	child := compiled(t, chain(plainGraph().
		AddNode("one", logs("one")).
		AddNode("two", sets(logKey.Overwrite([]string{"fresh"}))).
		AddNode("three", logs("three")), "one", "two", "three"))
	g := compiled(t, chain(plainGraph().AddSubgraph("child", child).AddNode("after", logs("after")), "child", "after"))
	out, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{logKey.Add([]string{"in"})})
	require.NoError(t, err)
	require.Equal(t, []string{"fresh", "three", "after"}, logKey.Get(out))
}

// Keys that live for one superstep come back only if the last one wrote them.
func TestSubgraphShortLivedKeys(t *testing.T) {
	t.Parallel()
	news, flash := sg.Topic[string]("news"), sg.Ephemeral[string]("flash")
	var got []string
	reads := func(_ context.Context, s sg.State) (sg.Result, error) {
		got = append(append(got, news.Get(s)...), flash.Get(s))
		return nil, nil
	}
	child := compiled(t, chain(plainGraph(news, flash).
		AddNode("first", func(ctx context.Context, s sg.State) (sg.Result, error) {
			_, err := reads(ctx, s)
			return sg.Update{news.Add("early"), flash.Set("early")}, err
		}).
		AddNode("last", sets(news.Add("late", "later"))), "first", "last"))
	g := compiled(t, chain(plainGraph(news, flash).
		AddNode("before", sets(news.Add("old"), flash.Set("old"))).
		AddSubgraph("child", child).AddNode("reads", reads), "before", "child", "reads"))
	_, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{})
	require.NoError(t, err)
	require.Equal(t, []string{"old", "old", "late", "later", ""}, got)
}

func TestSubgraphBySend(t *testing.T) {
	t.Parallel()
	child := compiled(t, chain(plainGraph().AddNode("double", func(_ context.Context, s sg.State) (sg.Result, error) {
		return sg.Update{logKey.Add([]string{stepText(s)})}, nil
	}), "double"))
	g := compiled(t, plainGraph().AddSubgraph("child", child).
		AddConditionalEdges(sg.START, "all", func(sg.State) ([]sg.Target, error) {
			return []sg.Target{sg.Send("child", stepKey.Set(3)), sg.Send("child", stepKey.Set(1)), sg.Send("child")}, nil
		}, sg.Paths("child")))
	out, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{stepKey.Set(9)})
	require.NoError(t, err)
	require.Equal(t, []string{"3", "1", "unset"}, logKey.Get(out))
	require.Equal(t, 9, stepKey.Get(out))
}

// A question in a subgraph stops the whole run. The answer reaches the subgraph, and finished nodes are not run again.
func TestSubgraphInterrupt(t *testing.T) {
	t.Parallel()
	runs := map[string]int{}
	child := compiled(t, chain(plainGraph().
		AddNode("work", func(context.Context, sg.State) (sg.Result, error) {
			runs["work"]++
			return sg.Update{logKey.Add([]string{"work"})}, nil
		}).
		AddNode("ask", func(_ context.Context, s sg.State) (sg.Result, error) {
			runs["ask"]++
			a, err := sg.Ask[string](s, "name?")
			if err != nil {
				return nil, err
			}
			b, err := sg.Ask[string](s, "again?")
			return sg.Update{logKey.Add([]string{a, b})}, err
		}), "work", "ask"))
	g := compiled(t, plainGraph().AddSubgraph("child", child).AddNode("side", logs("side")).
		AddEdge(sg.START, "child").AddEdge(sg.START, "side"))
	th := g.NewThread(sg.InOrder[context.Context]{})

	_, err := th.Invoke(t.Context(), sg.Update{})
	var stop *sg.InterruptError
	require.ErrorAs(t, err, &stop)
	require.Equal(t, []sg.Interrupt{{ID: "child|ask#1", Node: "ask", Question: "name?"}}, stop.Pending)
	require.Equal(t, []string{"child"}, stop.Next)
	require.Equal(t, []string{"side"}, logKey.Get(th.State()))

	_, err = th.ResumeAll(t.Context(), map[string]any{"other": "x"})
	require.ErrorIs(t, err, sg.ErrAmbiguousResume)
	_, err = th.ResumeAll(t.Context(), map[string]any{"child|ask#1": "Ann"})
	require.ErrorAs(t, err, &stop)
	require.Equal(t, "child|ask#2", stop.Pending[0].ID)
	_, err = th.Resume(t.Context(), 5)
	require.ErrorContains(t, err, "got int, want string")

	th = g.NewThread(sg.InOrder[context.Context]{})
	_, err = th.Invoke(t.Context(), sg.Update{})
	require.ErrorIs(t, err, sg.ErrInterrupted)
	runs = map[string]int{}
	_, err = th.Resume(t.Context(), "Ann")
	require.ErrorIs(t, err, sg.ErrInterrupted)
	out, err := th.Resume(t.Context(), "Bob")
	require.NoError(t, err)
	require.Equal(t, []string{"work", "Ann", "Bob", "side"}, logKey.Get(out))
	require.Equal(t, map[string]int{"ask": 2}, runs)

	_, err = g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{})
	require.ErrorIs(t, err, sg.ErrNotResumable)
}

// After an error inside a subgraph only the failed nodes run again.
func TestSubgraphContinue(t *testing.T) {
	t.Parallel()
	runs, broken := map[string]int{}, true
	counts := func(name string, fail func() bool) sg.Node[context.Context] {
		return func(context.Context, sg.State) (sg.Result, error) {
			runs[name]++
			if fail() {
				return nil, errBroken
			}
			return sg.Update{logKey.Add([]string{name})}, nil
		}
	}
	never := func() bool { return false }
	child := compiled(t, chain(plainGraph().AddNode("x", counts("x", never)).
		AddNode("y", counts("y", func() bool { return broken })), "x", "y"))
	g := compiled(t, chain(plainGraph().AddNode("a", counts("a", never)).AddSubgraph("child", child), "a", "child"))
	th := g.NewThread(sg.InOrder[context.Context]{})
	_, err := th.Invoke(t.Context(), sg.Update{})
	require.ErrorIs(t, err, errBroken)
	var outer, inner *sg.NodeError
	require.ErrorAs(t, err, &outer)
	require.True(t, errors.As(outer.Err, &inner))
	require.Equal(t, "child", outer.Node)
	require.Equal(t, "y", inner.Node)
	broken = false
	out, err := th.Continue(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "x", "y"}, logKey.Get(out))
	require.Equal(t, map[string]int{"a": 1, "x": 1, "y": 2}, runs)
}

// Each subgraph counts its own supersteps.
func TestSubgraphLimit(t *testing.T) {
	t.Parallel()
	child := compiled(t, chain(plainGraph().AddNode("x", logs("x")).AddNode("y", logs("y")).AddNode("z", logs("z")), "x", "y", "z"))
	g := compiled(t, chain(plainGraph().AddSubgraph("p", child).AddSubgraph("q", child), "p", "q"))
	_, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{}, sg.RecursionLimit(3))
	require.NoError(t, err)
	_, err = g.Run(t.Context(), sg.Goroutines{}, sg.Update{}, sg.RecursionLimit(2))
	require.ErrorIs(t, err, sg.ErrRecursionLimit)
	var node *sg.NodeError
	require.ErrorAs(t, err, &node)
	require.Equal(t, "p", node.Node)
}

func stepText(s sg.State) string {
	if n, ok := stepKey.Lookup(s); ok {
		return strconv.Itoa(n)
	}
	return "unset"
}
