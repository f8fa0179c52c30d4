package main_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/task"
	"axiommind/schema"
)

// Many sessions hand their task notes to one project at once. Every note is observed once, no two sessions' events mix,
// each session's notes keep their order, and I6 is true in the end.
func TestI6ManySessionsOneProject(t *testing.T) {
	t.Parallel()
	manySessionsOneProject(t, 12)
}

func manySessionsOneProject(t *testing.T, crowd int) {
	t.Helper()
	b := newBench(t)
	b.start(t)
	const project = "crowded"
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	order := map[string]int{}
	for i := range crowd {
		for n, e := range b.logNotes(t, project, fmt.Sprintf("crowd-%03d", i), at) {
			order[e.ID] = n
		}
	}
	group, ctx := errgroup.WithContext(t.Context())
	for i := range crowd {
		group.Go(func() error {
			in := task.ResolveRequest{BuildID: "build", SessionKey: schema.SessionKey{
				Scope: schema.Scope{Project: project, User: "u"}, SessionID: fmt.Sprintf("crowd-%03d", i),
			}}
			var result task.Result
			return boundary.Update{Name: schema.UpdateSession, ID: in.SessionID, Arg: in}.Send(ctx, b.Temporal, &result)
		})
	}
	require.NoError(t, group.Wait())

	var current string
	var next uint64 = 1
	finished, observed := map[string]bool{}, map[string]int{}
	for event, err := range b.Log.Stream(t.Context(), schema.ProjectStream(project), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		require.Equal(t, next, event.Seq)
		next++
		if event.SessionID != current {
			require.False(t, finished[event.SessionID], "events of %s are torn apart", event.SessionID)
			finished[current], current = true, event.SessionID
		}
		if event.Type == schema.TaskObserved {
			var p schema.TaskObservedPayload
			require.NoError(t, json.Unmarshal(event.Payload, &p))
			require.Equal(t, observed[event.SessionID], order[p.EntryID], "notes of %s are out of order", event.SessionID)
			observed[event.SessionID]++
		}
	}
	require.Len(t, observed, crowd)
	for session, n := range observed {
		require.Equal(t, 4, n, session)
	}
	queries := task.NewQueries(b.Log, b.ClickHouse)
	done, err := queries.ListTasks(t.Context(), task.Selection{Project: project}, schema.TaskDone)
	require.NoError(t, err)
	require.Len(t, done, crowd)
	for _, v := range done {
		require.Empty(t, v.Blockers)
	}
	pending, err := queries.ListTasks(t.Context(), task.Selection{Project: project}, schema.TaskPending)
	require.NoError(t, err)
	require.Len(t, pending, 1, "the task that all sessions speak of is one")
	t.Logf("survived: %d sessions of one project at once", crowd)
}

// logNotes appends a session's task notes to the log: one task from its start to its end within the
// same moment, and one that every session speaks of.
func (b *bench) logNotes(t *testing.T, project, session string, at time.Time) []schema.Entry {
	t.Helper()
	own := "Port the importer of " + session
	var entries []schema.EntryMaterializedPayload
	for n, x := range []schema.ExtractedTask{
		{Title: own, Status: schema.TaskInProgress},
		{Title: own, Status: schema.TaskBlocked, BlockedBy: []string{"the schema review"}},
		{Title: own, Status: schema.TaskDone},
		{Title: "Write the release notes", Status: schema.TaskPending},
	} {
		e := schema.Entry{
			Type: schema.EntryTaskNote, SessionID: session, Scope: schema.Scope{Project: project, User: "u"},
			Title: x.Title, Task: &x, Stage: schema.StageWorking, Status: schema.StatusActive, EvidenceAligned: true,
			Evidence:   []schema.Evidence{{MessageIndex: n, Aligned: true, Method: schema.MethodExact, Confidence: 1}},
			OccurredAt: at,
		}
		e.CanonicalKey = entry.CanonicalKey(e)
		e.ID = entry.ID(e.Session(), e.Type, e.CanonicalKey)
		entries = append(entries, schema.EntryMaterializedPayload{Entry: e})
	}
	events, err := entry.Events(entries, "build")
	require.NoError(t, err)
	_, err = b.Log.Append(t.Context(), entries[0].Session().Stream(), events)
	require.NoError(t, err)
	out := make([]schema.Entry, len(entries))
	for i, e := range entries {
		out[i] = e.Entry
	}
	return out
}
