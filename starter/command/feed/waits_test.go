package feed_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command/commandtest"
)

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
		commandtest.Embed(w, r)
	}))
	defer embedder.Close()
	c := commandtest.NewCLI(t)
	c.Env["OPENAI_API_KEY"] = "of-the-worker"
	c.Work(t, "--embedder", "openai", "--embedder-model", c.Project, "--embedder-url", embedder.URL+"/v1", "--embedder-dimensions", "8")
	delete(c.Env, "OPENAI_API_KEY")
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", "waits")
	require.Zero(t, o.Code, o)
	require.Regexp(t, `(?m)^vector/\S+: Index(Pending|Sessions) is tried again: .*too many of them`, o.Err)
}
