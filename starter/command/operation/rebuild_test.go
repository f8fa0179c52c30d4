package operation_test

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/operation"
	"axiommind/starter/command/progress"
)

func TestRebuildRefuses(t *testing.T) {
	t.Parallel()
	c := commandtest.Down()
	for _, args := range [][]string{{"nosuch"}, {"entries", "it's; DROP TABLE\n한"}, {"vector_outboxes"}} {
		o := c.Run(append([]string{"rebuild"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		for _, name := range []string{"there is no projection", "entries", "builds", "tasks", "facts", "vector_outbox/"} {
			require.Contains(t, o.Err, name)
		}
	}
	require.Equal(t, command.ExitFailed, c.Run("rebuild", "entries").Code, "the servers are down")
}

// Dropping all projections and rebuilding them gives the same rows, as the topic about operating claims. Differences are
// reported row by row, and the doctor reports the state of the projections.
func testRebuild(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Timing = stacktest.Timing()
	c.Work(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.InSession("세션", 1, commandtest.Decision)+commandtest.InSession("세션", 2, "TODO: write the 배포 page.")+
		commandtest.InSession("세션", 3, "I prefer short pages, please always add an example."))
	require.Zero(t, c.Process(path).Code)
	cfg := c.Config(t)
	conn, err := clickhouse.Connect(t.Context(), cfg.ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	exec := func(sql string, args ...any) { require.NoError(t, conn.Exec(t.Context(), fmt.Sprintf(sql, args...))) }
	doctor := func(name string) command.Check {
		for _, check := range projectionChecks(c, t) {
			if strings.HasPrefix(check.Name, "projection "+name) {
				return check
			}
		}
		t.Fatalf("doctor says nothing of %s", name)
		return command.Check{}
	}
	// Otherwise graduation would run in between, some seconds after the session.
	commandtest.Eventually(t, func() bool { return doctor("graduation").OK })
	passed := c.Run("graduate", "--project", c.Project)
	require.Zero(t, passed.Code, passed)
	// The index of messages would run in between, too.
	commandtest.Eventually(t, func() bool {
		var pending uint64
		err := conn.QueryRow(t.Context(), "SELECT count() FROM vector_outbox WHERE status = 'pending'").Scan(&pending)
		return err == nil && pending == 0
	})
	projectors := build.Projections(conn, "hash-v1")
	for _, p := range projectors {
		name, _, _ := strings.Cut(p.Name(), "/")
		// A worker saves its checkpoint a moment after the session.
		commandtest.Eventually(t, func() bool { return doctor(name).OK }, name)
		require.Contains(t, doctor(name).Note, "up to date")
	}

	first := c.Run("rebuild", "--verify")
	require.Zero(t, first.Code, first)
	require.Contains(t, first.Out, "writers had to wait up to ")
	require.Contains(t, first.Out, "entries_raw: same (")
	require.NotContains(t, first.Out, "differs")

	for _, p := range projectors {
		for _, table := range p.Tables() {
			exec("DROP TABLE IF EXISTS %s SYNC", table.Name)
		}
	}
	require.Contains(t, c.Run("doctor").Out, "not there: entries_raw, ")
	some := c.Run("rebuild", "tasks", "entries")
	require.Equal(t, command.ExitFailed, some.Code, some)
	require.Contains(t, some.Err, "of projection \"builds\" is not there: name that projection too")
	lost := c.Run("search", "log", "--project", c.Project)
	require.Equal(t, command.ExitFailed, lost.Code, lost)
	require.Contains(t, lost.Err, "there is no table '")
	require.Contains(t, lost.Err, "starter doctor names the remedy")
	require.NotContains(t, lost.Err, "SELECT")
	dropped := c.Run("rebuild", "--verify")
	require.Zero(t, dropped.Code, dropped)
	require.Contains(t, dropped.Out, "missing and recreated: ")
	require.NotContains(t, c.Run("doctor").Out, "not there: ")
	report := commandtest.Decode[operation.RebuildReport](t, c.Run("rebuild", "--dry-run", "-o", "json"))
	require.Len(t, report.Projections, len(projectors))
	for _, p := range report.Projections {
		for _, table := range p.Tables {
			require.Equal(t, table.Before, table.After)
			rows := fmt.Sprintf("%s, hash %016x)", command.Plural(int(table.After.Rows), "row", "rows"), table.After.Sum)
			require.Contains(t, first.Out, table.Name+": same ("+rows)
			require.Contains(t, dropped.Out, table.Name+": was not there (now "+rows)
		}
	}

	exec("INSERT INTO facts_skipped_raw (user, seq, event_id) VALUES ('no\\nbody', 1, 'x')")
	exec("INSERT INTO facts_raw SELECT * REPLACE ('changed' AS content, version + 1 AS version) FROM facts_raw FINAL")
	for _, flag := range []string{"--dry-run", "--dry-run", "--verify"} { // A dry run keeps the difference.
		wrong := c.Run("rebuild", "facts", flag)
		require.Equal(t, command.ExitFailed, wrong.Code, wrong)
		require.Contains(t, wrong.Out, "facts_raw: differs: 0 rows only before, 0 only after, 1 changed")
		require.Contains(t, wrong.Out, "facts_skipped_raw: differs: 1 row only before, 0 only after, 0 changed\n    only before ('no\\nbody','',1)")
		require.NotContains(t, wrong.Out, "entries")
		if flag == "--dry-run" {
			require.Contains(t, wrong.Out, "nothing was changed")
			require.Contains(t, wrong.Err, "2 tables differ from the log; rebuild with: starter rebuild")
		} else {
			require.Contains(t, wrong.Err, "2 tables differed from the log; the rebuild has corrected that")
		}
	}
	require.Zero(t, c.Run("rebuild", "facts", "--dry-run").Code)

	exec("INSERT INTO projection_offsets_raw (projector_name, generation, version, last_seq) VALUES ('entries', 9000000000000000000, 7, 1), ('facts', 9000000000000000000, 1, 0)")
	require.Contains(t, doctor("entries").Note, "made by version 7 of its code, newer")
	require.Contains(t, doctor("entries").Mend, "starter rebuild entries")
	require.Contains(t, doctor("facts").Note, "a rebuild is swapping in new tables, or was interrupted")
	exec("TRUNCATE TABLE projection_offsets_raw")
	require.Contains(t, doctor("tasks").Note, "1 stream is behind the log")
	require.False(t, doctor("tasks").OK)
	require.Zero(t, c.Run("rebuild", "--verify").Code)
	require.True(t, doctor("tasks").OK)
}

func projectionChecks(c *commandtest.CLI, t *testing.T) []command.Check {
	t.Helper()
	a := &command.App{Cfg: c.Config(t)}
	conn, err := clickhouse.Connect(t.Context(), a.Cfg.ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	return operation.CheckProjections(t.Context(), a, conn)
}

// The rebuild does not depend on the command: it continues if the command is killed or stopped, and the next equal command
// shows it. A different one waits for its turn. Without a worker the command reports that it waits for one.
func testRebuildGoesOn(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	begin := func(args ...string) (says *commandtest.LiveOutput, stop func(), ended chan int) {
		return c.Begin(t, 0, args...)
	}
	requireSays := func(says *commandtest.LiveOutput, text string) {
		t.Helper()
		commandtest.Eventually(t, func() bool { return strings.Contains(says.String(), text) }, says)
	}
	first, stop, ended := begin("rebuild", "tasks", "facts")
	requireSays(first, "no worker has picked up the rebuild")
	stop()
	require.NotZero(t, <-ended)
	require.Contains(t, first.String(), "the rebuild goes on as workflow rebuild\n  To see its progress: starter rebuild tasks facts")
	left, stop, ended := begin("rebuild", "entries")
	requireSays(left, "another rebuild is running: starter rebuild tasks facts; this one begins after it")
	stop()
	require.NotZero(t, <-ended)
	require.Contains(t, left.String(), "this rebuild has not begun")

	same, _, sameEnded := begin("rebuild", "facts", "tasks", "-o", "json")
	requireSays(same, "this rebuild is already running")
	other, _, otherEnded := begin("rebuild", "facts", "--dry-run", "-o", "json")
	requireSays(other, "another rebuild is running: starter rebuild tasks facts;")
	c.Work(t)
	require.Zero(t, <-sameEnded, same)
	require.Contains(t, same.String(), `"joined": true`)
	require.Contains(t, same.String(), `"name": "tasks"`)
	require.Zero(t, <-otherEnded, other)
	require.Contains(t, other.String(), `"dry_run": true`)
	require.NotContains(t, other.String(), `"joined"`)
	require.NotContains(t, other.String(), `"name": "tasks"`)
}

// If no bar is drawn, each line shows the current phase of the rebuild and how many of all events are applied.
func testRebuildTellsItsPhase(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))).Code)
	says, _, ended := c.Begin(t, 50*time.Millisecond, "rebuild", "--verify", "entries", "tasks")
	require.Zero(t, <-ended, says)
	shown := regexp.MustCompile(`^\d+s: (?:(\d+) of (\d+) events applied; )?(begins|prepare|fill [a-z]+|catch up|switch|compare [a-z]+|finish|done)$`)
	phases := map[string]bool{}
	for line := range strings.Lines(says.String()) {
		if !regexp.MustCompile(`^\d+s`).MatchString(line) {
			continue
		}
		found := shown.FindStringSubmatch(strings.TrimSpace(line))
		require.NotNil(t, found, line)
		phases[found[3]] = true
		if found[1] != "" {
			done, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			all, err := strconv.Atoi(found[2])
			require.NoError(t, err)
			require.LessOrEqual(t, done, all, line)
		}
	}
	require.True(t, phases["switch"], "it waits there for writers: %v", says)
	require.Equal(t, "catch up", operation.PhaseText(schema.RebuildProgress{Phase: schema.RebuildCatchUp}))
	require.Equal(t, "fill x y", operation.PhaseText(schema.RebuildProgress{Phase: schema.RebuildFill, Projection: "x\ny"}))
}

// A rebuild of the vectors shows how many objects the writer of the collection has checked.
func testRebuildOfVectorsShowsProgress(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))).Code)
	says, stop, ended := c.Begin(t, 50*time.Millisecond, "rebuild", operation.VectorsWord)
	// The old collection stays for a while after the switch, and the rebuild ends only after that.
	shown := regexp.MustCompile(`(?m)^\d+s: 1 of 1 objects looked at; vectors rebuild the collection: `)
	commandtest.Eventually(t, func() bool { return shown.MatchString(says.String()) }, says)
	stop()
	require.NotZero(t, <-ended)
	require.NotContains(t, says.String(), "events applied")
}

