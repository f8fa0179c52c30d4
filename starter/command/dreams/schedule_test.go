package dreams_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/dreams"
	"axiommind/workflows"
)

// sleeper replaces the dreams, so that a test sees the requests of a schedule.
type sleeper struct {
	client client.Client
	nights chan schema.DreamNightInput
	dreams chan schema.DeepDreamInput
	// result returns the result of a dream.
	result func(in schema.DeepDreamInput) (schema.DeepDreamResult, error)
}

// FindMemories finds one memory.
func (s *sleeper) FindMemories(_ context.Context, in tier.FindInput) (tier.Found, error) {
	return tier.Found{Date: in.At.Format(time.DateOnly), Memories: []tier.Memory{{User: "철수"}}}, nil
}

// sleep runs the real dream_night and a dream that a test can block.
func sleep(c *commandtest.CLI, t *testing.T) *sleeper {
	t.Helper()
	s := &sleeper{dreams: make(chan schema.DeepDreamInput, 100), nights: make(chan schema.DreamNightInput, 100)}
	s.client = dial(c, t)
	s.result = func(in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
		return schema.DeepDreamResult{Date: in.Date, Status: schema.DreamCommitted, Version: 3, Items: 1, Added: 1}, nil
	}
	w := worker.New(s.client, schema.QueueMain, worker.Options{})
	w.RegisterActivity(s)
	w.RegisterWorkflowWithOptions(workflows.DreamNight, workflow.RegisterOptions{Name: schema.WorkflowDreamNight})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
		if in.User == "held" {
			workflow.GetSignalChannel(ctx, "go on").Receive(ctx, nil)
		}
		if in.Date == "" {
			at, _ := workflow.GetTypedSearchAttributes(ctx).GetTime(temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime"))
			in.Date = at.UTC().Format(time.RFC3339)
		}
		s.dreams <- in
		return s.result(in)
	}, workflow.RegisterOptions{Name: schema.WorkflowDeepDream})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return s
}

func dial(c *commandtest.CLI, t *testing.T) client.Client {
	t.Helper()
	cfg := c.Config(t)
	temporalClient, err := client.Dial(client.Options{HostPort: cfg.TemporalAddress, Namespace: cfg.TemporalNamespace, Logger: commandtest.Quiet})
	require.NoError(t, err)
	t.Cleanup(temporalClient.Close)
	return temporalClient
}

// listed lists the schedules once there are n: the server lists them a moment after their creation.
func listed(c *commandtest.CLI, t *testing.T, n int) []dreams.Schedule {
	t.Helper()
	var all []dreams.Schedule
	commandtest.Eventually(t, func() bool {
		all = commandtest.Decode[[]dreams.Schedule](t, c.Run("schedule", "list", "-o", "json"))
		return len(all) == n
	})
	return all
}

