package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/vector"
)

// What programs read has names of one form, also where a result is another room's.
func TestReconcileInJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(vector.Report{ExtraIDs: []string{"x"}, UnknownTenants: []string{"x"}})
	require.NoError(t, err)
	require.NotRegexp(t, `"[a-z_]*[A-Z]\w*":`, string(data))
	require.NotContains(t, string(data), "0001-01-01")
}
