package main_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// troubled writes a session of two windows: the unwell model answers nothing to the first, and breaks off
// in the second.
func troubled(t *testing.T, path, name string) string {
	t.Helper()
	first := "I prefer " + name + " over anything else.\n"
	first += strings.Repeat("-", 1000-len(first)) // No other message fits into its window.
	return write(t, path,
		said(1, "user", first),
		said(2, "user", "We decided to use ClickHouse for "+name+"."), said(3, "user", "TODO: write the page on "+name+"."))
}

func (b *bench) show(t *testing.T, buildID string) build.Detail {
	t.Helper()
	d, err := build.Show(t.Context(), b.ClickHouse, buildID)
	require.NoError(t, err)
	return d
}

// Windows that are too small to be halved are given up after two useless answers. `builds show` reports this, and the
// session is not asked about them again.
func testGivenUp(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	b.start(t)
	in := b.input("given up", troubled(t, filepath.Join(t.TempDir(), "it's 한 session.jsonl"), "tabs"))
	result := b.process(t, in)
	require.Equal(t, schema.BuildPartial, result.Status)
	require.Equal(t, 2, result.Counts.Windows)
	require.Equal(t, 2, result.Counts.Quarantined)
	require.Equal(t, 2, result.Counts.GivenUp)
	require.Equal(t, 1, result.Counts.Entries)
	require.Equal(t, 4, m.calls(), "an answer and its repair, a part of an answer and the question for the rest")
	require.Equal(t, m.requests(), result.Usage.Calls)
	require.Contains(t, strings.Join(m.prompts, ""), `{"type":"decision","title":"We decided to use ClickHouse for tabs."}`)
	var says []string
	for _, p := range b.show(t, result.BuildID).Problems {
		if p.Kind == build.ProblemWindow {
			says = append(says, p.Retry)
		}
	}
	gone := "too small to be asked about in parts; once more as it is: starter builds retry " + result.BuildID + " --force"
	require.Equal(t, []string{gone, "this build asked again, for the rest or in halves: see its other problems", gone}, says)
	m.get(true)
	b.awaitGraduated(t.Context(), t)
	requests, before := m.requests(), b.rows(t)
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
	require.Equal(t, requests, m.requests())
	require.Equal(t, before, b.rows(t))

	// A forced retry asks once more and keeps the old answers.
	again := b.input("given up", "")
	again.Retry = result.BuildID
	_, err := b.try(t.Context(), again)
	requireFailure(t, err, schema.ErrorInvalidInput, "give ask_given_up")
	again.AskGivenUp = true
	forced, err := b.try(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, forced.Status)
	require.Equal(t, 2, forced.Counts.Windows)
	require.Equal(t, 6, m.calls())
	last := b.show(t, forced.BuildID)
	require.Equal(t, schema.StepExtract, last.Resumed.Step)
	require.Len(t, b.once(t)["entries"], 3)
	b.requireSettled(t, in, forced.BuildID)
}

// Windows that a build gave up are reached by a forced retry although a later build of the session, which has grown
// since, left nothing to do.
func testGivenUpInAnEarlierBuild(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	b.start(t)
	path := filepath.Join(t.TempDir(), "s 한.jsonl")
	uri := troubled(t, path, "tabs")
	first := b.process(t, b.input("grown 'up'", uri))
	require.Equal(t, 2, first.Counts.GivenUp)
	m.get(true)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	in := b.input("grown 'up'", write(t, path, strings.TrimSpace(string(data)), said(4, "user", "We decided to use Temporal for tabs.")))
	second := b.process(t, in)
	require.Equal(t, schema.BuildSuccess, second.Status)
	require.Zero(t, second.Counts.GivenUp)
	calls := m.calls()

	retry := b.input("grown 'up'", "")
	retry.Retry = second.BuildID
	_, err = b.try(t.Context(), retry)
	requireFailure(t, err, schema.ErrorInvalidInput, "left nothing to do")
	retry.AskGivenUp = true
	third, err := b.try(t.Context(), retry)
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, third.Status)
	require.Equal(t, 2, third.Counts.Windows)
	require.Equal(t, calls+2, m.calls())
	require.Equal(t, schema.StepExtract, b.show(t, third.BuildID).Resumed.Step)
	require.Len(t, b.once(t)["entries"], 4)

	retry.Retry = third.BuildID
	_, err = b.try(t.Context(), retry)
	requireFailure(t, err, schema.ErrorInvalidInput, "left nothing to do")
	require.Equal(t, calls+2, m.calls())
}

