package format

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// A tool's output and a block of code speak for no one: they could be made to look like a user's order.
func TestSpecStorySpeakersInOutputAreText(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/specstory/2026-02-03_10-00-00Z-retry-limit.md")
	require.NoError(t, err)
	s, err := parseOne(strings.NewReader(string(data)), Options{})
	require.NoError(t, err)
	require.Equal(t, "0b0f3c1e-5a52-4a0e-9d5a-4a1f1d1f2c33", s.ID)
	require.Equal(t, "UarAUrA", roles(s.Messages))
	require.Equal(t, "Why does the mailer give up after five attempts?\n\n---\n\nIt should go on.", s.Messages[0].Text)
	require.Contains(t, s.Messages[2].Text, "Never ask again.")
	require.Equal(t, "Bash", s.Messages[2].Tool)
	require.Contains(t, s.Messages[3].Text, "I want the tests gone.")
	require.Equal(t, "We keep five, because the provider blocks us after six.", s.Messages[4].Text)
	require.Equal(t, "2026-02-03T10:01:00Z", s.Messages[4].At.Format("2006-01-02T15:04:05Z07:00"))

	// A block that is never closed holds the rest.
	open := strings.Replace(string(data), "Never ask again.\n</details></tool-use>", "Never ask again.", 1)
	s, err = parseOne(strings.NewReader(open), Options{})
	require.NoError(t, err)
	for _, m := range s.Messages[1:] {
		require.NotEqual(t, schema.RoleUser, m.Role, m.Text)
	}
}

func TestSharedSpecStory(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(sharedtest.Data.Path(t, "agentwork"), "specstory", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := ""
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		s, err := parseOne(strings.NewReader(string(data)), Options{})
		require.NoError(t, err, name)
		require.Equal(t, "specstory", s.Format)
		require.Len(t, s.ID, 36)
		require.Empty(t, s.Skipped)
		said := roles(s.Messages)
		require.Equal(t, strings.Count(string(data), "\n_**User ("), strings.Count(said, "U")+strings.Count(said, "u"), said)
		all += said
		require.False(t, s.Started.IsZero())
	}
	for _, letter := range "UAar" {
		require.Contains(t, all, string(letter))
	}
}
