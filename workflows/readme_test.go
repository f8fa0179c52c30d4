package workflows

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateReadme = flag.Bool("update", false, "write the drawing of process_session into the README")

// TestReadmeDrawsProcessSession keeps the drawing in the README that of the code.
func TestReadmeDrawsProcessSession(t *testing.T) {
	t.Parallel()
	graph, err := sessionGraph(&processSession{})
	require.NoError(t, err)
	const path, open, end = "../README.md", "```mermaid\n", "```"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), open)
	require.True(t, ok, "the README has no drawing")
	drawn, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the drawing in the README has no end")
	want := strings.TrimRight(graph.Mermaid(), "\n") + "\n"
	if *updateReadme {
		require.NoError(t, os.WriteFile(path, []byte(before+open+want+end+after), 0o600))
		return
	}
	require.Equal(t, want, drawn, "run: go test ./workflows -run TestReadme -update")
}