// lengthy writes a session of two windows of 4 KiB: one of a long message and one of two messages.
func lengthy(t *testing.T, path, name string) string {
	t.Helper()
	line := func(begin string) string { return begin + " for " + name + strings.Repeat(" well", 70) }
	var long []string
	for i := range 10 {
		long = append(long, line(fmt.Sprint("We decided to use tool ", i)))
	}
	return write(t, path, said(1, "user", strings.Join(long, "\n")),
		said(2, "user", strings.Repeat(line("I prefer tabs")+"\n", 3)), said(3, "user", strings.Repeat(line("TODO: write the page")+"\n", 3)))
}

// A window that the model can't read, one that it can't answer to the end, and one that is too long for it are halved
// in the same build, until their parts have whole answers. The build is a success, nothing is left for another, and no
// entry exists twice. The useless answers stay in the log.
func TestHalvedUntilAnswered(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*model)
		counts schema.BuildCounts
		calls  int
	}{
		"unreadable and cut": {
			func(m *model) { m.reads, m.cuts = 3000, true },
			lifted(schema.BuildCounts{Messages: 3, NewMessages: 3, Windows: 4, Entries: 4, NewEntries: 4, TaskNotes: 1, Facts: 1, Rejected: 2, AlignedEntries: 4, ProvenEntries: 4, Indexed: 4}),
			8,
		},
		"too long": {
			func(m *model) { m.limit = 2500 },
			lifted(schema.BuildCounts{Messages: 3, NewMessages: 3, Windows: 3, Entries: 4, NewEntries: 4, TaskNotes: 1, Facts: 1, AlignedEntries: 4, ProvenEntries: 4, Indexed: 4}),
			4,
		},
	}
	names := slices.Sorted(maps.Keys(tests))
	if !inCampaign(t) {
		names = some(t, names, 1)
	}
	for _, name := range names {
		tt := tests[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t)
			m.well = true
			tt.change(m)
			b := m.use(newBench(t))
			b.cfg.WindowBytes = 4 << 10
			b.start(t)
			in := b.input("halved", lengthy(t, filepath.Join(t.TempDir(), "s.jsonl"), "it"))
			result := b.process(t, in)
			require.Equal(t, schema.BuildSuccess, result.Status)
			require.Equal(t, tt.counts, result.Counts)
			require.Equal(t, tt.calls, m.calls())
			require.Len(t, b.requireProven(t, "halved"), 4)
			for _, p := range b.show(t, result.BuildID).Problems {
				if p.Kind == build.ProblemWindow {
					require.Equal(t, "done: this build has the answer", p.Retry)
				}
			}
			if name == "too long" {
				return
			}
			stored := column(t, b.ClickHouse, "SELECT toString(count()) FROM events WHERE event_type = 'model_responded' AND payload_json NOT LIKE '%None%'")
			require.Equal(t, []string{fmt.Sprint(tt.calls)}, stored, "each answer stands beside the others")
			requests := m.requests()
			require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
			require.Equal(t, requests, m.requests())
		})
	}
}

// An answer that could not be read or was cut off is a failure of the build that got it: the same transcript in another
// project is asked about again. A whole answer serves both.
func testFailuresAreNotShared(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	b.start(t)
	uri := troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "tabs")
	process := func(project string) (schema.ProcessSessionResult, int) {
		in, before, requests := b.input("shared", uri), m.calls(), m.requests()
		in.Project += project
		result := b.process(t, in)
		require.Equal(t, m.requests()-requests, result.Usage.Calls)
		return result, m.calls() - before
	}
	for _, project := range []string{"-a", "-b"} {
		result, calls := process(project)
		require.Equal(t, schema.BuildPartial, result.Status)
		require.Equal(t, 2, result.Counts.Quarantined)
		require.Equal(t, 4, calls, "one answer is to be mended, and the rest of the other is asked for")
	}
	m.get(true)
	result, calls := process("-c")
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, 3, result.Counts.Entries)
	require.Equal(t, 2, calls)

	uri = troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "spaces")
	for _, want := range []int{2, 0} {
		result, calls := process(fmt.Sprint("-well-", want))
		require.Equal(t, schema.BuildSuccess, result.Status)
		require.Equal(t, want, calls)
	}
}

