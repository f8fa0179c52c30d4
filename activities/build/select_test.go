package build_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// selectedRun is a build of a test.
type selectedRun struct {
	schema.SessionKey
	ordinal int
	start   time.Time
	status  schema.BuildStatus
	errType string
	counts  schema.BuildCounts
}

func (r selectedRun) id() string { return build.ID(r.SessionKey, r.ordinal) }

// storeRuns writes the rows of the builds.
func storeRuns(t require.TestingT, conn driver.Conn, runs []selectedRun) {
	var events []schema.Event
	for _, r := range runs {
		started, err := build.Opened{BuildID: r.id(), SessionKey: r.SessionKey, Ordinal: r.ordinal, Spec: spec}.
			Started(schema.Source{URI: "file:///s.jsonl"}).Event(r.start)
		require.NoError(t, err)
		events = append(events, started)
		if r.status == schema.BuildRunning {
			continue
		}
		p := schema.BuildFinishedPayload{BuildID: r.id(), SessionID: r.SessionID, Status: r.status, Counts: r.counts, ErrorType: r.errType}
		if r.status == schema.BuildFailed {
			p.FailedStep, p.Error = schema.StepExtract, "it's no use"
		}
		finished, err := p.Event(r.Project, r.start.Add(time.Minute))
		require.NoError(t, err)
		events = append(events, finished)
	}
	require.NoError(t, build.NewProjector(conn).Apply(context.Background(), events))
}

// nothingRuns is a Temporal that runs no workflow.
func nothingRuns(context.Context, []string) (map[string]bool, error) { return nil, nil }

// candidates are all that the selection yields after the cursor.
func candidates(t require.TestingT, s build.Selection, after string) (out []build.Candidate) {
	for c, err := range s.Each(context.Background(), after) {
		require.NoError(t, err)
		out = append(out, c)
	}
	return out
}

func taken(all []build.Candidate) (ids []string) {
	for _, c := range all {
		if c.LeftAlone == "" {
			ids = append(ids, c.BuildID)
		}
	}
	return ids
}

var hostileNames = []string{
	"s", "세션 'a'", `quote " and \`, "a/b", "a%2Fb", "%", "'", `\'`, "?", "{x:String}", "$1", "-- ", "ß", "日本語", "a\u202eb", "\u00a0", "(", "z",
}

var failureTypes = []string{
	schema.ErrorModelRateLimited, schema.ErrorStoreUnavailable, schema.ErrorModelRefused, schema.ErrorSourceUnreadable, schema.ErrorInternal, "new",
}

func TestSelectionTakesTheLatestFailures(t *testing.T) {
	t.Parallel()
	selectionTakesTheLatestFailures(t, 12)
}

