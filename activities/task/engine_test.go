package task_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bundle has a writer and queries on a database of their own.
type bundle struct {
	conn    driver.Conn
	log     *projection.Store
	writer  *task.Writer
	queries *task.Queries
	n       int
}

func newBundle(t testing.TB) *bundle {
	t.Helper()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	return &bundle{conn: conn, log: log, writer: task.NewWriter(&headed{Store: log, conn: conn}, conn, task.Rules{}), queries: task.NewQueries(log, conn)}
}

// report returns an aligned statement, a new one with each call.
func (b *bundle) report(project, title string, status schema.TaskStatus, blockedBy ...string) schema.Entry {
	b.n++
	return schema.Entry{
		ID: schema.DerivedID("test", project, fmt.Sprint(b.n)), Type: schema.EntryTaskNote, Scope: schema.Scope{Project: project},
		Title: title, Task: &schema.ExtractedTask{Title: title, Status: status, BlockedBy: blockedBy},
		EvidenceAligned: true, OccurredAt: noon,
		Evidence: []schema.Evidence{{Quote: title, Text: title, Aligned: true, MessageIndex: b.n}},
	}
}

func (b *bundle) apply(t testing.TB, project string, entries ...schema.Entry) task.Result {
	t.Helper()
	out, err := b.writer.Apply(t.Context(), []task.Batch{{Project: project, SessionID: "s", BuildID: "b", Entries: entries}})
	require.NoError(t, err)
	require.Nil(t, out[0].Failed)
	return out[0].Result
}

func (b *bundle) do(t testing.TB, c task.Command) error {
	t.Helper()
	b.n++
	c.RequestID, c.Actor = fmt.Sprint("r", b.n), "user:ada"
	if c.At.IsZero() {
		c.At = noon
	}
	_, err := b.writer.Do(t.Context(), c)
	return err
}

