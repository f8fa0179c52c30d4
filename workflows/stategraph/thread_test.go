package stategraph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	sg "axiommind/workflows/stategraph"
)

func TestUpdateAs(t *testing.T) {
	t.Parallel()
	inOrder := sg.InOrder[context.Context]{}
	g := compiled(t, chain(plainGraph().AddNode("a", logs("a")).AddNode("b", logs("b")).AddNode("c", logs("c")).
		InterruptBefore("b"), "a", "b", "c"))
	edit := sg.Update{logKey.Add([]string{"edit"})}

	for name, tc := range map[string]struct {
		as   string
		next []string
		want []string
	}{
		"the last node": {"", []string{"b"}, []string{"a", "edit", "b", "c"}},
		"another node":  {"b", []string{"c"}, []string{"a", "edit", "c"}},
		"the input":     {sg.START, []string{"a"}, []string{"a", "edit", "a"}}, // and stops before b again
		"the end":       {sg.END, nil, []string{"a", "edit"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			th := g.NewThread(inOrder)
			_, err := th.Invoke(t.Context(), sg.Update{})
			require.ErrorIs(t, err, sg.ErrInterrupted)
			require.Equal(t, []string{"b"}, th.Next())
			require.NoError(t, th.UpdateAs(tc.as, edit))
			require.Equal(t, tc.next, th.Next())
			out, err := th.Continue(t.Context())
			if tc.as == sg.START {
				require.ErrorIs(t, err, sg.ErrInterrupted)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, tc.want, logKey.Get(out))
		})
	}

	th := g.NewThread(inOrder)
	err := th.UpdateAs("ghost", edit)
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)
	require.ErrorIs(t, err, sg.ErrUnknownNode)
	require.ErrorIs(t, th.UpdateAs("", edit), sg.ErrInvalidUpdate, "no node ran yet")
	require.ErrorIs(t, th.UpdateAs("a", sg.Update{{}}), sg.ErrInvalidUpdate)
	_, err = th.Continue(t.Context())
	require.ErrorIs(t, err, sg.ErrEmptyInput)
}

// A command from outside is added to the pending tasks once.
func TestApply(t *testing.T) {
	t.Parallel()
	g := compiled(t, chain(plainGraph().AddNode("a", logs("a")).AddNode("b", logs("b")).AddNode("c", logs("c")).
		InterruptBefore("b"), "a", "b", "c"))
	th := g.NewThread(sg.Goroutines{})
	_, err := th.Invoke(t.Context(), sg.Update{})
	require.ErrorIs(t, err, sg.ErrInterrupted)
	require.ErrorIs(t, th.Apply(sg.Command{Goto: []sg.Target{sg.To("ghost")}}), sg.ErrUnknownNode)
	require.NoError(t, th.Apply(sg.Command{
		Update: sg.Update{logKey.Add([]string{"outside"})},
		Goto:   []sg.Target{sg.To("b"), sg.To("a"), sg.Send("c")},
	}))
	require.NoError(t, th.Apply(sg.Command{Goto: []sg.Target{sg.Send("a"), sg.To("b")}}))
	require.Equal(t, []string{"a", "b", "c", "a"}, th.Next(), "by name, then as sent")
	out, err := th.Continue(t.Context())
	require.ErrorIs(t, err, sg.ErrInterrupted, "a leads to b again")
	require.Equal(t, []string{"b", "c"}, th.Next())
	require.Equal(t, []string{"a", "outside", "a", "b", "c", "a"}, logKey.Get(out))
}

// Keys that are not input keys are dropped, and those that are not output keys are hidden.
func TestInputAndOutputKeys(t *testing.T) {
	t.Parallel()
	secret := sg.LastValue[string]("secret")
	g := compiled(t, chain(plainGraph(secret).
		AddNode("a", func(_ context.Context, s sg.State) (sg.Result, error) {
			_, ok := secret.Lookup(s)
			require.False(t, ok)
			return sg.Update{secret.Set("made here"), logKey.Add([]string{"a"})}, nil
		}).
		AddNode("blind", func(_ context.Context, s sg.State) (sg.Result, error) {
			_, ok := secret.Lookup(s)
			require.False(t, ok)
			return sg.Update{stepKey.Set(len(logKey.Get(s)))}, nil
		}, sg.Input(logKey)).
		InputKeys(logKey).OutputKeys(logKey, stepKey), "a", "blind"))
	out, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{logKey.Add([]string{"in"}), secret.Set("injected")})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"log": []string{"in", "a"}, "step": 2}, plain(out))
	require.Empty(t, secret.Get(out))
}

// A Commands result is applied in order, its targets all followed.
func TestParentCommand(t *testing.T) {
	t.Parallel()
	outer := sg.LastValue[string]("outer") // a key only the parent has
	child := compiled(t, chain(plainGraph().
		AddNode("x", logs("x")).
		AddNode("y", returns(sg.Commands{
			{Update: sg.Update{logKey.Add([]string{"y"})}},
			{Parent: true, Update: sg.Update{outer.Set("set by the child"), logKey.Add([]string{"for the parent"})}, Goto: []sg.Target{sg.To("p")}},
		})).
		AddNode("never", logs("never")), "x", "y", "never"))
	g := compiled(t, plainGraph(outer).AddSubgraph("child", child, sg.Ends("p")).
		AddNode("p", logs("p")).AddNode("q", logs("q")).
		AddEdge(sg.START, "child").AddEdge("child", "q"))
	out, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y", "for the parent", "p", "q"}, logKey.Get(out))
	require.Equal(t, "set by the child", outer.Get(out))

	stranger := sg.LastValue[string]("stranger")
	child = compiled(t, chain(plainGraph().
		AddNode("x", returns(sg.Command{Parent: true, Update: sg.Update{stranger.Set("?")}})), "x"))
	err = runErr(t, chain(plainGraph().AddSubgraph("child", child), "child"))
	require.ErrorIs(t, err, sg.ErrInvalidUpdate)
}
