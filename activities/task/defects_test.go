package task

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// The twelve defects of the predecessor, a to l, each as a test that it would fail.

func TestDefectA_RebuildRestoresEverything(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Ship it", schema.TaskInProgress), p.report("Ship it", schema.TaskBlocked, "API keys", "PROJ-7"))
	p.say(p.note(schema.ExtractedTask{Title: "Ship it", Priority: schema.PriorityHigh}))
	require.NoError(t, p.do(Command{ConditionID: "API keys", ResolveTo: "https://example.com/vault"}))
	rebuilt := newMemory("alpha")
	rebuilt.apply(t, p.log)
	require.Equal(t, p.memory.view(), rebuilt.view())
	require.Equal(t, schema.PriorityHigh, rebuilt.entities[p.task("Ship it").ID].Priority)
	require.Len(t, rebuilt.edges(schema.RelResolvesTo), 1)
	for rel, want := range map[schema.RelType]int{schema.RelBlockedBy: 2, schema.RelResolvesTo: 1} {
		for _, targets := range rebuilt.edges(rel) {
			require.Len(t, targets, want)
			for _, id := range targets {
				require.Contains(t, rebuilt.entities, id, "no edge dangles")
			}
		}
	}
}

func TestDefectB_DeclarationsAreEvents(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskBlocked, "API keys", "PROJ-7"), p.report("B", schema.TaskBlocked, "api keys!", "proj-7", ""))
	require.Equal(t, 1, p.count(schema.ConditionDeclared))
	require.Equal(t, 1, p.count(schema.ArtifactDeclared))
}

func TestDefectC_300TasksAtOnce(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	var entries []schema.Entry
	for _, status := range []schema.TaskStatus{schema.TaskInProgress, schema.TaskBlocked, schema.TaskDone} {
		for i := range 300 {
			e := p.report(fmt.Sprintf("Task %d", i), status)
			if status == schema.TaskBlocked {
				e.Task.BlockedBy = []string{fmt.Sprintf("condition %d", i%7)}
			}
			entries = append(entries, e)
		}
	}
	p.say(entries...)
	done := 0
	for _, e := range p.tasks() {
		require.Equal(t, schema.TaskDone, e.TaskStatus)
		require.Empty(t, e.Blockers)
		done++
	}
	require.Equal(t, 300, done)
	require.Empty(t, p.memory.edges(schema.RelBlockedBy))
	require.Equal(t, 300, p.count(schema.TaskBlockersSet), "all were blocked in between")
}

func TestDefectD_EqualTimesLoseNothing(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	for i := range 50 { // Ids are hashes: about half of them sort before the one last projected.
		p.say(p.report(fmt.Sprintf("Task %d", i), schema.TaskInProgress))
	}
	require.Len(t, p.tasks(), 50)
	require.Len(t, p.memory.tables["entity_events_raw"], len(p.log))
}

func TestDefectE_FlappingInOneSession(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	entries := []schema.Entry{
		p.report("Deploy", schema.TaskInProgress), p.report("Deploy", schema.TaskBlocked, "VPN"),
		p.report("Deploy", schema.TaskInProgress), p.report("Deploy", schema.TaskBlocked, "VPN"),
	}
	p.say(entries...)
	require.Equal(t, schema.TaskBlocked, p.task("Deploy").TaskStatus)
	require.Equal(t, 3, p.count(schema.TaskStatusChanged))
	require.Equal(t, 2, p.count(schema.TaskBlockersSet))
	length := len(p.log)
	p.say(entries...)
	require.Len(t, p.log, length)
}

func TestDefectF_NewTaskReportedDone(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Write docs", schema.TaskDone))
	require.Equal(t, schema.TaskInProgress, p.task("Write docs").TaskStatus)
	require.Zero(t, p.count(schema.TaskStatusChanged))
	var created schema.TaskCreatedPayload
	require.NoError(t, json.Unmarshal(p.log[0].Payload, &created))
	require.Equal(t, schema.TaskDone, created.ReportedStatus)
	p.say(p.report("Write docs", schema.TaskDone))
	require.Equal(t, schema.TaskInProgress, p.task("Write docs").TaskStatus, "a second report confirms nothing")
	p.say(p.report("Write docs", schema.TaskInProgress), p.report("Write docs", schema.TaskDone))
	require.Equal(t, schema.TaskDone, p.task("Write docs").TaskStatus, "what was begun is finished")
}

