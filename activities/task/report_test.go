package task

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// proven returns the entry with proven evidence.
func proven(e schema.Entry) schema.Entry {
	e.Evidence = []schema.Evidence{{Quote: "Done: " + e.Title + ".", Found: true, Aligned: true, Proven: true, Method: schema.MethodExact, Confidence: 1}}
	e.EvidenceProven = true
	return e
}

func requireReported(t *testing.T, e Entity, status schema.TaskStatus, entryID string) {
	t.Helper()
	require.Equal(t, status, e.TaskStatus)
	require.NotNil(t, e.DoneReport)
	require.Equal(t, entryID, e.DoneReport.EntryID)
}

func TestAReportOfDoneIsKept(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	done := proven(p.report("write the report", schema.TaskDone))
	p.say(p.report("Write the report", schema.TaskPending), done)
	requireReported(t, p.task("Write the report"), schema.TaskInProgress, done.ID)
	require.Equal(t, "Done: write the report.", p.task("Write the report").DoneReport.Quote)
	require.True(t, p.task("Write the report").DoneReport.EvidenceProven)
	require.Equal(t, []string{schema.RejectedTransition}, p.rejections(), "pending is not done at once, and the log says so")

	first := p.report("Fix the importer", schema.TaskDone)
	p.say(first)
	requireReported(t, p.task("Fix the importer"), schema.TaskInProgress, first.ID)
	var kept schema.TaskDoneReportedPayload
	for _, e := range p.log {
		if e.Type == schema.TaskDoneReported {
			require.NoError(t, json.Unmarshal(e.Payload, &kept))
			if kept.EntryID == done.ID {
				require.Equal(t, done.Evidence, kept.Evidence)
			}
		}
	}
	p.say(p.report("Fix the importer", schema.TaskInProgress), p.report("Fix the importer", schema.TaskDone))
	require.Equal(t, schema.TaskDone, p.task("Fix the importer").TaskStatus, "in_progress -> done is legal")
	require.Nil(t, p.task("Fix the importer").DoneReport)
	p.requireNoLeap()
}

// An agent's report by a command names the agent, and changes neither the status nor the blockers of the task. A later
// report of a session can still close the task.
func TestAgentsReportChangesNothing(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Ship \"it\" 名", schema.TaskInProgress), p.report("Wait", schema.TaskBlocked, "Ship \"it\" 名"))
	const ship = "Ship \"it\" 名"
	for range 2 {
		require.NoError(t, p.do(Command{TaskID: ship, Status: schema.TaskDone, Reported: true}))
	}
	requireReported(t, p.task(ship), schema.TaskInProgress, "")
	require.Equal(t, "user:ada", p.task(ship).DoneReport.By)
	require.Equal(t, 1, p.count(schema.TaskDoneReported), "the same report is made once")
	require.Equal(t, schema.TaskBlocked, p.task("Wait").TaskStatus, "it frees nothing")

	require.NoError(t, p.do(Command{TaskID: ship, Block: []string{"PROJ-7"}, Reported: true}))
	require.Equal(t, schema.TaskInProgress, p.task(ship).TaskStatus)
	require.Empty(t, p.task(ship).Blockers)
	require.Len(t, p.task(ship).Suggestions, 1)

	require.ErrorIs(t, p.do(Command{TaskID: ship, Status: schema.TaskCancelled, Reported: true}), ErrCommand)
	require.ErrorIs(t, p.do(Command{TaskID: ship, Status: schema.TaskDone, Block: []string{"x"}, Reported: true}), ErrCommand)
	p.say(p.report(ship, schema.TaskDone))
	require.Equal(t, schema.TaskDone, p.task(ship).TaskStatus, "the session's report is the first that counts")
	require.ErrorIs(t, p.do(Command{TaskID: ship, Block: []string{"x"}, Reported: true}), ErrRefused)

	p.say(p.report("B", schema.TaskPending))
	require.NoError(t, p.do(Command{TaskID: "B", Status: schema.TaskDone, Reported: true}))
	require.Equal(t, schema.TaskPending, p.task("B").TaskStatus)
	require.NoError(t, p.do(Command{Confirm: []string{"B"}}))
	require.Equal(t, schema.TaskDone, p.task("B").TaskStatus, "a person confirms it")
}

