package main_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/llm/worth"
	"axiommind/activities/retrieve"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// Every transcript of the shared data becomes memory whose proofs hold. Submitted again it changes
// nothing (I1), and made again from the events the rows are the same (I3). Here these are the
// long Chinese session and the shortest ones of some formats.
func TestFixtures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all, smallest := b.fixtures(t)
	chinese := func(in schema.ProcessSessionInput) bool { return strings.Contains(in.URI, "long-chinese-session") }
	// It is the only one of its format.
	maps.DeleteFunc(smallest, func(_ string, in schema.ProcessSessionInput) bool { return chinese(in) })
	require.Greater(t, len(smallest), 10)
	var inputs []schema.ProcessSessionInput
	for _, in := range all {
		if chinese(in) {
			inputs = append(inputs, in)
		}
	}
	for _, format := range some(t, slices.Sorted(maps.Keys(smallest)), 4) {
		inputs = append(inputs, smallest[format])
	}
	fixtures(t, b, inputs)
}

func fixtures(t *testing.T, b *bench, inputs []schema.ProcessSessionInput) {
	t.Helper()
	t.Logf("%d sessions", len(inputs))
	b.cfg.Model.Model = worth.Version // As people run it.
	b.start(t)
	first := b.processAll(t, inputs)
	long := false
	for i, in := range inputs {
		require.Contains(t, []schema.BuildStatus{schema.BuildSuccess, schema.BuildEmpty}, first[i].Status, in.URI)
		entries := b.requireProven(t, in.SessionID)
		require.Equal(t, first[i].Counts.Entries, len(entries), in.URI)
		require.Equal(t, first[i].Counts.Indexed, len(entries), in.URI)
		if chinese := requireSameScript(t, entries); strings.Contains(in.URI, "long-chinese-session") {
			long = true
			require.Greater(t, chinese, 10)
		}
	}
	require.True(t, long, "the long Chinese session is not there")

	b.awaitGraduated(t.Context(), t)
	before := b.rows(t)
	for i, again := range b.processAll(t, inputs) {
		want := schema.BuildUnchanged
		require.Equal(t, want, again.Status, inputs[i].URI)
		require.Zero(t, again.Usage.Calls)
	}
	require.Equal(t, before, b.rows(t), "I1: the same session twice changes nothing")
	b.requireContracts(t)

	b.rebuild(t)
	require.Equal(t, before, b.rows(t), "I3: rebuilt projections have the same rows")
	t.Logf("survived: %d real sessions processed, processed again and rebuilt", len(inputs))
}

func (b *bench) processAll(t *testing.T, inputs []schema.ProcessSessionInput) []schema.ProcessSessionResult {
	t.Helper()
	results := make([]schema.ProcessSessionResult, len(inputs))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i, in := range inputs {
		group.Go(func() (err error) {
			results[i], err = b.try(ctx, in)
			return err
		})
	}
	require.NoError(t, group.Wait())
	return results
}

// requireSameScript checks that entries are written in the script of their evidence. It returns how many of them are
// Chinese.
func requireSameScript(t *testing.T, entries []entry.Row) (chinese int) {
	t.Helper()
	han := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	for _, e := range entries {
		if !e.EvidenceAligned {
			continue
		}
		source := ""
		for _, proof := range e.Evidence {
			source += proof.Text
		}
		if han(e.Title) {
			chinese++
		}
		require.Equal(t, han(source), han(e.Title), "%q is said of %q", e.Title, source)
	}
	return chinese
}

const decision = "We decided to use ClickHouse for the event log."

// Several starters at once on one session: one runs it, the others learn that it runs, and memory equals the result of
// one run (I1).
func TestI1TwoStarters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	in := b.input("twice", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
	var wait sync.WaitGroup
	var mu sync.Mutex
	statuses := map[schema.BuildStatus]int{}
	running := 0
	for range 4 {
		wait.Go(func() {
			result, err := b.try(context.Background(), in)
			mu.Lock()
			defer mu.Unlock()
			var already *serviceerror.WorkflowExecutionAlreadyStarted
			if errors.As(err, &already) {
				running++
				return
			}
			require.NoError(t, err)
			statuses[result.Status]++
		})
	}
	wait.Wait()
	require.Equal(t, 1, statuses[schema.BuildSuccess])
	require.Equal(t, 3, running+statuses[schema.BuildUnchanged])
	require.Len(t, b.requireProven(t, "twice"), 1)
	require.Len(t, column(t, b.ClickHouse, "SELECT build_id FROM build_runs"), 1)
}

// A session that grew is read on from where it ended. One that was rewritten keeps its earlier messages.
func TestGrowingSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	lines := []string{said(1, "user", decision), said(2, "assistant", "Good."), said(3, "user", "yes")}
	in := b.input("growing", write(t, path, lines...))
	first := b.process(t, in)
	require.Equal(t, schema.BuildSuccess, first.Status)
	require.Equal(t, 3, first.Counts.NewMessages)
	entries := b.requireProven(t, "growing")
	require.Len(t, entries, 1)

	lines = append(lines, said(4, "user", "yes"), said(5, "user", "I prefer tabs over spaces."))
	write(t, path, lines...)
	second := b.process(t, in)
	require.Equal(t, schema.BuildSuccess, second.Status)
	require.Equal(t, 5, second.Counts.Messages)
	require.Equal(t, 2, second.Counts.NewMessages, "the second yes is another message")
	require.Equal(t, 1, second.Counts.Windows)
	require.Equal(t, 1, second.Usage.Calls)
	require.Equal(t, 1, second.Counts.NewEntries)
	grown := b.requireProven(t, "growing")
	require.Len(t, grown, 2)
	require.Contains(t, grown, entries[0], "an entry is immutable")
	require.NotEqual(t, first.BuildID, second.BuildID)

	// Compacted: the beginning is gone, a summary and one more message came.
	write(t, path, append([]string{said(9, "user", "In short: storage is settled.")}, lines[3], lines[4], said(10, "user", "We decided to use Weaviate for vectors."))...)
	third := b.process(t, in)
	require.Equal(t, 2, third.Counts.NewMessages)
	require.Equal(t, 7, third.Counts.Messages)
	require.Len(t, b.requireProven(t, "growing"), 3)
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
}

