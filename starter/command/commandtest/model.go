package commandtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answering returns the URL of a model that answers every request with the entries: titles with their quotes of the first
// message.
func Answering(t *testing.T, quotes map[string]string) string {
	t.Helper()
	var entries []map[string]any
	for title, quote := range quotes {
		entries = append(entries, map[string]any{
			"entryId": "e", "type": "decision", "title": title, "evidence": []map[string]any{{"messageIndex": 0, "quote": quote}},
		})
	}
	return AnsweringWith(t, entries)
}

// AnsweringWith returns the URL of a model that answers every request with the entries.
func AnsweringWith(t *testing.T, entries []map[string]any) string {
	t.Helper()
	content, err := json.Marshal(map[string]any{"entries": entries})
	require.NoError(t, err)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{
			map[string]any{"message": map[string]any{"content": string(content)}, "finish_reason": "stop"},
		}})
	}))
	t.Cleanup(model.Close)
	return model.URL
}

// Embed answers a request to an OpenAI-compatible embedder with the same vector for each text.
func Embed(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	data := []map[string]any{}
	for i := range in.Input {
		data = append(data, map[string]any{"index": i, "embedding": []float32{1, 2, 3, 4, 5, 6, 7, 8}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}
