package main_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// A retry reads a file that could not be read before. One that has changed since the build failed is read in its
// current form, from the start.
func retryOfFile(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, http.StatusUnauthorized)
	b := newRemoteBench(t, vectors)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	in := b.input("file", "file://"+path)
	in.Format = "claude-code"
	_, err := b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorSourceUnreadable, "no such file")
	first := b.requireFailed(t, "file", schema.StepIngest, schema.ErrorSourceUnreadable)
	_, err = b.retry(t, "file", first)
	requireFailure(t, err, schema.ErrorSourceUnreadable, "no such file")
	second := b.requireFailed(t, "file", schema.StepIngest, schema.ErrorSourceUnreadable)
	require.NotEqual(t, first, second, "it ran")

	lines := []string{said(1, "user", decision), said(2, "assistant", "Noted.")}
	write(t, path, lines...)
	_, err = b.retry(t, "file", second)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	third := b.requireFailed(t, "file", schema.StepIndex, schema.ErrorModelRefused)

	write(t, path, append(lines, said(3, "user", "We decided to use Weaviate for vectors."))...)
	_, err = b.retry(t, "file", third)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	b.requireFailed(t, "file", schema.StepIndex, schema.ErrorModelRefused)
	starts, ends := b.builds(t, "file")
	require.Nil(t, starts[3].Resumed, "there is something new")
	require.Equal(t, 1, ends[3].Counts.NewMessages)
	require.Equal(t, 2, ends[3].Counts.Entries)
	require.Equal(t, 3, starts[3].Messages)

	// The content of a file that a build did not get to read is unknown.
	require.NoError(t, os.Remove(path))
	_, err = b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorSourceUnreadable, "no such file")
	fifth := b.requireFailed(t, "file", schema.StepIngest, schema.ErrorSourceUnreadable)
	_, err = b.retry(t, "file", fifth)
	requireFailure(t, err, schema.ErrorSourceUnreadable, "no such file")
}

// The log takes the place of a file that is gone, as long as it holds all that the build had read of it.
func retryOfDeletedFile(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, http.StatusUnauthorized)
	b := newRemoteBench(t, vectors)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	in := b.input("deleted", write(t, path, said(1, "user", decision), said(2, "assistant", "Noted.")))
	_, err := b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	first := b.requireFailed(t, "deleted", schema.StepIndex, schema.ErrorModelRefused)
	require.NoError(t, os.Remove(path))
	_, err = b.retry(t, "deleted", first)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	second := b.requireFailed(t, "deleted", schema.StepIndex, schema.ErrorModelRefused)
	vectors.status.Store(0)
	result := b.requireRetried(t, "deleted", second, schema.StepIndex)
	require.Equal(t, 1, result.Counts.Indexed)
	starts, _ := b.builds(t, "deleted")
	require.Empty(t, starts[0].Unread)
	for _, s := range starts[1:] {
		require.Contains(t, s.Unread, "no such file")
		require.Equal(t, starts[0].Source, s.Source)
	}
	_, err = b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorSourceUnreadable, "no such file")
}

// Inline messages are tried again from the log.
func retryOfInlineMessages(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, http.StatusUnauthorized)
	b := newRemoteBench(t, vectors)
	b.start(t)
	in := b.input("inline", "")
	in.Messages = []schema.InlineMessage{{Role: "user", Content: decision + "\n\"결정\" \u202e'\x07"}, {Role: "assistant", Content: "Noted."}}
	in.Date = "2026-03-01"
	_, err := b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	id := b.requireFailed(t, "inline", schema.StepIndex, schema.ErrorModelRefused)
	starts, _ := b.builds(t, "inline")
	require.Nil(t, starts[0].Input.Messages, "the log holds them")
	require.Equal(t, "2026-03-01", starts[0].Input.Date)
	vectors.status.Store(0)
	result := b.requireRetried(t, "inline", id, schema.StepIndex)
	require.Equal(t, 2, result.Counts.Messages)
	require.Equal(t, 1, result.Counts.Entries)
	b.requireSettled(t, in, result.BuildID)
}

// failInIngest records a build that fails before it has read its source.
func (b *bench) failInIngest(t *testing.T, in schema.ProcessSessionInput) build.Opened {
	t.Helper()
	builds, err := build.NewActivities(b.Log, b.ClickHouse, schema.BuildSpec{
		Extractor: schema.Extractor{Provider: "rules", Model: "m"}, EmbeddingVersion: b.Embedder.Version(),
	}, []projection.Projector{build.NewProjector(b.ClickHouse)})
	require.NoError(t, err)
	opened, err := builds.OpenBuild(t.Context(), build.OpenInput{SessionKey: in.Key(), Retry: in.Retry})
	require.NoError(t, err)
	at := time.Now().UTC()
	require.NoError(t, builds.CloseBuild(t.Context(), build.CloseInput{
		Build: opened, Input: in, StartedAt: at, At: at,
		Finished: schema.BuildFinishedPayload{
			BuildID: opened.BuildID, SessionID: in.SessionID, Status: schema.BuildFailed,
			FailedStep: schema.StepIngest, Error: "away", ErrorType: schema.ErrorStoreUnavailable,
		},
	}))
	return opened
}

