package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
)

// The step that checks entries gets the build and the time, and its promotions are counted.
func TestProcessSessionChecks(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.checked = graduate.CheckResult{Candidates: 5, Verified: 4, Promoted: 3, Head: at(9)}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, []int{5, 4, 3}, []int{result.Counts.CandidateEntries, result.Counts.VerifiedEntries, result.Counts.PromotedEntries})
	in := inputsOf[graduate.CheckInput](r, "CheckEntries")[0]
	require.Equal(t, sessionInput().Key(), in.SessionKey)
	require.Equal(t, r.opened.BuildID, in.BuildID)
	require.Equal(t, inputsOf[entry.MaterializeInput](r, "MaterializeEntries")[0].Builder.At, in.At)
}

// Graduation is woken if the build changed entries of the session, and only then. A failure to wake it does not fail
// the build.
func TestProcessSessionWakesGraduation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		made     entry.MaterializeResult
		promoted int
		want     int
	}{
		"nothing":    {entry.MaterializeResult{Entries: 3, Aligned: 3, Proven: 3}, 0, 0},
		"new":        {entry.MaterializeResult{Entries: 3, New: 1}, 0, 1},
		"gained":     {entry.MaterializeResult{Entries: 3, Gained: 1}, 0, 1},
		"superseded": {entry.MaterializeResult{Entries: 3, Superseded: 1}, 0, 1},
		"restored":   {entry.MaterializeResult{Entries: 3, Restored: 1}, 0, 1},
		"promoted":   {entry.MaterializeResult{Entries: 3}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []*rooms{newRooms(), newRooms().failing(wakes, schema.ErrorStoreRejected)} {
				r.materialized, r.checked = tt.made, graduate.CheckResult{Candidates: 3, Promoted: tt.promoted}
				result, err := process(t, r, sessionInput())
				require.NoError(t, err)
				require.Equal(t, schema.BuildSuccess, result.Status)
				require.Equal(t, tt.want, count(r.order(), wakes))
				for _, in := range inputsOf[graduate.WakeInput](r, wakes) {
					require.Equal(t, graduate.WakeInput{Project: "p"}, in)
				}
			}
		})
	}
}

// Entries that a newer rule of proof proves are checked, and graduation is woken. A failure of that does not fail the
// run.
func TestRealignSessionChecks(t *testing.T) {
	t.Parallel()
	key := sessionInput().Key()
	r := newRooms().failing(wakes, schema.ErrorStoreRejected)
	r.realigned.Head = at(5)
	_, err := realign(t, r, key.WorkflowID(), key)
	require.NoError(t, err)
	in := inputsOf[graduate.CheckInput](r, "CheckEntries")[0]
	require.Equal(t, key, in.SessionKey)
	require.Equal(t, r.realigned.BuildID, in.BuildID)
	require.Equal(t, at(7), in.Head)
	require.False(t, in.At.IsZero())
	require.Equal(t, 1, count(r.order(), wakes))
}
