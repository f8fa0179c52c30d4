package stategraph_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	sg "axiommind/workflows/stategraph"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestStream(t *testing.T) {
	t.Parallel()
	ran := 0
	g := compiled(t, chain(plainGraph().AddNode("a", logs("a")).AddNode("b", returns(nil)).
		AddNode("c", func(context.Context, sg.State) (sg.Result, error) {
			ran++
			return sg.Command{Update: sg.Update{logKey.Overwrite([]string{"c"})}}, nil
		}), "a", "b", "c"))
	events := func(stop int) []string {
		var got []string
		for e, err := range g.Stream(t.Context(), sg.Goroutines{}, sg.Update{logKey.Add([]string{"in"})}) {
			require.NoError(t, err)
			if e.Values() {
				got = append(got, fmt.Sprint(e.Step, " values ", logKey.Get(e.State)))
			} else {
				for _, w := range e.Update {
					got = append(got, fmt.Sprint(e.Step, " ", e.Node, " ", w.Key(), w.Value(), w.IsOverwrite()))
				}
			}
			if len(got) == stop {
				break
			}
		}
		return got
	}
	want := []string{
		"0 values [in]", "1 a log[a] false", "1 values [in a]", "3 c log[c] true", "3 values [c]",
	}
	require.Equal(t, want, events(-1))
	require.Equal(t, 1, ran)
	require.Equal(t, want[:2], events(2))
	require.Equal(t, 1, ran, "a run nobody listens to goes on")
}

func TestStreamError(t *testing.T) {
	t.Parallel()
	g := compiled(t, chain(plainGraph().AddNode("a", logs("a")).
		AddNode("b", func(context.Context, sg.State) (sg.Result, error) { return nil, errBroken }), "a", "b"))
	var steps []int
	var last error
	for e, err := range g.Stream(t.Context(), sg.Goroutines{}, sg.Update{}) {
		steps, last = append(steps, e.Step), err
	}
	require.Equal(t, []int{1, 1, 0}, steps)
	require.ErrorIs(t, last, errBroken)
}

func TestMermaid(t *testing.T) {
	t.Parallel()
	child := compiled(t, chain(plainGraph().AddNode("x", logs("x")), "x"))
	g := compiled(t, plainGraph().
		AddNode("load", logs("load")).AddNode("tasks", logs("tasks")).AddNode("facts", logs("facts")).
		AddSubgraph("publish", child).AddNode("end", logs("end"), sg.Deferred()).
		AddNode(`say "hi"`, logs("hi"), sg.Ends("end")).
		AddEdge(sg.START, "load").
		AddConditionalEdges("load", "outcome", sg.Choose(func(sg.State) string { return "empty" }),
			sg.PathMap{"ok": "tasks", "also": "facts", "empty": sg.END}).
		AddJoin([]string{"tasks", "facts"}, "publish").
		AddEdge("publish", `say "hi"`).AddEdge("publish", sg.END).
		AddConditionalEdges("facts", "anywhere", sg.Choose(func(sg.State) string { return sg.END }), nil))
	golden := filepath.Join("testdata", "mermaid.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(g.Mermaid()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), g.Mermaid())
}
