package stategraph_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	sg "axiommind/workflows/stategraph"
)

type note struct{ ID, Text string }

func noteIdentity() sg.Identity[note] {
	return sg.Identity[note]{
		ID: func(n note) string { return n.ID },
		Assign: func(n note, number int) note {
			n.ID = sg.StableID(number, n.Text)
			return n
		},
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	add, remove := sg.AddMessage[note], sg.RemoveMessage[note]
	one, two, three := note{"1", "one"}, note{"2", "two"}, note{"3", "three"}
	for name, tc := range map[string]struct {
		have    []note
		changes []sg.MessageChange[note]
		want    []note
	}{
		"append":           {[]note{one}, []sg.MessageChange[note]{add(two), add(three)}, []note{one, two, three}},
		"replace in place": {[]note{one, two}, []sg.MessageChange[note]{add(note{"1", "uno"})}, []note{{"1", "uno"}, two}},
		"remove":           {[]note{one, two}, []sg.MessageChange[note]{remove("1")}, []note{two}},
		"remove and add":   {[]note{one, two}, []sg.MessageChange[note]{remove("1"), add(note{"1", "uno"})}, []note{{"1", "uno"}, two}},
		"add and remove":   {[]note{one}, []sg.MessageChange[note]{add(two), remove("2")}, []note{one}},
		"remove all":       {[]note{one, two}, []sg.MessageChange[note]{remove("1"), remove(sg.RemoveAll), add(three)}, []note{three}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := slices.Clone(tc.have)
			got, err := noteIdentity().Merge(have, tc.changes)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.have, have, "the operand was changed")
		})
	}
	_, err := noteIdentity().Merge([]note{one}, []sg.MessageChange[note]{remove("9")})
	require.ErrorIs(t, err, sg.ErrUnknownMessage)
	stuck := sg.Identity[note]{ID: func(n note) string { return n.ID }, Assign: func(n note, _ int) note { return n }}
	_, err = stuck.Merge(nil, []sg.MessageChange[note]{add(note{Text: "nameless"})})
	require.Error(t, err)
}

// Messages without an ID get the same ones in each run, and never two the same.
func TestMessageIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b"})).Draw(t, "texts")
		drop := rapid.IntRange(0, 3).Draw(t, "drop")
		merge := func() []note {
			var list []note
			var err error
			for _, text := range texts {
				list, err = noteIdentity().Merge(list, []sg.MessageChange[note]{sg.AddMessage(note{Text: text})})
				require.NoError(t, err)
				if len(list) > drop+1 {
					list, err = noteIdentity().Merge(list, []sg.MessageChange[note]{sg.RemoveMessage[note](list[drop].ID)})
					require.NoError(t, err)
				}
			}
			return list
		}
		list := merge()
		require.Equal(t, list, merge())
		ids := map[string]bool{}
		for _, n := range list {
			require.False(t, ids[n.ID], "two messages have one id")
			ids[n.ID] = true
		}
	})
}

func TestMessagesInGraph(t *testing.T) {
	t.Parallel()
	notes := sg.Messages("notes", noteIdentity())
	says := func(text string) sg.Node[context.Context] {
		return sets(notes.Add([]sg.MessageChange[note]{sg.AddMessage(note{Text: text})}))
	}
	g := compiled(t, plainGraph(notes).AddNode("b", says("same")).AddNode("a", says("same")).
		AddEdge(sg.START, "a").AddEdge(sg.START, "b"))
	first, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{})
	require.NoError(t, err)
	second, err := g.Run(t.Context(), sg.InOrder[context.Context]{}, sg.Update{})
	require.NoError(t, err)
	require.Len(t, notes.Get(first), 2)
	require.Equal(t, notes.Get(first), notes.Get(second))
}

func TestKeyKinds(t *testing.T) {
	t.Parallel()
	last := sg.LastValue[*int]("last")
	kept := sg.Any[string]("any").Default("nothing")
	loose := sg.EphemeralUnguarded[int]("loose")
	seen := sg.Topic[string]("seen").Accumulate().UniqueBy(strings.ToLower)
	folded := sg.Fold("folded", func(acc string, n int) (string, error) { return acc + strings.Repeat("x", n), nil }, ">")
	var got []string
	reads := func(_ context.Context, s sg.State) (sg.Result, error) {
		for name, v := range s.All() {
			data, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			got = append(got, name+"="+string(data))
		}
		got = append(got, "|")
		return nil, nil
	}
	g := compiled(t, sg.New[context.Context](sg.Root(last, kept, loose, seen, folded)).
		AddNode("a", sets(last.Set(nil), kept.Set("a"), loose.Set(1), seen.Add("x", "Y", "X"), folded.Add(1))).
		AddNode("b", sets(kept.Set("b"), loose.Set(2), seen.Add("y", "z"), folded.Add(2))).
		AddNode("c", reads).AddNode("d", reads).
		AddEdge(sg.START, "b").AddEdge(sg.START, "a").AddJoin([]string{"a", "b"}, "c").AddEdge("c", "d"))
	out, err := g.Run(t.Context(), sg.Goroutines{}, sg.Update{})
	require.NoError(t, err)
	require.Equal(t, []string{
		`last=null`, `any="b"`, `loose=2`, `seen=["x","Y","z"]`, `folded="\u003exxx"`, `|`,
		`last=null`, `any="nothing"`, `seen=["x","Y","z"]`, `folded="\u003exxx"`, `|`,
	}, got)
	_, ok := last.Lookup(out)
	require.True(t, ok, "a nil is a value")
	_, ok = loose.Lookup(out)
	require.False(t, ok)
	require.Zero(t, loose.Get(sg.State{}))
}

func TestDecode(t *testing.T) {
	t.Parallel()
	when := sg.LastValue[time.Time]("when")
	schema := sg.Root(logKey, stepKey, when)
	g := compiled(t, chain(sg.New[context.Context](schema).AddNode("a", returns(nil)), "a"))
	u, err := schema.Decode([]byte(`{"step": 4, "log": ["x"], "when": "2026-01-02T03:04:05Z"}`))
	require.NoError(t, err)
	out, err := g.Run(t.Context(), sg.Goroutines{}, u)
	require.NoError(t, err)
	require.Equal(t, 4, stepKey.Get(out))
	require.Equal(t, []string{"x"}, logKey.Get(out))
	require.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), when.Get(out))
	for _, bad := range []string{`{"step": "x"}`, `{"stepp": 1}`, `[]`, `"oops"`, `null`, ``, `{"step": 1} x`} {
		_, err := schema.Decode([]byte(bad))
		require.ErrorIs(t, err, sg.ErrInvalidUpdate, bad)
	}
	u, err = schema.Decode([]byte(`{}`))
	require.NoError(t, err)
	_, err = g.Run(t.Context(), sg.Goroutines{}, u)
	require.NoError(t, err, "an empty object is an input of no values")
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"step": 4}`, `{"log": ["x"]}`, `{"log": null}`, `null`, `{"step": 1, "step": 2}`} {
		f.Add([]byte(seed))
	}
	schema := sg.Root(logKey, stepKey)
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := schema.Decode(data)
		if err != nil {
			require.ErrorIs(t, err, sg.ErrInvalidUpdate)
			return
		}
		values := map[string]any{}
		for _, w := range u {
			values[w.Key()] = w.Value()
		}
		again, err := json.Marshal(values)
		require.NoError(t, err)
		back, err := schema.Decode(again)
		require.NoError(t, err)
		require.Equal(t, len(u), len(back))
	})
}