// Whatever builds there are, the selection takes the latest one of each session that failed for a requested reason, and
// leaves alone those that failed for others. It names each session at most once, in one order, wherever it is resumed.
func selectionTakesTheLatestFailures(t *testing.T, draws int) {
	t.Helper()
	conn := stacktest.Migrated(t)
	round := 0
	sharedtest.CheckFew(t, draws, func(t *rapid.T) {
		round++
		project := fmt.Sprintf("p%d %s", round, rapid.SampledFrom(hostileNames).Draw(t, "project"))
		var runs []selectedRun
		last := map[schema.SessionKey]selectedRun{}
		for i := range rapid.IntRange(1, 6).Draw(t, "sessions") {
			key := schema.SessionKey{
				Scope: schema.Scope{
					Project: project, User: rapid.SampledFrom(hostileNames).Draw(t, "user"),
					Agent: rapid.SampledFrom([]string{"", "a/b", "'"}).Draw(t, "agent"),
				},
				SessionID: rapid.SampledFrom(hostileNames).Draw(t, "session"),
			}
			if _, known := last[key]; known {
				continue
			}
			for ordinal := range rapid.IntRange(1, 3).Draw(t, "builds") {
				r := selectedRun{
					SessionKey: key, ordinal: ordinal + 1, start: at.Add(time.Duration(i*10+ordinal) * time.Hour),
					status: rapid.SampledFrom(schema.BuildStatuses()).Draw(t, "status"),
				}
				if r.status == schema.BuildFailed {
					r.errType = rapid.SampledFrom(failureTypes).Draw(t, "type")
				}
				runs = append(runs, r)
				last[key] = r
			}
		}
		storeRuns(t, conn, runs)
		classes := rapid.SliceOfDistinct(rapid.SampledFrom(schema.FailureClasses()), rapid.ID).Draw(t, "classes")
		selection := build.Selection{
			Conn: conn, Running: nothingRuns, At: at.AddDate(0, 1, 0),
			By: schema.RetryBuildsInput{Project: project, Failed: true, Classes: classes},
		}.Paged(rapid.IntRange(1, 4).Draw(t, "page"))
		if len(classes) == 0 {
			classes = []schema.FailureClass{schema.FailurePassing}
		}
		var want, left []string
		for _, r := range last {
			class := schema.ClassOf(r.errType)
			switch {
			case r.status == schema.BuildRunning && slices.Contains(classes, schema.FailurePassing),
				r.status == schema.BuildFailed && slices.Contains(classes, class):
				want = append(want, r.id())
			case r.status == schema.BuildFailed, r.status == schema.BuildRunning:
				left = append(left, r.id())
			}
		}
		all := candidates(t, selection, "")
		require.ElementsMatch(t, want, taken(all))
		require.Len(t, all, len(want)+len(left))
		sessions := map[schema.SessionKey]bool{}
		for _, c := range all {
			require.False(t, sessions[c.SessionKey], "twice")
			sessions[c.SessionKey] = true
			if c.LeftAlone != "" {
				require.Contains(t, left, c.BuildID)
				require.Contains(t, c.LeftAlone, "--class "+string(c.Class))
			}
		}
		if len(all) > 0 {
			from := rapid.IntRange(1, len(all)).Draw(t, "from")
			require.Equal(t, all[from:], append([]build.Candidate{}, candidates(t, selection, all[from-1].Cursor)...))
		}
	})
}

// A selection is narrowed by scope and time. A session with a build that is younger than the selection is left out.
func TestSelectionIsNarrowed(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	run := func(project, user, agent, session string, day int) selectedRun {
		return selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: project, User: user, Agent: agent}, SessionID: session},
			ordinal:    1, start: at.AddDate(0, 0, day).Add(123456 * time.Microsecond), status: schema.BuildFailed, errType: schema.ErrorTimeout,
		}
	}
	runs := []selectedRun{run("프로젝트", "u'1", "", "s/1", 0), run("프로젝트", "u'1", "a", "s/1", 1), run("프로젝트", "u", "", "s", 2), run("q", "u", "", "s", 3)}
	storeRuns(t, conn, runs)
	for name, c := range map[string]struct {
		by   schema.RetryBuildsInput
		at   int
		want []int
	}{
		"all":     {schema.RetryBuildsInput{}, 9, []int{3, 2, 0, 1}},
		"project": {schema.RetryBuildsInput{Project: "프로젝트"}, 9, []int{2, 0, 1}},
		"user":    {schema.RetryBuildsInput{User: "u'1"}, 9, []int{0, 1}},
		"agent":   {schema.RetryBuildsInput{Agent: "a"}, 9, []int{1}},
		"session": {schema.RetryBuildsInput{SessionID: "s/1"}, 9, []int{0, 1}},
		"since":   {schema.RetryBuildsInput{Since: runs[2].start}, 9, []int{3, 2}},
		"younger": {schema.RetryBuildsInput{}, 2, []int{0, 1}},
	} {
		c.by.Failed = true
		var want []string
		for _, i := range c.want {
			want = append(want, runs[i].id())
		}
		got := taken(candidates(t, build.Selection{Conn: conn, Running: nothingRuns, By: c.by, At: at.AddDate(0, 0, c.at)}, ""))
		require.Equal(t, want, got, name)
	}
}

