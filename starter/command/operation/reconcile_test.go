package operation

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/vector"
)

// Names in JSON output have one form, even if another package defines the result.
func TestReconcileInJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(vector.Report{ExtraIDs: []string{"x"}, UnknownTenants: []string{"x"}})
	require.NoError(t, err)
	require.NotRegexp(t, `"[a-z_]*[A-Z]\w*":`, string(data))
	require.NotContains(t, string(data), "0001-01-01")
}
