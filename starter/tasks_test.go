package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/task"
)

// Tasks and facts of a session are listed, and commands change tasks.
func TestTasksAndFacts(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	user := c.project + "-user"
	path := write(t, "s.jsonl",
		said(1, "user", "I prefer short pages, please always add an example.")+
			said(2, "assistant", "TODO: write the page on retries.\nThe release is blocked by the legal review."))
	done := c.run("process", path, "--project", c.project, "--user", user, "--session", "tasks-of-"+c.project)
	require.Zero(t, done.code, done)

	facts := decode[[]fact.Fact](t, c.run("facts", "--user", user, "-o", "json"))
	require.Len(t, facts, 1)
	require.Contains(t, facts[0].Content, "short pages")
	prompt := c.run("context", "--user", user)
	require.Contains(t, prompt.out, "Facts:\n- [preference | ")
	require.Contains(t, c.run("facts", "--user", "nobody").out, "nothing is remembered")

	require.Contains(t, c.run("blocked", "--project", c.project).out, "waits for the legal review (condition ")
	blocked := decode[[]task.View](t, c.run("tasks", "--project", c.project, "--status", "blocked", "-o", "json"))
	require.Len(t, blocked, 1)
	id := blocked[0].Task.ID
	shown := c.run("task", "show", id[:8], "--project", c.project)
	require.Contains(t, shown.out, "pending → blocked")
	require.Contains(t, shown.out, "“The release is blocked by the legal review.” — session tasks-of-"+c.project)

	set := c.run("task", "set", id, "--project", c.project, "--unblock", "the legal review", "--status", "done", "--reason", "signed")
	require.Zero(t, set.code, set)
	require.Contains(t, c.run("blocked", "--project", c.project).out, "nothing is blocked")
	require.Contains(t, c.run("task", "show", id, "--project", c.project).out, ": signed")
	require.Contains(t, c.run("task", "set", id, "--project", c.project, "--status", "done").out, "nothing to change")
	for _, args := range [][]string{
		{"task", "set", "nosuch", "--status", "done"}, {"task", "set", id, "--status", "asleep"}, {"task", "set", id},
		{"tasks", "--as-of", "yesterday"}, {"tasks", "--status", "done", "--placeholder"}, {"task", "show", "nosuch"},
	} {
		o := c.run(append(args, "--project", c.project)...)
		require.Equal(t, exitUsage, o.code, o)
	}
}
