package tier

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A real bucket refuses to overwrite what was changed since it was read. AXIOMMIND_TEST_ROOT names it, such as
// s3://bucket?endpoint=http://127.0.0.1:9000&use_path_style=true&region=us-east-1, and the environment its keys.
func TestRootInBucket(t *testing.T) {
	t.Parallel()
	url := os.Getenv("AXIOMMIND_TEST_ROOT")
	if url == "" {
		t.Skip("AXIOMMIND_TEST_ROOT names no bucket")
	}
	r, err := OpenRoot(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.NotContains(t, r.URL(), "?")
	path := "test/" + time.Now().UTC().Format("150405.000000000") + "/MEMORY.md"
	none, err := r.Read(t.Context(), path)
	require.NoError(t, err)
	require.False(t, none.Exists)
	require.NoError(t, r.Write(t.Context(), path, "- 사과\n", none))
	require.ErrorContains(t, r.Write(t.Context(), path, "ours", none), "changed it just now", "it exists now")
	one, err := r.Read(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, "- 사과\n", one.Text)
	require.NoError(t, r.Write(t.Context(), path, "", one))
	require.ErrorContains(t, r.Write(t.Context(), path, "ours", one), "changed it just now", "it is another version now")
	now, err := r.Read(t.Context(), path)
	require.NoError(t, err)
	require.True(t, now.Exists)
	require.Empty(t, now.Text)
	names, err := r.List(t.Context(), path[:len(path)-len("/MEMORY.md")])
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.NotEmpty(t, names["MEMORY.md"])
}