// TestARecapConfirmsNothing: while a report of done is unconfirmed, a further one, of the same or a later session, is
// only recorded.
func TestARecapConfirmsNothing(t *testing.T) {
	t.Parallel()
	for _, rules := range []Rules{{}, {DoneReports: KeepReports}, {DoneReports: CloseProven}} {
		p := newTestProject(t)
		p.rules = rules
		recap := p.report("A", schema.TaskDone)
		p.say(p.report("A", schema.TaskPending), p.report("A", schema.TaskDone), recap)
		requireReported(t, p.task("A"), schema.TaskInProgress, recap.ID)
		later := p.report("A", schema.TaskDone)
		p.say(later)
		requireReported(t, p.task("A"), schema.TaskInProgress, later.ID)
		require.Equal(t, 3, p.count(schema.TaskDoneReported), "each is recorded")
		require.Equal(t, []string{schema.RejectedTransition}, p.rejections())
		last := proven(p.report("A", schema.TaskDone))
		p.say(last)
		if rules.DoneReports == CloseProven {
			require.Equal(t, schema.TaskDone, p.task("A").TaskStatus)
			continue
		}
		requireReported(t, p.task("A"), schema.TaskInProgress, last.ID)
		require.NoError(t, p.do(Command{Confirm: []string{"A"}}))
		require.Equal(t, schema.TaskDone, p.task("A").TaskStatus)
		p.requireNoLeap()
	}
}

// TestBegunIsClosedByAReport: a report of done closes a task that was reported in progress or blocked.
func TestBegunIsClosedByAReport(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskInProgress), p.report("B", schema.TaskBlocked, "keys"), p.report("C", schema.TaskDone), p.report("C", schema.TaskBlocked, "keys"))
	p.say(p.report("A", schema.TaskDone), p.report("B", schema.TaskDone), p.report("C", schema.TaskDone))
	for _, title := range []string{"A", "B", "C"} {
		require.Equal(t, schema.TaskDone, p.task(title).TaskStatus, title)
	}
	require.Zero(t, p.count(schema.TaskTransitionRejected))
	p.requireI6()
}

func TestAnUnalignedReportClosesNothing(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskInProgress), p.report("B", schema.TaskBlocked, "keys"), p.report("C", schema.TaskInProgress))
	weak := unaligned(p.report("A", schema.TaskDone))
	p.say(weak, unaligned(p.report("B", schema.TaskDone)), unaligned(p.report("C", schema.TaskCancelled)))
	requireReported(t, p.task("A"), schema.TaskInProgress, weak.ID)
	require.False(t, p.task("A").DoneReport.EvidenceAligned)
	require.Equal(t, schema.TaskBlocked, p.task("B").TaskStatus)
	require.NotNil(t, p.task("B").DoneReport)
	require.Equal(t, schema.TaskInProgress, p.task("C").TaskStatus)
	require.Equal(t, []string{schema.RejectedUnalignedCancel}, p.rejections())
	for _, to := range []schema.TaskStatus{schema.TaskInProgress, schema.TaskPending} {
		p.say(unaligned(p.report("B", to)))
		require.Equal(t, schema.TaskBlocked, p.task("B").TaskStatus)
		require.NotEmpty(t, p.task("B").Blockers)
	}
	require.Equal(t, []string{schema.RejectedUnalignedCancel, schema.RejectedUnaligned, schema.RejectedUnaligned}, p.rejections())
	p.say(unaligned(p.report("A", schema.TaskDone)))
	require.NotEqual(t, weak.ID, p.task("A").DoneReport.EntryID, "the latest of equal strength is shown")
}

func TestAReportIsTakenBack(t *testing.T) {
	t.Parallel()
	later := func(e schema.Entry, d time.Duration) schema.Entry {
		e.OccurredAt = day.Add(d)
		return e
	}
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskDone), later(p.report("A", schema.TaskInProgress), -time.Hour), unaligned(later(p.report("A", schema.TaskInProgress), time.Hour)))
	require.NotNil(t, p.task("A").DoneReport, "what is older, or not in the source, takes nothing back")
	p.say(later(p.report("A", schema.TaskInProgress), time.Hour))
	require.Nil(t, p.task("A").DoneReport)
	p.say(p.report("B", schema.TaskDone), p.report("B", schema.TaskBlocked, "keys"))
	require.Nil(t, p.task("B").DoneReport)
}

