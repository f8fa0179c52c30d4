package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve"
	"axiommind/deploy/local/stacktest"
)

// A message that a search finds is shown by the handle that the search prints.
func TestShowMessage(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.timing = stacktest.Timing()
	c.work(t)
	path := write(t, "t.jsonl", said(1, "user", "Good morning.")+said(2, "assistant", "Hello.")+said(3, "user", "Is <b>Porto</b> rainy?\nOr 리스본?")+said(4, "assistant", "Both."))
	require.Zero(t, c.process(path, "--session", "s/'한'").code)
	var found searched
	eventually(t, func() bool {
		found = decode[searched](t, c.run("search", "Porto", "--project", c.project, "--kind", "message", "-o", "json"))
		return len(found.Hits) == 1
	})
	handle := found.Hits[0].Message.Handle()
	require.Contains(t, c.run("search", "Porto", "--project", c.project).out, " · entry show "+handle+"\n")

	o := c.run("entry", "show", handle, "--project", c.project)
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "message   2 of session s/'한'\nby        user\n")
	require.Contains(t, o.out, "  1 assistant: Hello.\n  │ Is <b>Porto</b> rainy?\n  │ Or 리스본?\n  3 assistant: Both.\n")
	shown := decode[shownMessage](t, c.run("entry", "show", handle, "--project", c.project, "-o", "json"))
	require.Equal(t, "s/'한'", shown.SessionID)
	require.Equal(t, 2, shown.Message.Index)
	for _, args := range [][]string{{handle, "--user", "bob"}, {"zzzzzzzz/1"}, {handle + "9"}, {"/"}} {
		o := c.run(append([]string{"entry", "show", "--project", c.project}, args...)...)
		require.Equal(t, exitUsage, o.code, "%q: %s", args, o)
		require.Contains(t, o.err, "message")
	}
}

func TestSearchRefusesWhatCannotMatch(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--kind", "message", "--stage", "verified"}, {"--kind", "task,message", "--type", "decision"}, {"--kind", "fact", "--status", "active"}} {
		o := down().run(append([]string{"search", "x"}, args...)...)
		require.Equal(t, exitUsage, o.code, o)
		require.Contains(t, o.err, "can't match --type, --stage or --status")
	}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--kind", "fact", "--session", "s 'x'"}, "--kind fact can't match --session s 'x': people enter facts outside of sessions"},
		{[]string{"--from", "2026-01-02T10:00:00Z", "--to", "2026-01-02T09:59:59Z"}, "want a time before --to 2026-01-02T09:59:59Z"},
		{[]string{"--from", "yesterday"}, `--from "yesterday": want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z`},
	} {
		o := down().run(append([]string{"search", "x"}, tt.args...)...)
		require.Equal(t, exitUsage, o.code, o)
		require.Contains(t, o.err, tt.says)
	}
	require.False(t, (retrieve.Query{Kinds: []retrieve.Kind{retrieve.KindFact}, Types: nil}).Impossible())
}
