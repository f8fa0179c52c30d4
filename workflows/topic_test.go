package workflows

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateTopics = flag.Bool("update", false, "write the drawing of process_session into its help topic")

// TestTopicDrawsProcessSession checks that the drawing in the help topic matches the code.
func TestTopicDrawsProcessSession(t *testing.T) {
	t.Parallel()
	graph, err := sessionGraph(&processSession{})
	require.NoError(t, err)
	const path, open, end = "../starter/help/builds.md", "```mermaid\n", "```"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), open)
	require.True(t, ok, "the topic has no drawing")
	drawn, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the drawing in the topic has no end")
	want := strings.TrimRight(graph.Mermaid(), "\n") + "\n"
	if *updateTopics {
		require.NoError(t, os.WriteFile(path, []byte(before+open+want+end+after), 0o600))
		return
	}
	require.Equal(t, want, drawn, "run: go test ./workflows -run TestTopic -update")
}
