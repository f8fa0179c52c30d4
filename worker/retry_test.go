package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// retries are the tests of retried builds, by the state that is retried.
var retries = map[string]func(*testing.T){
	"at the step of a lost table":         retryAtStepOfLostTable,
	"at a refused step":                   retryAtRefusedStep,
	"after Weaviate was away":             retryAfterWeaviateWasAway,
	"of failed vectors":                   retryOfFailedVectors,
	"of an interrupted build":             retryOfInterruptedBuild,
	"of a build interrupted in its index": retryOfBuildInterruptedInIndex,
	"of an interrupted retry":             retryOfInterruptedRetry,
	"of a file":                           retryOfFile,
	"of a deleted file":                   retryOfDeletedFile,
	"of inline messages":                  retryOfInlineMessages,
	"of inline messages from an event":    retryOfInlineMessagesFromEvent,
	"after a retry that read nothing":     retryAfterRetryThatReadNothing,
	"of a statement":                      retryOfStatement,
}

// A build that failed, was interrupted or is partial goes on where it ended: here two of the ways, and two others.
func TestRetry(t *testing.T) {
	t.Parallel()
	for _, name := range some(t, slices.Sorted(maps.Keys(retries)), 2, "at the step of a lost table", "of an interrupted build") {
		t.Run(name, retries[name])
	}
}

// retry tries the build again.
func (b *bench) retry(t testing.TB, session, id string) (schema.ProcessSessionResult, error) {
	t.Helper()
	in := b.input(session, "")
	in.Retry = id
	return b.try(t.Context(), in)
}

// builds returns the starts and ends of the session's builds, in order. The end of one that did not end is zero.
func (b *bench) builds(t testing.TB, session string) (starts []schema.BuildStartedPayload, ends []schema.BuildFinishedPayload) {
	t.Helper()
	options := eventlog.StreamOptions{Types: []string{schema.BuildStarted, schema.BuildFinished}}
	for event, err := range b.Log.Stream(t.Context(), b.input(session, "").Key().Stream(), options) {
		require.NoError(t, err)
		if event.Type == schema.BuildStarted {
			p, err := schema.Decode[schema.BuildStartedPayload](event)
			require.NoError(t, err)
			starts, ends = append(starts, p), append(ends, schema.BuildFinishedPayload{})
			continue
		}
		p, err := schema.Decode[schema.BuildFinishedPayload](event)
		require.NoError(t, err)
		ends[len(ends)-1] = p
	}
	return starts, ends
}

// requireFailed checks that the session's last build failed in the step, and returns its id.
func (b *bench) requireFailed(t testing.TB, session, step, errorType string) string {
	t.Helper()
	starts, ends := b.builds(t, session)
	require.NotEmpty(t, ends)
	last := ends[len(ends)-1]
	require.Equal(t, schema.BuildFailed, last.Status)
	require.Equal(t, step, last.FailedStep, last.Error)
	require.Equal(t, errorType, last.ErrorType)
	return starts[len(starts)-1].BuildID
}

// requireRetried tries the failed build again, and checks that this succeeds, from the step on.
func (b *bench) requireRetried(t testing.TB, session, id, step string) schema.ProcessSessionResult {
	t.Helper()
	result, err := b.retry(t, session, id)
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.NotEqual(t, id, result.BuildID)
	starts, ends := b.builds(t, session)
	last := starts[len(starts)-1]
	require.Equal(t, result.BuildID, last.BuildID)
	require.Equal(t, id, last.Input.Retry)
	if step == schema.StepIngest {
		require.Nil(t, last.Resumed)
	} else {
		require.Equal(t, &schema.ResumedBuild{BuildID: id, Step: step}, last.Resumed)
	}
	steps := []string{
		schema.StepExtract, schema.StepAlign, schema.StepMaterialize, schema.StepCheck, schema.StepTasks, schema.StepMemory,
		schema.StepProject, schema.StepIndex,
	}
	for _, m := range ends[len(ends)-1].Metrics {
		if at := slices.Index(steps, m.Step); at >= 0 {
			require.GreaterOrEqual(t, at, slices.Index(steps, step), m.Step)
		}
	}
	require.Equal(t, schema.BuildSuccess, b.show(t.(*testing.T), result.BuildID).Status)
	return result
}