// askingSteps are the activity that asks a model, and the one that plans the questions and records the answers.
var askingSteps = []string{"DeriveEntries", "ExtractWindow"}

// A worker that is killed while it asks, halves and asks again, and is restarted, ends in the same state as an
// undisturbed one (I2).
func killedHalving(t *testing.T, killedIn []string) {
	t.Helper()
	dir := t.TempDir()
	calmModel, killedModel := newModel(t), newModel(t)
	calm, killed := calmModel.use(newBench(t)), killedModel.use(newBench(t))
	for _, m := range []*model{calmModel, killedModel} {
		m.well, m.reads, m.cuts = true, 3000, true
	}
	killed.project = calm.project // Ids are made of it.
	calm.cfg.WindowBytes = 4 << 10
	calm.start(t)
	worker := buildWorker(t, killed)
	worker.cfg.Model, worker.cfg.WindowBytes = killedModel.config(), 4<<10
	runs := make([]client.WorkflowRun, len(killedIn))
	for i, activity := range killedIn {
		in := calm.input("killed-in-"+activity, lengthy(t, filepath.Join(dir, activity+".jsonl"), activity))
		in.User = activity // Those that were killed go on side by side: which facts one is shown of another is not certain.
		require.Equal(t, schema.BuildSuccess, calm.process(t, in).Status)
		kill := worker.start(t)
		var err error
		runs[i], err = killed.submit(t.Context(), in)
		require.NoError(t, err)
		awaitScheduled(t.Context(), t, killed.Temporal, runs[i], activity)
		kill()
	}
	t.Cleanup(worker.start(t))
	for _, run := range runs {
		var result schema.ProcessSessionResult
		require.NoError(t, run.Get(t.Context(), &result), run.GetID())
		require.Equal(t, schema.BuildSuccess, result.Status, run.GetID())
		require.Equal(t, 4, result.Counts.Entries)
		require.Equal(t, 4, result.Counts.Windows)
	}
	for _, b := range []*bench{calm, killed} {
		b.awaitIndexed(t)
		b.awaitGraduated(t.Context(), t)
	}
	want, got := calm.lasting(t), killed.lasting(t)
	for name := range want {
		require.True(t, len(want[name]) > 0 || name == "conflicts", name)
		require.Equal(t, want[name], got[name], name)
	}
	for _, activity := range killedIn {
		t.Logf("survived: worker killed in %s of a window that is halved", activity)
	}
}

// A build is shown as running from its first event on, long before there is anything to project. Its row equals the
// rebuilt one.
func testRunningBuildIsSeen(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.well, m.held = true, make(chan struct{})
	b := m.use(newBench(t))
	b.start(t)
	run, err := b.submit(t.Context(), b.input("running", troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "it")))
	require.NoError(t, err)
	eventually(t, func() bool { return m.calls() > 0 })
	list := func() []build.Run {
		runs, err := build.List(t.Context(), b.ClickHouse, build.Filter{All: true, SessionID: "running", Limit: 2})
		require.NoError(t, err)
		require.Len(t, runs, 1)
		return runs
	}
	running := list()
	require.Equal(t, schema.BuildRunning, running[0].Status)
	require.Contains(t, running[0].Source.URI, "s.jsonl")
	_, err = stacktest.Rebuild(t.Context(), b.ClickHouse, build.NewProjector(b.ClickHouse))
	require.NoError(t, err)
	require.Equal(t, running, list())
	close(m.held)
	var result schema.ProcessSessionResult
	require.NoError(t, run.Get(context.Background(), &result))
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, schema.BuildSuccess, list()[0].Status)
	require.Equal(t, running[0].StartedAt, list()[0].StartedAt, fmt.Sprint(result))
}
