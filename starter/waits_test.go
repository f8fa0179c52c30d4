package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// embed answers a request to an OpenAI-compatible embedder with the same vector for each text.
func embed(w http.ResponseWriter, r *http.Request) {
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

// The cause that blocks a session's writer is reported, although this program lacks the worker's embedder and its key.
func TestProcessTellsWhatItsWriterWaitsFor(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	embedder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) <= 2 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error": {"message": "too many of them"}}`))
			return
		}
		embed(w, r)
	}))
	defer embedder.Close()
	c := newCLI(t)
	c.env["OPENAI_API_KEY"] = "of-the-worker"
	c.work(t, "--embedder", "openai", "--embedder-model", c.project, "--embedder-url", embedder.URL+"/v1", "--embedder-dimensions", "8")
	delete(c.env, "OPENAI_API_KEY")
	o := c.process(write(t, "s.jsonl", said(1, "user", decision)), "--session", "waits")
	require.Zero(t, o.code, o)
	require.Regexp(t, `(?m)^vector/\S+: Index(Pending|Sessions) is tried again: .*too many of them`, o.err)
}