// rows returns every row of the projection's views, by view.
func (b *bundle) rows(t testing.TB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, view := range []string{"entities", "entity_aliases", "edges", "entity_events", "v_task_blockers_effective"} {
		rows, err := b.conn.Query(t.Context(), "SELECT toString(tuple(*)) AS r FROM "+view+" ORDER BY r")
		require.NoError(t, err)
		for rows.Next() {
			var r string
			require.NoError(t, rows.Scan(&r))
			out[view] = append(out[view], r)
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
	return out
}

func titlesOf(views []task.View) []string {
	out := []string{}
	for _, v := range views {
		out = append(out, v.Task.Title)
	}
	return out
}

// TestSeed12_3Idempotency: the same session twice adds no events, edges or rows, and no title to index. The worker's
// tests of the whole system check that neither adds a vector job.
func TestSeed12_3Idempotency(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	entries := []schema.Entry{
		b.report("p", "Deploy", schema.TaskInProgress), b.report("p", "Deploy", schema.TaskBlocked, "VPN", "PROJ-7"),
		b.report("p", "Deploy", schema.TaskInProgress), b.report("p", "Deploy", schema.TaskBlocked, "VPN", "review of PROJ-7"),
		b.report("p", "VPN", schema.TaskPending), b.report("p", "VPN", schema.TaskDone), b.report("p", "Write it up", schema.TaskDone),
	}
	log := func() (events []schema.Event) {
		for e, err := range b.log.Stream(t.Context(), schema.ProjectStream("p"), eventlog.StreamOptions{}) {
			require.NoError(t, err)
			events = append(events, e)
		}
		return events
	}
	first := b.apply(t, "p", entries...)
	require.Equal(t, 3, first.Created)
	before, events := b.rows(t), log()
	var edges, different uint64
	require.NoError(t, b.conn.QueryRow(t.Context(), `SELECT count(), uniqExact(edge_id) FROM edges`).Scan(&edges, &different))
	require.NotZero(t, edges)
	require.Equal(t, edges, different, "no edge is there twice")
	again := b.apply(t, "p", entries...)
	require.Zero(t, again.Events)
	require.Equal(t, 7, again.Entries)
	require.Equal(t, before, b.rows(t))
	require.Equal(t, events, log(), "event_dedup keeps them out")
	// The same in other batches, as for a session that grew.
	for _, e := range entries {
		require.Zero(t, b.apply(t, "p", e).Events)
	}
	require.Equal(t, before, b.rows(t))
	require.Equal(t, events, log())
}

// TestIDsAndReportsOnTheEngine: the tables agree with the fold on the entities with a printed prefix of an id, the
// tasks that wait for an entity, and the tasks that are reported done.
func TestIDsAndReportsOnTheEngine(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.apply(t, "p", b.report("p", "Ship", schema.TaskBlocked, "PROJ-7", "the legal review"), b.report("p", "Write it", schema.TaskPending),
		b.report("p", "Write it", schema.TaskDone), b.report("p", "Read it", schema.TaskBlocked, "Write it"))
	now := task.Selection{Project: "p"}
	reported, err := b.queries.ListTasksReportedDone(t.Context(), now)
	require.NoError(t, err)
	require.Equal(t, []string{"Write it"}, titlesOf(reported))
	require.Equal(t, "Write it", reported[0].Task.DoneReport.Quote)
	asOf, err := b.queries.ListTasksReportedDone(t.Context(), task.Selection{Project: "p", AsOf: noon})
	require.NoError(t, err)
	require.Equal(t, reported, asOf)
	blocked, err := b.queries.ListBlockedTasks(t.Context(), now)
	require.NoError(t, err)
	for _, v := range blocked {
		if v.Task.Title == "Read it" {
			require.NotNil(t, v.Blockers[0].Effective.DoneReport, "what it waits for is reported done")
			continue
		}
		for _, blocker := range v.Blockers {
			c := task.Command{Project: "p", ConditionID: blocker.ID[:8], ResolveTo: "PROJ-7"}
			if blocker.Type == schema.EntityArtifact {
				c = task.Command{Project: "p", CloseArtifact: blocker.ID[:8]}
			}
			require.NoError(t, b.do(t, c), blocker.Title)
		}
	}
	require.NoError(t, b.do(t, task.Command{Project: "p", Confirm: []string{reported[0].Task.ID[:8]}}))
	blocked, err = b.queries.ListBlockedTasks(t.Context(), now)
	require.NoError(t, err)
	require.Empty(t, blocked)
	pending, err := b.queries.ListTasks(t.Context(), now, schema.TaskPending)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"Ship", "Read it"}, titlesOf(pending), "as before they were blocked")
	_, err = b.queries.GetTaskDetail(t.Context(), now, pending[0].Task.ID[:4])
	require.NoError(t, err)
	_, err = b.queries.GetTaskDetail(t.Context(), now, "0123456789abcdef")
	require.ErrorIs(t, err, task.ErrNotFound)
}

// TestSeed12_2Transitions, on the engine: 300 tasks in_progress -> blocked -> done at the same time.
func TestSeed12_2Transitions(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var entries []schema.Entry
	for _, status := range []schema.TaskStatus{schema.TaskInProgress, schema.TaskBlocked, schema.TaskDone} {
		for i := range 300 {
			e := b.report("p", fmt.Sprintf("Task %d", i), status)
			if status == schema.TaskBlocked {
				e.Task.BlockedBy = []string{fmt.Sprintf("condition %d", i%7)}
			}
			entries = append(entries, e)
		}
	}
	b.apply(t, "p", entries...)
	var done, withBlockers, leaps uint64
	require.NoError(t, b.conn.QueryRow(t.Context(), `SELECT count(), countIf(entity_id IN (SELECT src_id FROM edges WHERE rel_type = 'blocked_by'))
		FROM entities WHERE task_status = 'done'`).Scan(&done, &withBlockers))
	require.EqualValues(t, 300, done)
	require.Zero(t, withBlockers)
	require.NoError(t, b.conn.QueryRow(t.Context(), `SELECT count() FROM events WHERE event_type = 'task_status_changed'
		AND JSONExtractString(payload_json, 'from') = 'pending' AND JSONExtractString(payload_json, 'to') = 'done'`).Scan(&leaps))
	require.Zero(t, leaps)
}

func TestRebuild(t *testing.T) {
	t.Parallel()
	rebuildRows(t, []string{"q:1"}, 3)
}

