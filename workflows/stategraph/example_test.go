package stategraph_test

import (
	"context"
	"fmt"
	"strings"

	sg "axiommind/workflows/stategraph"
)

func Example() {
	var (
		text  = sg.LastValue[string]("text")
		words = sg.Reduce("words", func(acc, v []string) []string { return append(acc, v...) }, nil)
		part  = sg.LastValue[string]("part") // travels in packets only
	)
	split := func(_ context.Context, _ sg.State) (sg.Result, error) { return nil, nil }
	upper := func(_ context.Context, s sg.State) (sg.Result, error) {
		return sg.Update{words.Add([]string{strings.ToUpper(part.Get(s))})}, nil
	}
	fan := func(s sg.State) ([]sg.Target, error) {
		var targets []sg.Target
		for _, w := range strings.Fields(text.Get(s)) {
			targets = append(targets, sg.Send("upper", part.Set(w)))
		}
		return targets, nil
	}
	graph, err := sg.New[context.Context](sg.Root(text, words)).
		AddNode("split", split).
		AddNode("upper", upper).
		AddEdge(sg.START, "split").
		AddConditionalEdges("split", "each word", fan, sg.Paths("upper")).
		AddEdge("upper", sg.END).
		Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := graph.Run(context.Background(), sg.Goroutines{Limit: 2}, sg.Update{text.Set("a small graph")})
	fmt.Println(words.Get(out), err)
	// Output: [A SMALL GRAPH] <nil>
}
