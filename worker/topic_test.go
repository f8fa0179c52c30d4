package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// topicInput returns the JSON after the first mention of the workflow in the help topic about Temporal, with the
// names that the test replaces.
func topicInput(t *testing.T, workflow string, names ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "starter", "help", "temporal.md"))
	require.NoError(t, err)
	_, chapter, ok := strings.Cut(string(data), "\n### From the Temporal UI\n")
	require.True(t, ok)
	_, after, ok := strings.Cut(chapter, "`"+workflow+"`")
	require.True(t, ok)
	_, after, ok = strings.Cut(after, "```json\n")
	require.True(t, ok)
	input, _, ok := strings.Cut(after, "```")
	require.True(t, ok)
	for i := 0; i < len(names); i += 2 {
		require.Contains(t, input, names[i])
	}
	return strings.NewReplacer(names...).Replace(input)
}

// The inputs in the help topic for Temporal's web interface run as they are: as bytes, as the interface sends them, and
// by Temporal's own command.
func TestTopicInputsRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	file := write(t, filepath.Join(t.TempDir(), "transcript.jsonl"), said(1, "user", decision), said(2, "assistant", "TODO: move the logs."))
	session := []string{"file:///path/to/transcript.jsonl", file, `"demo"`, `"` + b.project + `"`}
	dream := []string{"2026-11-22", "2026-03-01"} // The day of the messages.

	run := func(id, workflow, input string, result any) {
		t.Helper()
		raw := converter.NewRawValue(&commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(input)})
		r, err := b.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "axiommind"}, workflow, raw)
		require.NoError(t, err)
		require.NoError(t, r.Get(t.Context(), result))
	}
	var build schema.ProcessSessionResult
	run("session/"+b.project+"/default//my-session", "process_session", topicInput(t, "process_session", session...), &build)
	require.Equal(t, schema.BuildSuccess, build.Status)
	var dreamt schema.DeepDreamResult
	run("deep_dream/default/", "deep_dream", topicInput(t, "deep_dream", dream...), &dreamt)
	require.Equal(t, schema.DreamCommitted, dreamt.Status, dreamt.Reason)

	temporal := func(workflow, input string, result any) {
		t.Helper()
		c := exec.CommandContext(t.Context(), stacktest.TemporalCommand(t), "workflow", "execute", "--address", stacktest.Temporal(t), "--namespace", b.project,
			"--task-queue", "axiommind", "--type", workflow, "--workflow-id", "by hand: "+workflow, "--input", input, "--output", "json")
		c.Env = append(os.Environ(), "HOME="+t.TempDir())
		var errOut bytes.Buffer
		c.Stderr = &errOut
		out, err := c.Output()
		require.NoError(t, err, "%s%s", out, errOut.String())
		var ended struct {
			Status string          `json:"status"`
			Result json.RawMessage `json:"result"`
		}
		require.NoError(t, json.Unmarshal(out, &ended), string(out))
		require.Equal(t, "COMPLETED", ended.Status, string(out))
		require.NoError(t, json.Unmarshal(ended.Result, result), string(out))
	}
	temporal("process_session", topicInput(t, "process_session", append(session, "my-session", "my 'second'/session")...), &build)
	require.Equal(t, schema.BuildSuccess, build.Status)
	temporal("deep_dream", topicInput(t, "deep_dream", dream...), &dreamt)
	require.NotEqual(t, schema.DreamIsRefused, dreamt.Status, dreamt.Reason)
}