func TestScheduleApply(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	none := c.Run("schedule", "list")
	require.Equal(t, command.ExitOK, none.Code, none)
	require.Equal(t, dreams.NoSchedule+"\n", none.Out)
	require.Empty(t, listed(c, t, 0))
	absent := c.Run("schedule", "show")
	require.Equal(t, command.ExitUsage, absent.Code)
	require.Contains(t, absent.Err, "create one with: starter schedule apply")

	made := c.Run("schedule", "apply", "--time-zone", "Europe/Berlin")
	require.Equal(t, command.ExitOK, made.Code, made)
	require.Regexp(t, `^created axiommind-dream: dreams of all memories at '30 3 \* \* \*' in Europe/Berlin, up to 10m later; next 20\d\d-\d\d-\d\d 03:\d\d CES?T\n$`, made.Out)
	same := c.Run("schedule", "apply", "--time-zone", "Europe/Berlin", "--cron", " 30  3 * * * ")
	require.Equal(t, command.ExitOK, same.Code, same)
	require.True(t, strings.HasPrefix(same.Out, "unchanged axiommind-dream: "), same)

	// A person's pause and note are kept.
	paused := c.Run("schedule", "pause", "--note", "휴가 'til Monday")
	require.Equal(t, command.ExitOK, paused.Code, paused)
	require.Contains(t, paused.Out, "paused axiommind-dream: 휴가 'til Monday; resume it with: starter schedule resume axiommind-dream")
	for _, tt := range []struct {
		args []string
		want dreams.ScheduleDefinition
	}{
		{[]string{"--time-zone", "UTC"}, dreams.ScheduleDefinition{TimeZone: "UTC"}},
		{[]string{"--time-zone", "UTC", "--cron", "0 */2 * * MON-FRI"}, dreams.ScheduleDefinition{TimeZone: "UTC", Cron: "0 */2 * * MON-FRI"}},
		{[]string{"--time-zone", "UTC", "--cron", "@every 12h"}, dreams.ScheduleDefinition{TimeZone: "UTC", Cron: "@every 12h"}},
		{[]string{"--time-zone", "UTC", "--jitter", "0"}, dreams.ScheduleDefinition{TimeZone: "UTC", Jitter: -1}},
		{[]string{"--time-zone", "UTC", "--catch-up", "90m"}, dreams.ScheduleDefinition{TimeZone: "UTC", CatchUp: dreams.Duration(90 * time.Minute)}},
		{[]string{"--time-zone", "UTC", "--lookback", "7"}, dreams.ScheduleDefinition{TimeZone: "UTC", LookbackDays: 7}},
		{[]string{"--time-zone", "UTC", "--at-once", "9"}, dreams.ScheduleDefinition{TimeZone: "UTC", AtOnce: 9}},
	} {
		args := append([]string{"schedule", "apply", "-o", "json"}, tt.args...)
		o, outcomes := c.Run(args...), []string{dreams.ApplyChanged}
		if strings.Contains(o.Err, "no answer in time") { // A busy machine answers late. It may have made the change.
			o, outcomes = c.Run(args...), []string{dreams.ApplyChanged, dreams.ApplyUnchanged}
		}
		got := commandtest.Decode[dreams.AppliedSchedule](t, o)
		require.Contains(t, outcomes, got.Outcome, tt.args)
		want := dreams.ScheduleDefinition{
			Workflow: schema.WorkflowDreamNight, Cron: "30 3 * * *", Jitter: dreams.Duration(10 * time.Minute), CatchUp: dreams.Duration(6 * time.Hour), AtOnce: 4,
			TimeZone: tt.want.TimeZone, LookbackDays: tt.want.LookbackDays,
		}
		if tt.want.Cron != "" {
			want.Cron = tt.want.Cron
		}
		if tt.want.Jitter < 0 {
			want.Jitter = 0
		}
		if tt.want.CatchUp != 0 {
			want.CatchUp = tt.want.CatchUp
		}
		if tt.want.AtOnce != 0 {
			want.AtOnce = tt.want.AtOnce
		}
		require.Equal(t, want, got.ScheduleDefinition, tt.args)
		require.Equal(t, []any{true, "휴가 'til Monday"}, []any{got.Paused, got.Note}, tt.args)
	}
	all := listed(c, t, 1)
	require.True(t, all[0].Paused)
	text := c.Run("schedule", "list")
	require.Contains(t, text.Out, "axiommind-dream is paused: 휴가 'til Monday")
	resumed := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "-o", "json", "--paused=false", "--time-zone", "UTC"))
	require.Equal(t, []any{dreams.ApplyChanged, false}, []any{resumed.Outcome, resumed.Paused})
	require.Contains(t, c.Run("schedule", "apply", "--paused", "--time-zone", "UTC").Out, "it is paused, resume it with: starter schedule resume axiommind-dream")
	o := c.Run("schedule", "resume", "axiom")
	require.Equal(t, command.ExitOK, o.Code, o)
	require.Regexp(t, `^resumed axiommind-dream; next 20`, o.Out)

	gone := c.Run("schedule", "delete")
	require.Equal(t, command.ExitOK, gone.Code, gone)
	require.Equal(t, "deleted axiommind-dream, which dreamt of all memories at '30 3 * * *' in UTC; make it again with: "+
		"starter schedule apply --cron '30 3 * * *' --time-zone UTC --jitter 10m --catch-up 6h --at-once 4\n", gone.Out)
	require.Empty(t, listed(c, t, 0))
}