// The unit changes from one step to the next, and at first there is nothing to count.
func TestProgressAt(t *testing.T) {
	t.Parallel()
	p := progress.New((&command.App{ErrOut: io.Discard}), 0, "events applied")
	require.Equal(t, "0s", p.Line(t.Context()))
	p.At("vectors", 0, 0, "objects looked at")
	require.Equal(t, "0s: vectors", p.Line(t.Context()))
	p.At("fill facts", 3, 40, "events applied")
	require.Equal(t, "0s: 3 of 40 events applied; fill facts", p.Line(t.Context()))
	p.At("vectors", 2, 7, "objects looked at")
	require.Equal(t, "0s: 2 of 7 objects looked at; vectors", p.Line(t.Context()))
	p.Finish()
}

// Tables and vectors are rebuilt separately, and the result names the part that was not rebuilt.
func TestRebuildNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	printed := func(r schema.RebuildResult) string {
		var out strings.Builder
		operation.PrintRebuild(&out, r)
		return out.String()
	}
	tables := schema.RebuildResult{Projections: []schema.RebuiltProjection{{Name: "facts"}}, Waited: 11.7}
	require.Contains(t, printed(tables), "writers had to wait up to 11.7 s for the new tables\nvectors were left as they are; to rebuild them: starter rebuild vectors\n")
	tables.DryRun = true
	require.NotContains(t, printed(tables), "wait")
	tables.Vectors = &schema.RebuiltVectors{Collection: "C"}
	require.NotContains(t, printed(tables), "left as they are")
	require.Contains(t, commandtest.Down().Run("rebuild", "--help").Out, "all tables, those named, or vectors")
}

// Two rebuilds are equal if they have the same effect.
func TestRebuildSame(t *testing.T) {
	t.Parallel()
	in := schema.RebuildInput{Projections: []string{"tasks", "facts"}, DryRun: true}
	require.True(t, operation.SameRebuild(in, schema.RebuildInput{Projections: []string{"facts", "tasks", "facts"}, DryRun: true, Verify: true}))
	require.Equal(t, []string{"tasks", "facts"}, in.Projections)
	for _, other := range []schema.RebuildInput{
		{DryRun: true},
		{Projections: in.Projections},
		{Projections: in.Projections, Verify: true},
		{Projections: in.Projections, DryRun: true, Collections: true},
		{Projections: []string{"facts"}, DryRun: true},
	} {
		require.False(t, operation.SameRebuild(in, other), other)
	}
	require.Equal(t, "starter rebuild facts vectors --verify --dry-run",
		operation.RebuildArgs(schema.RebuildInput{Projections: []string{"facts"}, Collections: true, Verify: true, DryRun: true}))
}
