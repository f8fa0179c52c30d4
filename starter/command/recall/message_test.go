package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve"
	"axiommind/deploy/local/stacktest"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/recall"
)

// A message that a search finds is shown by the handle that the search prints.
func TestShowMessage(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Timing = stacktest.Timing()
	c.Work(t)
	path := commandtest.Write(t, "t.jsonl", commandtest.Said(1, "user", "Good morning.")+commandtest.Said(2, "assistant", "Hello.")+commandtest.Said(3, "user", "Is <b>Porto</b> rainy?\nOr 리스본?")+commandtest.Said(4, "assistant", "Both."))
	require.Zero(t, c.Process(path, "--session", "s/'한'").Code)
	var found recall.Searched
	commandtest.Eventually(t, func() bool {
		found = commandtest.Decode[recall.Searched](t, c.Run("search", "Porto", "--project", c.Project, "--kind", "message", "-o", "json"))
		return len(found.Hits) == 1
	})
	handle := found.Hits[0].Message.Handle()
	require.Contains(t, c.Run("search", "Porto", "--project", c.Project).Out, " · entry show "+handle+"\n")

	o := c.Run("entry", "show", handle, "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "message   2 of session s/'한'\nby        user\n")
	require.Contains(t, o.Out, "  1 assistant: Hello.\n  │ Is <b>Porto</b> rainy?\n  │ Or 리스본?\n  3 assistant: Both.\n")
	shown := commandtest.Decode[recall.ShownMessage](t, c.Run("entry", "show", handle, "--project", c.Project, "-o", "json"))
	require.Equal(t, "s/'한'", shown.SessionID)
	require.Equal(t, 2, shown.Message.Index)
	for _, args := range [][]string{{handle, "--user", "bob"}, {"zzzzzzzz/1"}, {handle + "9"}, {"/"}} {
		o := c.Run(append([]string{"entry", "show", "--project", c.Project}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", args, o)
		require.Contains(t, o.Err, "message")
	}
}

func TestSearchRefusesWhatCannotMatch(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--kind", "message", "--stage", "verified"}, {"--kind", "task,message", "--type", "decision"}, {"--kind", "fact", "--status", "active"}} {
		o := commandtest.Down().Run(append([]string{"search", "x"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, "can't match --type, --stage or --status")
	}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--kind", "fact", "--session", "s 'x'"}, "--kind fact can't match --session s 'x': people enter facts outside of sessions"},
		{[]string{"--from", "2026-01-02T10:00:00Z", "--to", "2026-01-02T09:59:59Z"}, "want a time before --to 2026-01-02T09:59:59Z"},
		{[]string{"--from", "yesterday"}, `--from "yesterday": want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z`},
	} {
		o := commandtest.Down().Run(append([]string{"search", "x"}, tt.args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, tt.says)
	}
	require.False(t, (retrieve.Query{Kinds: []retrieve.Kind{retrieve.KindFact}, Types: nil}).Impossible())
}
