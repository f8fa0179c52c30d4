package tasks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// A task that is reported done is shown as such everywhere, and is done once a person confirms it. Tasks that waited for it
// are unblocked. Commands take the ids that lists print, and print their changes.
func TestReportedDoneIsConfirmed(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	one := commandtest.Write(t, "one.jsonl", commandtest.Said(1, "assistant", "TODO: write the report.\nTODO: send it to PROJ-7.\nThe release is blocked by PROJ-7.\nThe migration is blocked by the legal review."))
	require.Zero(t, c.Run("process", one, "--project", c.Project, "--session", "one-"+c.Project).Code)
	two := commandtest.Write(t, "two.jsonl", commandtest.Said(1, "assistant", "Done: write the report."))
	require.Zero(t, c.Run("process", two, "--project", c.Project, "--session", "two-"+c.Project).Code)

	report := c.TaskOf(t, "write the report")
	require.NotNil(t, report.Task.DoneReport)
	said := "in progress · reported done on " + report.Task.DoneReport.At.Format(time.DateOnly)
	id := report.Task.ID[:8]
	listed := c.Run("tasks", "--reported-done", "--project", c.Project)
	for _, want := range []string{id, said, "Done: write the report"} {
		require.Contains(t, listed.Out, want)
	}
	require.Contains(t, c.Run("tasks", "--project", c.Project).Out, said)
	shown := c.Run("task", "show", id, "--project", c.Project)
	require.Contains(t, shown.Out, said)
	require.Contains(t, shown.Out, "reported done")
	require.Contains(t, shown.Out, "“Done: write the report.” — session two-"+c.Project)

	waiting := c.TaskOf(t, "The migration")
	condition := waiting.Blockers[0].ID[:8]
	require.Contains(t, c.Run("blocked", "--project", c.Project).Out, "(condition "+condition+")")
	resolved := c.Run("condition", "resolve", condition, id, "--project", c.Project)
	require.Zero(t, resolved.Code, resolved)
	require.Equal(t, condition+": turned out to be "+id+"\n", resolved.Out)
	require.Contains(t, c.Run("blocked", "--project", c.Project).Out, "that is write the report (task "+id+") · reported done on ")

	confirmed := c.Run("task", "confirm", id, "--project", c.Project)
	require.Zero(t, confirmed.Code, confirmed)
	require.Equal(t, id+": in progress -> done\n"+waiting.Task.ID[:8]+": blocked -> pending, no longer waits for the legal review\n", confirmed.Out)
	require.Equal(t, "nothing to change\n", c.Run("task", "confirm", "--all", "--project", c.Project).Out)
	require.Contains(t, c.Run("tasks", "--reported-done", "--project", c.Project).Out, "no open task is reported done")

	release := c.TaskOf(t, "The release")
	artifact := release.Blockers[0].ID[:8]
	closed := c.Run("artifact", "close", artifact, "--project", c.Project)
	require.Zero(t, closed.Code, closed)
	require.Equal(t, artifact+": closed\n"+release.Task.ID[:8]+": blocked -> pending, no longer waits for PROJ-7\n", closed.Out)
	require.Contains(t, c.Run("blocked", "--project", c.Project).Out, "nothing is blocked")

	set := c.Run("task", "set", release.Task.ID[:8], "--project", c.Project, "--priority", "high", "--block", id, "--title", "Release 2")
	require.Equal(t, release.Task.ID[:8]+": title “The release” -> “Release 2”\n"+release.Task.ID[:8]+": priority medium -> high\n"+
		release.Task.ID[:8]+": waits for write the report\n"+release.Task.ID[:8]+": pending -> blocked\n", set.Out)
	merged := c.Run("task", "merge", waiting.Task.ID[:6], release.Task.ID[:6], "--project", c.Project)
	require.Equal(t, waiting.Task.ID[:8]+": merged into "+release.Task.ID[:8]+"\n", merged.Out)

	for _, args := range [][]string{
		{"task", "confirm"}, {"task", "confirm", id, "--all"}, {"task", "confirm", release.Task.ID[:8]}, {"task", "confirm", "nosuch"},
		{"task", "set", id[:3], "--status", "done"}, {"tasks", "--reported-done", "--status", "done"}, {"entry", "show", ""},
		{"condition", "resolve", id, "PROJ-7"}, {"artifact", "close", id},
	} {
		o := c.Run(append(args, "--project", c.Project)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
	}
}

// With done-reports set to close, a first report that is proven closes its task.
func TestDoneReportsClose(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--done-reports", "close")
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "assistant", "TODO: write the report.")+commandtest.Said(2, "assistant", "Done: write the report."))
	require.Zero(t, c.Run("process", path, "--project", c.Project, "--session", "close-"+c.Project).Code)
	require.Equal(t, "done", string(c.TaskOf(t, "write the report").Task.TaskStatus))
}
