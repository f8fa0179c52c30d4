package stategraph_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sg "axiommind/workflows/stategraph"
)

type bag struct {
	Items []string
	Index map[string][]int
	Next  *bag
	Any   any
}

func TestValuesAreCopied(t *testing.T) {
	t.Parallel()
	k := sg.LastValue[bag]("bag")
	made := bag{Items: []string{"x"}, Index: map[string][]int{"x": {1}}, Next: &bag{Items: []string{"y"}}, Any: []any{map[string]any{"z": 1.0}}}
	spoil := func(b bag) {
		b.Items[0], b.Index["x"][0], b.Next.Items[0] = "spoilt", 99, "spoilt"
		b.Index["new"] = nil
		b.Any.([]any)[0].(map[string]any)["z"] = "spoilt"
	}
	want := func(b bag) {
		require.Equal(t, bag{Items: []string{"x"}, Index: map[string][]int{"x": {1}}, Next: &bag{Items: []string{"y"}}, Any: []any{map[string]any{"z": 1.0}}}, b)
	}
	check := func(_ context.Context, s sg.State) (sg.Result, error) {
		want(k.Get(s))
		spoil(k.Get(s))
		for _, v := range s.All() {
			spoil(v.(bag))
		}
		return nil, nil
	}
	g, err := sg.New[context.Context](sg.Root(k)).
		AddNode("a", check).AddNode("b", check).AddNode("c", check).
		AddEdge(sg.START, "a").AddEdge(sg.START, "b").AddJoin([]string{"a", "b"}, "c").Compile()
	require.NoError(t, err)
	write := sg.Update{k.Set(made)}
	spoil(made)
	out, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, write, sg.Observe(func(e sg.Event) {
		for _, v := range e.State.All() {
			spoil(v.(bag))
		}
		for _, w := range e.Update {
			spoil(w.Value().(bag))
		}
	}))
	require.NoError(t, err)
	want(k.Get(out))
}

// A router sees an appended list that grows in the memory of the list before it. The values of the superstep must not
// be the view of the last router.
func TestRouterViewsStayApart(t *testing.T) {
	t.Parallel()
	list := sg.Reduce("list", func(acc, v []string) []string {
		for _, s := range v { //nolint:staticcheck // one by one, to leave room at the end
			acc = append(acc, s)
		}
		return acc
	}, nil)
	adds := func(v ...string) sg.Node[context.Context] {
		return func(context.Context, sg.State) (sg.Result, error) { return sg.Update{list.Add(v)}, nil }
	}
	var views [][]string
	sees := func(s sg.State) ([]sg.Target, error) {
		views = append(views, list.Get(s))
		return nil, nil
	}
	g, err := sg.New[context.Context](sg.Root(list)).
		AddNode("first", adds("1", "2", "3")).AddNode("second", adds("4", "5")).
		AddNode("a", adds("a")).AddNode("b", adds("b")).AddNode("c", adds("c")).
		AddEdge(sg.START, "first").AddEdge("first", "second").
		AddEdge("second", "a").AddEdge("second", "b").AddEdge("second", "c").
		AddConditionalEdges("a", "sees", sees, sg.Paths()).
		AddConditionalEdges("b", "sees", sees, sg.Paths()).
		AddConditionalEdges("c", "sees", sees, sg.Paths()).
		Compile()
	require.NoError(t, err)
	out, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3", "4", "5", "a", "b", "c"}, list.Get(out))
	require.Equal(t, [][]string{{"1", "2", "3", "4", "5", "a"}, {"1", "2", "3", "4", "5", "b"}, {"1", "2", "3", "4", "5", "c"}}, views)
}

func TestOwnCopy(t *testing.T) {
	t.Parallel()
	type handle struct{ id *int }
	copies := 0
	k := sg.LastValue[handle]("handle").Copy(func(h handle) handle {
		copies++
		id := *h.id
		return handle{&id}
	})
	id := 7
	g, err := sg.New[context.Context](sg.Root(k)).
		AddNode("a", func(_ context.Context, s sg.State) (sg.Result, error) {
			*k.Get(s).id = 8
			return nil, nil
		}).
		AddEdge(sg.START, "a").Compile()
	require.NoError(t, err)
	out, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{k.Set(handle{&id})})
	require.NoError(t, err)
	id = 9
	require.Equal(t, 7, *k.Get(out).id)
	require.Equal(t, 3, copies)
}

type tree struct {
	Name  string
	Pair  [2][]int
	Kids  []*tree
	Birth time.Time
	Call  func() int
}

type cloning struct{ n *int }

func (c cloning) Clone() cloning {
	n := *c.n + 1
	return cloning{&n}
}

// roundTrip writes v to a key and reads it back twice, changed in between.
func roundTrip[T any](t *testing.T, v T, spoil func(T)) T {
	t.Helper()
	k := sg.LastValue[T]("k")
	g, err := sg.New[context.Context](sg.Root(k)).AddNode("a", func(_ context.Context, s sg.State) (sg.Result, error) {
		spoil(k.Get(s))
		return nil, nil
	}).AddEdge(sg.START, "a").Compile()
	require.NoError(t, err)
	write := k.Set(v)
	spoil(v)
	out, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{write})
	require.NoError(t, err)
	return k.Get(out)
}

func TestKindsOfValues(t *testing.T) {
	t.Parallel()
	now := time.Now()
	got := roundTrip(t, tree{Name: "root", Pair: [2][]int{{1}, {2}}, Kids: []*tree{{Name: "kid"}, nil}, Birth: now, Call: func() int { return 5 }},
		func(v tree) { v.Pair[1][0], v.Kids[0].Name, v.Kids[1] = 99, "spoilt", &tree{} })
	require.Equal(t, [2][]int{{1}, {2}}, got.Pair)
	require.Equal(t, []*tree{{Name: "kid"}, nil}, got.Kids)
	require.Equal(t, now, got.Birth)
	require.Equal(t, 5, got.Call())

	one := 1
	require.Equal(t, 3, *roundTrip(t, cloning{&one}, func(cloning) {}).n, "its own Clone is used by Set and by Get")

	m := roundTrip(t, map[string]any{"list": []any{1.0, map[string]any{"deep": []int{7}}}, "nil": nil, "when": now},
		func(v map[string]any) {
			v["list"].([]any)[1].(map[string]any)["deep"].([]int)[0] = 0
			delete(v, "nil")
		})
	require.Equal(t, map[string]any{"list": []any{1.0, map[string]any{"deep": []int{7}}}, "nil": nil, "when": now}, m)

	require.Nil(t, roundTrip[any](t, nil, func(any) {}))
	require.Nil(t, roundTrip[[]int](t, nil, func([]int) {}))
	require.Nil(t, roundTrip[map[string]int](t, nil, func(map[string]int) {}))
	require.Nil(t, roundTrip[*tree](t, nil, func(*tree) {}))
	require.ErrorIs(t, roundTrip(t, errBroken, func(error) {}), errBroken)
}

// Copy(nil, nil) shares values and writes.
func TestShared(t *testing.T) {
	t.Parallel()
	k := sg.Reduce("k", func(_, v []int) []int { return v }, nil).Copy(nil, nil)
	g, err := sg.New[context.Context](sg.Root(k)).AddNode("a", returns(nil)).AddEdge(sg.START, "a").Compile()
	require.NoError(t, err)
	given := []int{1}
	out, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{k.Add(given)})
	require.NoError(t, err)
	given[0] = 2
	require.Equal(t, []int{2}, k.Get(out))
}
