package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/task"
)

// saidIn returns a message of a session, like said.
func saidIn(session string, n int, text string) string {
	return strings.Replace(said(n, "user", text), `"sessionId":""`, fmt.Sprintf(`"sessionId":%q`, session), 1)
}

// Names accept every alphabet. A session with an invalid id is refused and listed, and does not stop the others.
func TestNamesOfEveryAlphabet(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl":   saidIn("세션-1", 1, decision) + strings.Replace(saidIn("세션-1", 2, "TODO: write the 배포 page."), `"role":"user"`, `"role":"assistant"`, 1),
		"빈파일.jsonl": "",
		"b.jsonl":   saidIn("a/b%2F \"c\" 🎉", 1, "We decided to ship on Fridays only."),
		"c.jsonl":   strings.Replace(saidIn("x", 1, "We decided to use SQLite for the tests."), `"sessionId":"x"`, `"sessionId":"\u0001\u001b[31m"`, 1),
		"d.jsonl":   saidIn(strings.Repeat("세", 70), 1, "We decided to use Go for the worker."),
		"e.jsonl":   saidIn("plain", 1, "We decided to keep the log for ever."),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	scope := []string{"--project", c.project + "-프로젝트/%2F", "--user", "José/я\"'", "--agent", "代理 🤖"}
	o := c.run(append([]string{"process", dir}, scope...)...)
	require.Equal(t, exitFailed, o.code, o)
	require.Equal(t, 3, strings.Count(o.out, "success"), o)
	require.Equal(t, 1, strings.Count(o.out, "empty"), o)
	require.Contains(t, o.out, "has 210 bytes, more than 200")
	require.NotContains(t, o.out+o.err, "temporal-resource-id")

	listed := decode[[]build.Run](t, c.run(append([]string{"builds", "list", "-o", "json"}, scope...)...))
	require.GreaterOrEqual(t, len(listed), 4)
	require.Len(t, decode[[]build.Run](t, c.run("builds", "list", "-o", "json", "--project", scope[1], "--session", "세션-1")), 1)
	require.Len(t, decode[[]task.View](t, c.run("tasks", "-o", "json", "--project", scope[1])), 1)
	require.Contains(t, c.run(append([]string{"search", "which database does the event log use?"}, scope...)...).out, decision)
	require.Equal(t, exitOK, c.run(append([]string{"verify"}, scope...)...).code)
	again := c.run(append([]string{"process", filepath.Join(dir, "a.jsonl")}, scope...)...)
	require.Contains(t, again.out, "unchanged")
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
	c := sharedCLI(t)
	session := "one-" + c.project
	path := write(t, "s.jsonl", saidIn(session, 1, decision+" I prefer short pages, please always add an example."))
	seen := map[string]bool{}
	for _, scope := range scopes {
		project, user, agent := c.project+scope[0], scope[1], scope[2]
		o := c.run("process", path, "--project", project, "--user", user, "--agent", agent)
		require.Zero(t, o.code, o)
		require.Contains(t, o.out, "success")
		runs := decode[[]build.Run](t, c.run("builds", "list", "-o", "json", "--project", project, "--user", user))
		for _, run := range runs {
			if run.Agent == agent {
				require.False(t, seen[run.BuildID], "a build of another scope")
				seen[run.BuildID] = true
				require.Equal(t, 2, run.Counts.NewEntries)
			}
		}
		found := c.run("search", "event log", "--project", project, "--user", user, "--agent", agent)
		require.Contains(t, found.out, decision)
		for _, foreign := range []string{"ann", "bob", c.project + "-red", c.project + "-blue"} {
			if foreign != project && foreign != user {
				require.NotContains(t, o.String()+found.String(), foreign)
			}
		}
	}
	require.Len(t, seen, len(scopes))
	require.Contains(t, c.run("verify", "--session", session).out, fmt.Sprintf("%d sessions, %d entries", len(scopes), 2*len(scopes)))
}

