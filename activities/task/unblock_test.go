package task

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// TestLift: a blocker is lifted however it ends, and with the last one the task returns to the status it had before it
// was blocked.
func TestLift(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		blocker string
		before  func(p *project)
		settle  func(p *project)
	}{
		"artifact closed by a person":    {"PROJ-7", nil, func(p *project) { require.NoError(p.t, p.do(Command{CloseArtifact: "PROJ-7"})) }},
		"artifact closed under its pull": {"o/r#5", nil, func(p *project) { require.NoError(p.t, p.do(Command{CloseArtifact: "https://github.com/o/r/pull/5"})) }},
		"artifact in a condition":        {"the review of PROJ-7", nil, func(p *project) { require.NoError(p.t, p.do(Command{CloseArtifact: "PROJ-7"})) }},
		"artifact closed by a title": {"PROJ-7", nil, func(p *project) {
			p.say(p.report("PROJ-7: add the index", schema.TaskInProgress), p.report("PROJ-7: add the index", schema.TaskDone))
		}},
		"task reported done": {"Get the keys", func(p *project) { p.say(p.report("Get the keys", schema.TaskInProgress)) },
			func(p *project) { p.say(p.report("Get the keys", schema.TaskDone)) }},
		"task cancelled": {"Get the keys", func(p *project) { p.say(p.report("Get the keys", schema.TaskInProgress)) },
			func(p *project) {
				require.NoError(p.t, p.do(Command{TaskID: "Get the keys", Status: schema.TaskCancelled}))
			}},
		"task confirmed": {"Get the keys", func(p *project) { p.say(p.report("Get the keys", schema.TaskDone)) },
			func(p *project) { require.NoError(p.t, p.do(Command{ConfirmAll: true})) }},
		"task merged into one that is done": {"Get the keys", func(p *project) {
			p.say(p.report("Get the keys", schema.TaskPending), p.report("Fetch the keys", schema.TaskInProgress), p.report("Fetch the keys", schema.TaskDone))
		}, func(p *project) {
			require.NoError(p.t, p.do(Command{TaskID: "Get the keys", MergeInto: "Fetch the keys"}))
		}},
		"condition that a task with its title ends": {"get keys", nil, func(p *project) {
			p.say(p.report("Get-keys", schema.TaskInProgress), p.report("Get keys", schema.TaskDone))
		}},
		"condition resolved to what is done": {"the keys", func(p *project) {
			p.say(p.report("Fetch all", schema.TaskInProgress), p.report("Fetch all", schema.TaskDone))
		}, func(p *project) { require.NoError(p.t, p.do(Command{ConditionID: "the keys", ResolveTo: "Fetch all"})) }},
		"condition resolved, then done": {"the keys", func(p *project) { p.say(p.report("Fetch all", schema.TaskInProgress)) }, func(p *project) {
			require.NoError(p.t, p.do(Command{ConditionID: "the keys", ResolveTo: "Fetch all"}))
			require.Equal(p.t, schema.TaskBlocked, p.task("Ship").TaskStatus)
			p.say(p.report("Fetch all", schema.TaskDone))
		}},
		"unblocked by a person": {"the keys", nil, func(p *project) { require.NoError(p.t, p.do(Command{TaskID: "Ship", Unblock: []string{"the keys"}})) }},
	} {
		for _, status := range []schema.TaskStatus{schema.TaskPending, schema.TaskInProgress} {
			t.Run(fmt.Sprint(name, " from ", status), func(t *testing.T) {
				t.Parallel()
				p := newTestProject(t)
				if tt.before != nil {
					tt.before(p)
				}
				p.say(p.report("Ship", status), p.report("Ship", schema.TaskBlocked, tt.blocker),
					p.report("Two", status), p.report("Two", schema.TaskBlocked, tt.blocker, "legal"),
					p.report("Noted", status, tt.blocker))
				require.Equal(t, schema.TaskBlocked, p.task("Ship").TaskStatus)
				require.Len(t, p.task("Two").Blockers, 2)
				require.Len(t, p.task("Noted").Blockers, 1)
				tt.settle(p)
				require.Equal(t, status, p.task("Ship").TaskStatus)
				p.requireI6()
				p.requireNoLeap()
				if name == "unblocked by a person" {
					return
				}
				require.Equal(t, schema.TaskBlocked, p.task("Two").TaskStatus, "it waits for the other")
				require.Equal(t, []schema.Blocker{p.task("Two").Blockers[0]}, p.task("Two").Blockers)
				require.Equal(t, p.condition("legal").ID, p.task("Two").Blockers[0].ID)
				require.Equal(t, status, p.task("Noted").TaskStatus)
				require.Empty(t, p.task("Noted").Blockers)
				again := newMemory(p.name)
				again.apply(t, p.log)
				require.Equal(t, p.memory.view(), again.view())
			})
		}
	}
}