// Each memory can have its own schedule, whatever its names.
func TestScheduleOfOneMemory(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	names := [][2]string{
		{"ann", ""}, {"ann", "claude"}, {"ann/claude", ""}, {"ann%2Fclaude", ""}, {"김철수", "에이전트"}, {`o'neil "x"`, `\ $(rm) ?`}, {"😀", "%"},
	}
	ids := map[string]bool{}
	for _, n := range names {
		got := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "-o", "json", "--user", n[0], "--agent", n[1], "--lookback", "2"))
		require.Equal(t, []string{dreams.ApplyCreated, n[0], n[1], schema.WorkflowDeepDream}, []string{got.Outcome, got.User, got.Agent, got.Workflow})
		require.Regexp(t, `^axiommind-dream/[!-~]+$`, got.ID)
		ids[got.ID] = true
		again := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "-o", "json", "--user", n[0], "--agent", n[1], "--lookback", "2"))
		require.Equal(t, dreams.ApplyUnchanged, again.Outcome)
	}
	require.Len(t, ids, len(names))
	require.True(t, ids["axiommind-dream/ann"] && ids["axiommind-dream/ann/claude"] && ids["axiommind-dream/ann%2Fclaude"], ids)
	require.Len(t, listed(c, t, len(names)), len(names))
	text := c.Run("schedule", "list")
	require.Contains(t, text.Out, "user ann by agent claude")
	commandtest.RequireHarmless(t, text)
	for id := range ids {
		shown := commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", id, "-o", "json"))
		require.Equal(t, id, shown.ID)
	}
	for given, says := range map[string]string{
		"":                     "say which schedule: there are axiommind-dream/",
		"axiommind-dream/ann%": "", "axiommind": `schedule "axiommind" is ambiguous`, "세션'": `there is no schedule "세션'"; there are`,
	} {
		args := []string{"schedule", "show"}
		if given != "" {
			args = append(args, given)
		}
		o := c.Run(args...)
		if says == "" {
			require.Equal(t, command.ExitUsage, o.Code, o) // ann%2Fclaude and ann%252Fclaude
			continue
		}
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, says)
	}
	values, _ := commandtest.Completed(t, c.Complete("schedule", "show", "axiommind-dream/ann"))
	require.Contains(t, values, "axiommind-dream/ann/claude")
	require.Contains(t, values["axiommind-dream/ann"], "dreams of user ann")
}

// A run is shown with its result. A run that is started by hand follows an active one and is never skipped.
func TestScheduleRuns(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	s := sleep(c, t)
	require.Equal(t, command.ExitOK, c.Run("schedule", "apply", "--lookback", "3").Code)
	shown := c.Run("schedule", "show", "axiommind-dream")
	require.Contains(t, shown.Out, "it has not run yet; run it now with: starter schedule trigger axiommind-dream")

	o := c.Run("schedule", "trigger", "axiommind-dream", "--wait")
	require.Equal(t, command.ExitOK, o.Code, o)
	require.Regexp(t, `^night of 20\d\d-\d\d-\d\d: 1 memory, 1 with a new version, 0 unchanged\n$`, o.Out)
	dreamt := <-s.dreams
	require.Equal(t, schema.DeepDreamInput{User: "철수", Date: dreamt.Date, LookbackDays: 3}, dreamt)
	started := commandtest.Decode[dreams.Triggered](t, c.Run("schedule", "trigger", "axiommind-dream", "-o", "json"))
	require.NotEmpty(t, started.WorkflowID)
	require.NoError(t, s.client.GetWorkflow(t.Context(), started.WorkflowID, "").Get(t.Context(), nil))
	shown = c.Run("schedule", "show", "axiommind-dream")
	require.Contains(t, shown.Out, "1 with a new version")
	require.Contains(t, shown.Out, started.WorkflowID)
	require.Contains(t, shown.Out, "2, 0 missed, 0 skipped")
	listed(c, t, 1)
	text := c.Run("schedule", "list")
	require.Contains(t, text.Out, "completed")
	require.Contains(t, text.Out, "axiommind-dream: night of ")

	held := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "--user", "held", "-o", "json")).ID
	first := commandtest.Decode[dreams.Triggered](t, c.Run("schedule", "trigger", held, "-o", "json"))
	second := c.Run("schedule", "trigger", held)
	require.Equal(t, command.ExitOK, second.Code, second)
	require.Contains(t, second.Out, held+" runs already, as workflow "+first.WorkflowID+"; it runs again when that has ended")
	require.NoError(t, s.client.SignalWorkflow(t.Context(), first.WorkflowID, "", "go on", nil))
	commandtest.Eventually(t, func() bool {
		return commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", held, "-o", "json")).Runs == 2
	})
	again := commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", held, "-o", "json"))
	require.Equal(t, []string{"running", "completed"}, []string{again.Recent[0].Status, again.Recent[1].Status})
	require.NoError(t, s.client.TerminateWorkflow(t.Context(), again.Recent[0].WorkflowID, "", "enough"))
	again = commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", held, "-o", "json"))
	require.Equal(t, "terminated", again.Recent[0].Status)
}

