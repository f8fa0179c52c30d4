package format

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A secret in the name of a tool or an author, in an id, or in the reason for a skipped line is taken out. (I9)
func TestI9NamesAndSkippedLines(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "aB3dE5gH1jK7aB3dE5gH1jK7aB3dE5gH1jK7"
	lines := []string{
		`{"type":"user","uuid":"` + token + `1","sessionId":"s","timestamp":"2026-03-01T09:00:00Z","message":{"role":"user","content":"Hello."}}`,
		`{"type":"assistant","uuid":"u2","sessionId":"s","timestamp":"` + token + `","message":{"role":"assistant","content":[{"type":"tool_use","id":"` +
			token + `2","name":"run password=hunter2Summer","input":{}}]}}`,
		`{"type":"user","uuid":"u3","sessionId":"s","timestamp":"2026-03-01T09:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` +
			token + `2","content":"done"}]}}`,
	}
	sessions, err := Parse(t.Context(), strings.NewReader(strings.Join(lines, "\n")), Options{})
	require.NoError(t, err)
	text, err := json.Marshal(sessions)
	require.NoError(t, err)
	require.NotContains(t, string(text), token)
	require.NotContains(t, string(text), "hunter2Summer")
	require.Contains(t, string(text), `"tool":"run password=[redacted: named-secret]"`)
	last := sessions[0].Messages[len(sessions[0].Messages)-1]
	require.NotEmpty(t, last.CallID)
	require.Equal(t, "run password=[redacted: named-secret]", last.Tool, "the result still belongs to its call")
}
