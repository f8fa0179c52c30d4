package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/activities/tier"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// noClient replaces Temporal's client where updates are done at once.
type noClient struct{ client.Client }

// nightBench is a memory with the real activities over the engine and a directory.
type nightBench struct {
	*nightSources
	conn   driver.Conn
	log    *projection.Store
	tables *tier.Tables
	tiers  *tier.Activities
	facts  *fact.Writer
	model  *nightModel
	dir    string
	zone   *time.Location
	scope  schema.Scope

	versions map[int]tier.Core
	seen     map[string]string
}

func newNightBench(t *testing.T) *nightBench {
	t.Helper()
	conn := stacktest.Migrated(t)
	zone, err := time.LoadLocation("Asia/Seoul")
	require.NoError(t, err)
	b := &nightBench{
		nightSources: &nightSources{sentences: map[string]bool{}, days: map[string][]string{}},
		conn:         conn, log: projection.New(conn, eventlog.Options{}), tables: tier.NewTables(conn), model: &nightModel{}, dir: t.TempDir(),
		zone: zone, scope: schema.Scope{Project: "p", User: "default"}, versions: map[int]tier.Core{}, seen: map[string]string{},
	}
	b.facts, err = fact.NewWriter(b.log, conn, fact.Options{})
	require.NoError(t, err)
	facts, err := fact.NewActivities(b.log, b.facts, nil)
	require.NoError(t, err)
	root, err := tier.OpenRoot(t.Context(), b.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	b.tiers, err = tier.NewActivities(b.log, conn, b.model, facts, noClient{}, root, tier.Options{Zone: zone})
	require.NoError(t, err)
	return b
}

// dream runs deep_dream at the time, with the real activities. Their updates for the memory's writer are done at once.
func (b *nightBench) dream(t *testing.T, at time.Time) schema.DeepDreamResult {
	t.Helper()
	in := schema.DeepDreamInput{}
	env := newEnvironment(newRooms(), schema.DeepDreamInput{User: b.scope.User}.WorkflowID())
	env.SetStartTime(at)
	env.OnActivity("SubmitFiles", mock.Anything, mock.Anything).Return(func(ctx context.Context, in tier.FilesInput) (tier.FilesResult, error) {
		in.All = true
		return b.tiers.SyncFiles(ctx, in)
	})
	env.OnActivity("SubmitDream", mock.Anything, mock.Anything).Return(b.tiers.CommitDream)
	env.OnActivity("GatherDream", mock.Anything, mock.Anything).Return(b.tiers.GatherDream)
	env.OnActivity("PlanDream", mock.Anything, mock.Anything).Return(b.tiers.PlanDream)
	env.OnActivity("AskDream", mock.Anything, mock.Anything).Return(b.tiers.AskDream)
	env.ExecuteWorkflow(schema.WorkflowDeepDream, in)
	require.NoError(t, env.GetWorkflowError())
	var result schema.DeepDreamResult
	require.NoError(t, env.GetWorkflowResult(&result))
	return result
}

// live records a day: flushed summaries, proven entries, facts, and a person's edits of the files.
func (b *nightBench) live(t *testing.T, n int, at time.Time) {
	t.Helper()
	date := at.In(b.zone).Format(schema.DateLayout)
	session := schema.SessionKey{Scope: b.scope, SessionID: fmt.Sprint("s", n)}
	said := b.day(n, date)
	for i, part := range [][]string{said[:2], said[2:]} {
		flushed := schema.ContextFlushedPayload{
			SessionKey: session, Date: date, Clock: fmt.Sprintf("1%d:30", i), First: 2 * i, Last: 2*i + 1, Summarizer: "openai/m", Text: bullets(part),
		}
		b.append(t, schema.MemoryStream(b.scope.User, ""), schema.ContextFlushedKey(session, 2*i, 2*i+1), at, flushed)
	}
	if n%3 == 0 {
		title := fmt.Sprintf("We decided to keep database %d.", n)
		b.say(date, title)
		e := schema.Entry{
			ID: schema.DerivedID("entry", session.Stream(), title), Type: schema.EntryDecision, CanonicalKey: "decision:" + title,
			SessionID: session.SessionID, Scope: b.scope, Title: title, Stage: schema.StageWorking, Status: schema.StatusActive,
			OccurredAt: at, EvidenceAligned: true, EvidenceProven: true,
		}
		b.append(t, session.Stream(), schema.EntryMaterializedKey(e.ID), at, schema.EntryMaterializedPayload{Entry: e, ExtractedEventID: "x", AlignedEventID: "a"})
		_, err := b.log.Project(t.Context(), entry.NewProjector(b.conn), session.Stream())
		require.NoError(t, err)
	}
	if n%4 == 0 {
		content, category, confidence := fmt.Sprintf("Ann likes the tea number %d.", n), schema.CategoryPreference, 0.9
		b.say(date, content)
		_, err := b.facts.Do(t.Context(), fact.Command{
			User: b.scope.User, RequestID: fmt.Sprint("r", n), Actor: "ann", At: at, Op: fact.OpCreate,
			Content: &content, Confidence: &confidence, Category: &category,
		})
		require.NoError(t, err)
	}
	if n%7 == 5 {
		line := fmt.Sprintf("A person noted this on night %d.", n)
		b.say(date, line)
		b.addLine(t, "MEMORY.md", "- "+line)
	}
}

func (b *nightBench) append(t *testing.T, stream, key string, at time.Time, payload any) {
	t.Helper()
	event, err := schema.NewEvent(payload, schema.Event{TS: at.UTC(), Actor: "test", DedupeKey: key})
	require.NoError(t, err)
	_, err = b.log.Append(t.Context(), stream, []schema.Event{event})
	require.NoError(t, err)
}

func (b *nightBench) addLine(t *testing.T, name, line string) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, line+"\n"...), 0o600))
}