func TestScheduleRunFails(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	s := sleep(c, t)
	s.result = func(schema.DeepDreamInput) (schema.DeepDreamResult, error) {
		return schema.DeepDreamResult{}, temporal.NewNonRetryableApplicationError("the model is\nout", schema.ErrorModelRefused, nil)
	}
	require.Equal(t, command.ExitOK, c.Run("schedule", "apply").Code)
	o := c.Run("schedule", "trigger", "axiommind-dream", "--wait")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, "1 failed")
	require.Contains(t, o.Err, "1 dream failed; see workflow axiommind-dream-")
	id := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "--user", "u", "-o", "json")).ID
	o = c.Run("schedule", "trigger", id, "--wait")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "the model is")
	shown := commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", id, "-o", "json"))
	require.Equal(t, []string{"failed", "the model is\nout"}, []string{shown.Recent[0].Status, shown.Recent[0].Summary})
	commandtest.RequireHarmless(t, c.Run("schedule", "show", id))
}

// Past nights are dreamt one after the other, each for its own date. After that missed runs no longer count as lost.
func TestScheduleBackfill(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	s := sleep(c, t)
	// In Seoul half past eight is still the day before in UTC, which is the zone of this test's memories.
	require.Equal(t, command.ExitOK, c.Run("schedule", "apply", "--cron", "30 8 * * *", "--time-zone", "Asia/Seoul", "--jitter", "0").Code)
	o := c.Run("schedule", "backfill", "axiommind-dream", "--from", "2026-03-02", "--to", "2026-03-04")
	require.Equal(t, command.ExitOK, o.Code, o)
	require.Equal(t, "3 nights queued, one after the other: 2026-03-02 08:30 KST to 2026-03-04 08:30 KST; "+
		"to see their progress: starter schedule show axiommind-dream\n", o.Out)
	for _, date := range []string{"2026-03-01", "2026-03-02", "2026-03-03"} {
		require.Equal(t, date, (<-s.dreams).Date)
	}
	exact := commandtest.Decode[dreams.Backfilled](t, c.Run("schedule", "backfill", "axiommind-dream", "-o", "json",
		"--from", "2026-03-04T23:30:00Z", "--to", "2026-03-05T23:29:59Z"))
	require.Equal(t, []time.Time{time.Date(2026, 3, 4, 23, 30, 0, 0, time.UTC)}, exact.Nights)
	require.Equal(t, "2026-03-04", (<-s.dreams).Date)
	for says, args := range map[string][]string{
		"has no run from 2026-03-04 09:00":               {"--from", "2026-03-04T00:00:00Z", "--to", "2026-03-04T01:00:00Z"},
		"want a time before that of --to and before now": {"--from", "2026-03-04", "--to", "2026-03-03"},
		"--from 2999-01-01: want a time before":          {"--from", "2999-01-01"},
		"more than 500: give fewer days":                 {"--from", "2020-01-01", "--to", "2022-01-01"},
	} {
		o := c.Run(append([]string{"schedule", "backfill", "axiommind-dream"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, says)
	}
}

// Daylight saving does not change the schedule's time of day.
func TestScheduleDaylightSaving(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	sleep(c, t)
	require.Equal(t, command.ExitOK, c.Run("schedule", "apply", "--time-zone", "Europe/Berlin", "--jitter", "0").Code)
	o := commandtest.Decode[dreams.Backfilled](t, c.Run("schedule", "backfill", "axiommind-dream", "--from", "2026-03-28", "--to", "2026-03-29", "-o", "json"))
	require.Equal(t, []time.Time{time.Date(2026, 3, 28, 2, 30, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}, o.Nights)
}

// List and doctor report skipped runs until they are backfilled.
func TestScheduleSkips(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	s := sleep(c, t)
	id := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "--user", "held", "-o", "json")).ID
	require.True(t, dreams.CheckSchedules(t.Context(), s.client).OK)
	require.Equal(t, command.ExitOK, c.Run("schedule", "apply", "--user", "held", "--cron", "@every 1s", "--jitter", "0").Code)
	commandtest.Eventually(t, func() bool {
		return commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", id, "-o", "json")).Skipped > 0
	})
	require.Equal(t, command.ExitOK, c.Run("schedule", "pause", id).Code)
	held := commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", id, "-o", "json"))
	require.NoError(t, s.client.SignalWorkflow(t.Context(), held.Recent[0].WorkflowID, "", "go on", nil))
	listed(c, t, 1)
	for _, o := range []commandtest.Output{c.Run("schedule", "list"), c.Run("schedule", "show", id)} {
		require.Contains(t, o.Out, "!! axiommind-dream/held: ")
		require.Contains(t, o.Out, "→ run them: starter schedule backfill axiommind-dream/held --from DAY --to DAY")
	}
	ill := dreams.CheckSchedules(t.Context(), s.client)
	require.False(t, ill.OK)
	require.Contains(t, ill.Note, "skipped because the one before still ran")
	require.Contains(t, ill.Mend, "starter schedule backfill axiommind-dream/held --from DAY --to DAY")

	made := commandtest.Decode[dreams.Backfilled](t, c.Run("schedule", "backfill", id, "-o", "json", "--from", time.Now().Add(-3*time.Second).Format(time.RFC3339)))
	require.NotEmpty(t, made.Nights)
	well := commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", id, "-o", "json"))
	require.Zero(t, well.Skipped)
	require.True(t, well.Paused, "a backfill leaves it paused")
	require.True(t, dreams.CheckSchedules(t.Context(), s.client).OK)
	require.NotContains(t, c.Run("schedule", "list").Out, "!!")
	changed := commandtest.Decode[dreams.AppliedSchedule](t, c.Run("schedule", "apply", "--user", "held", "-o", "json"))
	require.Equal(t, []any{dreams.ApplyChanged, 0}, []any{changed.Outcome, changed.Skipped}, "what was made good for stays so")
}

// Schedules of other programs are left alone.
func TestScheduleOfOthers(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	temporalClient := dial(c, t)
	_, err := temporalClient.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: schema.DreamSchedule, Spec: client.ScheduleSpec{CronExpressions: []string{"0 0 * * *"}},
		Action: &client.ScheduleWorkflowAction{ID: "other", Workflow: "other", TaskQueue: "other"},
	})
	require.NoError(t, err)
	o := c.Run("schedule", "apply")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "there is a schedule of this id that does something else")
	require.Equal(t, dreams.NoSchedule+"\n", c.Run("schedule", "list").Out)
	require.Equal(t, command.ExitUsage, c.Run("schedule", "delete", schema.DreamSchedule).Code)
	_, err = temporalClient.ScheduleClient().GetHandle(t.Context(), schema.DreamSchedule).Describe(t.Context())
	require.NoError(t, err)
	check := dreams.CheckSchedules(t.Context(), temporalClient)
	require.Equal(t, []any{true, dreams.NoSchedule}, []any{check.OK, check.Note})

	// A schedule from Temporal's UI is parsed as far as possible.
	_, err = temporalClient.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: "by-hand", Spec: client.ScheduleSpec{Calendars: []client.ScheduleCalendarSpec{{Hour: []client.ScheduleRange{{Start: 3}}}}},
		Action: &client.ScheduleWorkflowAction{ID: "by-hand", Workflow: schema.WorkflowDeepDream, TaskQueue: schema.QueueMain},
	})
	require.NoError(t, err)
	shown := commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", "by-hand", "-o", "json"))
	require.Equal(t, []string{"default", "(made elsewhere)", "UTC"}, []string{shown.User, shown.Cron, shown.TimeZone})
}

