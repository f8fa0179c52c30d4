package stategraph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"axiommind/workflows/durable"
	sg "axiommind/workflows/stategraph"
	"axiommind/workflows/workflowtest"
)

// sketch is a random graph, independent of the runner.
type sketch struct {
	nodes []sketchNode
	limit int
}

type sketchNode struct {
	name     string
	from     []int // edges from these nodes, -1 is START
	join     []int // and a join of these
	routes   []int // a router picks among these, by the state
	sends    int   // packets it sends to the node itself's successor in routes
	last     bool  // writes the LastValue, which may conflict
	fails    bool
	panics   bool
	deferred bool
	pause    int
}

func drawSketch(t *rapid.T) sketch {
	n := rapid.IntRange(1, 7).Draw(t, "nodes")
	names := rapid.Permutation([]string{"a", "B", "c", "é", "a+b", "Z", "10"}).Draw(t, "names")
	s := sketch{limit: rapid.IntRange(1, 7).Draw(t, "limit")}
	rarely := func(label string, of int) bool { return rapid.IntRange(1, of).Draw(t, label) == 1 }
	for i := range n {
		earlier := rapid.IntRange(-1, i-1)
		node := sketchNode{name: names[i], pause: rapid.IntRange(0, 9).Draw(t, "pause")}
		if routed := slices.ContainsFunc(s.nodes, func(n sketchNode) bool { return n.routes != nil }); !routed || !rarely("routed to", 2) {
			node.from = rapid.SliceOfN(earlier, 1, 2).Draw(t, "from")
		}
		if i > 1 && rarely("joins", 2) {
			node.join = rapid.SliceOfN(rapid.IntRange(0, i-1), 1, 3).Draw(t, "join")
		}
		if rarely("routes", 2) {
			node.routes = rapid.SliceOfN(rapid.IntRange(-1, n-1), 1, 3).Draw(t, "to")
			node.sends = rapid.IntRange(0, 2).Draw(t, "sends")
		}
		node.last = rarely("last", 5)
		node.fails, node.panics = rarely("fails", 12), rarely("panics", 12)
		node.deferred = rarely("deferred", 6)
		s.nodes = append(s.nodes, node)
	}
	return s
}

var (
	trail = sg.Reduce("trail", func(acc, v []string) []string {
		return append(slices.Grow(acc, 8), v...)
	}, nil)
	sum     = sg.Reduce("sum", func(acc, v int) int { return acc*31 + v }, 1)
	single  = sg.LastValue[string]("single")
	topic   = sg.Topic[string]("topic")
	all     = sg.Topic[string]("all").Accumulate().UniqueBy(strings.ToLower)
	recent  = sg.Any[string]("recent")
	packet  = sg.LastValue[int]("packet")
	sketchy = sg.Root(trail, sum, single, topic, all, recent)
)

func build[C sg.Context](s sketch, pause func(C, int)) (*sg.Graph[C], error) {
	g := sg.New[C](sketchy)
	nameOf := func(i int) string {
		if i < 0 {
			return sg.START
		}
		return s.nodes[i].name
	}
	for _, n := range s.nodes {
		var opts []sg.NodeOption
		if n.deferred {
			opts = append(opts, sg.Deferred())
		}
		g.AddNode(n.name, sketchRun(n, pause), opts...)
		for _, from := range n.from {
			g.AddEdge(nameOf(from), n.name)
		}
		if n.join != nil {
			var from []string
			for _, i := range n.join {
				from = append(from, nameOf(i))
			}
			g.AddJoin(from, n.name)
		}
		if n.routes != nil {
			g.AddConditionalEdges(n.name, "route", sketchRoute(s, n), nil)
		}
	}
	return g.Compile()
}

func sketchRun[C sg.Context](n sketchNode, pause func(C, int)) sg.Node[C] {
	return func(ctx C, s sg.State) (sg.Result, error) {
		p, sent := packet.Lookup(s)
		before := fmt.Sprint(len(trail.Get(s)), len(topic.Get(s)), recent.Get(s))
		pause(ctx, (n.pause+p)%10)
		switch {
		case n.fails && len(trail.Get(s))%2 == 1:
			return nil, errors.New("fails")
		case n.panics && len(trail.Get(s))%2 == 1:
			panic("panics")
		}
		u := sg.Update{trail.Add([]string{n.name}), sum.Add(len(n.name) + p), topic.Add(n.name + before), all.Add(n.name, before), recent.Set(n.name)}
		if n.last && !sent {
			u = append(u, single.Set(n.name))
		}
		return u, nil
	}
}

