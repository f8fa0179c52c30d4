package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/tier"
	"axiommind/schema"
)

func dreamInput() schema.DeepDreamInput {
	return schema.DeepDreamInput{User: "ann", Agent: "coder", Date: "2026-06-07"}
}

// dream runs deep_dream under its own id.
func dream(t *testing.T, r *rooms, in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
	t.Helper()
	id := in
	if id.User == "" {
		id.User = "default"
	}
	env := newEnvironment(r, id.WorkflowID())
	env.ExecuteWorkflow(schema.WorkflowDeepDream, in)
	var result schema.DeepDreamResult
	if err := env.GetWorkflowError(); err != nil {
		return result, err
	}
	require.NoError(t, env.GetWorkflowResult(&result))
	return result, nil
}

// wholeDream are the activities of a dream with one question, in order.
var wholeDream = []string{"SubmitFiles", "GatherDream", "PlanDream", "AskDream", "PlanDream", "SubmitDream", "SubmitFiles"}

func TestDeepDream(t *testing.T) {
	t.Parallel()
	r := newRooms()
	result, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Equal(t, wholeDream, r.order())
	want := committedDream()
	want.Dreams, want.Usage, want.Responses = 1, schema.Usage{Calls: 1, InputTokens: 10}, []string{"0[]"}
	require.Equal(t, want, result)

	gather := inputsOf[tier.GatherInput](r, "GatherDream")[0]
	require.False(t, gather.At.IsZero(), "the day follows from a time that is the workflow's")
	gather.At = time.Time{}
	require.Equal(t, tier.GatherInput{DeepDreamInput: dreamInput()}, gather)
	commit := inputsOf[tier.CommitInput](r, "SubmitDream")[0]
	require.False(t, commit.At.IsZero())
	commit.At = time.Time{}
	require.Equal(t, []string{"gather", "ask"}, []string{commit.Metrics[0].Step, commit.Metrics[1].Step})
	commit.Metrics = nil
	require.Equal(t, tier.CommitInput{
		User: "ann", Agent: "coder", Gathered: "gathered", Model: "openai/gpt", Responses: []string{"0[]"}, Usage: result.Usage,
		Run: "default-test-run-id",
	}, commit)
	require.Less(t, r.largest, 64<<10)
}

// Without new content, no model is asked and nothing is written.
func TestDeepDreamSkips(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.dream.gathered = []tier.Gathered{{Date: "2026-06-07", Skipped: "no daily content", Version: 2}}
	result, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Equal(t, []string{"SubmitFiles", "GatherDream"}, r.order())
	require.Equal(t, schema.DeepDreamResult{
		User: "ann", Agent: "coder", Date: "2026-06-07", Status: schema.DreamSkipped, Reason: "no daily content", Parent: 2, Version: 2,
	}, result)
}

// A model inside the worker needs no separate questions.
func TestDeepDreamLocal(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.dream.gathered[0].Local = true
	_, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Equal(t, []string{"SubmitFiles", "GatherDream", "SubmitDream", "SubmitFiles"}, r.order())
}

// A dry run asks, but starts neither the writer nor the sync of the files.
func TestDeepDreamDryRun(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.dream.gathered[0].Next = "2026-06-01"
	in := dreamInput()
	in.DryRun = true
	result, err := dream(t, r, in)
	require.NoError(t, err)
	require.Equal(t, []string{"GatherDream", "PlanDream", "AskDream", "PlanDream", "CommitDream"}, r.order())
	require.Equal(t, "2026-06-01", result.Next, "what a second dream would read is only told")
	require.True(t, inputsOf[tier.CommitInput](r, "CommitDream")[0].DryRun)
}

