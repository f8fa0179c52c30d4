package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// Tasks and facts of a session are listed, and commands change tasks.
func TestTasksAndFacts(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := c.Project + "-user"
	path := commandtest.Write(t, "s.jsonl",
		commandtest.Said(1, "user", "I prefer short pages, please always add an example.")+
			commandtest.Said(2, "assistant", "TODO: write the page on retries.\nThe release is blocked by the legal review."))
	done := c.Run("process", path, "--project", c.Project, "--user", user, "--session", "tasks-of-"+c.Project)
	require.Zero(t, done.Code, done)

	facts := commandtest.Decode[[]fact.Fact](t, c.Run("facts", "--user", user, "-o", "json"))
	require.Len(t, facts, 1)
	require.Contains(t, facts[0].Content, "short pages")
	prompt := c.Run("context", "--user", user)
	require.Contains(t, prompt.Out, "Facts:\n- [preference | ")
	require.Contains(t, c.Run("facts", "--user", "nobody").Out, "nothing is remembered")

	require.Contains(t, c.Run("blocked", "--project", c.Project).Out, "waits for the legal review (condition ")
	blocked := commandtest.Decode[[]task.View](t, c.Run("tasks", "--project", c.Project, "--status", "blocked", "-o", "json"))
	require.Len(t, blocked, 1)
	id := blocked[0].Task.ID
	shown := c.Run("task", "show", id[:8], "--project", c.Project)
	require.Contains(t, shown.Out, "pending → blocked")
	require.Contains(t, shown.Out, "“The release is blocked by the legal review.” — session tasks-of-"+c.Project)

	set := c.Run("task", "set", id, "--project", c.Project, "--unblock", "the legal review", "--status", "done", "--reason", "signed")
	require.Zero(t, set.Code, set)
	require.Contains(t, c.Run("blocked", "--project", c.Project).Out, "nothing is blocked")
	require.Contains(t, c.Run("task", "show", id, "--project", c.Project).Out, ": signed")
	require.Contains(t, c.Run("task", "set", id, "--project", c.Project, "--status", "done").Out, "nothing to change")
	for _, args := range [][]string{
		{"task", "set", "nosuch", "--status", "done"}, {"task", "set", id, "--status", "asleep"}, {"task", "set", id},
		{"tasks", "--as-of", "yesterday"}, {"tasks", "--status", "done", "--placeholder"}, {"task", "show", "nosuch"},
	} {
		o := c.Run(append(args, "--project", c.Project)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
	}
}
