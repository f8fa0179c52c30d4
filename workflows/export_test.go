package workflows

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
)

var drawnNode = regexp.MustCompile(`(?m)^    (\w+)\["`)

// SessionSteps are the nodes of the graph of process_session, sorted.
func SessionSteps(t *testing.T) []string {
	t.Helper()
	graph, err := sessionGraph(&processSession{})
	require.NoError(t, err)
	var names []string
	for _, node := range drawnNode.FindAllStringSubmatch(graph.Mermaid(), -1) {
		names = append(names, node[1])
	}
	slices.Sort(names)
	return names
}

// RegisterWriters registers the workflows that are the only writers of streams.
func RegisterWriters(r worker.WorkflowRegistry) {
	for _, w := range writers {
		w.register(r)
	}
}

// LaterAndLater is the pause before a writer retries failed background work.
var LaterAndLater = backoff
