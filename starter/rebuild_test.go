package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
)

const argsVariable = "AXIOMMIND_TEST_STARTER_ARGS"

// child is the program in a process of its own, which can be killed.
func (c *cli) child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), argsVariable+"="+strings.Join(append(args, c.servers...), "\x1f"))
	return cmd
}

func runChild(args string) int {
	a := &app{in: os.Stdin, out: os.Stdout, errOut: os.Stderr, getenv: func(string) string { return "" }}
	return a.main(context.Background(), strings.Split(args, "\x1f"))
}

func TestRebuildRefuses(t *testing.T) {
	t.Parallel()
	c := down()
	for _, args := range [][]string{{"nosuch"}, {"entries", "it's; DROP TABLE\n한"}, {"vector_outboxes"}} {
		o := c.run(append([]string{"rebuild"}, args...)...)
		require.Equal(t, exitUsage, o.code, o)
		for _, name := range []string{"there is no projection", "entries", "builds", "tasks", "facts", "vector_outbox/"} {
			require.Contains(t, o.err, name)
		}
	}
	require.Equal(t, exitFailed, c.run("rebuild", "entries").code, "the servers are down")
}

// Dropping all projections and rebuilding gives the same rows, as the README says; what is not the same is told
// row by row, and so is how the projections stand.
func TestRebuild(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	path := write(t, "s.jsonl", saidIn("세션", 1, decision)+saidIn("세션", 2, "TODO: write the 배포 page.")+
		saidIn("세션", 3, "I prefer short pages, please always add an example."))
	require.Zero(t, c.process(path).code)
	cfg := c.config(t)
	conn, err := eventlog.Connect(t.Context(), cfg.ClickHouseDSN, eventlog.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	exec := func(sql string, args ...any) { require.NoError(t, conn.Exec(t.Context(), fmt.Sprintf(sql, args...))) }
	doctor := func(name string) check {
		for _, check := range c.projectionChecks(t) {
			if strings.HasPrefix(check.Name, "projection "+name) {
				return check
			}
		}
		t.Fatalf("doctor says nothing of %s", name)
		return check{}
	}
	projectors := build.Projections(conn, "hash-v1")
	for _, p := range projectors {
		name, _, _ := strings.Cut(p.Name(), "/")
		// A worker saves how far it is a moment after the session.
		require.Eventually(t, func() bool { return doctor(name).OK }, patience, patience/1000, name)
		require.Contains(t, doctor(name).Note, "up to date")
	}

	first := c.run("rebuild", "--verify")
	require.Zero(t, first.code, first)
	require.Contains(t, first.err, "waiting 10s for workers")
	require.Contains(t, first.out, "entries_raw: same (")
	require.NotContains(t, first.out, "differs")

	for _, p := range projectors {
		for _, table := range p.Tables() {
			exec("DROP TABLE %s SYNC", table.Name)
		}
	}
	require.Contains(t, c.run("doctor").out, "not there: entries_raw, ")
	some := c.run("rebuild", "--now", "tasks", "entries")
	require.Equal(t, exitUsage, some.code, some)
	require.Contains(t, some.err, "of projection \"builds\" is not there: name that projection too")
	lost := c.run("search", "log", "--project", c.project)
	require.Equal(t, exitFailed, lost.code, lost)
	require.Contains(t, lost.err, "there is no table '")
	require.Contains(t, lost.err, "starter doctor says how to mend it")
	require.NotContains(t, lost.err, "SELECT")
	dropped := c.run("rebuild", "--now", "--verify")
	require.Zero(t, dropped.code, dropped)
	require.Contains(t, dropped.out, "not there and made: ")
	require.NotContains(t, c.run("doctor").out, "not there: ")
	report := decode[rebuildReport](t, c.run("rebuild", "--now", "--verify", "-o", "json"))
	require.Len(t, report.Projections, len(projectors))
	for _, p := range report.Projections {
		for _, table := range p.Tables {
			require.Equal(t, *table.Before, table.After)
			rows := fmt.Sprintf("%s, hash %016x)", plural(int(table.After.Rows), "row", "rows"), table.After.Sum)
			require.Contains(t, first.out, table.Name+": same ("+rows)
			require.Contains(t, dropped.out, table.Name+": was not there (now "+rows)
		}
	}

	exec("INSERT INTO facts_skipped_raw (user, seq, event_id) VALUES ('no\\nbody', 1, 'x')")
	exec("INSERT INTO facts_raw SELECT * REPLACE ('changed' AS content, version + 1 AS version) FROM facts_raw FINAL")
	wrong := c.run("rebuild", "facts", "--now", "--verify")
	require.Equal(t, exitFailed, wrong.code, wrong)
	require.Contains(t, wrong.out, "facts_raw: differs: 0 rows only before, 0 only after, 1 changed")
	require.Contains(t, wrong.out, "facts_skipped_raw: differs: 1 row only before, 0 only after, 0 changed\n    only before ('no\\nbody','',1)")
	require.Contains(t, wrong.err, "2 tables are not the same after the rebuild")
	require.NotContains(t, wrong.out, "entries")

	exec("INSERT INTO projection_offsets_raw (projector_name, generation, version, last_seq) VALUES ('entries', 9000000000000000000, 7, 1), ('facts', 9000000000000000000, 1, 0)")
	require.Contains(t, doctor("entries").Note, "made by version 7 of its code, newer")
	require.Contains(t, doctor("entries").Mend, "starter rebuild entries")
	require.Contains(t, doctor("facts").Note, "is being rebuilt, or a rebuild broke off")
	exec("TRUNCATE TABLE projection_offsets_raw")
	require.Contains(t, doctor("tasks").Note, "1 stream is behind the log")
	require.False(t, doctor("tasks").OK)
	require.Zero(t, c.run("rebuild", "--now", "--verify").code)
	require.True(t, doctor("tasks").OK)
}

func (c *cli) projectionChecks(t *testing.T) []check {
	t.Helper()
	a := &app{cfg: c.config(t)}
	conn, err := eventlog.Connect(t.Context(), a.cfg.ClickHouseDSN, eventlog.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	return a.checkProjections(t.Context(), conn)
}

// I2: a rebuild that is killed while it waits, or while it applies, is finished by calling it again.
func TestI2RebuildKilled(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	require.Zero(t, c.process(write(t, "s.jsonl", saidIn("s", 1, decision))).code)
	before := decode[rebuildReport](t, c.run("rebuild", "--now", "-o", "json"))
	for _, flags := range [][]string{nil, {"--now"}} {
		cmd := c.child(t, append([]string{"rebuild"}, flags...)...)
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			for _, check := range c.projectionChecks(t) {
				if !check.OK {
					return true
				}
			}
			return cmd.ProcessState != nil
		}, patience, patience/1000)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		after := decode[rebuildReport](t, c.run("rebuild", "--now", "-o", "json"))
		for i, p := range after.Projections {
			require.Equal(t, before.Projections[i].Tables, p.Tables)
		}
		for _, check := range c.projectionChecks(t) {
			require.True(t, check.OK, check)
		}
	}
}