// rebuildRows is I3 and I4 on the engine: rows written step by step are those of a rebuild, in small
// pages and in large ones.
func rebuildRows(t *testing.T, projects []string, pages ...int) {
	t.Helper()
	b := newBundle(t)
	for _, project := range projects {
		b.apply(t, project, b.report(project, "Ship 1.5", schema.TaskBlocked, "waiting for API keys", "review of PROJ-7", "o/r#5"))
		b.apply(t, project, b.report(project, "API keys", schema.TaskInProgress), b.report(project, "Ship 1.5", schema.TaskInProgress))
		b.apply(t, project, b.report(project, "Ship 1.5", schema.TaskBlocked, "API keys", "修复登录错误"), b.report(project, "修复登录错误", schema.TaskBlocked))
		require.NoError(t, b.do(t, task.Command{Project: project, TaskID: "API keys", MergeInto: "修复登录错误"}))
		require.NoError(t, b.do(t, task.Command{Project: project, CloseArtifact: "PROJ-7"}))
		require.NoError(t, b.do(t, task.Command{Project: project, TaskID: "ship 1.5", Priority: schema.PriorityHigh, Title: "Ship 1.5.0"}))
		b.apply(t, project, b.report(project, "Write the report", schema.TaskDone), b.report(project, "Send it", schema.TaskPending, "PROJ-8"),
			b.report(project, "Print it", schema.TaskBlocked, "PROJ-8", "write-the-report"))
		require.NoError(t, b.do(t, task.Command{Project: project, CloseArtifact: "PROJ-8"}))
		require.NoError(t, b.do(t, task.Command{Project: project, ConfirmAll: true}))
		b.apply(t, project, b.report(project, "Check it", schema.TaskDone))
	}
	before := b.rows(t)
	require.NotEmpty(t, before["v_task_blockers_effective"])
	for _, rows := range pages {
		_, err := stacktest.Rebuild(t.Context(), b.conn, task.NewProjector(b.conn), eventlog.Options{PageRows: rows})
		require.NoError(t, err)
		require.Equal(t, before, b.rows(t), "pages of %d", rows)
	}
	// Apply the end of the log again over its rows, as after a crash before the offset was saved.
	var events []schema.Event
	for e, err := range b.log.Stream(t.Context(), schema.ProjectStream(projects[0]), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		events = append(events, e)
	}
	require.NoError(t, task.NewProjector(b.conn).Apply(t.Context(), events[len(events)/2:]))
	require.Equal(t, before, b.rows(t))
}

// TestProjectsAreApart is I10: equal titles are different tasks, and no answer contains another project's.
func TestProjectsAreApart(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.apply(t, "alpha", b.report("alpha", "Fix login bug", schema.TaskBlocked, "PROJ-7"))
	b.apply(t, "beta", b.report("beta", "Fix login bug", schema.TaskDone, "PROJ-7"))
	for project, status := range map[string]schema.TaskStatus{"alpha": schema.TaskBlocked, "beta": schema.TaskInProgress} {
		found, err := b.queries.ListTasks(t.Context(), task.Selection{Project: project}, "")
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, status, found[0].Task.TaskStatus)
	}
	require.NoError(t, b.do(t, task.Command{Project: "beta", CloseArtifact: "PROJ-7"}))
	blocked, err := b.queries.ListBlockedTasks(t.Context(), task.Selection{Project: "alpha"})
	require.NoError(t, err)
	require.True(t, blocked[0].Blockers[0].Effective.Open, "closed in another project")
	_, err = b.queries.GetTaskDetail(t.Context(), task.Selection{Project: "beta"}, blocked[0].Task.ID)
	require.ErrorIs(t, err, task.ErrNotFound)
	_, err = b.queries.ListTasks(t.Context(), task.Selection{}, "")
	require.Error(t, err)
}

