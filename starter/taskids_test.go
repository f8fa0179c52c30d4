package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/task"
)

// taskOf returns the task of the project with the title.
func (c *cli) taskOf(t *testing.T, title string) task.View {
	t.Helper()
	for _, v := range decode[[]task.View](t, c.run("tasks", "--project", c.project, "-o", "json")) {
		if v.Task.Title == title {
			return v
		}
	}
	require.Fail(t, "no such task", "%q in\n%s", title, c.run("tasks", "--project", c.project).out)
	return task.View{}
}

// A task that is reported done is shown as such everywhere, and is done once a person confirms it. Tasks that waited for it
// are unblocked. Commands take the ids that lists print, and print their changes.
func TestReportedDoneIsConfirmed(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	one := write(t, "one.jsonl", said(1, "assistant", "TODO: write the report.\nTODO: send it to PROJ-7.\nThe release is blocked by PROJ-7.\nThe migration is blocked by the legal review."))
	require.Zero(t, c.run("process", one, "--project", c.project, "--session", "one-"+c.project).code)
	two := write(t, "two.jsonl", said(1, "assistant", "Done: write the report."))
	require.Zero(t, c.run("process", two, "--project", c.project, "--session", "two-"+c.project).code)

	report := c.taskOf(t, "write the report")
	require.NotNil(t, report.Task.DoneReport)
	said := "in progress · reported done on " + report.Task.DoneReport.At.Format(time.DateOnly)
	id := report.Task.ID[:8]
	listed := c.run("tasks", "--reported-done", "--project", c.project)
	for _, want := range []string{id, said, "Done: write the report"} {
		require.Contains(t, listed.out, want)
	}
	require.Contains(t, c.run("tasks", "--project", c.project).out, said)
	shown := c.run("task", "show", id, "--project", c.project)
	require.Contains(t, shown.out, said)
	require.Contains(t, shown.out, "reported done")
	require.Contains(t, shown.out, "“Done: write the report.” — session two-"+c.project)

	waiting := c.taskOf(t, "The migration")
	condition := waiting.Blockers[0].ID[:8]
	require.Contains(t, c.run("blocked", "--project", c.project).out, "(condition "+condition+")")
	resolved := c.run("condition", "resolve", condition, id, "--project", c.project)
	require.Zero(t, resolved.code, resolved)
	require.Equal(t, condition+": turned out to be "+id+"\n", resolved.out)
	require.Contains(t, c.run("blocked", "--project", c.project).out, "that is write the report (task "+id+") · reported done on ")

	confirmed := c.run("task", "confirm", id, "--project", c.project)
	require.Zero(t, confirmed.code, confirmed)
	require.Equal(t, id+": in progress -> done\n"+waiting.Task.ID[:8]+": blocked -> pending, no longer waits for the legal review\n", confirmed.out)
	require.Equal(t, "nothing to change\n", c.run("task", "confirm", "--all", "--project", c.project).out)
	require.Contains(t, c.run("tasks", "--reported-done", "--project", c.project).out, "no open task is reported done")

	release := c.taskOf(t, "The release")
	artifact := release.Blockers[0].ID[:8]
	closed := c.run("artifact", "close", artifact, "--project", c.project)
	require.Zero(t, closed.code, closed)
	require.Equal(t, artifact+": closed\n"+release.Task.ID[:8]+": blocked -> pending, no longer waits for PROJ-7\n", closed.out)
	require.Contains(t, c.run("blocked", "--project", c.project).out, "nothing is blocked")

	set := c.run("task", "set", release.Task.ID[:8], "--project", c.project, "--priority", "high", "--block", id, "--title", "Release 2")
	require.Equal(t, release.Task.ID[:8]+": title “The release” -> “Release 2”\n"+release.Task.ID[:8]+": priority medium -> high\n"+
		release.Task.ID[:8]+": waits for write the report\n"+release.Task.ID[:8]+": pending -> blocked\n", set.out)
	merged := c.run("task", "merge", waiting.Task.ID[:6], release.Task.ID[:6], "--project", c.project)
	require.Equal(t, waiting.Task.ID[:8]+": merged into "+release.Task.ID[:8]+"\n", merged.out)

	for _, args := range [][]string{
		{"task", "confirm"}, {"task", "confirm", id, "--all"}, {"task", "confirm", release.Task.ID[:8]}, {"task", "confirm", "nosuch"},
		{"task", "set", id[:3], "--status", "done"}, {"tasks", "--reported-done", "--status", "done"}, {"entry", "show", ""},
		{"condition", "resolve", id, "PROJ-7"}, {"artifact", "close", id},
	} {
		o := c.run(append(args, "--project", c.project)...)
		require.Equal(t, exitUsage, o.code, o)
	}
}

// With done-reports set to close, a first report that is proven closes its task.
func TestDoneReportsClose(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t, "--done-reports", "close")
	path := write(t, "s.jsonl", said(1, "assistant", "TODO: write the report.")+said(2, "assistant", "Done: write the report."))
	require.Zero(t, c.run("process", path, "--project", c.project, "--session", "close-"+c.project).code)
	require.Equal(t, "done", string(c.taskOf(t, "write the report").Task.TaskStatus))
}