// nightCounts are the counts over all nights.
type nightCounts struct {
	statuses                          map[schema.DreamStatus]int
	versions, items, ungrounded, lost int
	dropped                           map[string]int
	restorable, files                 int
}

// Nothing that the model says enters core memory without a source, and nothing leaves it without a reason (I12). The
// model is honest in one of these nights, and makes another mistake in each of the others.
func TestI12Nights(t *testing.T) {
	t.Parallel()
	nights := []way{ways[0], answersNothing}
	for _, n := range stacktest.Draw(t, 8, len(ways)-1) {
		nights = append(nights, ways[1+n])
	}
	nightsOf(t, nights)
}

// nightsOf dreams a night with each of the models.
func nightsOf(t *testing.T, nights []way) {
	t.Helper()
	b := newNightBench(t)
	counts := nightCounts{statuses: map[schema.DreamStatus]int{}, dropped: map[string]int{}}
	at := time.Date(2026, 6, 1, 14, 55, 0, 0, time.UTC) // 23:55 in Seoul.
	for n, model := range nights {
		b.live(t, n, at.Add(-time.Hour))
		b.model.way = model
		result := b.dream(t, at)
		counts.statuses[result.Status]++
		require.NotEqual(t, schema.DreamSkipped, result.Status, b.model.way.name)
		t.Logf("night %d, a model that %s: %s %s", n, b.model.way.name, result.Status, result.Reason)
		b.check(t, n, &counts)
		at = at.AddDate(0, 0, 1)
	}
	b.model.way = ways[0]
	require.NotEqual(t, schema.DreamIsRefused, b.dream(t, at).Status, "what refused dreams left unread is read in the end")
	b.check(t, len(nights), &counts)
	again := b.dream(t, at)
	require.Equal(t, schema.DreamSkipped, again.Status, again.Reason)
	b.restoreAll(t, at, &counts)
	for _, status := range []schema.DreamStatus{schema.DreamCommitted, schema.DreamIsRefused} {
		require.Positive(t, counts.statuses[status], "no night was %s: the model is no adversary", status)
	}
	t.Logf("I12: %d nights, %d committed, %d unchanged, %d refused; %d versions with %d items in all: %d ungrounded, %d lost without a reason; dropped %v; %d versions restored to the same bytes; %d source events untouched; %d files compared",
		len(nights), counts.statuses[schema.DreamCommitted], counts.statuses[schema.DreamUnchanged], counts.statuses[schema.DreamIsRefused],
		counts.versions, counts.items, counts.ungrounded, counts.lost, counts.dropped, counts.restorable, len(b.seen), counts.files)
}