func TestDefectG_RejectedReportSetsNoBlockers(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskPending), p.report("A", schema.TaskBlocked, "API keys"))
	require.Equal(t, schema.TaskBlocked, p.task("A").TaskStatus, "pending -> blocked is legal")
	require.Len(t, p.task("A").Blockers, 1)
	p.say(p.report("B", schema.TaskInProgress), p.report("B", schema.TaskDone))
	p.say(unaligned(p.report("B", schema.TaskBlocked, "secret")))
	require.Equal(t, schema.TaskDone, p.task("B").TaskStatus)
	require.Empty(t, p.task("B").Blockers)
	require.False(t, p.condition("secret").Exists())
	require.Equal(t, []string{schema.RejectedUnaligned}, p.rejections())
}

func TestDefectH_BlockedAlwaysHasABlocker(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Unknown", schema.TaskBlocked), unaligned(p.report("Unproven", schema.TaskBlocked, "API keys")))
	for _, title := range []string{"Unknown", "Unproven"} {
		e := p.task(title)
		require.Equal(t, schema.TaskBlocked, e.TaskStatus)
		require.Len(t, e.Blockers, 1)
		require.True(t, e.onlyPlaceholder())
		require.True(t, p.memory.entities[e.Blockers[0].ID].AutoPlaceholder)
	}
	require.Equal(t, p.condition("API keys").ID, p.task("Unproven").Suggestions[0].ID)
	p.requireI6()
	p.say(p.report("Unproven", schema.TaskBlocked, "API keys"))
	e := p.task("Unproven")
	require.False(t, e.onlyPlaceholder(), "evidence replaces the placeholder")
	require.Empty(t, e.Suggestions, "and what is known is no suggestion")
	p.say(unaligned(p.report("Unproven", schema.TaskBlocked, "moon")), p.report("Unproven", schema.TaskBlocked))
	e = p.task("Unproven")
	require.Equal(t, p.condition("API keys").ID, e.Blockers[0].ID, "neither replaces what is known")
	require.Len(t, e.Suggestions, 1)
}

func TestDefectI_LeavingBlockedClearsBlockers(t *testing.T) {
	t.Parallel()
	for _, to := range []schema.TaskStatus{schema.TaskInProgress, schema.TaskPending, schema.TaskDone, schema.TaskCancelled} {
		p := newTestProject(t)
		p.say(p.report("A", schema.TaskBlocked, "x", "y"))
		p.say(p.report("A", to))
		require.Equal(t, to, p.task("A").TaskStatus)
		require.Empty(t, p.memory.edges(schema.RelBlockedBy), "%s", to)
	}
}

func TestDefectJ_NothingWaitsForItself(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskInProgress), p.report("B", schema.TaskInProgress), p.report("C", schema.TaskInProgress))
	p.say(p.report("A", schema.TaskBlocked, " a! "))
	require.Equal(t, []string{schema.RejectedSelfBlock}, p.rejections())
	require.True(t, p.task("A").onlyPlaceholder())
	p.say(p.report("A", schema.TaskBlocked, "B"), p.report("B", schema.TaskBlocked, "C"), p.report("C", schema.TaskBlocked, "A", "API keys"))
	require.Equal(t, []string{schema.RejectedSelfBlock, schema.RejectedCycle}, p.rejections())
	require.Equal(t, p.condition("API keys").ID, p.task("C").Blockers[0].ID, "the rest stands")
	require.Len(t, p.task("C").Blockers, 1)
	// Through a condition that becomes a task.
	p.say(p.report("D", schema.TaskBlocked, "the future task E"))
	p.say(p.report("The future task E", schema.TaskBlocked, "D"))
	p.requireI6()
	require.Equal(t, []string{schema.RejectedSelfBlock, schema.RejectedCycle, schema.RejectedCycle}, p.rejections())
	require.NoError(t, p.do(Command{TaskID: "C", Title: "API keys"}))
	require.Nil(t, p.condition("API keys").ResolvesTo, "C would wait for itself")
	require.ErrorIs(t, p.do(Command{TaskID: "C", Block: []string{"A"}}), ErrRefused)
	require.ErrorIs(t, p.do(Command{TaskID: "B", MergeInto: "A"}), ErrRefused)
	p.requireI6()
}