// counting is an index that counts its reads.
type counting struct {
	*memory
	reads int
}

func (c *counting) Read(ctx context.Context, project string, w Wants) (Found, error) {
	c.reads++
	return c.memory.Read(ctx, project, w)
}

// TestLiftAsksOncePerStep: for any number of waiting tasks with any number of blockers, one request reads the blockers
// and one the entities that they resolve to.
func TestLiftAsksOncePerStep(t *testing.T) {
	t.Parallel()
	loads := func(tasks int) int {
		p := newTestProject(t)
		var entries []schema.Entry
		for i := range tasks {
			entries = append(entries, p.report(fmt.Sprintf("Ship package number %d", i), schema.TaskBlocked, "PROJ-7", fmt.Sprintf("sign-off %d", i)))
		}
		p.say(append(entries, p.report("Get all signed", schema.TaskInProgress))...)
		for i := range tasks {
			require.NoError(t, p.do(Command{ConditionID: fmt.Sprintf("sign-off %d", i), ResolveTo: "Get all signed"}))
		}
		index := &counting{memory: p.memory}
		planned, err := PlanCommand(context.Background(), index, p.rules, Command{
			Project: p.name, RequestID: "close", Actor: "user:ada", At: day, CloseArtifact: "PROJ-7",
		})
		require.NoError(t, err)
		require.Len(t, planned.Events, tasks+1, "each task loses a blocker")
		return index.reads
	}
	few := loads(2)
	require.LessOrEqual(t, few, 5)
	require.Equal(t, few, loads(30))
}

func TestWhatIsNotDoneLiftsNothing(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Keys", schema.TaskPending), p.report("Ship", schema.TaskBlocked, "Keys"), p.report("Fly", schema.TaskBlocked, "Ship"))
	p.say(unaligned(p.report("Keys", schema.TaskDone)), p.report("Keys", schema.TaskBlocked, "PROJ-7"))
	require.Equal(t, schema.TaskBlocked, p.task("Ship").TaskStatus)
	require.NoError(t, p.do(Command{CloseArtifact: "PROJ-7"}))
	require.Equal(t, schema.TaskInProgress, p.task("Keys").TaskStatus)
	require.Equal(t, schema.TaskBlocked, p.task("Ship").TaskStatus, "the keys are not done")
	require.Equal(t, schema.TaskBlocked, p.task("Fly").TaskStatus)
	// A blocker that names a closed artifact stays until the artifact is closed again.
	p.say(p.report("Late", schema.TaskBlocked, "PROJ-7"))
	require.Equal(t, schema.TaskBlocked, p.task("Late").TaskStatus)
	require.NoError(t, p.do(Command{CloseArtifact: "proj-7"}))
	require.Equal(t, schema.TaskPending, p.task("Late").TaskStatus)
	// A late session named the artifact before it was closed.
	early := p.report("Early", schema.TaskBlocked, "PROJ-7")
	early.OccurredAt = day.Add(-time.Hour)
	p.say(early)
	require.Equal(t, schema.TaskPending, p.task("Early").TaskStatus)
	p.requireI6()
}