// A build that is named is taken whatever failed, unless nothing can come of it: then the reason is said.
func TestSelectionOfNamedBuilds(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	named := func(session string, ordinal int, status schema.BuildStatus, errType string) selectedRun {
		return selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: session},
			ordinal:    ordinal, start: at.Add(time.Duration(ordinal) * time.Hour), status: status, errType: errType,
		}
	}
	runs := []selectedRun{
		named("ours", 1, schema.BuildFailed, schema.ErrorInternal), named("setup", 1, schema.BuildFailed, schema.ErrorModelRefused),
		named("input", 1, schema.BuildFailed, schema.ErrorSourceUnreadable), named("twice", 1, schema.BuildFailed, schema.ErrorTimeout),
		named("twice", 2, schema.BuildFailed, schema.ErrorTimeout), named("fine", 1, schema.BuildSuccess, ""),
		named("mended", 1, schema.BuildFailed, schema.ErrorTimeout), named("mended", 2, schema.BuildSuccess, ""),
		named("empty", 1, schema.BuildEmpty, ""), named("broke off", 1, schema.BuildRunning, ""), named("goes on", 1, schema.BuildRunning, ""),
	}
	storeRuns(t, conn, runs)
	running := func(_ context.Context, ids []string) (map[string]bool, error) {
		require.ElementsMatch(t, []string{runs[9].WorkflowID(), runs[10].WorkflowID()}, ids, "asked about nothing else")
		return map[string]bool{runs[10].WorkflowID(): true}, nil
	}
	ids := []string{"no-such-build"}
	for _, r := range runs {
		ids = append(ids, r.id())
	}
	ids = append(ids, runs[0].id())
	selection := build.Selection{Conn: conn, Running: running, By: schema.RetryBuildsInput{Builds: ids}, At: at}
	all := candidates(t, selection, "")
	require.Len(t, all, len(ids))
	for i, says := range []string{
		"no such build", "", "", "SourceUnreadable: the same input fails again; mend the source, then add --force",
		"the latest build of the session is " + runs[4].id() + " (failed): name that one", "", "it ended with success: there is nothing to retry",
		"a later build of the session, " + runs[7].id() + ", ended with success: there is nothing to retry", "it ended with success",
		"it ended with empty: there is nothing to retry", "", "it is running", "it is named twice",
	} {
		require.Equal(t, ids[i], all[i].BuildID)
		if says == "" {
			require.Empty(t, all[i].LeftAlone, ids[i])
		}
		require.Contains(t, all[i].LeftAlone, says)
	}
	require.Equal(t, build.StatusInterrupted, all[10].Status)
	require.Equal(t, schema.FailurePassing, all[10].Class)
	require.Equal(t, schema.ProcessSessionInput{Project: "p", User: "u", SessionID: "ours", Retry: runs[0].id()}, all[1].Item().Input)

	selection.By.Builds, selection.By.Force = ids[3:4], true
	require.Equal(t, ids[3:4], taken(candidates(t, selection, "")))
	selection.By.Builds, selection.Running = ids[10:11], nil
	require.Contains(t, candidates(t, selection, "")[0].LeftAlone, "Temporal cannot be asked")
	selection.By.Builds = ids[:4]
	require.Equal(t, ids[2:4], []string{candidates(t, selection.Paged(1), "2")[0].BuildID, candidates(t, selection.Paged(1), "2")[1].BuildID})
}