func TestDefectK_RecurringTask(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	for _, status := range []schema.TaskStatus{
		schema.TaskInProgress, schema.TaskDone, schema.TaskPending, schema.TaskInProgress, schema.TaskDone, schema.TaskBlocked, schema.TaskCancelled, schema.TaskInProgress,
	} {
		p.say(p.report("Update dependencies", status))
		require.Equal(t, status, p.task("Update dependencies").TaskStatus)
	}
	require.Empty(t, p.rejections())
	require.Len(t, p.tasks(), 1)
	p.requireNoLeap()
	p.requireI6()
}

func TestDefectL_NothingIsWrittenButEvents(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	e := p.report("A", schema.TaskBlocked, "x", "PROJ-7")
	planned, err := Plan(context.Background(), p.memory, Rules{}, []Batch{{Project: p.name, Entries: []schema.Entry{e}}})
	require.NoError(t, err)
	require.Len(t, planned.Events, 6)
	require.Empty(t, p.memory.entities, "a plan that is never appended leaves nothing behind")
	// After any part of the events, the same entry completes them.
	for n := range planned.Events {
		part := newTestProject(t)
		part.append(planned.Events[:n])
		part.say(e)
		require.Equal(t, schema.TaskBlocked, part.task("A").TaskStatus, "after %d events", n)
		require.Len(t, part.task("A").Blockers, 2)
		require.Len(t, part.log, len(planned.Events))
		part.requireI6()
	}
}

func TestReopenNeedsProof(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskInProgress), p.report("A", schema.TaskDone))
	p.say(unaligned(p.report("A", schema.TaskInProgress)))
	old := p.report("A", schema.TaskInProgress)
	old.OccurredAt = day.Add(-time.Hour)
	p.say(old)
	require.Equal(t, schema.TaskDone, p.task("A").TaskStatus)
	require.Equal(t, []string{schema.RejectedUnaligned, schema.RejectedStale}, p.rejections())
	dated := p.report("A", schema.TaskInProgress)
	dated.OccurredAt = day.Truncate(24 * time.Hour) // Only the day is known.
	p.say(dated)
	require.Equal(t, schema.TaskInProgress, p.task("A").TaskStatus)
	p.say(p.report("A", schema.TaskDone), p.report("A", schema.TaskCancelled))
	require.Equal(t, schema.TaskDone, p.task("A").TaskStatus, "done is not cancelled")
}

func TestPendingIsNeverDoneByItself(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskPending), p.report("A", schema.TaskDone))
	require.Equal(t, schema.TaskInProgress, p.task("A").TaskStatus, "the legal first step")
	require.Equal(t, []string{schema.RejectedTransition}, p.rejections())
	require.NoError(t, p.do(Command{TaskID: "A", Status: schema.TaskDone}), "a person may")
	require.Equal(t, schema.TaskDone, p.task("A").TaskStatus)
	p.requireNoLeap()
}

func TestOneTaskInEightSpellings(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	for _, s := range []string{
		"Fix login bug", " fix login bug!", "FIX LOGIN BUG.", "Ｆｉｘ\u3000ｌｏｇｉｎ\u3000ｂｕｇ", "“Fix login bug”", "- [ ] Fix  login bug",
		"Fix the login bug", "fix_login_bug", "Fix login-bug…",
	} {
		p.say(p.report(s, schema.TaskInProgress))
	}
	require.Len(t, p.tasks(), 1)
	for _, s := range []string{"Port to C++", "Port to C#", "Ship 1.5", "Ship 15", "कि", "की", "ที่", "ท", "🚀", "🔥", "Fix login bug 2", "Fix logout bug"} {
		p.say(p.report(s, schema.TaskPending))
	}
	require.Len(t, p.tasks(), 13)
	other := newProject(t, "beta")
	other.say(other.report("Fix login bug", schema.TaskPending))
	require.NotEqual(t, p.task("Fix login bug").ID, other.task("Fix login bug").ID)
}

