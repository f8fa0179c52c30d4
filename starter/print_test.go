package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// Names in JSON output have one form, even if another package defines the result.
func TestReconcileInJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(vector.Report{ExtraIDs: []string{"x"}, UnknownTenants: []string{"x"}})
	require.NoError(t, err)
	require.NotRegexp(t, `"[a-z_]*[A-Z]\w*":`, string(data))
	require.NotContains(t, string(data), "0001-01-01")
}

// Windows without a complete answer are reported with the command that retries them.
func TestNoteNamesTheRetry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		quarantined, givenUp int
		want                 string
	}{
		{0, 0, ""},
		{3, 0, "s: the model gave no whole answer to 3 windows; see starter builds show b1\n  ask again about 3: starter builds retry b1\n"},
		{1, 1, "s: the model gave no whole answer to 1 window; see starter builds show b1\n" +
			"  ask once more about 1, too small to be asked about in parts: starter builds retry b1 --force\n"},
		{5, 2, "s: the model gave no whole answer to 5 windows; see starter builds show b1\n  ask again about 3: starter builds retry b1\n" +
			"  ask once more about 2, too small to be asked about in parts: starter builds retry b1 --force\n"},
	} {
		var b strings.Builder
		j := &job{Result: schema.ProcessSessionResult{SessionID: "s", BuildID: "b1", Status: schema.BuildPartial}}
		j.Result.Counts.Quarantined, j.Result.Counts.GivenUp = tt.quarantined, tt.givenUp
		note(&b, j, true)
		require.Equal(t, tt.want, b.String())
	}
}

func TestHanging(t *testing.T) {
	t.Parallel()
	text := hanging(strings.Repeat("promoted since it is proven ", 12), 20)
	lines := strings.Split(text, "\n")
	require.Greater(t, len(lines), 2)
	for i, line := range lines {
		require.LessOrEqual(t, len(line), lineWidth, line)
		require.Equal(t, i > 0, strings.HasPrefix(line, strings.Repeat(" ", 20)), line)
	}
	require.Equal(t, "said", hanging("said", 20))
	require.Equal(t, "said also by 04a5ad1b, by ann", shortIDs(`said also by "04a5ad1b-0000-5000-8000-000000000001", by ann`))
}
