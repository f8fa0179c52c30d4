package stategraph_test

import (
	"context"
	"testing"

	sg "axiommind/workflows/stategraph"
)

func add(a, b int) int { return a + b }

// BenchmarkSequential1000 runs 1,000 supersteps of one node that reads and
// writes a counter.
func BenchmarkSequential1000(b *testing.B) {
	const steps = 1000
	n := sg.LastValue[int]("n").Default(0)
	g, err := sg.New[context.Context](sg.Root(n)).
		AddNode("a", func(_ context.Context, s sg.State) (sg.Result, error) {
			return sg.Update{n.Set(n.Get(s) + 1)}, nil
		}).
		AddEdge(sg.START, "a").
		AddConditionalEdges("a", "again", sg.Choose(func(s sg.State) string {
			if n.Get(s) < steps {
				return "a"
			}
			return sg.END
		}), sg.Paths("a", sg.END)).
		Compile()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		out, err := g.Run(b.Context(), sg.InOrder[context.Context]{}, sg.Update{}, sg.RecursionLimit(steps))
		if err != nil || n.Get(out) != steps {
			b.Fatal(n.Get(out), err)
		}
	}
}

// BenchmarkSend500 sends 500 packets to a node that adds up their values.
func BenchmarkSend500(b *testing.B) {
	b.Run("in order", func(b *testing.B) { benchmarkSend(b, sg.InOrder[context.Context]{}) })
	b.Run("goroutines", func(b *testing.B) { benchmarkSend(b, sg.Goroutines{Limit: 8}) })
}

func benchmarkSend(b *testing.B, r sg.Runner[context.Context]) {
	const width = 500
	sum, item := sg.Reduce("sum", add, 0), sg.LastValue[int]("item")
	g, err := sg.New[context.Context](sg.Root(sum)).
		AddNode("work", func(_ context.Context, s sg.State) (sg.Result, error) {
			return sg.Update{sum.Add(item.Get(s))}, nil
		}).
		AddConditionalEdges(sg.START, "all", func(sg.State) ([]sg.Target, error) {
			targets := make([]sg.Target, width)
			for i := range targets {
				targets[i] = sg.Send("work", item.Set(i))
			}
			return targets, nil
		}, sg.Paths("work")).
		Compile()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		out, err := g.Run(b.Context(), r, sg.Update{})
		if err != nil || sum.Get(out) != width*(width-1)/2 {
			b.Fatal(sum.Get(out), err)
		}
	}
}
