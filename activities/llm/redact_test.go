package llm

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/schema"
)

// A secret from a model or its server is removed before the answer is stored, and the answer is read as before.
func TestI9AnswersAreRedacted(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + redacttest.NewMaker(5).Of(36)
	answer, err := json.Marshal(map[string]any{"entries": []any{map[string]any{"title": "Use " + secret + ".", "confidence": 0.25}}})
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]any{"n": json.Number("12345678901234567890"), "choices": []any{map[string]any{"message": map[string]any{"content": string(answer)}, "finish_reason": "stop"}}})
	require.NoError(t, err)
	kept := redactedRaw(raw)
	require.NotContains(t, string(kept), secret)
	require.Contains(t, string(kept), "12345678901234567890")
	response, err := ReadRaw(ProviderOpenAI, kept)
	require.NoError(t, err)
	var read struct {
		Entries []struct {
			Title      string
			Confidence float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(response.Text), &read))
	require.Equal(t, "Use "+schema.Redacted("github-pat")+".", read.Entries[0].Title)
	require.InDelta(t, 0.25, read.Entries[0].Confidence, 0)

	require.Equal(t, "no JSON: "+schema.Redacted("github-pat"), string(redactedRaw([]byte("no JSON: "+secret))))
	plain := []byte(`{"b": 1, "a": "<nothing>"}`)
	require.Equal(t, plain, redactedRaw(plain), "what holds none stays as it is")
}
