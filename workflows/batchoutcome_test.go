package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// A batch reports the same failure of a session as its build. A step whose activity timed out is no session that ran
// for too long.
func TestOutcomeOfSession(t *testing.T) {
	t.Parallel()
	late := temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, temporal.NewApplicationError("no answer", schema.ErrorVectorUnavailable))
	for _, c := range []struct {
		err               error
		failureType, says string
	}{
		{describeFailure(schema.StepIndex, late).end(late), schema.ErrorVectorUnavailable, "index: no answer"},
		{temporal.NewTimeoutError(enums.TIMEOUT_TYPE_START_TO_CLOSE, nil), schema.ErrorInterrupted, "its workflow ran for too long"},
		{temporal.NewCanceledError(), schema.ErrorCancelled, "cancelled"},
	} {
		o := outcomeOf(&batchItem{}, schema.ProcessSessionResult{}, c.err)
		require.Equal(t, []string{c.failureType, c.says}, []string{o.ErrorType, o.Error})
	}
}
