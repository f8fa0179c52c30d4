package main_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/worker/statedir"
)

// The words of the content to forget. They occur nowhere else.
const (
	secretWord  = "zanzibarquill"
	otherSecret = "мандаринобрус"
)

// forgetting is a site whose memory contains something to forget, and much else.
type forgetting struct {
	*site
	*bench
	// gone is the session to forget.
	gone schema.SessionKey
	uri  string
}

// dirs are the directories of the stores, by their names: on shared servers only that of the files.
func (f *forgetting) dirs() map[string]string {
	if f.site == nil {
		return map[string]string{"files": f.cfg.MemoryRoot}
	}
	return map[string]string{
		"clickhouse": filepath.Join(f.dir, "clickhouse"), "weaviate": filepath.Join(f.dir, "weaviate"), "temporal": f.dir, "files": f.cfg.MemoryRoot,
	}
}

// bytesOf returns the files of each store that hold one of the words, in whatever case. Files of ClickHouse are
// decompressed.
func (f *forgetting) bytesOf(t *testing.T, words ...string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for store, dir := range f.dirs() {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // a server removes files while we look
			}
			if store == "temporal" && !strings.HasPrefix(d.Name(), "temporal.db") {
				return nil
			}
			data, err := os.ReadFile(filepath.Clean(path))
			if err != nil {
				return nil //nolint:nilerr // likewise
			}
			if strings.HasSuffix(path, ".bin") {
				plain, _ := io.ReadAll(compress.NewReader(bytes.NewReader(data)))
				data = append(data, plain...)
			}
			data = bytes.ToLower(data)
			for _, word := range words {
				if bytes.Contains(data, []byte(word)) {
					found[store] = append(found[store], strings.TrimPrefix(path, dir))
					return nil
				}
			}
			return nil
		}))
	}
	return found
}

// requireForgotten requires that no store says the words. On shared servers these are the tables, the collection and the
// files of the bench, else all files of the servers.
func (f *forgetting) requireForgotten(t *testing.T) {
	t.Helper()
	for store, files := range f.bytesOf(t, secretWord, otherSecret) {
		if store != "temporal" { // It frees pages of its file later.
			require.Empty(t, files, store)
		}
	}
	for place, text := range f.places(t) {
		text = strings.ToLower(text)
		require.NotContains(t, text, secretWord, place)
		require.NotContains(t, text, otherSecret, place)
	}
}

// newForgetting is a memory on a site of its own, or else on the shared servers.
func newForgetting(t *testing.T, s *site) *forgetting {
	t.Helper()
	f := &forgetting{site: s}
	if s == nil {
		f.bench = newRemoteBench(t, newEmbeddingServer(t, 0))
	} else {
		f.bench, _ = s.bench(t) // The site is its own.
		t.Cleanup(f.Close)
	}
	f.cfg.EraserDSN, f.cfg.UnsignedErasures = f.cfg.ClickHouseDSN, true
	return f
}

