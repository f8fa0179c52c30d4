package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/schema"
	"axiommind/workflows"
)

func realign(t *testing.T, r *rooms, id string, in schema.SessionKey) (result schema.RealignSessionResult, err error) {
	t.Helper()
	env := newEnvironment(r, id)
	env.ExecuteWorkflow(schema.WorkflowRealignSession, in)
	require.True(t, env.IsWorkflowCompleted())
	if err := env.GetWorkflowError(); err != nil {
		return result, err
	}
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Less(t, r.largest, maxPayload)
	return result, nil
}

// New judgements reach the entries and their tables. If no run ever judged anything, nothing else is done.
func TestRealignSession(t *testing.T) {
	t.Parallel()
	key := sessionInput().Key()
	for name, tt := range map[string]struct {
		judged evidence.RealignResult
		order  []string
	}{
		"judged anew":        {evidence.RealignResult{Pieces: 3, Proven: 2, Unproven: 1, Extractions: 1, BuildID: "b1"}, []string{"RealignSession", "MaterializeEntries", "CheckEntries", "ProjectSession", "WakeGraduation"}},
		"judged anew before": {evidence.RealignResult{Extractions: 1, BuildID: "b1"}, []string{"RealignSession", "MaterializeEntries", "CheckEntries", "ProjectSession", "WakeGraduation"}},
		"nothing is older":   {evidence.RealignResult{}, []string{"RealignSession"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.realigned = tt.judged
			result, err := realign(t, r, key.WorkflowID(), key)
			require.NoError(t, err)
			require.Equal(t, tt.order, r.order())
			require.Equal(t, schema.RealignSessionResult{
				SessionID: "s1", Pieces: tt.judged.Pieces, Proven: tt.judged.Proven, Unproven: tt.judged.Unproven,
			}, result)
			require.Equal(t, key, inputsOf[evidence.RealignInput](r, "RealignSession")[0].SessionKey)
			for _, made := range inputsOf[entry.MaterializeInput](r, "MaterializeEntries") {
				require.Equal(t, entry.MaterializeInput{SessionKey: key, BuildID: "b1"}, made)
			}
		})
	}
}

// The run is the only one of its session: under another id it is a child of the one that was started.
func TestRealignSessionChild(t *testing.T) {
	t.Parallel()
	r := newRooms()
	result, err := realign(t, r, "started-by-hand", schema.SessionKey{SessionID: "세션 1/%"})
	require.NoError(t, err)
	require.Equal(t, 3, result.Pieces)
	in := inputsOf[evidence.RealignInput](r, "RealignSession")
	require.Len(t, in, 1)
	want := schema.SessionKey{Scope: schema.Scope{Project: workflows.DefaultProject, User: workflows.DefaultUser}, SessionID: "세션 1/%"}
	require.Equal(t, want, in[0].SessionKey)
	require.WithinDuration(t, time.Now(), in[0].At, time.Hour)
}

func TestRealignSessionFailure(t *testing.T) {
	t.Parallel()
	key := sessionInput().Key()
	for activity, step := range map[string]string{
		"RealignSession": schema.StepRealign, "MaterializeEntries": schema.StepMaterialize, "CheckEntries": schema.StepCheck, "ProjectSession": schema.StepProject,
	} {
		t.Run(activity, func(t *testing.T) {
			t.Parallel()
			r := newRooms().failing(activity, schema.ErrorCorruptLog)
			_, err := realign(t, r, key.WorkflowID(), key)
			requireFailure(t, err, step, activity, schema.ErrorCorruptLog)
			require.Equal(t, 1, count(r.order(), activity))
		})
	}
}

func TestRealignSessionRefusesInput(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		id, user, says string
	}{
		"no session":        {"", "", "session_id is empty"},
		"control character": {"a\nb", "", `session_id "a\nb" holds a control character`},
		"long name":         {"s", strings.Repeat("u", 201), "has 201 bytes, more than 200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			_, err := realign(t, r, "any", schema.SessionKey{Scope: schema.Scope{User: tt.user}, SessionID: tt.id})
			var application *temporal.ApplicationError
			require.ErrorAs(t, err, &application)
			require.Equal(t, schema.ErrorInvalidInput, application.Type())
			require.ErrorContains(t, err, tt.says)
			require.Empty(t, r.order())
		})
	}
}
