package exchange_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command/commandtest"
)

// A bucket is a place for a backup. AXIOMMIND_TEST_BACKUP names an empty one, such as
// s3://bucket/prefix?endpoint=http://127.0.0.1:9000&use_path_style=true&region=us-east-1, and the environment its keys.
func TestBackupInBucket(t *testing.T) {
	t.Parallel()
	to := os.Getenv("AXIOMMIND_TEST_BACKUP")
	if to == "" {
		t.Skip("AXIOMMIND_TEST_BACKUP names no bucket")
	}
	c := commandtest.NewRemembered(t)
	for i, key := range []string{"one", "two"} {
		put(t, c.Log, schema.MemoryStream("ann/\"é", ""), key, schema.FactsClearedPayload{Facts: 1})
		require.Equal(t, i+1, backUp(t, c, to).Part)
	}
	keys, _ := keysFrom(t, to)
	require.Equal(t, []string{"one", "two"}, keys)
	require.Equal(t, 2, backUp(t, c, to, "--full").Removed)
	keys, o := keysFrom(t, to)
	require.Equal(t, []string{"one", "two"}, keys, o)
}