// I10: an empty name is a usage error and never means all names.
func TestI10EmptyNamesAreRefused(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	require.Zero(t, c.process(write(t, "s.jsonl", saidIn("one", 1, decision))).code)
	for _, args := range []string{
		"search log --project=", "search log --user=", "context --user=", "context --project=", "queue --user=",
		"facts --user=", "facts --project=", "facts show fact_1234 --user=", "facts history --user=", "facts export --user=", "facts add x --user=",
		"profile show --user=", "memory show --user=", "memory history --user=", "dream list --user=", "tasks --project=", "task show x --project=",
		"entry show 0000 --project=", "entry show 00000000/0 --project=", "conflicts --project=", "conflicts show 0000 --project=",
		"decisions --project=", "decisions show 0000 --project=", "proposals --project=", "health --project=", "health --list unproven --project=",
		"mcp --project=", "mcp --user=",
	} {
		o := c.run(strings.Fields(args)...)
		require.Equal(t, exitUsage, o.code, "%s: %s", args, o)
		require.Regexp(t, "(project|user) is (empty|missing)|user: is missing", o.err, args)
		require.NotContains(t, o.String(), decision, args)
	}
	for _, all := range []string{"facts", "context", "health", "builds list"} {
		require.Zero(t, c.run(strings.Fields(all)...).code, all)
	}
}

// The input of a second start is not lost: it waits for the first run, even if it is detached. With --no-wait it reports
// that it did nothing. At first no worker runs.
func testBusySession(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	first := c.process(write(t, "s.jsonl", said(1, "user", decision)), "--session", "one", "--detach")
	require.Zero(t, first.code, first)
	require.Contains(t, first.out, "started")
	grown := write(t, "s.jsonl", said(1, "user", decision)+said(2, "user", "We decided to ship on Fridays only."))
	refused := c.process(grown, "--session", "one", "--no-wait")
	require.Equal(t, exitBusy, refused.code, refused)
	require.Contains(t, refused.out, "already running")
	require.Contains(t, refused.err, "being processed already")
	second := c.process(grown, "--session", "one", "--detach")
	require.Zero(t, second.code, second)

	third := make(chan output)
	go func() {
		more := "We decided to keep the log for ever."
		third <- c.process(write(t, "s.jsonl", said(1, "user", decision)+said(3, "user", more)), "--session", "one")
	}()
	c.work(t)
	o := <-third
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "success")
	require.Contains(t, o.err, "one: is being processed already; new messages follow after that")
	var counts []int
	eventually(t, func() bool {
		counts = nil
		for _, run := range decode[[]build.Run](t, c.run("builds", "list", "--session", "one", "--status", "success", "-o", "json")) {
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
	c := newCLI(t)
	c.work(t)
	path := write(t, "s.jsonl", said(1, "user", decision)+said(2, "assistant", "TODO: write the page on retries."))
	require.Zero(t, c.run("process", path, "--project", "shop").code)
	const empty = "nothing found: project default is empty; there are: shop (--project, or AXIOMMIND_PROJECT)\n"
	for _, args := range [][]string{{"search", "retries"}, {"tasks"}, {"blocked"}, {"decisions"}} {
		o := c.run(args...)
		require.Zero(t, o.code, o)
		require.Equal(t, empty, o.out)
		require.NotContains(t, c.run(append(args, "--project", "default", "-o", "json")...).out, "shop")
	}
	tasks := decode[[]task.View](t, c.run("tasks", "--project", "shop", "-o", "json"))
	require.Len(t, tasks, 1)
	found := decode[searched](t, c.run("search", "retries", "--project", "shop", "--kind", "entry", "-o", "json"))
	require.NotEmpty(t, found.Hits)
	id := tasks[0].Task.ID
	for _, args := range [][]string{{"task", "show", id[:8]}, {"task", "confirm", id}, {"entry", "show", found.Hits[0].ID}} {
		o := c.run(args...)
		require.Equal(t, exitUsage, o.code, o)
		require.Contains(t, o.err, "; it is in project shop")
		require.NotContains(t, o.err, "page on retries")
		require.NotContains(t, c.run(append(args, "--project", "default")...).err, "shop")
	}
}