func sketchRoute(s sketch, n sketchNode) sg.Router {
	return func(st sg.State) ([]sg.Target, error) {
		to := n.routes[sum.Get(st)%len(n.routes)]
		if to < 0 {
			return []sg.Target{sg.To(sg.END)}, nil
		}
		targets := []sg.Target{sg.To(s.nodes[to].name)}
		for i := range n.sends {
			targets = append(targets, sg.Send(s.nodes[to].name, packet.Set(i)))
		}
		return targets, nil
	}
}

// seen returns everything observable of a run: its events, its end state, its error.
func seen[C sg.Context](ctx C, s sketch, r sg.Runner[C], pause func(C, int)) string {
	g, err := build(s, pause)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	out, err := g.Run(ctx, r, sg.Update{}, sg.RecursionLimit(s.limit), sg.Observe(func(e sg.Event) {
		fmt.Fprintln(&b, e.Step, e.Node, plainUpdate(e.Update), plain(e.State))
	}))
	fmt.Fprintln(&b, plain(out), err)
	return b.String()
}

func seenInWorkflow(s sketch, r durable.Runner) string {
	var got string
	env := workflowtest.New()
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		got = seen(ctx, s, r, func(ctx workflow.Context, n int) {
			if err := workflow.Sleep(ctx, time.Duration(n)*time.Second); err != nil {
				panic(err)
			}
		})
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		return err.Error()
	}
	return got
}

func yields(_ context.Context, n int) {
	for range n {
		runtime.Gosched()
	}
}

// Any graph does the same on every runner.
func TestRunnersAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSketch(t)
		ctx := context.Background()
		want := seen(ctx, s, sg.InOrder[context.Context]{}, yields)
		require.Equal(t, want, seen(ctx, s, sg.Goroutines{}, yields), "goroutines")
		require.Equal(t, want, seen(ctx, s, sg.Goroutines{Limit: 2}, yields), "two goroutines")
		require.Equal(t, want, seen(ctx, s, backwards{}, yields), "backwards")
		require.Equal(t, want, seenInWorkflow(s, durable.Runner{}), "workflow")
		require.Equal(t, want, seenInWorkflow(s, durable.Runner{Limit: 2}), "bounded workflow")
	})
}

// backwards runs the last task first.
type backwards struct{}

func (backwards) Run(ctx context.Context, n int, task func(context.Context, int)) {
	for i := range n {
		task(ctx, n-1-i)
	}
}

// A graph does the same in 200 runs, on goroutines that finish in any order.
func TestRunsRepeat(t *testing.T) {
	t.Parallel()
	s := sketch{limit: 8, nodes: []sketchNode{
		{name: "d", from: []int{-1}, pause: 9, routes: []int{4}, sends: 3},
		{name: "b", from: []int{-1}, pause: 3},
		{name: "c", from: []int{-1}, pause: 7},
		{name: "a", from: []int{-1}, pause: 0},
		{name: "w", from: []int{1}, join: []int{0, 1, 2, 3}, pause: 5},
		{name: "last", from: []int{4}, deferred: true},
	}}
	want := seen(t.Context(), s, sg.InOrder[context.Context]{}, yields)
	require.Contains(t, want, "<nil>")
	for range 200 {
		require.Equal(t, want, seen(t.Context(), s, sg.Goroutines{}, yields))
	}
}

// The random graphs must be varied. Otherwise a generator of only failing or trivial graphs would go unnoticed.
func TestSketchesAreVaried(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	gen := rapid.Custom(drawSketch)
	for i := range 200 {
		s := gen.Example(i)
		got := seen(t.Context(), s, sg.InOrder[context.Context]{}, yields)
		for _, kind := range []string{"<nil>", "limit of", "LastValue takes one", "panics", "fails", "waits for"} {
			if strings.Contains(got, kind) {
				kinds[kind]++
			}
		}
		if slices.ContainsFunc(s.nodes, func(n sketchNode) bool { return n.sends > 0 }) {
			kinds["sends"]++
		}
	}
	for _, kind := range []string{"<nil>", "limit of", "LastValue takes one", "panics", "fails", "waits for", "sends"} {
		require.Greater(t, kinds[kind], 3, "%s: %v", kind, kinds)
	}
}