func TestCloseProvenReports(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.rules.DoneReports = CloseProven
	doubted := proven(p.report("C", schema.TaskDone))
	doubted.EvidenceProven = false
	p.say(p.report("A", schema.TaskPending), proven(p.report("A", schema.TaskDone)), proven(p.report("B", schema.TaskDone)),
		doubted, p.report("D", schema.TaskDone), unaligned(proven(p.report("E", schema.TaskDone))))
	for title, status := range map[string]schema.TaskStatus{
		"A": schema.TaskDone, "B": schema.TaskDone, "C": schema.TaskInProgress, "D": schema.TaskInProgress, "E": schema.TaskInProgress,
	} {
		require.Equal(t, status, p.task(title).TaskStatus, title)
		require.Equal(t, status == schema.TaskInProgress, p.task(title).DoneReport != nil, title)
	}
	require.Empty(t, p.rejections())
	p.requireNoLeap()
}

// The state in an agent's own list counts, since the harness keeps it, if the list is in the source.
func TestListedReports(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	listed := func(e schema.Entry) schema.Entry {
		e.Task.Listed = true
		return e
	}
	p.say(listed(proven(p.report("A", schema.TaskDone))), listed(proven(p.report("B", schema.TaskPending))), listed(p.report("C", schema.TaskDone)))
	p.say(listed(proven(p.report("B", schema.TaskDone))))
	for title, status := range map[string]schema.TaskStatus{"A": schema.TaskDone, "B": schema.TaskDone, "C": schema.TaskInProgress} {
		require.Equal(t, status, p.task(title).TaskStatus, title)
	}
	// A list closes only tasks that began in one.
	p.say(p.report("D", schema.TaskPending))
	p.say(listed(proven(p.report("D", schema.TaskDone))))
	require.Equal(t, schema.TaskInProgress, p.task("D").TaskStatus)
	require.NotNil(t, p.task("D").DoneReport)
	p.requireNoLeap()
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskDone), p.report("B", schema.TaskPending), p.report("B", schema.TaskDone),
		p.report("C", schema.TaskDone), p.report("D", schema.TaskInProgress), p.report("E", schema.TaskBlocked, "C"))
	length := len(p.log)
	require.ErrorIs(t, p.do(Command{Confirm: []string{"A", "D"}}), ErrCommand)
	require.ErrorIs(t, p.do(Command{Confirm: []string{"A", "nobody"}}), ErrNotFound)
	require.ErrorIs(t, p.do(Command{Confirm: []string{"A"}, ConfirmAll: true}), ErrCommand)
	require.Len(t, p.log, length, "all or none")
	require.NoError(t, p.do(Command{Confirm: []string{p.task("A").ID[:8], "a!"}}))
	require.Equal(t, schema.TaskDone, p.task("A").TaskStatus)
	require.Equal(t, schema.TaskInProgress, p.task("B").TaskStatus)
	require.NoError(t, p.do(Command{ConfirmAll: true}))
	for title, status := range map[string]schema.TaskStatus{
		"B": schema.TaskDone, "C": schema.TaskDone, "D": schema.TaskInProgress, "E": schema.TaskPending,
	} {
		require.Equal(t, status, p.task(title).TaskStatus, title)
	}
	length = len(p.log)
	require.NoError(t, p.do(Command{ConfirmAll: true}))
	require.NoError(t, p.do(Command{Confirm: []string{"A"}}))
	require.Len(t, p.log, length)
	p.requireNoLeap()
	p.requireI6()
}

// TestAlignedBlockersReplace: the blockers of an aligned note replace those of the task, in progress or not.
func TestAlignedBlockersReplace(t *testing.T) {
	t.Parallel()
	for _, status := range []schema.TaskStatus{schema.TaskPending, schema.TaskInProgress} {
		p := newTestProject(t)
		p.say(p.report("A", status, "API keys", "PROJ-7"), unaligned(p.report("A", status, "moon")))
		a := p.task("A")
		require.Equal(t, status, a.TaskStatus)
		require.Len(t, a.Blockers, 2)
		require.Equal(t, p.condition("moon").ID, a.Suggestions[0].ID)
		p.say(p.report("A", status, "PROJ-7"))
		require.Len(t, p.task("A").Blockers, 1)
		p.say(p.report("A", schema.TaskBlocked))
		require.Len(t, p.task("A").Blockers, 1, "what it waits for is known")
		p.say(p.report("A", schema.TaskInProgress, "API keys"))
		require.Equal(t, p.condition("API keys").ID, p.task("A").Blockers[0].ID)
		p.say(p.report("A", schema.TaskDone))
		require.Empty(t, p.memory.edges(schema.RelBlockedBy))
		p.requireI6()
	}
}