func TestTitlesMatchOnTheEngine(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, titles := range [][]string{ // The titles of a batch are of different tasks, so each meets the tables.
		{"Fix login bug", "Port to C++", "Ship 1.5", "कि", "ที่", "🚀", "修复登录错误"},
		{" fix login bug!", "Port to C#", "Ship 15", "की", "ท", "🔥", "修复登录 错误。"},
		{"FIX LOGIN BUG.", "修复登出错误"}, {"Ｆｉｘ\u3000ｌｏｇｉｎ\u3000ｂｕｇ"}, {"“Fix login bug”"}, {"- [ ] Fix  login bug"}, {"Fix the login bug"}, {"fix_login_bug"},
	} {
		var reports []schema.Entry
		for _, title := range titles {
			reports = append(reports, b.report("p", title, schema.TaskPending))
		}
		b.apply(t, "p", reports...)
	}
	found, err := b.queries.ListTasks(t.Context(), task.Selection{Project: "p"}, schema.TaskPending)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"Fix login bug", "Port to C++", "Port to C#", "Ship 1.5", "Ship 15", "कि", "की", "ที่", "ท", "🚀", "🔥", "修复登录错误", "修复登出错误",
	}, titlesOf(found))
	for _, v := range found {
		if v.Task.Title == "修复登出错误" {
			require.NotEmpty(t, v.Task.Candidates, "pairs of characters find likely titles")
		}
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	at := func(hours int, e schema.Entry) schema.Entry {
		e.OccurredAt = noon.Add(time.Duration(hours) * time.Hour)
		return e
	}
	unproven := b.report("p", "Unproven", schema.TaskBlocked, "moon")
	unproven.EvidenceAligned = false
	b.apply(t, "p",
		b.report("p", "Ship", schema.TaskBlocked, "API keys", "PROJ-7"), unproven, b.report("p", "Idle", schema.TaskPending),
		at(2, b.report("p", "API keys", schema.TaskInProgress)), at(3, b.report("p", "API keys", schema.TaskDone)),
		at(4, b.report("p", "Ship", schema.TaskInProgress)),
	)
	now, morning := task.Selection{Project: "p"}, task.Selection{Project: "p", AsOf: noon.Add(90 * time.Minute)}
	for name, query := range map[string]struct {
		list    func(context.Context, task.Selection) ([]task.View, error)
		now, as []string
	}{
		"blocked":        {b.queries.ListBlockedTasks, []string{"Unproven"}, []string{"Ship", "Unproven"}},
		"only suggested": {b.queries.ListTasksWithOnlySuggestedBlockers, []string{"Unproven"}, []string{"Unproven"}},
		"placeholder":    {b.queries.ListTasksWithUnknownPlaceholderBlocker, []string{"Unproven"}, []string{"Unproven"}},
	} {
		found, err := query.list(t.Context(), now)
		require.NoError(t, err)
		require.ElementsMatch(t, query.now, titlesOf(found), name)
		found, err = query.list(t.Context(), morning)
		require.NoError(t, err)
		require.ElementsMatch(t, query.as, titlesOf(found), name)
	}
	// At two o'clock the condition is resolved to the task. At three the task is done and blocks no task.
	for hours, want := range map[int]int{2: 2, 3: 1} {
		blocked, err := b.queries.ListBlockedTasks(t.Context(), task.Selection{Project: "p", AsOf: noon.Add(time.Duration(hours) * time.Hour)})
		require.NoError(t, err)
		ship := slices.IndexFunc(blocked, func(v task.View) bool { return v.Task.Title == "Ship" })
		require.Len(t, blocked[ship].Blockers, want)
		last := blocked[ship].Blockers[want-1]
		require.Equal(t, schema.EntityArtifact, last.Effective.Type)
		require.True(t, last.Effective.Open)
		if hours == 2 {
			first := blocked[ship].Blockers[0]
			require.Equal(t, schema.EntityTask, first.Effective.Type)
			require.Equal(t, 1, first.Effective.Hops)
			require.True(t, first.Effective.Open)
		}
	}
	resolved, err := b.queries.ListResolvedConditions(t.Context(), now)
	require.NoError(t, err)
	require.Len(t, resolved, 1)
	require.Equal(t, "API keys", resolved[0].Target.Title)
	resolved, err = b.queries.ListResolvedConditions(t.Context(), morning)
	require.NoError(t, err)
	require.Empty(t, resolved)

	blocked, err := b.queries.ListBlockedTasks(t.Context(), now)
	require.NoError(t, err)
	for _, name := range []string{"ship", "task:p:ship", blocked[0].Task.ID[:8]} {
		_, err := b.queries.GetTaskDetail(t.Context(), now, name)
		require.NoError(t, err, name)
	}
	detail, err := b.queries.GetTaskDetail(t.Context(), morning, "Ship")
	require.NoError(t, err)
	require.Len(t, detail.Blockers, 2)
	require.Equal(t, schema.TaskBlocked, detail.Task.TaskStatus)
	later, err := b.queries.GetTaskDetail(t.Context(), now, "Ship")
	require.NoError(t, err)
	require.Greater(t, len(later.History), len(detail.History))
	require.Equal(t, schema.TaskCreated, later.History[0].Event.Type)
	waiting, err := b.queries.ListTasksWithUnknownPlaceholderBlocker(t.Context(), now)
	require.NoError(t, err)
	require.NoError(t, b.do(t, task.Command{Project: "p", ConditionID: waiting[0].Blockers[0].ID, ResolveTo: "moon landing"}))
	for _, s := range []task.Selection{now, {Project: "p", AsOf: noon.Add(9 * time.Hour)}} {
		waiting, err = b.queries.ListTasksWithUnknownPlaceholderBlocker(t.Context(), s)
		require.NoError(t, err)
		require.Empty(t, waiting, "what it stood in for is known now")
	}
	_, err = b.queries.GetTaskDetail(t.Context(), task.Selection{Project: "p", AsOf: noon.Add(-time.Hour)}, "Ship")
	require.ErrorIs(t, err, task.ErrNotFound)
	_, err = b.queries.ListTasks(t.Context(), now, "paused")
	require.ErrorIs(t, err, task.ErrCommand)
}

