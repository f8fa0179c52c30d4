package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"

	"axiommind/schema"
)

// A source whose reading ended three workers is refused by name. The next session of the queue is taken, the source is
// not read again with the next context, and a person can have its build tried again.
func TestSourceThatKillsIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	worker := buildWorker(t, b)
	path := filepath.Join(t.TempDir(), "deadly.jsonl")
	lines := make([]string, 20_000)
	for i := range lines {
		lines[i] = said(i, "user", "An ordinary line of a log. "+strings.Repeat("It goes on for a while. ", 40))
	}
	file := b.queued("ann", "deadly", "1")
	file.Messages, file.URI = nil, write(t, path, lines...)
	key := schema.SessionKey{Scope: schema.Scope{Project: b.project, User: "ann"}, SessionID: "deadly"}

	b.enqueue(t, file)
	b.enqueue(t, b.queued("ann", "next", "2", decision))
	for i := range 3 {
		kill := worker.start(t)
		b.awaitReading(t, key, i+1)
		kill()
	}
	t.Cleanup(worker.start(t))
	result := b.flushQueue(t, "ann")
	require.Len(t, result.Failed, 1)
	require.Equal(t, "deadly", result.Failed[0].Thread)
	require.Equal(t, schema.ErrorSourceKills, result.Failed[0].ErrorType)
	require.Contains(t, result.Failed[0].Error, "3 workers died while they read")
	require.Equal(t, []string{decision}, b.texts(t, "ann", "next"))

	file.ID = "3"
	b.enqueue(t, file)
	result = b.flushQueue(t, "ann")
	require.Len(t, result.Failed, 1)
	require.Contains(t, result.Failed[0].Error, path+`" is not read`)
	require.Empty(t, b.texts(t, "ann", "deadly"))

	require.NoError(t, os.Remove(path))
	write(t, path, said(1, "user", decision))
	builds := column(t, b.ClickHouse, "SELECT build_id FROM build_runs WHERE session_id = 'deadly' AND status = 'failed' ORDER BY ordinal DESC")
	require.Len(t, builds, 2)
	_, err := b.try(t.Context(), schema.ProcessSessionInput{Project: b.project, User: "ann", SessionID: "deadly", Retry: builds[0]})
	require.NoError(t, err)
	require.Equal(t, []string{decision}, b.texts(t, "ann", "deadly"))
}

// awaitReading waits until a worker reads the session's source for the time that is given, from 1.
func (b *bench) awaitReading(t *testing.T, key schema.SessionKey, times int) {
	t.Helper()
	require.Eventually(t, func() bool {
		description, err := b.Temporal.DescribeWorkflowExecution(t.Context(), key.WorkflowID(), "")
		if err != nil || len(description.GetPendingActivities()) == 0 {
			return false
		}
		pending := description.GetPendingActivities()[0]
		if pending.GetActivityType().GetName() != "IngestSession" || pending.GetState() != enums.PENDING_ACTIVITY_STATE_STARTED {
			return false
		}
		scheduled := 0
		history := b.Temporal.GetWorkflowHistory(t.Context(), key.WorkflowID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for history.HasNext() {
			event, err := history.Next()
			if err != nil {
				return false
			}
			if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "IngestSession" {
				scheduled++
			}
		}
		return scheduled == times
	}, time.Minute, 50*time.Millisecond)
}
