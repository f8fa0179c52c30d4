package tier

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// answering is a model that always gives the answer.
func answering(text string) func(llm.Request) (string, llm.FinishReason, error) {
	return func(llm.Request) (string, llm.FinishReason, error) { return text, llm.FinishStop, nil }
}

// asked gathers and asks, and returns the input to commit.
func (m *remember) asked(t testing.TB) CommitInput {
	t.Helper()
	gathered, _ := m.gather(t, GatherInput{})
	require.Empty(t, gathered.Skipped)
	in := CommitInput{User: m.user, Agent: m.agent, Gathered: gathered.EventID, Model: gathered.Model, At: m.clock, Usage: schema.Usage{Calls: 7}}
	require.NoError(t, m.answers(t.Context(), &in))
	return in
}

func (m *remember) commit(t testing.TB, in CommitInput) CommitResult {
	t.Helper()
	result, err := m.commitDream(t.Context(), in)
	require.NoError(t, err)
	return result
}

// events returns the types of the events of the memory's stream.
func (m *remember) events(t testing.TB) (types []string) {
	t.Helper()
	for e, err := range m.log.Stream(t.Context(), schema.MemoryStream(m.user, m.agent), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		types = append(types, e.Type)
	}
	return types
}

// A dream makes a version of the gathered input and the answers, once, however often it is committed.
func TestCommitDream(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, answering("[MEMORY]\n- Shipped v1.\n- Ann has a yacht.\n[DREAM]\nd")), user: `사/용'"자`, agent: "a%"}
	flushed := m.flush(t, "2026-06-07", "- Shipped v1.")
	in := m.asked(t)

	dry := in
	dry.DryRun = true
	want := schema.DeepDreamResult{
		User: m.user, Agent: m.agent, Date: "2026-06-07", Status: schema.DreamDry, Ordinal: 1, Parent: 0, Version: 1, Items: 1, Added: 1, Dropped: 1,
		Usage: in.Usage, Gathered: in.Gathered, Responses: in.Responses,
	}
	require.Equal(t, CommitResult{DeepDreamResult: want}, m.commit(t, dry))
	require.Equal(t, []string{schema.ContextFlushed}, m.events(t), "a dry run writes nothing")

	want.Status = schema.DreamCommitted
	for range 3 {
		require.Equal(t, CommitResult{DeepDreamResult: want}, m.commit(t, in))
	}
	require.Equal(t, []string{schema.ContextFlushed, schema.CoreCommitted, schema.DreamFinished}, m.events(t))
	core, err := m.tables.Current(t.Context(), m.user, m.agent)
	require.NoError(t, err)
	require.Equal(t, "- Shipped v1.\n", core.Text)
	require.Equal(t, schema.CoreCommittedPayload{
		Version: 1, Origin: schema.OriginDream, Text: core.Text, Items: []schema.CoreItem{{Text: "Shipped v1.", Sources: []string{flushed}, Worth: unjudged, Said: "2026-06-07"}},
		Diff: Diff("", core.Text, VersionName(0), VersionName(1)), Dream: 1,
		Dropped: []schema.DroppedItem{{
			Text: "Ann has a yacht.", From: schema.FromAnswer, Reason: schema.DroppedUngrounded, Detail: core.Dropped[0].Detail,
		}},
	}, core.CoreCommittedPayload)
	dream, err := m.tables.Dream(t.Context(), m.user, m.agent, 1)
	require.NoError(t, err)
	_, g := draftOf(t, m, in)
	require.Equal(t, schema.DreamFinishedPayload{
		Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted, Version: 1, Diary: "d", Days: []schema.Day{g.Days[0].Day},
		Gathered: in.Gathered, Model: "openai/scripted", Responses: in.Responses, Usage: in.Usage,
	}, dream.DreamFinishedPayload)

	// The next dream finds the memory as it is.
	m.flush(t, "2026-06-07", "- Small talk.")
	next := m.asked(t)
	result := m.commit(t, next)
	require.Equal(t, schema.DreamUnchanged, result.Status)
	require.Equal(t, []int{2, 1, 1, 1, 0}, []int{result.Ordinal, result.Parent, result.Version, result.Items, result.Added})
	require.Equal(t, result, m.commit(t, next))
	dream, err = m.tables.Dream(t.Context(), m.user, m.agent, 2)
	require.NoError(t, err)
	require.Len(t, dream.Dropped, 1, "a dream that makes no version tells what it dropped")
	require.Equal(t, CommitResult{DeepDreamResult: want}, m.commit(t, in), "an attempt that comes late gets its own result")
}

// draftOf reads the draft of the input.
func draftOf(t testing.TB, m *remember, in CommitInput) (Draft, schema.DreamGatheredPayload) {
	t.Helper()
	g, draft, err := ReadDraft(t.Context(), m.log.Store, in.Gathered, in.Responses)
	require.NoError(t, err)
	return draft, g
}