// requireSettled checks that nothing is left to do, and nothing is there twice. A campaign also rebuilds the tables.
func (b *bench) requireSettled(t *testing.T, in schema.ProcessSessionInput, last string) {
	t.Helper()
	_, err := b.retry(t, in.SessionID, last)
	requireFailure(t, err, schema.ErrorInvalidInput, "left nothing to do")
	b.awaitGraduated(t.Context(), t)
	before := b.once(t)
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
	require.Equal(t, before, b.once(t))
	if inCampaign(t) {
		b.rebuild(t)
		require.Equal(t, before, b.rows(t), "I3")
		t.Log("survived: rebuild after a retry")
	}
}

// retrySession writes a session that has something for each step.
func retrySession(t *testing.T, dir string) string {
	t.Helper()
	return write(t, filepath.Join(dir, "it's 한 \"session\".jsonl"), said(1, "user", decision), said(2, "assistant", "Noted."),
		said(3, "user", "I prefer tabs over spaces."), said(4, "user", "TODO: write the report."))
}

// A step that fails because ClickHouse has lost its table is where the build goes on once the table is back.
func retryAtStepOfLostTable(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	tables := []string{"entries_raw", "entities_raw", "facts_raw", "vector_outbox_raw"}
	if !inCampaign(t) {
		tables = some(t, tables, 1)
	}
	steps := map[string]string{
		"entries_raw": schema.StepMaterialize, "entities_raw": schema.StepTasks, "facts_raw": schema.StepMemory,
		"vector_outbox_raw": schema.StepTasks, // Their titles are indexed.
	}
	for _, table := range tables {
		step := steps[table]
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.start(t)
			in := b.input("retried/세션 '1'", retrySession(t, t.TempDir()))
			rename := func(from, to string) {
				require.NoError(t, b.ClickHouse.Exec(t.Context(), "RENAME TABLE "+from+" TO "+to))
			}
			rename(table, table+"_lost")
			_, err := b.try(t.Context(), in)
			requireFailure(t, err, schema.ErrorStoreRejected, step+": ")
			id := b.requireFailed(t, in.SessionID, step, schema.ErrorStoreRejected)
			starts, _ := b.builds(t, in.SessionID)
			require.Equal(t, in, starts[0].Input)

			rename(table+"_lost", table)
			if step == schema.StepMaterialize {
				step = schema.StepExtract
			}
			result := b.requireRetried(t, in.SessionID, id, step)
			entries := b.requireProven(t, in.SessionID)
			require.NotEmpty(t, entries)
			require.Equal(t, len(entries), result.Counts.Entries)
			require.Equal(t, len(entries), result.Counts.Indexed)
			require.Equal(t, 1, result.Counts.Windows)
			require.Len(t, column(t, b.ClickHouse, "SELECT content FROM facts"), result.Counts.Facts)
			require.Len(t, column(t, b.ClickHouse, "SELECT entity_id FROM entities WHERE entity_type = 'task'"), result.Counts.TaskNotes)
			require.Equal(t, step != schema.StepProject, result.Counts.Facts == 1 && result.Counts.TaskNotes == 1)
			b.requireSettled(t, in, result.BuildID)
			t.Logf("survived: retry after %s was lost", table)
		})
	}
}

// A build that the model or the embedder refused goes on there once the key is right, by hand or as another run.
func retryAtRefusedStep(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	m := newModel(t)
	m.get(true)
	target, err := url.Parse(strings.TrimSuffix(m.url, "/v1"))
	require.NoError(t, err)
	var refuses atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(target)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() {
			http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	vectors := newEmbeddingServer(t, http.StatusUnauthorized)
	b := m.use(newRemoteBench(t, vectors))
	b.cfg.Model.BaseURL = door.URL + "/v1"
	b.start(t)
	in := b.input("refused", retrySession(t, t.TempDir()))

	refuses.Store(true)
	_, err = b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorModelRefused, "extract: ")
	first := b.requireFailed(t, "refused", schema.StepExtract, schema.ErrorModelRefused)
	require.Equal(t, schema.FailureSetup, schema.ClassOf(schema.ErrorModelRefused))

	refuses.Store(false)
	_, err = b.retry(t, "refused", first)
	require.Error(t, err)
	starts, ends := b.builds(t, "refused")
	require.Equal(t, &schema.ResumedBuild{BuildID: first, Step: schema.StepExtract}, starts[1].Resumed)
	require.Equal(t, schema.ErrorModelRefused, ends[1].ErrorType)
	second := starts[1].BuildID
	calls := m.requests()

	_, err = b.retry(t, "refused", first)
	requireFailure(t, err, schema.ErrorInvalidInput, fmt.Sprintf("it is not the latest of session \"refused\", which is %q (failed)", second))
	vectors.status.Store(0)
	// Processed again as it is, the session goes on, too.
	result := b.process(t, in)
	require.Equal(t, schema.BuildSuccess, result.Status)
	starts, _ = b.builds(t, "refused")
	require.Len(t, starts, 3, "what was refused is no build")
	require.Equal(t, second, starts[2].Resumed.BuildID)
	require.Equal(t, ends[1].FailedStep, starts[2].Resumed.Step)
	require.Equal(t, calls, m.requests(), "the model is not asked again")
	require.Equal(t, 3, result.Counts.Entries, "one for each message that the model reads: Noted is no passage")
	b.requireSettled(t, in, result.BuildID)
}