// say processes a session to forget, one of the same user that says some of the same, and one of another user and project,
// by the offline extractor. The first is given by the queue, too, and dreamt of. It is called once a worker runs.
func (f *forgetting) say(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	shared := []string{
		said(1, "user", "We decided to use ClickHouse for the event log."),
		said(2, "user", "I prefer early lunches over any long meeting in the afternoon."),
		said(3, "assistant", "TODO: rotate the access certificates of the gateway."),
	}
	in := f.input("gone", write(t, filepath.Join(dir, "gone.jsonl"), append(slices.Clone(shared),
		said(4, "user", "I prefer Zanzibarquill tea over any coffee in the morning."),
		said(5, "user", "We decided to use Zanzibarquill as the store of all ledgers."),
		said(6, "assistant", "TODO: migrate the Zanzibarquill ledger to the new cluster."),
		said(7, "user", "Мы решили использовать Мандаринобрус для всех отчётов отдела."),
	)...))
	f.gone, f.uri = in.Key(), in.URI
	require.Equal(t, schema.BuildSuccess, f.process(t, in).Status)
	f.enqueue(t, f.queued("u", "gone", "ctx-1", "And Zanzibarquill is what we name the second tea house in Busan.", "Noted."))
	f.flushQueue(t, "u")
	kept := f.input("kept", write(t, filepath.Join(dir, "kept.jsonl"), append(slices.Clone(shared),
		said(8, "user", "We decided to keep backups for thirty days."),
		said(9, "assistant", "TODO: measure the latency of the search."),
	)...))
	require.Equal(t, schema.BuildSuccess, f.process(t, kept).Status)
	other := f.input("other", write(t, filepath.Join(dir, "other.jsonl"), append(slices.Clone(shared),
		said(8, "user", "We decided to write the manual in Korean."),
	)...))
	other.Project, other.User = "elsewhere", "someone"
	require.Equal(t, schema.BuildSuccess, f.process(t, other).Status)
	content := "The office is on the third floor."
	_, err := f.command(t.Context(), fact.Command{Op: fact.OpCreate, Content: &content})
	require.NoError(t, err)
	f.dream(t)
	f.awaitIndexed(t)
	f.awaitGraduated(t.Context(), t)
	(&bench{Stores: f.Stores, project: "elsewhere"}).awaitGraduated(t.Context(), t)
}

func (f *forgetting) dream(t *testing.T) schema.DeepDreamResult {
	t.Helper()
	in := schema.DeepDreamInput{User: "u"}
	run, err := f.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: in.WorkflowID(), TaskQueue: schema.QueueMain, WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, schema.WorkflowDeepDream, in)
	require.NoError(t, err)
	var result schema.DeepDreamResult
	require.NoError(t, run.Get(t.Context(), &result))
	return result
}

func (f *forgetting) forget(ctx context.Context, t *testing.T, id string, scope schema.ErasureScope) (schema.ForgetResult, error) {
	t.Helper()
	run, err := f.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: schema.WorkflowForget + "/" + id, TaskQueue: schema.QueueMain,
	}, schema.WorkflowForget, schema.ForgetInput{ErasureScope: scope, ID: id, By: "ann"})
	require.NoError(t, err)
	var result schema.ForgetResult
	err = run.Get(ctx, &result)
	f.logSteps(ctx, t)
	return result, err
}

// logSteps logs how long the steps of the last erasure took.
func (f *forgetting) logSteps(ctx context.Context, t *testing.T) {
	t.Helper()
	began := map[int64]time.Time{}
	names := map[int64]string{}
	events := f.Temporal.GetWorkflowHistory(ctx, schema.ForgetWorkflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Log(err)
			return
		}
		at := e.GetEventTime().AsTime()
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			began[e.GetEventId()], names[e.GetEventId()] = at, a.GetActivityType().GetName()
		}
		if a := e.GetStartChildWorkflowExecutionInitiatedEventAttributes(); a != nil {
			began[e.GetEventId()], names[e.GetEventId()] = at, a.GetWorkflowId()
		}
		for _, of := range []int64{e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(), e.GetChildWorkflowExecutionCompletedEventAttributes().GetInitiatedEventId()} {
			if of > 0 {
				t.Logf("%6.1f s %s", at.Sub(began[of]).Seconds(), names[of])
			}
		}
	}
}

func (f *forgetting) session() schema.ErasureScope {
	return schema.ErasureScope{Project: f.gone.Project, User: f.gone.User, Agent: f.gone.Agent, SessionID: f.gone.SessionID}
}

// others returns the rows of the other user and project, and those of the session that stays.
func (f *forgetting) others(t *testing.T) []string {
	t.Helper()
	return slices.Concat(
		column(t, f.ClickHouse, `SELECT toString((stream, seq, event_id, checksum, event_type)) AS row FROM events
			WHERE stream IN ('project/elsewhere', 'graduate/elsewhere', 'memory/someone/') OR startsWith(stream, 'session/elsewhere/') OR session_id = 'kept' ORDER BY row`),
		column(t, f.ClickHouse, "SELECT toString((entry_id, title, stage, evidence_json)) AS row FROM entries WHERE project = 'elsewhere' ORDER BY row"),
		column(t, f.ClickHouse, "SELECT toString((fact_id, content)) AS row FROM facts WHERE user = 'someone' ORDER BY row"),
	)
}