// A build may be named by the beginning of its id, as lists print it, on any page. A prefix of none, or of several, is
// an error.
func TestSelectionByPrefixes(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	var runs []selectedRun
	byStart := map[string][]string{}
	for i := range 600 {
		r := selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: fmt.Sprintf("세션 'x' %d", i)},
			ordinal:    1, start: at, status: schema.BuildFailed, errType: schema.ErrorTimeout,
		}
		runs = append(runs, r)
		byStart[r.id()[:4]] = append(byStart[r.id()[:4]], r.id())
	}
	var shared []string
	for _, ids := range byStart {
		if len(ids) == 2 {
			shared = slices.Sorted(slices.Values(ids))
		}
	}
	require.NotEmpty(t, shared)
	storeRuns(t, conn, runs)
	whole := []string{runs[0].id(), runs[1].id(), runs[2].id()}
	given := []string{
		whole[0][:8], " " + strings.ToUpper(whole[1][:13]) + " ", whole[2], strings.ToUpper(whole[2]), whole[0][:9],
		shared[0][:4], "abc", "", "zzzz", "%", "____", `'\' OR '`, "실패", strings.Repeat("a", 37), whole[0][:35] + "é",
	}
	selection := build.Selection{Conn: conn, Running: nothingRuns, By: schema.RetryBuildsInput{Builds: given}, At: at}
	for _, page := range []int{1, 2, 500} {
		all := candidates(t, selection.Paged(page), "")
		require.Len(t, all, len(given))
		require.Equal(t, whole, taken(all))
		require.Equal(t, []string{"it is named twice", "it is named twice"}, []string{all[3].LeftAlone, all[4].LeftAlone})
		require.Equal(t, "ambiguous: "+shared[0]+", "+shared[1]+" begin with it: give more of the id", all[5].LeftAlone)
		for i, c := range all[5:] {
			require.Equal(t, given[5+i], c.BuildID)
			if i > 0 {
				require.Contains(t, c.LeftAlone, "no such build")
			}
		}
		require.Equal(t, whole[1:], taken(candidates(t, selection.Paged(page), "1")))
	}
}

// An input that selects nothing, or two things at once, is refused.
func TestCheckRetry(t *testing.T) {
	t.Parallel()
	for says, in := range map[string]schema.RetryBuildsInput{
		"no build is selected": {}, "not both": {Builds: []string{"b"}, Failed: true}, `class "x"`: {Failed: true, Classes: []schema.FailureClass{"x"}},
		"force is for builds": {Failed: true, Force: true}, "at_once -1": {Partial: true, AtOnce: -1},
		"1001 builds: give 1000 at most": {Builds: make([]string, 1001)}, "or a selection of them": {Builds: []string{"b"}, Project: "p"},
	} {
		require.ErrorContains(t, in.Validate(), says)
	}
	require.NoError(t, schema.RetryBuildsInput{Failed: true, Partial: true, Classes: schema.FailureClasses()}.Validate())
	require.NoError(t, schema.RetryBuildsInput{Builds: []string{"b"}, Force: true}.Validate())
}

// The windows and vectors that a retry asks for again are counted. Those written since are not.
func TestSelectionOfPartialBuilds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	partial := func(session string, counts schema.BuildCounts) selectedRun {
		return selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "프로젝트", User: "u/ü"}, SessionID: session},
			ordinal:    1, start: at, status: schema.BuildPartial, counts: counts,
		}
	}
	lost := partial("세션 'a'", schema.BuildCounts{Quarantined: 3, GivenUp: 1, IndexFailed: 1})
	written := partial("written since", schema.BuildCounts{IndexFailed: 1})
	small := partial("z", schema.BuildCounts{Quarantined: 1, GivenUp: 1})
	storeRuns(t, conn, []selectedRun{lost, written, small})
	s := &scene{t: t, log: log, SessionKey: lost.SessionKey}
	s.append(small.Stream(), schema.MemoryExtracted, small.id(), givenUpWindow(small.SessionID, 0))
	var failed []schema.FailedVector
	for i, r := range []selectedRun{lost, written} {
		id := schema.DerivedID(r.Stream())
		s.append(r.Stream(), schema.EntryMaterialized, r.id(), schema.EntryMaterializedPayload{Entry: schema.Entry{
			ID: id, Type: schema.EntryFact, SessionID: r.SessionID, Scope: r.Scope, Title: "t", OccurredAt: at,
		}})
		if i == 0 {
			failed = append(failed, schema.FailedVector{
				VectorItem: schema.VectorItem{Kind: schema.ItemEntry, ID: id, EmbeddingVersion: spec.EmbeddingVersion},
				Project:    r.Project, EnqueuedAt: at, Attempt: 1, Error: "weaviate is away",
			})
		}
	}
	s.append(schema.VectorStream("c"), schema.VectorFailed, "", schema.VectorFailedPayload{Items: failed})
	for _, p := range build.Projections(conn, spec.EmbeddingVersion) {
		if !strings.HasPrefix(p.Name(), "builds") {
			_, err := log.ProjectAll(ctx, p)
			require.NoError(t, err)
		}
	}
	all := candidates(t, build.Selection{Conn: conn, Running: nothingRuns, By: schema.RetryBuildsInput{Partial: true}, At: at}, "")
	require.Len(t, all, 3)
	require.Equal(t, []int{0, 0}, []int{all[0].Windows, all[0].Vectors})
	require.Contains(t, all[0].LeftAlone, "its vectors have been written since")
	require.Contains(t, all[1].LeftAlone, "too small to be halved: starter builds retry with its id and --force asks about them once more")
	given := all[1].BuildID
	forced := candidates(t, build.Selection{Conn: conn, Running: nothingRuns, By: schema.RetryBuildsInput{Builds: []string{given}, Force: true}, At: at}, "")
	require.Equal(t, []string{given}, taken(forced))
	require.Equal(t, 1, forced[0].Windows)
	require.True(t, forced[0].Item().Input.AskGivenUp)
	require.False(t, all[2].Item().Input.AskGivenUp)
	require.Equal(t, lost.id(), all[2].BuildID)
	require.Empty(t, all[2].LeftAlone)
	require.Equal(t, []int{2, 1}, []int{all[2].Windows, all[2].Vectors})
}