// TestHistoryShowsEvidence: the entry behind each change, with its quote.
func TestHistoryShowsEvidence(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	e := b.report("p", "Ship", schema.TaskBlocked, "API keys")
	e.Evidence[0].Quote = "we cannot ship without the API keys"
	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO entries_raw (entry_id, project, title, content_json, evidence_aligned, evidence_proven, session_id, evidence_json, version)
		VALUES (?, 'p', 'Ship is blocked', '{}', true, true, 's', ?, 1)`, e.ID, `[{"quote":"we cannot ship without the API keys","aligned":true}]`))
	b.apply(t, "p", e)
	require.NoError(t, b.do(t, task.Command{Project: "p", TaskID: "Ship", Status: schema.TaskDone, Reason: "found them"}))
	detail, err := b.queries.GetTaskDetail(t.Context(), task.Selection{Project: "p"}, "ship")
	require.NoError(t, err)
	last := detail.History[len(detail.History)-1]
	require.Equal(t, "found them", last.Act.Reason)
	require.Empty(t, last.Evidence)
	for _, h := range detail.History[:len(detail.History)-1] {
		require.Equal(t, e.ID, h.Act.EntryID, h.Event.Type)
		require.Equal(t, "we cannot ship without the API keys", h.Evidence[0].Quote)
		require.True(t, h.EvidenceAligned)
		require.True(t, h.EvidenceProven)
		require.Equal(t, "s", h.EvidenceSessionID)
	}
}

// TestEffectiveBlockersView: chains, and a cycle of rows that no command makes.
func TestEffectiveBlockersView(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.apply(t, "p", b.report("p", "Ship", schema.TaskBlocked, "one"), b.report("p", "Fix", schema.TaskBlocked, "two", "three"))
	require.NoError(t, b.do(t, task.Command{Project: "p", ConditionID: "one", ResolveTo: "two"}))
	require.NoError(t, b.do(t, task.Command{Project: "p", ConditionID: "two", ResolveTo: "three"}))
	require.NoError(t, b.do(t, task.Command{Project: "p", ConditionID: "three", ResolveTo: "PROJ-9"}))
	require.ErrorIs(t, b.do(t, task.Command{Project: "p", ConditionID: "three", ResolveTo: "one"}), task.ErrRefused)
	blocked, err := b.queries.ListBlockedTasks(t.Context(), task.Selection{Project: "p"})
	require.NoError(t, err)
	hops := map[string]int{}
	for _, v := range blocked {
		for _, blocker := range v.Blockers {
			require.Equal(t, "PROJ-9", blocker.Effective.Title)
			hops[v.Task.Title+"/"+blocker.Title] = blocker.Effective.Hops
		}
	}
	require.Equal(t, map[string]int{"Ship/one": 3, "Fix/two": 2, "Fix/three": 1}, hops)
	asOf, err := b.queries.ListBlockedTasks(t.Context(), task.Selection{Project: "p", AsOf: noon})
	require.NoError(t, err)
	require.ElementsMatch(t, blocked, asOf, "the fold as of now is what the tables say")

	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO edges_raw (edge_id, project, src_type, src_id, rel_type, dst_type, dst_id, version) VALUES
		('1', 'c', 'entity', 't', 'blocked_by', 'entity', 'x', 1), ('2', 'c', 'entity', 'x', 'resolves_to', 'entity', 'y', 1),
		('3', 'c', 'entity', 'y', 'resolves_to', 'entity', 'z', 1), ('4', 'c', 'entity', 'z', 'resolves_to', 'entity', 'x', 1)`))
	var end string
	require.NoError(t, b.conn.QueryRow(t.Context(), `SELECT effective_id FROM v_task_blockers_effective WHERE project = 'c'`).Scan(&end))
	require.Equal(t, "z", end, "the path ends where it would close the circle")
}