// Each level asks about the answers of the previous one, a few questions at a time.
func TestDeepDreamLevels(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.dream.levels = []int{6, 2, 1}
	result, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	asked := inputsOf[tier.AskInput](r, "AskDream")
	require.Len(t, asked, 9)
	slices.SortFunc(asked[:6], func(a, b tier.AskInput) int { return a.Window - b.Window })
	for i, in := range asked[:6] {
		require.Equal(t, tier.AskInput{Gathered: "gathered", Window: i}, in)
	}
	require.Equal(t, []string{"0[]", "1[]", "2[]", "3[]", "4[]", "5[]"}, asked[6].Answers)
	require.Equal(t, []string{"0[0[] 1[] 2[] 3[] 4[] 5[]]", "1[0[] 1[] 2[] 3[] 4[] 5[]]"}, asked[8].Answers)
	require.Len(t, result.Responses, 1, "the answers of the last level make the memory")
	require.Equal(t, int64(90), result.Usage.InputTokens)
	plans := inputsOf[tier.PlanInput](r, "PlanDream")
	require.Equal(t, []int{0, 1, 2, 0}, []int{plans[0].Level, plans[1].Level, plans[2].Level, plans[3].Level})
	require.True(t, plans[3].Last)
}

// After an unusable answer the question is asked once more, with the reason. If that answer is unusable, too, the dream
// is committed as refused.
func TestDeepDreamAsksOnceMore(t *testing.T) {
	t.Parallel()
	const reason = "the answer breaks off"
	for name, tt := range map[string]struct {
		useless, judged int
		again           []string
		refused         string
	}{
		"an answer":                {useless: 1, again: []string{"", reason}},
		"an answer, twice":         {useless: 2, again: []string{"", reason}, refused: reason},
		"the memory":               {judged: 1, again: []string{"", "lost"}},
		"the memory, twice":        {judged: 2, again: []string{"", "lost"}, refused: "lost"},
		"an answer, then a memory": {useless: 1, judged: 1, again: []string{"", reason, "lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			useless, judged := tt.useless, tt.judged
			r.dream.asked = func(in tier.AskInput) tier.Asked {
				useless--
				if useless >= 0 {
					return tier.Asked{Key: "bad", Useless: reason, Usage: schema.Usage{Calls: 1}}
				}
				return tier.Asked{Key: "good" + in.Again, Usage: schema.Usage{Calls: 1}}
			}
			r.dream.judged = func(tier.PlanInput) string {
				judged--
				if judged >= 0 {
					return "lost"
				}
				return ""
			}
			result, err := dream(t, r, dreamInput())
			require.NoError(t, err)
			var again []string
			for _, in := range inputsOf[tier.AskInput](r, "AskDream") {
				again = append(again, in.Again)
			}
			require.Equal(t, tt.again, again)
			require.Equal(t, tt.refused, result.Reason)
			require.Equal(t, int64(len(again)), int64(result.Usage.Calls), "an answer of no use is paid for")
			if tt.refused != "" {
				require.Equal(t, schema.DreamIsRefused, result.Status)
			} else {
				require.Equal(t, []string{"good" + again[len(again)-1]}, result.Responses)
			}
		})
	}
}

// A dream starts over if its memory has changed, and gives up after maxStale tries.
func TestDeepDreamStale(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.dream.committed = []tier.CommitResult{{Stale: true}, {DeepDreamResult: committedDream()}}
	result, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Len(t, inputsOf[tier.GatherInput](r, "GatherDream"), 2)
	require.Equal(t, schema.DreamCommitted, result.Status)
	require.EqualValues(t, 2, result.Usage.Calls, "the first dream was paid for, too")

	r = newRooms()
	r.dream.committed = []tier.CommitResult{{Stale: true}}
	_, err = dream(t, r, dreamInput())
	requireDreamFailure(t, err, schema.ErrorConcurrentWriter, "commit: the memory moved on during each of 5 dreams")
	require.Len(t, inputsOf[tier.GatherInput](r, "GatherDream"), 5)
}

