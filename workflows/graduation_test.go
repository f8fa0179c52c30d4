package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"pgregory.net/rapid"

	"axiommind/activities/graduate"
	"axiommind/schema"
)

var graduation = serialWriter{
	workflow: schema.WorkflowGraduation, id: schema.WorkflowID(schema.GraduateStream("p")), in: schema.GraduationInput{Project: "p"},
	update: schema.UpdateCommand, arg: func(id string) any { return retiring(id) }, activity: "RunGraduationCommand",
}

func retiring(id string) graduate.Command {
	return graduate.Command{
		RequestID: id, Project: "p", Actor: "ann", At: time.Unix(9, 0).UTC(), Op: graduate.OpRetire, EntryIDs: []string{"e"}, Because: "it is over",
	}
}

func (r *rooms) RunGraduationCommand(ctx context.Context, in graduate.Command) (graduate.CommandResult, error) {
	return called(ctx, r, "RunGraduationCommand", in, func() (graduate.CommandResult, error) { return r.ruled, nil })
}

// GraduateProject returns the passes one after the other, and then one that finds nothing.
func (r *rooms) GraduateProject(ctx context.Context, in graduate.PassInput) (graduate.PassResult, error) {
	return called(ctx, r, "GraduateProject", in, func() (graduate.PassResult, error) {
		if len(r.passes) == 0 {
			return graduate.PassResult{Head: in.Head}, nil
		}
		next := r.passes[0]
		r.passes = r.passes[1:]
		return next, nil
	})
}

func (r *rooms) AskEntries(ctx context.Context, in graduate.AskInput) (graduate.AskResult, error) {
	return called(ctx, r, "AskEntries", in, func() (graduate.AskResult, error) {
		return graduate.AskResult{Model: "openai/m", Confirmed: 1, Entries: []graduate.AskedEntry{{ID: "e", Outcome: graduate.AskConfirmed}}}, nil
	})
}

func (r *rooms) FindConflicts(ctx context.Context, in graduate.FindInput) (graduate.FindResult, error) {
	return called(ctx, r, "FindConflicts", in, func() (graduate.FindResult, error) {
		return graduate.FindResult{Model: "openai/m", Found: r.contradictions, Pairs: []graduate.FoundPair{{ConflictID: "c"}}}, nil
	})
}

func finding() graduate.FindInput {
	return graduate.FindInput{RequestID: "r", Project: "p", Actor: "ann", At: time.Unix(9, 0).UTC(), Limit: 20}
}

func asking() graduate.AskInput {
	return graduate.AskInput{RequestID: "r", Project: "p", Actor: "ann", At: time.Unix(9, 0).UTC(), EntryIDs: []string{"e"}}
}

// startGraduation starts the writer as a session does.
func startGraduation(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	options := client.StartWorkflowOptions{ID: graduation.id, TaskQueue: schema.QueueMain}
	run, err := c.SignalWithStartWorkflow(ctx, options.ID, schema.SignalWake, nil, options, schema.WorkflowGraduation, graduation.in)
	require.NoError(t, err)
	return run
}

func pass() graduate.PassInput { return graduate.PassInput{Project: "p", At: time.Unix(9, 0).UTC()} }

func graduationPaths() []path {
	asked := graduation.taking(schema.UpdateGraduate, pass())
	return []path{
		{name: "graduation", start: startSerial(graduation)},
		{name: "graduation_asked", start: startSerial(asked)},
		{name: "graduation_model_asked", start: startSerial(graduation.taking(schema.UpdateAsk, asking()))},
		{name: "graduation_model_refused", start: startRefused(graduation.taking(schema.UpdateAsk, asking())), rooms: failsOften("AskEntries", 2)},
		{name: "graduation_conflicts_found", start: startSerial(graduation.taking(schema.UpdateFind, finding())), rooms: with(func(r *rooms) { r.contradictions = 1 })},
		{name: "graduation_conflicts_refused", start: startRefused(graduation.taking(schema.UpdateFind, finding())), rooms: failsOften("FindConflicts", 2)},
		{name: "graduation_asked_refused", start: startRefused(asked), rooms: failsOften("GraduateProject", 2)},
		{name: "graduation_wakes", start: startGraduation, rooms: with(func(r *rooms) {
			r.passes = []graduate.PassResult{{Sessions: 50, More: true, Head: at(5)}, {Sessions: 1, Head: at(9)}}
		})},
		{name: "graduation_pass_fails", start: startGraduation, rooms: failsOnce("GraduateProject")},
	}
}

// passesAt notes when passes begin, as the time since the start of the run.
func passesAt(env *testsuite.TestWorkflowEnvironment) *[]time.Duration {
	begin, times := env.Now(), &[]time.Duration{}
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == "GraduateProject" && info.Attempt == 1 {
			*times = append(*times, env.Now().Sub(begin))
		}
	})
	return times
}

// Wakes that arrive close together share one pass, twenty seconds after the first of them.
func TestGraduationWaitsForOthers(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := newEnvironment(r, graduation.id)
	times := passesAt(env)
	for _, second := range []time.Duration{0, 3, 12, 19, 40, 50} {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalWake, nil) }, second*time.Second)
	}
	require.NoError(t, graduation.run(env))
	require.Equal(t, []time.Duration{20 * time.Second, 60 * time.Second}, *times)
	first := inputsOf[graduate.PassInput](r, "GraduateProject")[0]
	require.False(t, first.At.IsZero())
	require.Equal(t, graduate.PassInput{Project: "p", At: first.At}, first, "nobody asked for a demotion")
}