// While Weaviate is away the build waits. Cancelled, it goes on there when Weaviate is back.
func retryAfterWeaviateWasAway(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	b := newBench(t)
	target, err := url.Parse(b.cfg.WeaviateURL)
	require.NoError(t, err)
	var away atomic.Bool
	var refused atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(target)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			refused.Add(1)
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	b.cfg.WeaviateURL = door.URL
	b.start(t)
	away.Store(true)
	in := b.input("away", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
	run, err := b.submit(t.Context(), in)
	require.NoError(t, err)
	awaitScheduled(t.Context(), t, b.Temporal, run, "IndexSession") // The worker asks for other things before.
	before := refused.Load()
	eventually(t, func() bool { return refused.Load() > before })
	require.NoError(t, b.Temporal.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()))
	require.Error(t, run.Get(t.Context(), nil))
	id := b.requireFailed(t, "away", schema.StepIndex, schema.ErrorCancelled)
	away.Store(false)
	result := b.requireRetried(t, "away", id, schema.StepIndex)
	require.Equal(t, 1, result.Counts.Indexed)
	b.requireSettled(t, in, result.BuildID)
}

// A build whose vectors failed for good is partial, and a retry tries them again now, and succeeds.
func retryOfFailedVectors(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, 0)
	var poison atomic.Bool
	poison.Store(true)
	inner := vectors.Config.Handler
	vectors.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if poison.Load() && refusesTabs(r) {
			http.Error(w, `{"error":{"message":"not this text"}}`, http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	})
	b := newRemoteBench(t, vectors)
	b.start(t)
	in := b.input("vectors", retrySession(t, t.TempDir()))
	first := b.process(t, in)
	require.Equal(t, schema.BuildPartial, first.Status)
	require.Equal(t, 1, first.Counts.IndexFailed)
	permanent := "SELECT toString(permanent) FROM vector_outbox WHERE status = 'failed' AND item_kind = 'entry'"
	require.Equal(t, []string{"true"}, column(t, b.ClickHouse, permanent))
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status, "the writer of the vectors comes back to what can succeed")

	second, err := b.retry(t, "vectors", first.BuildID)
	require.NoError(t, err)
	require.Equal(t, schema.BuildPartial, second.Status)
	require.Equal(t, first.Counts.Entries, second.Counts.Entries)
	poison.Store(false)
	result := b.requireRetried(t, "vectors", second.BuildID, schema.StepIndex)
	require.Equal(t, 3, result.Counts.Indexed)
	require.Zero(t, result.Counts.IndexFailed)
	require.Zero(t, result.Usage.Calls)
	require.Empty(t, column(t, b.ClickHouse, permanent))
	require.Len(t, column(t, b.ClickHouse, "SELECT event_id FROM events WHERE event_type = 'vector_failed' AND startsWith(stream, 'vector/Entry_')"), 2,
		"the old results stay")
	b.requireSettled(t, in, result.BuildID)
}

// refusesTabs reports whether a request to embed holds the text on tabs. The body is as before.
func refusesTabs(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte("tabs"))
}