// Inline messages of a build that failed before they were in the log are in its event, and in those of its retries that
// failed there, too.
func retryOfInlineMessagesFromEvent(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	b := newBench(t)
	in := b.input("inline", "")
	in.Messages = []schema.InlineMessage{{Role: "user", Content: decision + strings.Repeat("\n\"세션\"", 10_000)}}
	fail := func(in schema.ProcessSessionInput) string {
		opened := b.failInIngest(t, in)
		require.Nil(t, opened.Resumable)
		if in.Retry != "" {
			require.Equal(t, b.input("inline", ""), *opened.Retried)
		}
		return opened.BuildID
	}
	first := fail(in)
	again := b.input("inline", "")
	again.Retry = first
	second := fail(again)
	starts, _ := b.builds(t, "inline")
	require.Equal(t, in, starts[0].Input)
	require.Equal(t, in.Messages, starts[1].Input.Messages)
	require.Equal(t, first, starts[1].Input.Retry)

	b.start(t)
	result := b.requireRetried(t, "inline", second, schema.StepIngest)
	require.Equal(t, 1, result.Counts.NewMessages)
	require.Len(t, b.requireProven(t, "inline"), 1)
	starts, _ = b.builds(t, "inline")
	require.Nil(t, starts[2].Input.Messages)
	require.Equal(t, 1, starts[2].Messages)
	b.requireSettled(t, in, result.BuildID)
}

// A build that failed after the messages were in the log, and again before a retry could read them, is still retried
// from the log.
func retryAfterRetryThatReadNothing(t *testing.T) { //nolint:thelper // a test of the list
	t.Parallel()
	vectors := newEmbeddingServer(t, http.StatusUnauthorized)
	b := newRemoteBench(t, vectors)
	b.start(t)
	in := b.input("inline", "")
	in.Messages = []schema.InlineMessage{{Role: "user", Content: decision}}
	_, err := b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorModelRefused, "index: ")
	first := b.requireFailed(t, "inline", schema.StepIndex, schema.ErrorModelRefused)
	starts, _ := b.builds(t, "inline")
	source := starts[0].Source
	again := b.input("inline", "")
	again.Retry = first
	second := b.failInIngest(t, again).BuildID
	starts, _ = b.builds(t, "inline")
	require.Equal(t, source, starts[1].Source)
	vectors.status.Store(0)
	result := b.requireRetried(t, "inline", second, schema.StepIngest)
	require.Equal(t, 1, result.Counts.Messages)
	b.requireSettled(t, in, result.BuildID)
}

// insertCounter counts the inserts into the log.
type insertCounter struct {
	driver.Conn
	inserts atomic.Int64
}

func (c *insertCounter) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.Contains(query, "INSERT INTO events_raw") {
		c.inserts.Add(1)
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// Inline messages are stored with the start of their build, all or none: the start does not hold them.
func TestRetryFindsInlineMessagesWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	conn := &insertCounter{Conn: b.ClickHouse}
	access, err := transcript.NewAccess(transcript.AccessOptions{})
	require.NoError(t, err)
	rooms, err := transcript.NewActivities(projection.New(conn, eventlog.Options{}).Store, access)
	require.NoError(t, err)
	in := transcript.IngestInput{Session: b.input("inline", ""), At: time.Now().UTC()}
	for i := range 50_000 {
		in.Session.Messages = append(in.Session.Messages, schema.InlineMessage{Role: "user", Content: fmt.Sprint(i)})
	}
	in.Build = build.Opened{BuildID: build.ID(in.Session.Key(), 1), Ordinal: 1, SessionKey: in.Session.Key()}
	_, err = transcript.Ingest(t.Context(), rooms, in)
	require.NoError(t, err)
	size := column(t, b.ClickHouse, "SELECT toString(sum(length(payload_json)) > 4194304) FROM events")
	require.Equal(t, []string{"1"}, size, "a file of that size is stored in parts")
	require.EqualValues(t, 1, conn.inserts.Load())
}

// from_log extracts from the messages in the log. A session without any begins no build.
func TestFromLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	in := b.input("logged/'로그'", write(t, path, said(1, "user", decision), said(2, "assistant", "Noted.")))
	b.process(t, in)
	require.NoError(t, os.Remove(path))
	log := b.input(in.SessionID, "")
	log.FromLog = true
	require.Equal(t, schema.BuildUnchanged, b.process(t, log).Status)
	log.IncludeTools = true
	result := b.process(t, log)
	require.Equal(t, schema.BuildSuccess, result.Status, "another extractor")
	require.Equal(t, 2, result.Counts.Messages)
	require.Zero(t, result.Counts.NewMessages)
	require.Equal(t, 1, result.Counts.Windows)
	starts, _ := b.builds(t, in.SessionID)
	require.Equal(t, schema.FormatLog, starts[1].Source.Format)
	require.Equal(t, log, starts[1].Input)

	log.SessionID = "nobody's \"session\""
	_, err := b.try(t.Context(), log)
	requireFailure(t, err, schema.ErrorInvalidInput, `the log holds no message of session "nobody's \"session\""`)
	_, err = b.retry(t, log.SessionID, "b")
	requireFailure(t, err, schema.ErrorInvalidInput, `retry build "b": session "nobody's \"session\"" of project`)
	starts, _ = b.builds(t, log.SessionID)
	require.Empty(t, starts)
}