// A schedule that Temporal rejects is a usage error in plain words.
func TestScheduleRefusedByServer(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	for cron, says := range map[string]string{
		"61 3 * * *": "", "whenever": "", "* * *": "", "0 0 31 2 *": "it never runs: no such time comes",
	} {
		o := c.Run("schedule", "apply", "--cron", cron)
		if says != "" {
			require.Contains(t, o.Out, says)
			continue
		}
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, fmt.Sprintf("--cron %q", cron))
		require.Contains(t, o.Err, "want five fields like '30 3 * * *'")
		t.Log(o.Err)
	}
}

func TestScheduleRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("김", 66)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"apply", "--cron", " "}, "--cron is empty"},
		{[]string{"apply", "--cron", "30 3 * * * # x"}, "want no comment in it"},
		{[]string{"apply", "--cron", "CRON_TZ=UTC 30 3 * * *"}, "give the time zone with --time-zone"},
		{[]string{"apply", "--time-zone", "Mars/Olympus"}, `--time-zone "Mars/Olympus": want a name such as Europe/Berlin, or UTC`},
		{[]string{"apply", "--time-zone", "Local"}, `--time-zone "Local"`},
		{[]string{"apply", "--time-zone", "../../etc/passwd"}, `--time-zone "../../etc/passwd"`},
		{[]string{"apply", "--agent", "a"}, `--agent "a": give --user too`},
		{[]string{"apply", "--jitter", "-1s"}, "--jitter -1s: want 0 or more"},
		{[]string{"apply", "--catch-up", "9s"}, "--catch-up 9s: want 10s or more"},
		{[]string{"apply", "--lookback", "-1"}, "--lookback -1: want 0 to 3660"},
		{[]string{"apply", "--lookback", "3661"}, "--lookback 3661: want 0 to 3660"},
		{[]string{"apply", "--at-once", "65"}, "--at-once 65: want 1 to 64"},
		{[]string{"apply", "--at-once", "0"}, "--at-once 0: want 1 to 64"},
		{[]string{"apply", "--user", "u", "--at-once", "4"}, "--at-once is for a schedule that dreams of all memories"},
		{[]string{"apply", "--user", long, "--agent", long}, "they are too long"},
		{[]string{"apply", "--user", "a\x1b"}, "holds a control character"},
		{[]string{"backfill"}, "--from is empty"},
		{[]string{"backfill", "--from", "yesterday"}, `--from "yesterday": want a day like`},
		{[]string{"backfill", "--from", "2026-01-01", "--to", "noon"}, `--to "noon": want a day like`},
		{[]string{"pause", "a\x00"}, "holds a control character"},
		{[]string{"delete", "a", "b"}, "takes 1 argument, not 2"},
	} {
		o := commandtest.Down().Run(append([]string{"schedule"}, tt.args...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", tt.args, o)
		require.Contains(t, o.Err, tt.says, "%q", tt.args)
		commandtest.RequireHarmless(t, o)
	}
	for _, args := range [][]string{{"apply"}, {"list"}, {"show"}, {"pause"}, {"resume"}, {"trigger"}, {"delete"}, {"backfill", "--from", "2026-01-01"}} {
		o := commandtest.Down().Run(append([]string{"schedule"}, args...)...)
		require.Equal(t, command.ExitFailed, o.Code, o)
		require.Contains(t, o.Err, "temporal at 127.0.0.1:1")
	}
}
