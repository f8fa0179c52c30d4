package commandtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command/feed"
	"axiommind/starter/command/progress"
)

// Put writes a file of a directory.
func Put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// InSession returns a message of the session.
func InSession(id string, n int, text string) string {
	return strings.Replace(Said(n, "user", text), `"sessionId":""`, fmt.Sprintf(`"sessionId":%q`, id), 1)
}

// JobsOf returns the sessions of a report that process printed.
func JobsOf(t *testing.T, o Output) []*progress.Job {
	t.Helper()
	return Decode[feed.ProcessReport](t, o).Sessions
}