func TestCommandSentTwice(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.apply(t, "p", b.report("p", "Ship", schema.TaskInProgress))
	c := task.Command{Project: "p", TaskID: "Ship", Status: schema.TaskDone, RequestID: "once", Actor: "user:ada", At: noon}
	r, err := b.writer.Do(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, 1, r.Events)
	b.apply(t, "p", b.report("p", "Ship", schema.TaskInProgress)) // Reopened since.
	r, err = b.writer.Do(t.Context(), c)
	require.NoError(t, err)
	require.Zero(t, r.Events, "the act was done, once")
	require.Equal(t, "done", r.Changes[0].To, "and is told again")
	refused := task.Command{Project: "p", TaskID: "Ship", Block: []string{"Ship"}, RequestID: "refused", Actor: "user:ada", At: noon}
	for range 2 {
		_, err = b.writer.Do(t.Context(), refused)
		require.ErrorIs(t, err, task.ErrRefused)
	}
	require.NoError(t, b.do(t, task.Command{Project: "p", TaskID: "Ship", Block: []string{"x"}}))
	var count uint64
	require.NoError(t, b.conn.QueryRow(t.Context(), `SELECT count() FROM events WHERE event_type = 'task_transition_rejected'`).Scan(&count))
	require.EqualValues(t, 1, count, "what is refused is recorded")
}

var errCrash = errors.New("crash")

// crashing aborts the inserts into one table.
type crashing struct {
	driver.Conn
	table string
}

func (c *crashing) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.Contains(query, c.table) {
		return nil, errCrash
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

func TestCrashInApply(t *testing.T) {
	t.Parallel()
	crashInApply(t, stacktest.Sample(t, 2, writtenTables)...)
}

// writtenTables are the tables that an apply writes.
var writtenTables = []string{"entity_events_raw", "edges_raw", "entity_aliases_raw", "entities_raw"}

// crashInApply is I2: whichever table a crash left unwritten, the next attempt, with more events, ends in the rows of a
// rebuild.
func crashInApply(t *testing.T, tables ...string) {
	t.Helper()
	for _, table := range tables {
		b := newBundle(t)
		b.apply(t, "p", b.report("p", "Ship", schema.TaskBlocked, "keys", "PROJ-7"), b.report("p", "Fix", schema.TaskPending))
		writer := task.NewWriter(&headed{Store: b.log, conn: b.conn}, &crashing{Conn: b.conn, table: table}, task.Rules{})
		next := []schema.Entry{b.report("p", "Ship", schema.TaskInProgress), b.report("p", "fix it", schema.TaskBlocked, "Ship")}
		batch := task.Batch{Project: "p", SessionID: "s", Entries: next}
		_, err := writer.Apply(t.Context(), []task.Batch{batch})
		require.ErrorIs(t, err, errCrash, table)
		batch.Entries = append(batch.Entries, b.report("p", "keys", schema.TaskPending), b.report("p", "Ship", schema.TaskBlocked, "keys"))
		out, err := b.writer.Apply(t.Context(), []task.Batch{batch})
		require.NoError(t, err)
		require.Equal(t, 4, out[0].Result.Entries)
		before := b.rows(t)
		_, err = stacktest.Rebuild(t.Context(), b.conn, task.NewProjector(b.conn))
		require.NoError(t, err)
		require.Equal(t, before, b.rows(t), table)
	}
}