// check checks the invariants after a night.
func (b *nightBench) check(t *testing.T, n int, counts *nightCounts) {
	t.Helper()
	found, err := b.tables.Versions(t.Context(), b.scope.User, "", 1000, 0)
	require.NoError(t, err)
	counts.versions, counts.items = len(found), 0
	clear(counts.dropped)
	byNumber := map[int]tier.Core{}
	for _, v := range found {
		byNumber[v.Version] = v
		if before, ok := b.versions[v.Version]; ok {
			require.Equal(t, before, v, "night %d (%s): version %d has changed", n, b.model.way.name, v.Version)
		}
		counts.items += len(v.Items)
		for _, d := range v.Dropped {
			counts.dropped[d.Reason]++
		}
	}
	for _, v := range found {
		if _, ok := b.versions[v.Version]; ok {
			continue
		}
		for _, item := range v.Items {
			if !b.grounded(item.Text) {
				counts.ungrounded++
				t.Errorf("night %d (%s), version %d: nothing says %q", n, b.model.way.name, v.Version, item.Text)
			}
			require.NotEmpty(t, item.Sources, item.Text)
		}
		for _, d := range v.Dropped {
			if d.Reason == schema.DroppedUngrounded && b.sentences[d.Text] {
				t.Errorf("night %d (%s), version %d: a source says %q", n, b.model.way.name, v.Version, d.Text)
			}
		}
		for _, item := range b.lostWithoutReason(byNumber[v.Parent], v) {
			counts.lost++
			t.Errorf("night %d (%s), version %d: %q is lost: %+v", n, b.model.way.name, v.Version, item, v.Dropped)
		}
	}
	b.versions = byNumber
	b.requireSources(t)
	counts.files = b.requireFiles(t)
}

// requireSources checks that no event that a dream reads was changed or removed.
func (b *nightBench) requireSources(t *testing.T) {
	t.Helper()
	rows, err := b.conn.Query(t.Context(), `SELECT event_id, checksum FROM events WHERE event_type NOT IN ('core_committed', 'dream_finished')`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	now := map[string]string{}
	for rows.Next() {
		var id, sum string
		require.NoError(t, rows.Scan(&id, &sum))
		now[id] = sum
	}
	require.NoError(t, rows.Err())
	for id, sum := range b.seen {
		require.Equal(t, sum, now[id], id)
	}
	b.seen = now
}

// requireFiles checks that the files match the projection, and returns their number.
func (b *nightBench) requireFiles(t *testing.T) int {
	t.Helper()
	want := map[string]string{}
	core, err := b.tables.Current(t.Context(), b.scope.User, "")
	require.NoError(t, err)
	if core.Version > 0 {
		want["MEMORY.md"] = core.Text
	}
	for kind, dir := range map[schema.RecordKind]string{schema.RecordDaily: "memory", schema.RecordDiary: "memory/dreams"} {
		records, err := b.tables.Records(t.Context(), b.scope.User, "", kind)
		require.NoError(t, err)
		byDate := map[string][]tier.Record{}
		for _, r := range records {
			byDate[r.Date] = append(byDate[r.Date], r)
		}
		for date, of := range byDate {
			if text, ok := tier.RenderRecord(of); ok {
				want[dir+"/"+date+".md"] = text
			}
		}
	}
	have := map[string]string{}
	require.NoError(t, filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(b.dir, path)
		have[filepath.ToSlash(name)] = string(text)
		return err
	}))
	require.Equal(t, want, have)
	return len(have)
}

// restoreAll makes each version the current one again.
func (b *nightBench) restoreAll(t *testing.T, at time.Time, counts *nightCounts) {
	t.Helper()
	for _, n := range slices.Sorted(maps.Keys(b.versions)) {
		wanted := b.versions[n]
		var done tier.RestoreResult
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(slog.New(slog.DiscardHandler))
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(b.tiers)
		value, err := env.ExecuteActivity(b.tiers.RestoreCore, tier.RestoreCommand{
			User: b.scope.User, RequestID: fmt.Sprint("restore", n), Actor: "ann", At: at, Version: n,
		})
		require.NoError(t, err)
		require.NoError(t, value.Get(&done))
		core, err := b.tables.Current(t.Context(), b.scope.User, "")
		require.NoError(t, err)
		require.Equal(t, wanted.Text, core.Text)
		for i, item := range core.Items {
			core.Items[i].Written = wanted.Items[i].Written // A person restored it.
			require.True(t, item.Written || !wanted.Items[i].Written)
		}
		require.Equal(t, wanted.Items, core.Items)
		require.GreaterOrEqual(t, core.Version, done.Version)
		counts.restorable++
	}
}
