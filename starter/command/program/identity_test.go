package program_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/task"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/recall"
)

// Names accept every alphabet. A session with an invalid id is refused and listed, and does not stop the others.
func TestNamesOfEveryAlphabet(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl":   commandtest.InSession("세션-1", 1, commandtest.Decision) + strings.Replace(commandtest.InSession("세션-1", 2, "TODO: write the 배포 page."), `"role":"user"`, `"role":"assistant"`, 1),
		"빈파일.jsonl": "",
		"b.jsonl":   commandtest.InSession("a/b%2F \"c\" 🎉", 1, "We decided to ship on Fridays only."),
		"c.jsonl":   strings.Replace(commandtest.InSession("x", 1, "We decided to use SQLite for the tests."), `"sessionId":"x"`, `"sessionId":"\u0001\u001b[31m"`, 1),
		"d.jsonl":   commandtest.InSession(strings.Repeat("세", 70), 1, "We decided to use Go for the worker."),
		"e.jsonl":   commandtest.InSession("plain", 1, "We decided to keep the log for ever."),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	scope := []string{"--project", c.Project + "-프로젝트/%2F", "--user", "José/я\"'", "--agent", "代理 🤖"}
	o := c.Run(append([]string{"process", dir}, scope...)...)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Equal(t, 3, strings.Count(o.Out, "success"), o)
	require.Equal(t, 1, strings.Count(o.Out, "empty"), o)
	require.Contains(t, o.Out, "has 210 bytes, more than 200")
	require.NotContains(t, o.Out+o.Err, "temporal-resource-id")

	listed := commandtest.Decode[[]build.Run](t, c.Run(append([]string{"builds", "list", "-o", "json"}, scope...)...))
	require.GreaterOrEqual(t, len(listed), 4)
	require.Len(t, commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "-o", "json", "--project", scope[1], "--session", "세션-1")), 1)
	require.Len(t, commandtest.Decode[[]task.View](t, c.Run("tasks", "-o", "json", "--project", scope[1])), 1)
	require.Contains(t, c.Run(append([]string{"search", "which database does the event log use?"}, scope...)...).Out, commandtest.Decision)
	require.Equal(t, command.ExitOK, c.Run(append([]string{"verify"}, scope...)...).Code)
	again := c.Run(append([]string{"process", filepath.Join(dir, "a.jsonl")}, scope...)...)
	require.Contains(t, again.Out, "unchanged")
}

// I10: a session belongs to a project, user and agent. The same transcript in another scope is another session, and output
// about one never names the other.
func TestI10OneSessionIDInManyScopes(t *testing.T) {
	t.Parallel()
	oneSessionIDInManyScopes(t, [][3]string{{"-red", "ann", ""}, {"-blue", "ann", ""}, {"-red", "bob", ""}, {"-red", "ann", "coder"}})
}

// oneSessionIDInManyScopes processes one transcript for each scope: a suffix of the project's name, a user and an agent.
func oneSessionIDInManyScopes(t *testing.T, scopes [][3]string) {
	t.Helper()
	c := commandtest.SharedCLI(t)
	session := "one-" + c.Project
	path := commandtest.Write(t, "s.jsonl", commandtest.InSession(session, 1, commandtest.Decision+" I prefer short pages, please always add an example."))
	seen := map[string]bool{}
	for _, scope := range scopes {
		project, user, agent := c.Project+scope[0], scope[1], scope[2]
		o := c.Run("process", path, "--project", project, "--user", user, "--agent", agent)
		require.Zero(t, o.Code, o)
		require.Contains(t, o.Out, "success")
		runs := commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "-o", "json", "--project", project, "--user", user))
		for _, run := range runs {
			if run.Agent == agent {
				require.False(t, seen[run.BuildID], "a build of another scope")
				seen[run.BuildID] = true
				require.Equal(t, 2, run.Counts.NewEntries)
			}
		}
		found := c.Run("search", "event log", "--project", project, "--user", user, "--agent", agent)
		require.Contains(t, found.Out, commandtest.Decision)
		for _, foreign := range []string{"ann", "bob", c.Project + "-red", c.Project + "-blue"} {
			if foreign != project && foreign != user {
				require.NotContains(t, o.String()+found.String(), foreign)
			}
		}
	}
	require.Len(t, seen, len(scopes))
	require.Contains(t, c.Run("verify", "--session", session).Out, fmt.Sprintf("%d sessions, %d entries", len(scopes), 2*len(scopes)))
}

