package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

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

// Dropping all projections and rebuilding them gives the same rows, as the topic about operating claims. Differences are
// reported row by row, and the doctor reports the state of the projections.
func testRebuild(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.timing = stacktest.Timing()
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
	// Otherwise graduation would run in between, some seconds after the session.
	eventually(t, func() bool { return doctor("graduation").OK })
	passed := c.run("graduate", "--project", c.project)
	require.Zero(t, passed.code, passed)
	// The index of messages would run in between, too.
	eventually(t, func() bool {
		var pending uint64
		err := conn.QueryRow(t.Context(), "SELECT count() FROM vector_outbox WHERE status = 'pending'").Scan(&pending)
		return err == nil && pending == 0
	})
	projectors := build.Projections(conn, "hash-v1")
	for _, p := range projectors {
		name, _, _ := strings.Cut(p.Name(), "/")
		// A worker saves its checkpoint a moment after the session.
		eventually(t, func() bool { return doctor(name).OK }, name)
		require.Contains(t, doctor(name).Note, "up to date")
	}

	first := c.run("rebuild", "--verify")
	require.Zero(t, first.code, first)
	require.Contains(t, first.out, "writers had to wait up to ")
	require.Contains(t, first.out, "entries_raw: same (")
	require.NotContains(t, first.out, "differs")

	for _, p := range projectors {
		for _, table := range p.Tables() {
			exec("DROP TABLE IF EXISTS %s SYNC", table.Name)
		}
	}
	require.Contains(t, c.run("doctor").out, "not there: entries_raw, ")
	some := c.run("rebuild", "tasks", "entries")
	require.Equal(t, exitFailed, some.code, some)
	require.Contains(t, some.err, "of projection \"builds\" is not there: name that projection too")
	lost := c.run("search", "log", "--project", c.project)
	require.Equal(t, exitFailed, lost.code, lost)
	require.Contains(t, lost.err, "there is no table '")
	require.Contains(t, lost.err, "starter doctor names the remedy")
	require.NotContains(t, lost.err, "SELECT")
	dropped := c.run("rebuild", "--verify")
	require.Zero(t, dropped.code, dropped)
	require.Contains(t, dropped.out, "missing and recreated: ")
	require.NotContains(t, c.run("doctor").out, "not there: ")
	report := decode[rebuildReport](t, c.run("rebuild", "--dry-run", "-o", "json"))
	require.Len(t, report.Projections, len(projectors))
	for _, p := range report.Projections {
		for _, table := range p.Tables {
			require.Equal(t, table.Before, table.After)
			rows := fmt.Sprintf("%s, hash %016x)", plural(int(table.After.Rows), "row", "rows"), table.After.Sum)
			require.Contains(t, first.out, table.Name+": same ("+rows)
			require.Contains(t, dropped.out, table.Name+": was not there (now "+rows)
		}
	}

	exec("INSERT INTO facts_skipped_raw (user, seq, event_id) VALUES ('no\\nbody', 1, 'x')")
	exec("INSERT INTO facts_raw SELECT * REPLACE ('changed' AS content, version + 1 AS version) FROM facts_raw FINAL")
	for _, flag := range []string{"--dry-run", "--dry-run", "--verify"} { // A dry run keeps the difference.
		wrong := c.run("rebuild", "facts", flag)
		require.Equal(t, exitFailed, wrong.code, wrong)
		require.Contains(t, wrong.out, "facts_raw: differs: 0 rows only before, 0 only after, 1 changed")
		require.Contains(t, wrong.out, "facts_skipped_raw: differs: 1 row only before, 0 only after, 0 changed\n    only before ('no\\nbody','',1)")
		require.NotContains(t, wrong.out, "entries")
		if flag == "--dry-run" {
			require.Contains(t, wrong.out, "nothing was changed")
			require.Contains(t, wrong.err, "2 tables differ from the log; rebuild with: starter rebuild")
		} else {
			require.Contains(t, wrong.err, "2 tables differed from the log; the rebuild has corrected that")
		}
	}
	require.Zero(t, c.run("rebuild", "facts", "--dry-run").code)

	exec("INSERT INTO projection_offsets_raw (projector_name, generation, version, last_seq) VALUES ('entries', 9000000000000000000, 7, 1), ('facts', 9000000000000000000, 1, 0)")
	require.Contains(t, doctor("entries").Note, "made by version 7 of its code, newer")
	require.Contains(t, doctor("entries").Mend, "starter rebuild entries")
	require.Contains(t, doctor("facts").Note, "a rebuild is swapping in new tables, or was interrupted")
	exec("TRUNCATE TABLE projection_offsets_raw")
	require.Contains(t, doctor("tasks").Note, "1 stream is behind the log")
	require.False(t, doctor("tasks").OK)
	require.Zero(t, c.run("rebuild", "--verify").code)
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

// The rebuild does not depend on the command: it continues if the command is killed or stopped, and the next equal command
// shows it. A different one waits for its turn. Without a worker the command reports that it waits for one.
func testRebuildGoesOn(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	begin := func(args ...string) (says *sayings, stop func(), ended chan int) { return c.begin(t, 0, args...) }
	requireSays := func(says *sayings, text string) {
		t.Helper()
		eventually(t, func() bool { return strings.Contains(says.String(), text) }, says)
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
	c.work(t)
	require.Zero(t, <-sameEnded, same)
	require.Contains(t, same.String(), `"joined": true`)
	require.Contains(t, same.String(), `"name": "tasks"`)
	require.Zero(t, <-otherEnded, other)
	require.Contains(t, other.String(), `"dry_run": true`)
	require.NotContains(t, other.String(), `"joined"`)
	require.NotContains(t, other.String(), `"name": "tasks"`)
}

// begin runs a command that shows its progress at each interval, until it ends or is stopped.
func (c *cli) begin(t *testing.T, interval time.Duration, args ...string) (says *sayings, stop func(), ended chan int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	says, ended = &sayings{}, make(chan int, 1)
	a := &app{in: strings.NewReader(""), out: says, errOut: says, getenv: func(name string) string { return c.env[name] }, quiet: interval}
	go func() { ended <- program(ctx, a, append(args, c.servers...)) }()
	return says, stop, ended
}

// If no bar is drawn, each line shows the current phase of the rebuild and how many of all events are applied.
func testRebuildTellsItsPhase(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	require.Zero(t, c.process(write(t, "s.jsonl", said(1, "user", decision))).code)
	says, _, ended := c.begin(t, 50*time.Millisecond, "rebuild", "--verify", "entries", "tasks")
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
	require.Equal(t, "catch up", phaseText(schema.RebuildProgress{Phase: schema.RebuildCatchUp}))
	require.Equal(t, "fill x y", phaseText(schema.RebuildProgress{Phase: schema.RebuildFill, Projection: "x\ny"}))
}

// A rebuild of the vectors shows how many objects the writer of the collection has checked.
func testRebuildOfVectorsShowsProgress(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	require.Zero(t, c.process(write(t, "s.jsonl", said(1, "user", decision))).code)
	says, stop, ended := c.begin(t, 50*time.Millisecond, "rebuild", vectorsWord)
	// The old collection stays for a while after the switch, and the rebuild ends only after that.
	shown := regexp.MustCompile(`(?m)^\d+s: 1 of 1 objects looked at; vectors rebuild the collection: `)
	eventually(t, func() bool { return shown.MatchString(says.String()) }, says)
	stop()
	require.NotZero(t, <-ended)
	require.NotContains(t, says.String(), "events applied")
}

// The unit changes from one step to the next, and at first there is nothing to count.
func TestProgressAt(t *testing.T) {
	t.Parallel()
	p := (&app{errOut: io.Discard}).newProgress(0, "events applied")
	require.Equal(t, "0s", p.line(t.Context()))
	p.at("vectors", 0, 0, "objects looked at")
	require.Equal(t, "0s: vectors", p.line(t.Context()))
	p.at("fill facts", 3, 40, "events applied")
	require.Equal(t, "0s: 3 of 40 events applied; fill facts", p.line(t.Context()))
	p.at("vectors", 2, 7, "objects looked at")
	require.Equal(t, "0s: 2 of 7 objects looked at; vectors", p.line(t.Context()))
	p.finish()
}

// Tables and vectors are rebuilt separately, and the result names the part that was not rebuilt.
func TestRebuildNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	printed := func(r schema.RebuildResult) string {
		var out strings.Builder
		require.NoError(t, printRebuild(&out, r))
		return out.String()
	}
	tables := schema.RebuildResult{Projections: []schema.RebuiltProjection{{Name: "facts"}}, Waited: 11.7}
	require.Contains(t, printed(tables), "writers had to wait up to 11.7 s for the new tables\nvectors were left as they are; to rebuild them: starter rebuild vectors\n")
	tables.DryRun = true
	require.NotContains(t, printed(tables), "wait")
	tables.Vectors = &schema.RebuiltVectors{Collection: "C"}
	require.NotContains(t, printed(tables), "left as they are")
	require.Contains(t, down().run("rebuild", "--help").out, "all tables, those named, or vectors")
}

// Two rebuilds are equal if they have the same effect.
func TestRebuildSame(t *testing.T) {
	t.Parallel()
	in := schema.RebuildInput{Projections: []string{"tasks", "facts"}, DryRun: true}
	require.True(t, sameRebuild(in, schema.RebuildInput{Projections: []string{"facts", "tasks", "facts"}, DryRun: true, Verify: true}))
	require.Equal(t, []string{"tasks", "facts"}, in.Projections)
	for _, other := range []schema.RebuildInput{
		{DryRun: true},
		{Projections: in.Projections},
		{Projections: in.Projections, Verify: true},
		{Projections: in.Projections, DryRun: true, Collections: true},
		{Projections: []string{"facts"}, DryRun: true},
	} {
		require.False(t, sameRebuild(in, other), other)
	}
	require.Equal(t, "starter rebuild facts vectors --verify --dry-run",
		rebuildArgs(schema.RebuildInput{Projections: []string{"facts"}, Collections: true, Verify: true, DryRun: true}))
}

// sayings is the output of a program so far.
type sayings struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sayings) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sayings) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