// An attempt of ingest that stored everything and died before it could report is repeated with the same result: the
// build's messages are new to it, and the build does not count as unchanged (I2).
func TestI2IngestAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	access, err := transcript.NewAccess(transcript.AccessOptions{Roots: b.cfg.SourceRoots})
	require.NoError(t, err)
	rooms, err := transcript.NewActivities(b.Log.Store, access)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	lines := []string{said(1, "user", decision), "{broken", said(2, "assistant", "Noted.")}
	in := transcript.IngestInput{Session: b.input("again", write(t, path, lines...)), At: time.Now().UTC()}
	in.Build.SessionKey = in.Session.Key()
	for ordinal, want := range []transcript.IngestResult{
		{Messages: 2, NewMessages: 2, SkippedLines: 1}, {Messages: 3, NewMessages: 1, SkippedLines: 1},
	} {
		in.Build.Ordinal, in.Build.Completed = ordinal+1, ordinal > 0
		in.Build.BuildID = build.ID(in.Build.SessionKey, ordinal+1)
		for range 2 {
			got, err := transcript.Ingest(t.Context(), rooms, in)
			require.NoError(t, err)
			require.EqualExportedValues(t, want, got)
		}
		write(t, path, append(lines, said(3, "user", "yes"))...)
	}
	events := column(t, b.ClickHouse, "SELECT event_type FROM events ORDER BY seq")
	require.Equal(t, []string{"build_started", "session_ingested", "build_started", "session_ingested"}, events)
}

// A wrong input is reported at once, recorded in the build and not retried.
func TestRefusedSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	dir := t.TempDir()
	mine := b.input("mine", write(t, filepath.Join(dir, "s.jsonl"), said(1, "user", decision)))
	b.process(t, mine)
	path := filepath.Join(dir, "gone.jsonl")
	gone := b.input("gone", "file://"+path)
	gone.Format = "messages"
	hidden := b.input("hidden", "file:///etc/shadow")
	kernel := b.input("kernel", "file:///proc/self/environ")
	inline := b.input("inline", "")
	inline.Messages = []schema.InlineMessage{{Role: "nobody", Content: decision}}
	notes := b.input("notes", write(t, filepath.Join(dir, "notes.txt"), "nothing anybody said"))
	for _, tt := range []struct {
		in     schema.ProcessSessionInput
		reason string
	}{
		{gone, "/gone.jsonl: no such file or directory"},
		{hidden, `ingest: read source: "/etc/shadow" is outside the directories that the worker may read: start the worker with --source-root /etc`},
		{kernel, `ingest: read source: "/proc/self/environ" is of the system: such files are never read`},
		{notes, "ingest: "},
		{inline, `role "nobody"`},
	} {
		_, err := b.try(t.Context(), tt.in)
		require.ErrorContains(t, err, tt.reason)
		runs, err := build.List(t.Context(), b.ClickHouse, build.Filter{All: true, SessionID: tt.in.SessionID, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, schema.BuildFailed, runs[0].Status)
		require.Equal(t, schema.StepIngest, runs[0].FailedStep)
		require.NotEmpty(t, runs[0].Error)
		require.Equal(t, tt.in.Source(), runs[0].Source, "what was to be read is known although it was not")
	}
	require.Len(t, b.requireProven(t, "mine"), 1)
	gone.Format = ""
	write(t, path, said(1, "user", decision))
	require.Equal(t, schema.BuildSuccess, b.process(t, gone).Status, "the build after a failed one is a build")
	require.Len(t, b.requireProven(t, "gone"), 1)
}

// No search finds items of another project or user (I10).
func TestI10SearchStaysInScope(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	uri := write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision))
	scopes := []schema.Scope{
		{Project: b.project, User: "u"}, {Project: b.project, User: "v"}, {Project: b.project + "-other", User: "u"},
	}
	for i, s := range scopes {
		in := b.input("scope-"+string(rune('a'+i)), uri)
		in.Project, in.User = s.Project, s.User
		require.Equal(t, 1, b.process(t, in).Counts.Indexed)
	}
	searcher := retrieve.NewSearcher(b.ClickHouse, b.Weaviate, b.Embedder, retrieve.Options{})
	for i, s := range scopes {
		result, err := searcher.Search(t.Context(), retrieve.Query{Text: "which store for events?", Project: s.Project, User: s.User})
		require.NoError(t, err)
		require.Len(t, result.Hits, 1)
		require.Equal(t, s, result.Hits[0].Scope)
		require.Equal(t, "scope-"+string(rune('a'+i)), result.Hits[0].SessionID)
		require.Equal(t, decision, result.Hits[0].Evidence[0].Text)
	}
	result, err := searcher.Search(t.Context(), retrieve.Query{Text: decision, Project: "nobody's", User: "u"})
	require.NoError(t, err)
	require.Empty(t, result.Hits)
}