// I10: an empty name is a usage error and never means all names.
func TestI10EmptyNamesAreRefused(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.InSession("one", 1, commandtest.Decision))).Code)
	for _, args := range []string{
		"search log --project=", "search log --user=", "context --user=", "context --project=", "queue --user=",
		"facts --user=", "facts --project=", "facts show fact_1234 --user=", "facts history --user=", "facts export --user=", "facts add x --user=",
		"profile show --user=", "memory show --user=", "memory history --user=", "dream list --user=", "tasks --project=", "task show x --project=",
		"entry show 0000 --project=", "entry show 00000000/0 --project=", "conflicts --project=", "conflicts show 0000 --project=",
		"decisions --project=", "decisions show 0000 --project=", "proposals --project=", "health --project=", "health --list unproven --project=",
		"mcp --project=", "mcp --user=",
	} {
		o := c.Run(strings.Fields(args)...)
		require.Equal(t, command.ExitUsage, o.Code, "%s: %s", args, o)
		require.Regexp(t, "(project|user) is (empty|missing)|user: is missing", o.Err, args)
		require.NotContains(t, o.String(), commandtest.Decision, args)
	}
	for _, all := range []string{"facts", "context", "health", "builds list"} {
		require.Zero(t, c.Run(strings.Fields(all)...).Code, all)
	}
}

// The input of a second start is not lost: it waits for the first run, even if it is detached. With --no-wait it reports
// that it did nothing. At first no worker runs.
func testBusySession(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	first := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", "one", "--detach")
	require.Zero(t, first.Code, first)
	require.Contains(t, first.Out, "started")
	grown := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "user", "We decided to ship on Fridays only."))
	refused := c.Process(grown, "--session", "one", "--no-wait")
	require.Equal(t, command.ExitBusy, refused.Code, refused)
	require.Contains(t, refused.Out, "already running")
	require.Contains(t, refused.Err, "being processed already")
	second := c.Process(grown, "--session", "one", "--detach")
	require.Zero(t, second.Code, second)

	third := make(chan commandtest.Output)
	go func() {
		more := "We decided to keep the log for ever."
		third <- c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(3, "user", more)), "--session", "one")
	}()
	c.Work(t)
	o := <-third
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "success")
	require.Contains(t, o.Err, "one: is being processed already; new messages follow after that")
	var counts []int
	commandtest.Eventually(t, func() bool {
		counts = nil
		for _, run := range commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--session", "one", "--status", "success", "-o", "json")) {
			counts = append(counts, run.Counts.Messages)
		}
		return len(counts) == 3
	})
	require.Equal(t, []int{3, 2, 1}, counts, "each start has processed what it brought")
}

// Without --project, an empty default project is reported with the others, and an id of another project with that one (I10:
// only its name). A named project is not left.
func TestNoProjectNamed(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "Where are we?")+commandtest.Said(2, "assistant", "TODO: write the page on retries."))
	require.Zero(t, c.Run("process", path, "--project", "shop").Code)
	const empty = "nothing found: project default is empty; there are: shop (--project, or AXIOMMIND_PROJECT)\n"
	for _, args := range [][]string{{"search", "retries"}, {"tasks"}, {"blocked"}, {"decisions"}} {
		o := c.Run(args...)
		require.Zero(t, o.Code, o)
		require.Equal(t, empty, o.Out)
		require.NotContains(t, c.Run(append(args, "--project", "default", "-o", "json")...).Out, "shop")
	}
	tasks := commandtest.Decode[[]task.View](t, c.Run("tasks", "--project", "shop", "-o", "json"))
	require.Len(t, tasks, 1)
	found := commandtest.Decode[recall.Searched](t, c.Run("search", "retries", "--project", "shop", "--kind", "entry", "-o", "json"))
	require.NotEmpty(t, found.Hits)
	id := tasks[0].Task.ID
	c.Project = "shop"
	conflict, decision := ledgersOf(c, t)
	for _, args := range [][]string{
		{"task", "show", id[:8]}, {"task", "confirm", id}, {"entry", "show", found.Hits[0].ID}, {"conflicts", "show", conflict[:8]}, {"decisions", "show", decision},
	} {
		o := c.Run(args...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, "; it is in project shop")
		require.NotContains(t, o.Err, "page on retries")
		require.NotContains(t, c.Run(append(args, "--project", "default")...).Err, "shop")
	}
}