// A dream of a memory that has moved on is stale, and writes nothing.
func TestCommitStale(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, answering("[MEMORY]\n- Shipped v1.\n[DREAM]\nd")), user: "u"}
	m.flush(t, "2026-06-07", "- Shipped v1.")
	in := m.asked(t)
	m.add(t, schema.CoreOfEditKey(m.user, m.agent, 1), schema.CoreCommittedPayload{
		Version: 1, Origin: schema.OriginEdit, Text: "- By hand.\n", Items: []schema.CoreItem{{Text: "By hand.", Sources: []string{"e"}}},
	})
	before := m.events(t)
	require.Equal(t, CommitResult{Stale: true}, m.commit(t, in))
	require.Equal(t, before, m.events(t))
	dry := in
	dry.DryRun = true
	require.True(t, m.commit(t, dry).Stale)

	again := m.asked(t)
	require.NotEqual(t, in.Gathered, again.Gathered)
	require.NotEqual(t, in.Responses, again.Responses, "another memory is another question")
	require.Equal(t, schema.DreamCommitted, m.commit(t, again).Status)

	// A dream that ended meanwhile makes it stale too, although it changed nothing.
	m.flush(t, "2026-06-07", "- More.")
	in = m.asked(t)
	other := in
	other.Refused = "blocked"
	require.Equal(t, schema.DreamIsRefused, m.commit(t, other).Status)
	require.Equal(t, CommitResult{Stale: true}, m.commit(t, in), "the same dream with other answers is another one")
	require.Equal(t, schema.DreamIsRefused, m.commit(t, other).Status)
}

// A refused dream is recorded with its reason. It changes nothing, and its days stay unread.
func TestCommitRefused(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, answering("[DREAM]\nno memory")), user: "u"}
	m.flush(t, "2026-06-07", "- Shipped v1.")
	in := m.asked(t)
	require.Equal(t, 2, m.model.asked(), "it is asked once more, with the reason")
	require.Contains(t, m.model.requests[1].Prompt, "the answer has no section [MEMORY]")
	require.True(t, strings.HasPrefix(m.model.requests[1].Prompt, m.model.requests[0].Prompt))
	require.NotEmpty(t, in.Refused)
	result := m.commit(t, in)
	require.Equal(t, schema.DeepDreamResult{
		User: "u", Date: "2026-06-07", Status: schema.DreamIsRefused, Reason: in.Refused, Ordinal: 1,
		Usage: in.Usage, Gathered: in.Gathered, Responses: in.Responses,
	}, result.DeepDreamResult)
	require.Equal(t, []string{schema.ContextFlushed, schema.DreamFinished}, m.events(t))
	gathered, g := m.gather(t, GatherInput{})
	require.Equal(t, 2, gathered.Ordinal)
	require.Equal(t, []string{"2026-06-07"}, daysOf(g))

	// The next dream asks again, although its question is the same.
	before := m.model.asked()
	m.model.answer = answering("[MEMORY]\n- Shipped v1.\n[DREAM]\nd")
	in = m.asked(t)
	require.Equal(t, before+1, m.model.asked())
	require.Equal(t, schema.DreamCommitted, m.commit(t, in).Status)
}

// A question is asked once, however often it is attempted; the settings of the worker bound its answer.
func TestAskDream(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, answering("[MEMORY]\n- Shipped v1.\n[DREAM]\nd")), user: "u"}
	m.opts.Params.MaxOutputTokens = 123
	m.flush(t, "2026-06-07", "- Shipped v1.")
	gathered, _ := m.gather(t, GatherInput{})
	first, err := m.askDream(t.Context(), AskInput{Gathered: gathered.EventID})
	require.NoError(t, err)
	require.Equal(t, 1, first.Usage.Calls)
	again, err := m.askDream(t.Context(), AskInput{Gathered: gathered.EventID})
	require.NoError(t, err)
	require.Equal(t, Asked{Key: first.Key}, again, "the answer is stored, and costs nothing more")
	require.Equal(t, 1, m.model.asked())
	r := m.model.requests[0]
	require.Equal(t, []any{DreamSystem(), 123, dreamTemperature}, []any{r.System, r.Params.MaxOutputTokens, *r.Params.Temperature})

	for kind, final := range map[llm.Kind]bool{
		llm.KindBlocked: true, llm.KindTruncated: true, llm.KindEmpty: true, llm.KindAuth: false, llm.KindQuota: false, llm.KindUnavailable: false,
	} {
		m.model.answer = func(llm.Request) (string, llm.FinishReason, error) {
			return "", "", &llm.Error{Provider: "p", Kind: kind}
		}
		asked, err := m.askDream(t.Context(), AskInput{Gathered: gathered.EventID, Again: string(kind)})
		if final {
			require.NoError(t, err)
			require.Contains(t, asked.Useless, "p: "+string(kind))
			require.Empty(t, asked.Key)
			continue
		}
		require.Equal(t, kind, llm.KindOf(err))
	}
	_, err = m.askDream(t.Context(), AskInput{Gathered: gathered.EventID, Window: 1})
	requireInvalid(t, err, schema.ErrorInvalidInput, "--window-bytes")
	_, err = m.planDream(t.Context(), PlanInput{Gathered: gathered.EventID, Answers: []string{"none"}})
	requireInvalid(t, err, schema.ErrorInvalidInput, `read answer "none"`)
	plan, err := m.planDream(t.Context(), PlanInput{Gathered: gathered.EventID, Level: maxDreamLevels})
	require.NoError(t, err)
	require.True(t, plan.Done && plan.Refused != "")
}