func TestEmptyTitleIsSkippedWithItsReason(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	e := p.report(" \u200b", schema.TaskPending)
	planned := p.say(e, p.report("A", schema.TaskPending))
	require.Len(t, planned.Skipped[0], 1)
	require.Equal(t, e.ID, planned.Skipped[0][0].EntryID)
	require.Len(t, p.tasks(), 1)
}

func TestConditionsResolve(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Ship", schema.TaskBlocked, "waiting for API keys", "review of PROJ-7", "owner/repo#5"))
	p.say(p.report("API keys", schema.TaskInProgress))
	require.Equal(t, p.task("API keys").ID, p.condition("API keys").ResolvesTo.ID)
	require.Equal(t, schema.ResolvedByTaskTitle, p.condition("API keys").ResolvedBy)
	p.say(p.report("PROJ-7: Add index", schema.TaskInProgress), p.report("PROJ-7: Add index", schema.TaskDone))
	review := p.condition("review of PROJ-7")
	require.NotNil(t, review.ResolvesTo)
	require.Equal(t, schema.ResolvedByArtifact, review.ResolvedBy)
	require.False(t, p.memory.entities[review.ResolvesTo.ID].Open())
	// GitHub numbers issues and pull requests together: the pull request's address is the known #5.
	p.say(p.report("Other", schema.TaskBlocked, "https://github.com/owner/repo/pull/5"))
	require.True(t, p.task("Ship").blockedBy(p.task("Other").Blockers[0].ID))
	pull := p.task("Other").Blockers[0].ID
	require.NoError(t, p.do(Command{CloseArtifact: "owner/repo#5"}))
	require.False(t, p.memory.entities[pull].Open())
}

func TestStubTasksAreNeverCreated(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskBlocked, "Build the thing", "task:alpha:nothing there", "11111111-2222-3333-4444-555555555555"))
	require.Len(t, p.tasks(), 1)
	require.Len(t, p.task("A").Blockers, 3)
	p.say(p.report("Build the whole thing", schema.TaskPending), p.report("B", schema.TaskBlocked, "Build the thing now"))
	require.Len(t, p.tasks(), 3)
	c := p.condition("Build the thing now")
	require.Equal(t, p.task("Build the whole thing").ID, c.Candidates[0].EntityID, "a likely task is kept as a candidate")
	p.say(p.report("C", schema.TaskBlocked, p.task("B").ID, "task:alpha:a"))
	require.True(t, p.task("C").blockedBy(p.task("B").ID))
	require.True(t, p.task("C").blockedBy(p.task("A").ID))
}