// A backlog that is too large for one dream is read by several, the oldest days first.
func TestDeepDreamGoesOn(t *testing.T) {
	t.Parallel()
	r := newRooms()
	first, second := r.dream.gathered[0], r.dream.gathered[0]
	first.Next, second.Ordinal = "2026-06-03", 6
	r.dream.gathered = []tier.Gathered{first, {Date: "2026-06-04", Skipped: "no daily content", Next: "2026-06-05"}, second}
	then := committedDream()
	then.Ordinal, then.Parent, then.Status, then.Added, then.Version = 6, 3, schema.DreamUnchanged, 0, 3
	r.dream.committed = []tier.CommitResult{{DeepDreamResult: committedDream()}, {DeepDreamResult: then}}
	result, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	var from []string
	for _, in := range inputsOf[tier.GatherInput](r, "GatherDream") {
		from = append(from, in.From)
	}
	require.Equal(t, []string{"", "2026-06-03", "2026-06-05"}, from)
	require.Equal(t, 2, result.Dreams)
	require.Equal(t, schema.DreamCommitted, result.Status, "the first of them changed the memory")
	require.Equal(t, []int{2, 3, 1, 4, 6, 6}, []int{result.Parent, result.Version, result.Added, result.Dropped, result.Carried, result.Ordinal})
	require.Equal(t, 2, result.Usage.Calls)

	// After a refused dream its days stay unread, and no dream of later days may come before them.
	r = newRooms()
	r.dream.gathered[0].Next = "2026-06-03"
	r.dream.judged = func(tier.PlanInput) string { return "lost" }
	result, err = dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Len(t, inputsOf[tier.GatherInput](r, "GatherDream"), 1)
	require.Equal(t, "2026-06-03", result.Next)
}

// A run does some dreams, and the next one continues with the same time, the remaining days and all counts. It does not
// record edits again.
func TestDeepDreamContinues(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("SubmitFiles", schema.ErrorFilesRefused)
	r.dream.gathered = backlog(12)
	in := dreamInput()
	in.LookbackDays, in.Force = 30, true
	_, err := dream(t, r, in)
	next := continuedDream(t, err)
	require.Len(t, inputsOf[tier.GatherInput](r, "GatherDream"), 10)
	require.Equal(t, inputsOf[tier.GatherInput](r, "GatherDream")[0].At, next.At)
	require.Equal(t, "2026-06-11", next.From)
	require.Equal(t, 10, next.Done.Dreams)
	require.Equal(t, "SubmitFiles can't", next.Done.Files, "why edits could not be taken in")
	asked := in
	asked.At, asked.From, asked.Done = next.At, next.From, next.Done
	require.Equal(t, asked, next)
	require.Equal(t, 1, countOf(r.order(), "SubmitFiles"))

	r.fail = map[string]error{}
	result, err := dream(t, r, next)
	require.NoError(t, err)
	require.Equal(t, 12, result.Dreams)
	require.Equal(t, 12, result.Usage.Calls)
	require.Equal(t, []int{2, 12, 24, 36}, []int{result.Parent, result.Added, result.Dropped, result.Carried})
	require.Empty(t, result.Files)
	require.Equal(t, 2, countOf(r.order(), "SubmitFiles"), "the second run writes the files")
	gathers := inputsOf[tier.GatherInput](r, "GatherDream")
	require.Equal(t, "2026-06-11", gathers[10].From)
	require.Zero(t, gathers[10].Done, "what was done is nothing to the activities")
	require.Empty(t, gathers[10].DeepDreamInput.From)
	require.Less(t, r.largest, 64<<10)
}

// A run with a long history continues as new after any of its dreams.
func TestDeepDreamContinuesWhenSuggested(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.dream.gathered = backlog(3)
	env := newEnvironment(r, dreamInput().WorkflowID())
	env.SetContinueAsNewSuggested(true)
	env.ExecuteWorkflow(schema.WorkflowDeepDream, dreamInput())
	next := continuedDream(t, env.GetWorkflowError())
	require.Equal(t, []any{"2026-06-02", 1}, []any{next.From, next.Done.Dreams})

	// A dry run and a last dream do not continue as new.
	for _, dry := range []bool{true, false} {
		r, in := newRooms(), dreamInput()
		in.DryRun = dry
		if dry {
			r.dream.gathered = backlog(3)
		}
		env := newEnvironment(r, in.WorkflowID())
		env.SetContinueAsNewSuggested(true)
		env.ExecuteWorkflow(schema.WorkflowDeepDream, in)
		require.NoError(t, env.GetWorkflowError())
	}
}