// A forgotten session is in no file of any store. Other sessions stay, tables match the log, and the session can't come
// back until a person lifts the tombstone.
func forgetSession(t *testing.T, f *forgetting) {
	t.Helper()
	f.cfg.State = statedir.Dir(t.TempDir())
	f.start(t)
	f.say(t)
	var left []string // by killed programs
	for _, name := range []string{filepath.Join(f.cfg.MemoryRoot, "memory", "users", "u", "MEMORY.md.9.tmp"), filepath.Join(f.cfg.State.Path("tmp"), "1-2", "copy.db")} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("The "+secretWord+" of the door."), 0o600))
		left = append(left, name)
	}
	before := f.bytesOf(t, secretWord, otherSecret)
	for store := range f.dirs() {
		require.NotEmpty(t, before[store], "the search finds what is there in %s", store)
	}
	for place, text := range f.places(t) {
		if slices.Contains([]string{"the table events_raw", "the table entries_raw", "Weaviate", "Temporal", "the files"}, place) {
			require.Contains(t, strings.ToLower(text), secretWord, "%s is looked at", place)
		}
	}
	others := f.others(t)
	taskBefore := column(t, f.ClickHouse, "SELECT title FROM entities WHERE project = ? AND entity_type = 'task' ORDER BY title", f.project)
	require.Len(t, taskBefore, 3)

	began := time.Now()
	result, err := f.forget(t.Context(), t, "erasure-1", f.session())
	require.NoError(t, err)
	t.Logf("forgotten in %.0f s: %+v", time.Since(began).Seconds(), result)
	require.Equal(t, 1, result.Sessions)
	require.Empty(t, result.Left)
	require.NotEmpty(t, result.Elsewhere, "the other sessions say some of the same")
	f.requireForgotten(t)
	for _, name := range left {
		require.NoFileExists(t, name)
	}
	require.Subset(t, f.others(t), others, "what others say is as it was")
	require.Equal(t, []string{"measure the latency of the search", "rotate the access certificates of the gateway"},
		lower(column(t, f.ClickHouse, "SELECT title FROM entities WHERE project = ? AND entity_type = 'task' AND status = 'active' ORDER BY title", f.project)))
	facts := lower(column(t, f.ClickHouse, "SELECT content FROM facts WHERE user = 'u' ORDER BY content"))
	require.Contains(t, facts, "i prefer early lunches over any long meeting in the afternoon.", "another session says so, too: %v", facts)
	require.Contains(t, facts, "the office is on the third floor.")
	f.requireVerified(t, "after forgetting")
	for _, p := range column(t, f.ClickHouse, "SELECT dedupe_key FROM events_raw WHERE event_type = 'event_erased'") {
		require.True(t, strings.HasPrefix(p, "event_erased/erasure-1/"), p)
	}

	in := f.input("gone", f.uri)
	_, err = f.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorErased, "starter forget lift")
	f.enqueue(t, f.queued("u", "gone", "ctx-2", "Zanzibarquill again.", "Noted."))
	f.enqueue(t, f.queued("u", "new", "ctx-3", "We decided to buy a samovar.", "Noted."))
	flushed := f.flushQueue(t, "u")
	require.Empty(t, flushed.Failed)
	require.NotEmpty(t, column(t, f.ClickHouse, "SELECT entry_id FROM entries WHERE session_id = 'new'"))
	require.Empty(t, column(t, f.ClickHouse, "SELECT event_id FROM events WHERE session_id = 'gone'"))

	dreamt := f.dream(t)
	require.Equal(t, schema.DreamCommitted, dreamt.Status, dreamt.Reason)
	require.Empty(t, f.bytesOf(t, secretWord, otherSecret)["files"])
	core, err := tier.NewTables(f.ClickHouse).Current(t.Context(), "u", "")
	require.NoError(t, err)
	require.Contains(t, core.Text, "We decided to use ClickHouse for the event log.", "the dream reads again what the other session says")
	t.Log("survived: a session is forgotten")
}

