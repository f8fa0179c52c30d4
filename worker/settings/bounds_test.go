package settings_test

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/worker/settings"
)

// A number that would delete rows, or that a server can't follow, is refused at the start.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ setting, value, err string }{
		{"usage-days", "180", ""},
		{"usage-days", "3650", ""},
		{"usage-days", "0", ""},
		{"usage-days", "179", "want a whole number from 180 to 3650, or 0 for never"},
		{"usage-days", "29300", "want a whole number from 180 to 3650, or 0 for never"},
		{"usage-days", "-1", "want a whole number from 180 to 3650, or 0 for never"},
		{"weaviate-replicas", "3", ""},
		{"weaviate-replicas", "0", "want a whole number from 1 to 1000"},
		{"weaviate-replicas", "-3", "want a whole number from 1 to 1000"},
	} {
		var s settings.Servers
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		settings.Add(f, s.Settings())
		require.Equal(t, []int{730, 1}, []int{s.UsageDays, s.WeaviateReplicas})
		if err := f.Set(c.setting, c.value); c.err == "" {
			require.NoError(t, err, c.value)
		} else {
			require.ErrorContains(t, err, c.err, c.value)
		}
	}
}