// A dream that continues in another run is one dream of the night, with the counts of both.
func TestDreamNightWaitsForContinuedDreams(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.found = []tier.Found{memoriesOf(1)}
	r.dream.gathered = backlog(12)
	env := newEnvironment(r, "night")
	env.ExecuteWorkflow(schema.WorkflowDreamNight, schema.DreamNightInput{})
	require.NoError(t, env.GetWorkflowError())
	var result schema.DreamNightResult
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Len(t, inputsOf[tier.GatherInput](r, "GatherDream"), 12)
	require.Equal(t, []int{1, 1, 0, 12}, []int{result.Memories, result.Committed, result.Skipped, result.Usage.Calls})
}

// backlog returns a backlog of that many days, each of which fills a dream.
func backlog(days int) (all []tier.Gathered) {
	for i := range days {
		g := newDreamRoom().gathered[0]
		if i < days-1 {
			g.Next = fmt.Sprintf("2026-06-%02d", i+2)
		}
		all = append(all, g)
	}
	return all
}

func continuedDream(t *testing.T, err error) schema.DeepDreamInput {
	t.Helper()
	var continued *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &continued)
	require.Equal(t, schema.WorkflowDeepDream, continued.WorkflowType.Name)
	return decoded[schema.DeepDreamInput](t, continued.Input)
}

func countOf(all []string, what string) (n int) {
	for _, s := range all {
		if s == what {
			n++
		}
	}
	return n
}

// A dream stays committed if the files can't be written, and its result contains the reason.
func TestDeepDreamFilesFail(t *testing.T) {
	t.Parallel()
	r := newRooms()
	away := temporal.NewApplicationError("the bucket is away", schema.ErrorFilesUnavailable)
	r.dream.files = []error{nil, away}
	result, err := dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Equal(t, schema.DreamCommitted, result.Status)
	require.Equal(t, "the bucket is away", result.Files)
	require.Len(t, inputsOf[tier.FilesInput](r, "SubmitFiles"), 3, "one to take in edits, and few to write")

	// A person's edits must be recorded before anything is consolidated.
	r = newRooms().failing("SubmitFiles", schema.ErrorInternal)
	_, err = dream(t, r, dreamInput())
	requireDreamFailure(t, err, schema.ErrorInternal, "take in edits: SubmitFiles can't")
	require.Equal(t, []string{"SubmitFiles"}, r.order())

	// The exception is a file that the person must correct first, because one file must not block a memory's dreams for
	// ever.
	r = newRooms().failing("SubmitFiles", schema.ErrorFilesRefused)
	result, err = dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Equal(t, wholeDream, r.order())
	require.Equal(t, schema.DreamCommitted, result.Status)
	require.Equal(t, "SubmitFiles can't", result.Files)
	r = newRooms().failing("SubmitFiles", schema.ErrorFilesRefused)
	r.dream.gathered[0].Skipped = "no daily content"
	result, err = dream(t, r, dreamInput())
	require.NoError(t, err)
	require.Equal(t, "SubmitFiles can't", result.Files)
}

// A failure names the step and keeps its type.
func TestDeepDreamFails(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{"GatherDream": "gather", "PlanDream": "ask", "AskDream": "ask", "SubmitDream": "commit"} {
		r := newRooms().failing(name, schema.ErrorModelRefused)
		_, err := dream(t, r, dreamInput())
		requireDreamFailure(t, err, schema.ErrorModelRefused, step+": "+name+" can't")
	}
}

func requireDreamFailure(t *testing.T, err error, failureType, message string) {
	t.Helper()
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, failureType, application.Type())
	require.Contains(t, application.Message(), message)
}

// An invalid input is refused before anything is done.
func TestDeepDreamRefusesInput(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]schema.DeepDreamInput{
		`date "7.6.2026": want a day such as 2026-06-07`: {Date: "7.6.2026"},
		`date "2026-02-30"`:           {Date: "2026-02-30"},
		"lookback_days -1: want 1 to": {LookbackDays: -1},
		"lookback_days 3661":          {LookbackDays: schema.MaxLookbackDays + 1},
		"holds a control character":   {User: "a\nb"},
		`agent "\xff" is not UTF-8`:   {Agent: "\xff"},
	} {
		if in.Agent == "\xff" {
			require.ErrorContains(t, schema.DeepDreamInput{User: "u", Agent: in.Agent}.Validate(), want)
			continue // JSON has no such text.
		}
		r := newRooms()
		_, err := dream(t, r, in)
		requireDreamFailure(t, err, schema.ErrorInvalidInput, want)
		require.Empty(t, r.order())
	}
	long := schema.DeepDreamInput{User: string(slices.Repeat([]rune("한"), 66)), Agent: string(slices.Repeat([]rune("한"), 66))}
	require.ErrorContains(t, long.Validate(), "shorten them")
}