// givenUpWindow is the record of a window of one message that has no answer and is too small to be halved.
func givenUpWindow(sessionID string, message int) schema.MemoryExtractedPayload {
	return schema.MemoryExtractedPayload{
		SessionID: sessionID, Window: schema.Window{Hash: fmt.Sprint("'", message), First: message, Last: message, Small: true},
		Extractor: spec.Extractor, ResponseKeys: []string{}, Entries: []schema.ExtractedEntry{},
		Quarantined: "no JSON in it", QuarantinedType: schema.ErrorModelUnreadable,
	}
}

func TestSelectionReachesWindowsGivenUpEarlier(t *testing.T) {
	t.Parallel()
	selectionReachesWindowsGivenUpEarlier(t, stacktest.Sample(t, 2, hostileNames))
}

// A forced retry asks once more about windows that an earlier build of the session gave up, although the latest build
// left nothing to do. For a build that is named without force, or for an earlier one, the answer is the command to run.
func selectionReachesWindowsGivenUpEarlier(t *testing.T, names []string) {
	t.Helper()
	conn := stacktest.Migrated(t)
	for i, name := range names {
		first := selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p " + name, User: name}, SessionID: name},
			ordinal:    1, start: at, status: schema.BuildPartial, counts: schema.BuildCounts{Quarantined: 2, GivenUp: 2},
		}
		second := first
		second.ordinal, second.status, second.counts = 2, []schema.BuildStatus{schema.BuildSuccess, schema.BuildEmpty}[i%2], schema.BuildCounts{}
		storeRuns(t, conn, []selectedRun{first, second})
		s := &scene{t: t, log: projection.New(conn, eventlog.Options{}), SessionKey: first.SessionKey}
		for message := range 2 {
			s.append(first.Stream(), schema.MemoryExtracted, first.id(), givenUpWindow(name, message))
		}
		of := func(force bool, id string) build.Candidate {
			by := schema.RetryBuildsInput{Builds: []string{id}, Force: force}
			all := candidates(t, build.Selection{Conn: conn, Running: nothingRuns, By: by, At: at}, "")
			require.Len(t, all, 1)
			return all[0]
		}
		told := "of the session's windows 2 were given up; starter builds retry " + second.id() + " --force asks about them once more"
		require.Contains(t, of(false, first.id()).LeftAlone, told)
		require.Contains(t, of(false, second.id()).LeftAlone, told)
		require.Contains(t, of(true, first.id()).LeftAlone, "the latest build of the session is "+second.id())
		forced := of(true, second.id())
		require.Empty(t, forced.LeftAlone)
		require.Equal(t, 2, forced.Windows)
		require.Equal(t, second.id(), forced.Item().Input.Retry)
		require.True(t, forced.Item().Input.AskGivenUp)

		for message := range 2 {
			answered := givenUpWindow(name, message)
			answered.Window.Asked, answered.Quarantined, answered.QuarantinedType = 1, "", ""
			s.append(first.Stream(), schema.MemoryExtracted, second.id(), answered)
		}
		for _, id := range []string{first.id(), second.id()} {
			require.Contains(t, of(true, id).LeftAlone, "there is nothing to retry")
		}
	}
}

