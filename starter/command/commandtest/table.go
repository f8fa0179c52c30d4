package commandtest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Update is true to write the files that the program makes, like the tables of topics.
var Update = flag.Bool("update", false, "write files that the program makes")

// RequireTable compares a table with that between the markers of a topic, or writes it there with -update.
func RequireTable(t *testing.T, path, name, want string) {
	t.Helper()
	open, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), open)
	require.True(t, ok, "the topic has no table of %s", name)
	listed, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the table of %s in the topic has no end", name)
	if *Update {
		require.NoError(t, os.WriteFile(path, []byte(before+open+want+end+after), 0o600))
		return
	}
	update := "run this test with -update"
	for line := range strings.Lines(want) {
		require.True(t, strings.Contains(listed, line), "the topic lacks %q; %s", line, update)
	}
	require.Equal(t, want, listed, update)
}