// The user's name has a default, and the day is the one for which a schedule started the run, however late.
func TestDeepDreamDefaults(t *testing.T) {
	t.Parallel()
	r := newRooms()
	in := schema.DeepDreamInput{}
	env := newEnvironment(r, schema.DeepDreamInput{User: "default"}.WorkflowID())
	due := time.Date(2026, 6, 7, 23, 55, 0, 0, time.UTC)
	require.NoError(t, env.SetTypedSearchAttributesOnStart(temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime").ValueSet(due))))
	env.ExecuteWorkflow(schema.WorkflowDeepDream, in)
	require.NoError(t, env.GetWorkflowError())
	gather := inputsOf[tier.GatherInput](r, "GatherDream")[0]
	require.Equal(t, "default", gather.User)
	require.Equal(t, due, gather.At)
}

// Started under another id, it runs as a child with its own id and with the time for which it was started.
func TestDeepDreamChild(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := newEnvironment(r, "by-hand")
	var child string
	env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, args converter.EncodedValues) {
		child = info.WorkflowExecution.ID
		var in schema.DeepDreamInput
		require.NoError(t, args.Get(&in))
		require.False(t, in.At.IsZero())
	})
	env.ExecuteWorkflow(schema.WorkflowDeepDream, dreamInput())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, "deep_dream/ann/coder", child)
	require.Equal(t, wholeDream, r.order())
}

// startDream starts a dream on a server.
func startDream(id string, change ...func(*schema.DeepDreamInput)) starter {
	in := dreamInput()
	for _, c := range change {
		c(&in)
	}
	if id == "" {
		id = in.WorkflowID()
	}
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain}, schema.WorkflowDeepDream, in)
		require.NoError(t, err)
		return run
	}
}

// dreamPaths are the ways through deep_dream.
func dreamPaths() []path {
	useless := func(tier.AskInput) tier.Asked { return tier.Asked{Useless: "the answer breaks off"} }
	away := temporal.NewNonRetryableApplicationError("the bucket is away", schema.ErrorFilesRefused, nil)
	return []path{
		{name: "deep_dream_success", start: startDream("")},
		{name: "deep_dream_skipped", start: startDream(""), rooms: with(func(r *rooms) { r.dream.gathered[0].Skipped = "no daily content" })},
		{name: "deep_dream_refused", start: startDream(""), rooms: with(func(r *rooms) { r.dream.asked = useless })},
		{name: "deep_dream_judged", start: startDream(""), rooms: with(func(r *rooms) { r.dream.judged = func(tier.PlanInput) string { return "lost" } })},
		{name: "deep_dream_stale", start: startDream(""), rooms: with(func(r *rooms) {
			r.dream.committed = append([]tier.CommitResult{{Stale: true}}, r.dream.committed...)
		})},
		{name: "deep_dream_hierarchical", start: startDream(""), rooms: with(func(r *rooms) { r.dream.levels = []int{6, 1} })},
		{name: "deep_dream_goes_on", start: startDream(""), rooms: with(func(r *rooms) {
			first := r.dream.gathered[0]
			first.Next = "2026-06-03"
			r.dream.gathered = append([]tier.Gathered{first}, r.dream.gathered...)
		})},
		{name: "deep_dream_dry_run", start: startDream("", func(in *schema.DeepDreamInput) { in.DryRun = true })},
		{name: "deep_dream_local", start: startDream(""), rooms: with(func(r *rooms) { r.dream.gathered[0].Local = true })},
		{name: "deep_dream_child", start: startDream("by-hand")},
		{name: "deep_dream_files_fail", start: startDream(""), rooms: with(func(r *rooms) { r.dream.files = []error{nil, away} })},
		{name: "deep_dream_failed", start: startDream(""), rooms: failingIn("AskDream"), fails: "ask: AskDream can't"},
	}
}