// An interrupted build is taken up under its own id, also by the retry of the build before it that was interrupted
// itself.
func retryOfInterruptedBuild(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	m := newModel(t)
	m.get(true)
	m.held = make(chan struct{})
	b := m.use(newBench(t))
	b.start(t)
	in := b.input("interrupted", retrySession(t, t.TempDir()))
	run, err := b.submit(t.Context(), in)
	require.NoError(t, err)
	eventually(t, func() bool { return m.calls() > 0 })
	require.NoError(t, b.Temporal.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "test"))
	starts, ends := b.builds(t, "interrupted")
	require.Len(t, starts, 1)
	require.Empty(t, ends[0].Status)
	m.mu.Lock()
	close(m.held)
	m.mu.Unlock()
	result, err := b.retry(t, "interrupted", starts[0].BuildID)
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, starts[0].BuildID, result.BuildID)
	require.Equal(t, 4, result.Counts.NewMessages)
	require.Equal(t, 3, result.Counts.Entries, "one for each message that the model reads: Noted is no passage")
	b.requireSettled(t, in, result.BuildID)
}

// A run that takes up an interrupted build does not get the failure that the writer of the vectors gave the run before.
func retryOfBuildInterruptedInIndex(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, http.StatusTooManyRequests)
	vectors.forbidden = decision
	b := newRemoteBench(t, vectors)
	b.start(t)
	in := b.input("interrupted", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", "Good morning! "+decision)))
	run, err := b.submit(t.Context(), in)
	require.NoError(t, err)
	eventually(t, func() bool { return vectors.asked.Load() > 0 }, "the step index has sent its update")
	require.NoError(t, b.Temporal.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "test"))
	// The writer gives the failure and goes on: after one that fails itself the retry would meet a new run.
	vectors.refuse.Store(true)
	vectors.status.Store(0)
	writer := schema.WorkflowID(schema.VectorWriterInput{Collection: schema.VectorCollection(b.Embedder.Version())}.Stream())
	var failed string
	eventually(t, func() bool {
		failed = b.failedUpdate(t, writer)
		return failed != ""
	}, "the writer gives the failure")
	starts, _ := b.builds(t, "interrupted")
	result, err := b.retry(t, "interrupted", starts[0].BuildID)
	require.NoError(t, err)
	require.Equal(t, starts[0].BuildID, result.BuildID)
	require.Equal(t, schema.BuildSuccess, result.Status)
	b.requireSettled(t, in, result.BuildID)
	d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), writer, "")
	require.NoError(t, err)
	require.Equal(t, failed, d.GetWorkflowExecutionInfo().GetExecution().GetRunId(), "the run that gave the failure answered the retry")
}

// failedUpdate returns the run of the workflow that has answered an update with a failure, or "".
func (b *bench) failedUpdate(t testing.TB, id string) string {
	t.Helper()
	d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), id, "")
	if errors.As(err, new(*serviceerror.NotFound)) {
		return "" // It does not run yet.
	}
	require.NoError(t, err)
	run := d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	for it := b.Temporal.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); it.HasNext(); {
		e, err := it.Next()
		require.NoError(t, err)
		if e.GetWorkflowExecutionUpdateCompletedEventAttributes().GetOutcome().GetFailure() != nil {
			return run
		}
	}
	return ""
}

// A retry that was interrupted is taken up by itself or by the retry of the build that it tried again, and goes on where
// that one failed.
func retryOfInterruptedRetry(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, http.StatusUnauthorized)
	b := newRemoteBench(t, vectors)
	b.start(t)
	in := b.input("again", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
	_, err := b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	first := b.requireFailed(t, "again", schema.StepIndex, schema.ErrorModelRefused)
	vectors.status.Store(http.StatusTooManyRequests)
	retry := b.input("again", "")
	for range 2 { // The second one names the build of the first one.
		calls := vectors.calls.Load()
		retry.Retry = first
		if starts, _ := b.builds(t, "again"); len(starts) == 2 {
			retry.Retry = starts[1].BuildID
		}
		run, err := b.submit(t.Context(), retry)
		require.NoError(t, err)
		eventually(t, func() bool { return vectors.calls.Load() > calls })
		require.NoError(t, b.Temporal.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "test"))
	}
	vectors.status.Store(0)
	starts, ends := b.builds(t, "again")
	require.Len(t, starts, 2)
	require.Empty(t, ends[1].Status)
	result := b.requireRetried(t, "again", first, schema.StepIndex)
	require.Equal(t, starts[1].BuildID, result.BuildID)
	require.Equal(t, 1, result.Counts.Entries)
	b.requireSettled(t, in, result.BuildID)
}
