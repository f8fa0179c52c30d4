package truth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/truth"
)

// A model finds a contradiction that the rule misses, and is asked about each pair once. A request that is too long is
// split. The conflicts are shown and resolved like any other.
func testConflictsFind(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Messages) != 2 {
			http.Error(w, "no chat", http.StatusBadRequest)
			return
		}
		text := "None"
		switch prompt := in.Messages[1].Content; {
		case strings.Contains(prompt, `"older"`):
			if asked.Add(1); strings.Count(prompt, "\n") > 1 {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":{"message":"too long","code":"context_length_exceeded","type":"invalid_request_error"}}`))
				return
			}
			text = `{"entries":[{"id":"p1","contradict":"no","reason":"They speak of different things."}]}`
			if strings.Contains(prompt, "8080") && strings.Contains(prompt, "3000") {
				text = `{"entries":[{"id":"p1","contradict":"yes","reason":"Port 8080\nor port 3000."},{"id":"p9","contradict":"yes","reason":""}]}`
			}
		case strings.Contains(prompt, `"index"`):
			text = `{"entries":[` +
				`{"entryId":"a","type":"fact","category":"context","confidence":0.8,"title":"The gateway listens on port 8080.","evidence":[{"messageIndex":0,"quote":"The gateway listens on port 8080."}]},` +
				`{"entryId":"b","type":"fact","category":"context","confidence":0.8,"title":"We moved that old gateway to port 3000.","evidence":[{"messageIndex":1,"quote":"We moved that old gateway to port 3000."}]},` +
				`{"entryId":"c","type":"fact","category":"context","confidence":0.8,"title":"Every gateway port wants TLS.","evidence":[{"messageIndex":2,"quote":"Every gateway port wants TLS."}]}]}`
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"content": text}, "finish_reason": "stop"}},
			"usage":   map[string]any{"prompt_tokens": 70, "completion_tokens": 9},
		})
	}))
	t.Cleanup(server.Close)
	c := commandtest.NewCLI(t)
	c.Work(t, "--model-provider", "openai", "--model", "test-model", "--model-url", server.URL+"/v1", "--model-format", "none")
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "The gateway listens on port 8080.")+
		commandtest.Said(2, "user", "We moved that old gateway to port 3000.")+commandtest.Said(3, "user", "Every gateway port wants TLS.")))
	require.Zero(t, o.Code, o)
	require.Zero(t, c.Run("graduate", "--project", c.Project).Code)
	require.Empty(t, commandtest.Decode[[]graduate.Conflict](t, c.Run("conflicts", "--project", c.Project, "-o", "json")))

	require.Contains(t, c.Run("conflicts", "find", "--project", c.Project, "--user", "nobody").Out, "there is nothing to ask about")
	require.Zero(t, asked.Load())
	report := commandtest.Decode[truth.FoundReport](t, c.Run("conflicts", "find", "--project", c.Project, "-o", "json"))
	require.Equal(t, []any{1, 2, 0, 0, 1, false}, []any{report.Found, report.Compatible, report.Unclear, report.LeftOut, report.Dropped, report.More})
	require.Equal(t, []any{"openai/test-model", schema.Usage{Calls: 3, InputTokens: 210, OutputTokens: 27}}, []any{report.Model, report.Usage})
	paid := asked.Load()
	require.Contains(t, c.Run("conflicts", "find", "--project", c.Project).Out, "there is nothing to ask about")
	require.Equal(t, paid, asked.Load(), "each pair is asked about once")

	conflicts := commandtest.Decode[[]graduate.Conflict](t, c.Run("conflicts", "--project", c.Project, "-o", "json"))
	require.Len(t, conflicts, 1)
	require.Equal(t, []string{schema.ConflictOfMeaning, "openai/test-model"}, []string{conflicts[0].Type, conflicts[0].Model})
	shown := c.Run("conflicts", "show", command.ShortID(conflicts[0].ID), "--project", c.Project)
	require.Contains(t, shown.Out, ", by the model openai/test-model\n")
	require.Contains(t, shown.Out, "differs   in meaning: Port 8080")
	resolved := c.Run("conflicts", "resolve", command.ShortID(conflicts[0].ID), "--keep", command.ShortID(conflicts[0].Newer.EntryID), "--project", c.Project)
	require.Zero(t, resolved.Code, resolved)
	require.Contains(t, c.Run("conflicts", "--project", c.Project).Out, "nothing contradicts anything")
	require.Zero(t, c.Run("verify", "--project", c.Project).Code)
}

// Without a model, or with a limit of 0, the error contains advice.
func TestConflictsFindRefuses(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	o := c.Run("conflicts", "find", "--project", c.Project)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "no model is configured that can read: this worker has rules/")
	o = c.Run("conflicts", "find", "--limit", "0")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "--limit 0: want 1 to 1000")
}

// Conflicts found by a model are printed with their cost and the next step.
func TestFoundConflictsAreTold(t *testing.T) {
	t.Parallel()
	sides := schema.EntryPair{OlderID: "04a5ad1b-1", NewerID: "7c20e9f4-1"}
	report := truth.FoundReport{}
	report.Add(graduate.FindResult{
		Model: "openai/m", Found: 1, Compatible: 1, Dropped: 2, More: true, Usage: schema.Usage{Calls: 2, InputTokens: 7, OutputTokens: 3},
		Pairs: []graduate.FoundPair{
			{JudgedPair: schema.JudgedPair{EntryPair: sides, Verdict: schema.PairContradicts, Reason: "Oslo\x1b[31m\nor Lima"}, ConflictID: "0a1b2c3d-1", OlderTitle: "In Oslo.", NewerTitle: "In Lima."},
			{JudgedPair: schema.JudgedPair{EntryPair: sides, Verdict: schema.PairCompatible, Reason: "both"}},
		},
	})
	var b strings.Builder
	report.Print(&b, "p")
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, b.String(), "\n          04a5ad1b  In Oslo.\n          7c20e9f4  In Lima.\n"+
		"1 conflict found in 2 pairs: 1 do not contradict each other, 0 unclear, 0 left out; 2 answers about no pair dropped; openai/m asked: 2 calls, 7 + 3 tokens\n"+
		"to resolve one: starter conflicts resolve CONFLICT --keep=ENTRY --project=p\nthere is more to ask about: give the command again\n")
}