// A question that is too long is asked in parts, and the model is asked about their answers again.
func TestAskDreamInLevels(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, nil), user: "u"}
	m.opts.WindowBytes = 2 << 10
	for day := range 9 {
		text := "- The tenant of house " + string(rune('A'+day)) + " paid."
		m.flush(t, "2026-06-0"+string(rune('1'+day)), text+"\n- "+strings.Repeat("Small talk. ", 60))
	}
	m.clock = m.clock.AddDate(0, 0, 3)
	systems := map[string]int{}
	m.model.answer = func(r llm.Request) (string, llm.FinishReason, error) {
		systems[r.System]++
		var kept []string
		for line := range strings.Lines(r.Prompt) {
			if strings.HasPrefix(line, "- The tenant") {
				kept = append(kept, strings.TrimSpace(line))
			}
		}
		return "[MEMORY]\n" + strings.Join(kept, "\n") + "\n[DREAM]\nd", llm.FinishStop, nil
	}
	result := m.commit(t, m.asked(t))
	require.Equal(t, schema.DreamCommitted, result.Status, result.Reason)
	require.Equal(t, 9, result.Added)
	require.Greater(t, systems[DistillSystem()], 2)
	require.Equal(t, 1, systems[DreamSystem()])
}

// A writer commits no dream of another memory, and no unknown one.
func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, answering("[MEMORY]\n- Shipped v1.\n[DREAM]\nd")), user: "u"}
	m.flush(t, "2026-06-07", "- Shipped v1.")
	in := m.asked(t)
	other := in
	other.Agent = "b"
	_, err := m.commitDream(t.Context(), other)
	requireInvalid(t, err, schema.ErrorScopeMismatch, `is of user "u", agent "", not of "u", "b"`)
	for _, change := range []func(*CommitInput){
		func(in *CommitInput) { in.Gathered = "" }, func(in *CommitInput) { in.Gathered = "x" }, func(in *CommitInput) { in.User = "" },
		func(in *CommitInput) { in.Responses = []string{"x"} },
	} {
		wrong := in
		change(&wrong)
		_, err := m.commitDream(t.Context(), wrong)
		requireInvalid(t, err, schema.ErrorInvalidInput, "")
	}
}

func requireInvalid(t testing.TB, err error, failureType, text string) {
	t.Helper()
	var failure boundary.Failure
	require.True(t, errors.As(err, &failure), "%v", err)
	require.Equal(t, failureType, failure.FailureType())
	require.False(t, failure.Retryable())
	require.ErrorContains(t, err, text)
}

// A model in the worker dreams without a question, and invents nothing.
func TestCommitOffline(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, silent), user: "u"}
	for _, night := range []struct {
		date, text, said string
		status           schema.DreamStatus
	}{
		{"2026-04-01", "- Shipped v1.\n- Shipped v1.", "2026-04-01", schema.DreamCommitted},
		{"2026-04-20", "- Shipped v1.", "2026-04-01", schema.DreamUnchanged},
		{"2026-06-07", "- Shipped v1.", "2026-06-07", schema.DreamCommitted}, // It weighs more, although the text is the same.
		{"2026-06-06", "- Shipped v1.", "2026-06-07", schema.DreamUnchanged},
	} {
		m.flush(t, night.date, night.text)
		gathered, _ := m.gather(t, GatherInput{})
		result := m.commit(t, CommitInput{User: "u", Gathered: gathered.EventID, Model: "rules/rules", At: m.clock})
		require.Equal(t, night.status, result.Status, night.date)
		require.Equal(t, 1, result.Items)
		core, err := m.tables.Current(t.Context(), "u", "")
		require.NoError(t, err)
		require.Equal(t, night.said, core.Items[0].Said)
	}
	require.Zero(t, m.model.asked())
}