// A user is forgotten although the worker is killed repeatedly, and ClickHouse while it deletes. The result is the same
// as without kills, and the user can't come back. (I2)
func TestI2ForgetKilled(t *testing.T) {
	t.Parallel()
	forgetKilled(t, 0)
}

// forgetKilled kills a worker after each of the times, and from 0 on, which is the time of the deletion, ClickHouse too.
func forgetKilled(t *testing.T, waits ...time.Duration) {
	t.Helper()
	f := newForgetting(t, newSite(t))
	worker := buildWorker(t, f.bench)
	w := worker.launch(t)
	defer func() { w.kill() }()
	f.say(t)
	require.NotEmpty(t, f.bytesOf(t, secretWord)["clickhouse"])
	scope := schema.ErasureScope{User: "u"}
	want, err := erase.Make(t.Context(), f.Log.Store, f.ClickHouse, "preview", scope, nil)
	require.NoError(t, err)
	require.Equal(t, 2, want.Counts.Sessions)

	stop, killed := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { killed <- n }()
		deleting := false
		for _, wait := range waits {
			look := time.NewTicker(10 * time.Millisecond)
			for at := time.Now(); wait == 0 && !deleting && time.Since(at) < patience; <-look.C {
				var rows uint64
				deleting = f.ClickHouse.QueryRow(context.Background(), "SELECT count() FROM erasing_raw").Scan(&rows) == nil && rows > 0
			}
			look.Stop()
			select {
			case <-stop:
				return
			case <-time.After(wait):
			}
			if deleting { // The supervisor starts it again.
				_ = syscall.Kill(f.Servers()["clickhouse"], syscall.SIGKILL)
			}
			w.kill()
			w = worker.launch(t)
			n++
		}
	}()
	result, err := f.forget(t.Context(), t, "erasure-k", scope)
	require.NoError(t, err)
	close(stop)
	t.Logf("forgotten, with %d kills of the worker: %+v", <-killed, result)
	require.Empty(t, result.Left)
	require.Equal(t, want.Counts.Sessions, result.Sessions)
	require.Equal(t, want.Counts.Messages, result.Messages)
	f.requireForgotten(t)
	require.Empty(t, column(t, f.ClickHouse, "SELECT stream FROM events_raw WHERE startsWith(stream, 'memory/u/') OR startsWith(stream, 'session/crashes/u/') OR startsWith(stream, 'queue/u/')"))
	require.Empty(t, column(t, f.ClickHouse, "SELECT erasure_id FROM erasure_secrets"), "the key of the fingerprints is destroyed")
	require.NotEmpty(t, column(t, f.ClickHouse, "SELECT entry_id FROM entries WHERE project = 'elsewhere'"))
	f.requireVerified(t, "after forgetting")
	_, err = f.try(t.Context(), f.input("another", f.uri))
	requireFailure(t, err, schema.ErrorErased, "this user was forgotten")
	t.Log("survived: worker and ClickHouse killed while a user was forgotten")
}

