package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/worker/service"
)

// A worker without roots reads the agents' sessions and its own directory, but not the home even if started there.
func TestSourceAccess(t *testing.T) {
	home := filepath.Join(t.TempDir(), "집")
	sessions := filepath.Join(home, ".claude", "projects")
	work := filepath.Join(home, "work")
	for _, dir := range []string{sessions, work} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	t.Setenv("HOME", home)
	for dir, want := range map[string][]string{
		work: {sessions, work}, home: {sessions}, filepath.Dir(home): {sessions}, "/": {sessions},
	} {
		t.Chdir(dir)
		access, err := sourceAccess(&service.Config{}, nil, nil)
		require.NoError(t, err)
		require.Equal(t, want, access.Roots(), dir)
	}
	t.Chdir(work)
	access, err := sourceAccess(&service.Config{SourceRoots: []string{"/data", "here"}}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"/data", filepath.Join(work, "here")}, access.Roots())
	_, err = sourceAccess(&service.Config{SourceRoots: []string{""}}, nil, nil)
	require.EqualError(t, err, "--source-root: set up access to sources: a root is empty")

	t.Setenv("HOME", "")
	access, err = sourceAccess(&service.Config{}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{work}, access.Roots())
	t.Chdir("/")
	access, err = sourceAccess(&service.Config{}, nil, nil)
	require.NoError(t, err)
	require.Empty(t, access.Roots())
}
