package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What came from standard input stays for a week after it was last given, at one path: runs that wait, and
// runs of the same text for others, read it when their turn comes.
func TestSpoolStays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	give := func(text string) string {
		path, err := spoolIn(dir, strings.NewReader(text))
		require.NoError(t, err)
		held, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(held))
		return path
	}
	age := func(path string, by time.Duration) {
		then := time.Now().Add(-by)
		require.NoError(t, os.Chtimes(path, then, then))
	}
	left := func() (paths []string) {
		found, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range found {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
		return paths
	}
	old, young := give("old"), give("young")
	broken := filepath.Join(dir, "incoming-1")
	require.NoError(t, os.WriteFile(broken, nil, 0o600))
	for _, path := range []string{old, broken} {
		age(path, spoolAge+time.Hour)
	}
	age(young, spoolAge-time.Hour)
	before, err := os.Stat(old)
	require.NoError(t, err)

	require.Equal(t, old, give("old"))
	after, err := os.Stat(old)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "somebody may be reading it")
	require.ElementsMatch(t, []string{old, young}, left(), "what is given again is as good as new")

	age(young, spoolAge+time.Hour)
	_, err = spoolIn(dir, strings.NewReader(" \n"))
	require.ErrorContains(t, err, "standard input is empty")
	require.ElementsMatch(t, []string{old, young}, left())
	require.ElementsMatch(t, []string{old, give("other")}, left())
}