// An erasure by a text, or of a project, changes only the events in the log that name it. Tables rebuilt from the log
// match it, and the remaining content is unchanged.
func forgetQueryAndProject(t *testing.T) {
	t.Helper()
	f := &forgetting{bench: newBench(t)}
	f.start(t)
	f.say(t)
	bob := f.input("bobs", write(t, filepath.Join(t.TempDir(), "bobs.jsonl"), said(1, "user", "I prefer Zanzibarquill tea with lemon in the evening."),
		said(2, "assistant", "TODO: order more Zanzibarquill tea for the office.")))
	bob.User = "bob"
	require.Equal(t, schema.BuildSuccess, f.process(t, bob).Status)
	f.awaitGraduated(t.Context(), t)
	bobs := func() []string {
		return slices.Concat(
			column(t, f.ClickHouse, "SELECT toString((entry_id, title, stage, status)) AS row FROM entries WHERE user = 'bob' ORDER BY row"),
			column(t, f.ClickHouse, "SELECT toString((fact_id, content)) AS row FROM facts WHERE user = 'bob' ORDER BY row"),
			column(t, f.ClickHouse, "SELECT title FROM entities WHERE title ILIKE '%for the office%'"))
	}
	bobsBefore := bobs()
	require.Len(t, bobsBefore, 4)
	apply := func(id string, scope schema.ErasureScope) *erase.Plan {
		t.Helper()
		plan, err := erase.Make(t.Context(), f.Log.Store, f.ClickHouse, id, scope, nil)
		require.NoError(t, err)
		x := eventlog.NewEraser(f.ClickHouse, id)
		require.NoError(t, x.Replace(t.Context(), plan.Replacements))
		require.NoError(t, x.Delete(t.Context(), plan.Streams))
		require.NoError(t, x.Apply(t.Context()))
		e, err := schema.NewEvent(schema.ErasureBegunPayload{ErasureID: id, Kind: scope.Kind(), By: "ann", Salt: "salt"}, schema.Event{
			TS: time.Now(), Actor: "ann", DedupeKey: schema.ErasureKey(id, schema.ErasureBegun, 0),
		})
		require.NoError(t, err)
		_, err = f.Log.Append(t.Context(), schema.AuditStream(), []schema.Event{e})
		require.NoError(t, err)
		<-time.After(f.Log.Drain()) // No store shows that the other leases have ended.
		f.rebuild(t)
		again, err := erase.Make(t.Context(), f.Log.Store, f.ClickHouse, id, scope, nil)
		require.NoError(t, err)
		require.True(t, again.Empty(), "done again, it changes nothing: %+v", again)
		return plan
	}
	others := f.others(t)
	entries := func(session string) []string {
		return column(t, f.ClickHouse, "SELECT title FROM entries WHERE session_id = ? ORDER BY title", session)
	}
	before := entries("gone")

	plan := apply("by-text", schema.ErasureScope{User: "u", Query: "ZANZIBARQUILL  tea"})
	require.Equal(t, 1, plan.Counts.Messages, "what says it in another order of words is something else")
	left := entries("gone")
	require.Equal(t, without(before, left), slices.DeleteFunc(slices.Clone(before), func(title string) bool { return !strings.Contains(strings.ToLower(title), "zanzibarquill tea") }))
	require.Len(t, left, len(before)-1)
	require.Equal(t, bobsBefore, bobs(), "what another user of the project says is theirs")
	for _, text := range column(t, f.ClickHouse, "SELECT payload_json FROM events_raw WHERE NOT match(stream, '/bob/|^project/')") {
		require.NotContains(t, strings.ToLower(text), "zanzibarquill tea")
	}
	require.Equal(t, []string{"1"}, column(t, f.ClickHouse, `SELECT toString(sum(countSubstrings(payload_json, '[redacted: forgotten]'))) FROM events
		WHERE session_id = 'gone' AND event_type = 'session_ingested'`))
	require.Equal(t, others, f.others(t))
	require.Equal(t, schema.BuildUnchanged, f.process(t, f.input("gone", f.uri)).Status, "the messages are known, and are not read again")

	apply("of-project", schema.ErasureScope{Project: f.project})
	require.Empty(t, column(t, f.ClickHouse, "SELECT entry_id FROM entries WHERE project = ?", f.project))
	require.Empty(t, column(t, f.ClickHouse, "SELECT stream FROM events_raw WHERE project = ? AND event_type != 'event_erased'", f.project))
	require.Equal(t, []string{"The office is on the third floor."}, column(t, f.ClickHouse, "SELECT content FROM facts WHERE user = 'u'"))
	elsewhere := slices.DeleteFunc(others, func(row string) bool {
		return strings.Contains(row, "session/"+f.project) || strings.Contains(row, "'"+f.project) || strings.Contains(row, "memory/u/") || strings.Contains(row, "project/"+f.project)
	})
	require.Subset(t, f.others(t), elsewhere)
}

func lower(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strings.ToLower(text)
	}
	slices.Sort(out)
	return out
}