// Passes follow each other at once while sessions are pending, each from the head of the previous one. Updates run in
// between.
func TestGraduationGoesOn(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.passes = []graduate.PassResult{{More: true, Head: at(5)}, {More: true, Head: at(9)}, {Head: at(12)}}
	env := newEnvironment(r, graduation.id)
	times := passesAt(env)
	var command update
	r.before = func(_ context.Context, name string) {
		if name == "GraduateProject" && len(r.order()) == 1 {
			env.RegisterDelayedCallback(func() { graduation.send(env, "1", &command) }, 0)
		}
	}
	require.NoError(t, graduation.run(env))
	require.NoError(t, command.err)
	require.Less(t, (*times)[2], 25*time.Second)
	var heads []schema.StreamHead
	for _, in := range inputsOf[graduate.PassInput](r, "GraduateProject") {
		heads = append(heads, in.Head)
	}
	require.Equal(t, []schema.StreamHead{{}, at(5)}, heads[:2])
	require.Equal(t, 1, count(r.order(), "RunGraduationCommand"))
	require.Less(t, slices.Index(r.order(), "RunGraduationCommand"), len(r.order())-1, "a pass follows the command")
}

// A pass follows at once after a command that changed something, but not after one that changed nothing or after a
// requested pass.
func TestGraduationAfterUpdates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		update string
		arg    any
		events int
		passes []time.Duration
	}{
		"found":             {schema.UpdateFind, finding(), 1, []time.Duration{time.Second}},
		"found nothing":     {schema.UpdateFind, finding(), 0, []time.Duration{20 * time.Second}},
		"command":           {schema.UpdateCommand, retiring("r"), 1, []time.Duration{time.Second}},
		"command, repeated": {schema.UpdateCommand, retiring("r"), 0, []time.Duration{20 * time.Second}},
		"asked":             {schema.UpdateGraduate, pass(), 0, []time.Duration{time.Second, 20 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.ruled.Events, r.contradictions = tt.events, tt.events
			env := newEnvironment(r, graduation.id)
			times := passesAt(env)
			var u update
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(tt.update, "1", u.callbacks(), tt.arg) }, time.Second)
			require.NoError(t, graduation.run(env))
			require.NoError(t, u.err)
			require.True(t, u.accepted)
			require.Equal(t, tt.passes, *times)
		})
	}
}

// A requested pass fails for its sender alone. A background pass is retried after longer and longer pauses, and no wake
// brings a retry forward.
func TestGraduationOutlivesFailures(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("GraduateProject", schema.ErrorStoreRejected)
	env := newEnvironment(r, graduation.id)
	times := passesAt(env)
	var asked, command update
	env.RegisterDelayedCallback(func() { env.UpdateWorkflow(schema.UpdateGraduate, "1", asked.callbacks(), pass()) }, time.Second)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(schema.SignalWake, nil)
		graduation.send(env, "2", &command)
	}, 30*time.Second)
	env.RegisterDelayedCallback(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.fail, "GraduateProject")
	}, 40*time.Second)
	require.NoError(t, graduation.run(env))
	var application *temporal.ApplicationError
	require.ErrorAs(t, asked.err, &application)
	require.Equal(t, schema.ErrorStoreRejected, application.Type())
	require.NoError(t, command.err)
	require.Equal(t, []time.Duration{1, 20, 21, 23, 27, 35, 51}, inSeconds((*times)[:7]))
}

func inSeconds(times []time.Duration) []time.Duration {
	out := make([]time.Duration, len(times))
	for i, at := range times {
		out[i] = at / time.Second
	}
	return out
}

// An invalid request is refused before anything is done.
func TestGraduationRefuses(t *testing.T) {
	t.Parallel()
	unreasoned, elsewhere, nothing := retiring("r"), retiring("r"), pass()
	endless := finding()
	endless.Limit = graduate.MaxPairs + 1
	unreasoned.Because, elsewhere.Project, nothing.Apply = " ", "프로젝트/2", true
	for name, tt := range map[string]struct {
		update  string
		arg     any
		failure string
	}{
		"no reason":         {schema.UpdateCommand, unreasoned, schema.ErrorInvalidInput},
		"another project":   {schema.UpdateCommand, elsewhere, schema.ErrorScopeMismatch},
		"nothing to apply":  {schema.UpdateGraduate, nothing, schema.ErrorInvalidInput},
		"too many pairs":    {schema.UpdateFind, endless, schema.ErrorInvalidInput},
		"no project at all": {schema.UpdateGraduate, graduate.PassInput{}, schema.ErrorInvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			env := newEnvironment(r, graduation.id)
			var u update
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(tt.update, "1", u.callbacks(), tt.arg) }, time.Second)
			require.NoError(t, graduation.run(env))
			require.False(t, u.accepted)
			require.ErrorContains(t, u.err, tt.failure)
			require.Equal(t, []string{"GraduateProject"}, r.order(), "the pass that each run begins with")
		})
	}
}

// Whenever wakes arrive, a pass begins after each of them, at most about twenty seconds later.
func TestGraduationForgetsNoWake(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newRooms()
		env := newEnvironment(r, graduation.id)
		times := passesAt(env)
		wakes := rapid.SliceOfN(rapid.IntRange(0, 79_000), 0, 12).Draw(t, "milliseconds of wakes")
		for _, ms := range wakes {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalWake, nil) }, time.Duration(ms)*time.Millisecond)
		}
		require.NoError(t, graduation.run(env))
		require.LessOrEqual(t, len(*times), 1+80/20)
		for _, ms := range wakes {
			wake, found := time.Duration(ms)*time.Millisecond, false
			for _, at := range *times {
				found = found || at >= wake && at <= wake+21*time.Second
			}
			require.True(t, found, "woken at %v, passes at %v", wake, *times)
		}
	})
}