func TestCommands(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskPending), p.report("A two", schema.TaskBlocked, "A"), p.report("B", schema.TaskInProgress))
	require.NoError(t, p.do(Command{TaskID: "A", Block: []string{"B", "PROJ-1"}, Priority: schema.PriorityCritical}))
	require.Len(t, p.task("A").Blockers, 2)
	require.NoError(t, p.do(Command{TaskID: p.task("A").ID, Unblock: []string{"proj-1"}}))
	require.Equal(t, schema.TaskBlocked, p.task("A").TaskStatus)
	require.NoError(t, p.do(Command{TaskID: "task:alpha:a", Unblock: []string{"B"}}))
	require.Equal(t, schema.TaskPending, p.task("A").TaskStatus, "the last blocker is gone: as before it was blocked")
	require.NoError(t, p.do(Command{TaskID: "A", Status: schema.TaskBlocked}))
	require.True(t, p.task("A").onlyPlaceholder())
	require.NoError(t, p.do(Command{TaskID: "A", Block: []string{"API keys"}}))
	require.False(t, p.task("A").onlyPlaceholder())
	require.Len(t, p.task("A").Blockers, 1)
	require.NoError(t, p.do(Command{TaskID: "A", Title: "Alpha"}))
	require.Equal(t, p.task("A").ID, p.task("Alpha").ID)

	a, b := p.task("A").ID, p.task("B").ID
	require.NoError(t, p.do(Command{TaskID: "A", MergeInto: "B"}))
	require.Equal(t, b, p.task("A").ID)
	require.Equal(t, b, p.task("Alpha").ID)
	merged := p.memory.entities[a]
	require.Equal(t, schema.StatusSuperseded, merged.Status)
	require.Empty(t, merged.Blockers)
	p.say(p.report("Alpha", schema.TaskDone))
	require.Equal(t, schema.TaskDone, p.memory.entities[b].TaskStatus, "reports of the old title go to the new task")
	p.requireI6()

	once := Command{TaskID: "B", Status: schema.TaskInProgress, RequestID: "same"}
	require.NoError(t, p.do(once))
	length := len(p.log)
	require.NoError(t, p.do(once))
	require.Len(t, p.log, length)

	require.ErrorIs(t, p.do(Command{TaskID: "nobody", Status: schema.TaskDone}), ErrNotFound)
	for _, c := range []Command{
		{TaskID: "B"}, {Status: schema.TaskDone}, {TaskID: "B", Status: "paused"}, {TaskID: "B", Priority: "urgent"}, {ConditionID: "x"},
		{TaskID: "B", Block: []string{"x"}, Status: schema.TaskDone}, {},
	} {
		require.ErrorIs(t, p.do(c), ErrCommand, "%+v", c)
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	e := Entity{EntityRef: schema.EntityRef{Type: schema.EntityTask, ID: "1"}, Stage: schema.StageRaw, Status: schema.StatusActive, TaskStatus: schema.TaskDone, UpdatedAt: day}
	m := weigh(e, MethodExact, baseExact, day.AddDate(3, 0, 0))
	_, ok := Strict([]Match{m})
	require.True(t, ok, "a title is a title, however old: %f", m.Score)
	e.TaskStatus = schema.TaskCancelled
	_, ok = Strict([]Match{weigh(e, MethodExact, baseExact, day)})
	require.False(t, ok)
	active := Entity{Status: schema.StatusActive}
	_, ok = Strict([]Match{{Score: 0.97, Same: true, Entity: active}, {Score: 0.95}})
	require.False(t, ok, "two too close to tell apart")
	_, ok = Strict([]Match{{Score: 0.97, Same: true, Entity: active}, {Score: 0.93}})
	require.True(t, ok)
	_, ok = Strict([]Match{{Score: 0.97, Entity: active}})
	require.False(t, ok, "likeness is not certain")
}

type fixedVectors []TitleHit

func (f fixedVectors) SimilarTitles(context.Context, string, string, int) ([]TitleHit, error) {
	return f, nil
}

func TestVectorMatch(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Repair the sign-in page", schema.TaskInProgress))
	id := p.task("Repair the sign-in page").ID
	say := func(title string, similarity float64) {
		planned, err := Plan(context.Background(), p.memory, Rules{Vectors: fixedVectors{{id, similarity}, {"gone", 1}}}, []Batch{{
			Project: p.name, Entries: []schema.Entry{p.report(title, schema.TaskDone)},
		}})
		require.NoError(t, err)
		p.append(planned.Events)
	}
	say("Mend the login form", 0.9)
	require.Len(t, p.tasks(), 2)
	require.Equal(t, id, p.task("Mend the login form").Candidates[0].EntityID)
	say("Fix the page one signs in on", 0.99)
	require.Len(t, p.tasks(), 3, "however close, a vector merges nothing")
	require.Equal(t, id, p.task("Fix the page one signs in on").Candidates[0].EntityID)
	require.Equal(t, schema.TaskInProgress, p.task("Repair the sign-in page").TaskStatus, "and closes nothing")
	say("Repair: the sign in page!", 0.99)
	require.Len(t, p.tasks(), 3)
	require.Equal(t, id, p.task("Repair: the sign in page").ID, "the spelling is an alias from now on")
	require.Equal(t, schema.TaskDone, p.task("Repair the sign-in page").TaskStatus)
}

func TestCorruptEventIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Fold(Entity{}, "x", schema.Event{Type: schema.TaskCreated, Payload: []byte("{")})
	require.Error(t, err)
	_, err = Fold(Entity{}, "x", schema.Event{Type: schema.SessionIngested, Payload: []byte("{}")})
	require.Error(t, err)
}