// Builds are listed by their remedy, and by their start, to the microsecond.
func TestListByClass(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	var runs []selectedRun
	want := map[schema.FailureClass][]string{}
	for i, errType := range append([]string{""}, failureTypes...) {
		r := selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: fmt.Sprint(i)}, ordinal: 1,
			start: at.Add(-time.Duration(i)*time.Hour + time.Microsecond), status: schema.BuildFailed, errType: errType,
		}
		runs = append(runs, r)
		want[schema.ClassOf(errType)] = append(want[schema.ClassOf(errType)], r.id())
	}
	fine := runs[0]
	fine.SessionID, fine.status, fine.start = "fine", schema.BuildSuccess, at.AddDate(0, 0, -1)
	storeRuns(t, conn, append(runs, fine))
	listed := func(f build.Filter) (ids []string) {
		f.Limit = 100
		found, err := build.List(t.Context(), conn, f)
		require.NoError(t, err)
		for _, r := range found {
			ids = append(ids, r.BuildID)
		}
		return ids
	}
	for _, class := range schema.FailureClasses() {
		require.NotEmpty(t, want[class])
		require.Equal(t, want[class], listed(build.Filter{All: true, Class: class}), class)
	}
	require.Len(t, listed(build.Filter{All: true}), len(runs)+1)
	require.Equal(t, []string{runs[0].id(), runs[1].id()}, listed(build.Filter{All: true, Since: runs[1].start}))
	require.Equal(t, []string{runs[0].id()}, listed(build.Filter{All: true, Since: runs[1].start.Add(time.Microsecond)}))
}

// A build reports which build it resumed, and the remedy.
func TestAdvise(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := &scene{t: t, log: projection.New(conn, eventlog.Options{}), SessionKey: session}
	id := build.ID(session, 2)
	s.append(session.Stream(), schema.BuildStarted, id, schema.BuildStartedPayload{
		BuildID: id, SessionKey: session, Ordinal: 2, Unread: "it is gone", Resumed: &schema.ResumedBuild{BuildID: build.ID(session, 1), Step: schema.StepAlign},
	})
	show := func() build.Detail {
		_, err := s.log.Project(t.Context(), build.NewProjector(conn), session.Stream())
		require.NoError(t, err)
		d, err := build.Show(t.Context(), conn, id)
		require.NoError(t, err)
		require.NoError(t, d.Advise(t.Context(), conn, nothingRuns))
		return d
	}
	d := show()
	require.Equal(t, &schema.ResumedBuild{BuildID: build.ID(session, 1), Step: schema.StepAlign}, d.Resumed)
	require.Equal(t, "it is gone", d.Unread)
	require.Equal(t, build.StatusInterrupted, d.Status)
	require.Equal(t, "starter builds retry "+id, d.Retry)
	require.Equal(t, build.Hint(schema.ErrorInterrupted), d.Hint)
	s.append(session.Stream(), schema.BuildFinished, id, schema.BuildFinishedPayload{
		BuildID: id, SessionID: session.SessionID, Status: schema.BuildFailed, ErrorType: schema.ErrorUnknownFormat,
	})
	d = show()
	require.Empty(t, d.Retry)
	require.Contains(t, d.NoRetry, "add --force")
	require.Equal(t, build.Hint(schema.ErrorUnknownFormat), d.Hint)
}
