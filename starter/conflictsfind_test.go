package main

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
	c := newCLI(t)
	c.work(t, "--model-provider", "openai", "--model", "test-model", "--model-url", server.URL+"/v1", "--model-format", "none")
	o := c.process(write(t, "s.jsonl", said(1, "user", "The gateway listens on port 8080.")+
		said(2, "user", "We moved that old gateway to port 3000.")+said(3, "user", "Every gateway port wants TLS.")))
	require.Zero(t, o.code, o)
	require.Zero(t, c.run("graduate", "--project", c.project).code)
	require.Empty(t, decode[[]graduate.Conflict](t, c.run("conflicts", "--project", c.project, "-o", "json")))

	require.Contains(t, c.run("conflicts", "find", "--project", c.project, "--user", "nobody").out, "there is nothing to ask about")
	require.Zero(t, asked.Load())
	report := decode[foundReport](t, c.run("conflicts", "find", "--project", c.project, "-o", "json"))
	require.Equal(t, []any{1, 2, 0, 0, 1, false}, []any{report.Found, report.Compatible, report.Unclear, report.LeftOut, report.Dropped, report.More})
	require.Equal(t, []any{"openai/test-model", schema.Usage{Calls: 3, InputTokens: 210, OutputTokens: 27}}, []any{report.Model, report.Usage})
	paid := asked.Load()
	require.Contains(t, c.run("conflicts", "find", "--project", c.project).out, "there is nothing to ask about")
	require.Equal(t, paid, asked.Load(), "each pair is asked about once")

	conflicts := decode[[]graduate.Conflict](t, c.run("conflicts", "--project", c.project, "-o", "json"))
	require.Len(t, conflicts, 1)
	require.Equal(t, []string{schema.ConflictOfMeaning, "openai/test-model"}, []string{conflicts[0].Type, conflicts[0].Model})
	shown := c.run("conflicts", "show", short(conflicts[0].ID), "--project", c.project)
	require.Contains(t, shown.out, ", by the model openai/test-model\n")
	require.Contains(t, shown.out, "differs   in meaning: Port 8080")
	resolved := c.run("conflicts", "resolve", short(conflicts[0].ID), "--keep", short(conflicts[0].Newer.EntryID), "--project", c.project)
	require.Zero(t, resolved.code, resolved)
	require.Contains(t, c.run("conflicts", "--project", c.project).out, "nothing contradicts anything")
	require.Zero(t, c.run("verify", "--project", c.project).code)
}

// Without a model, or with a limit of 0, the error contains advice.
func TestConflictsFindRefuses(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	o := c.run("conflicts", "find", "--project", c.project)
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "no model is configured that can read: this worker has rules/")
	o = c.run("conflicts", "find", "--limit", "0")
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "--limit 0: want 1 to 1000")
}

// Conflicts found by a model are printed with their cost and the next step.
func TestFoundConflictsAreTold(t *testing.T) {
	t.Parallel()
	sides := schema.EntryPair{OlderID: "04a5ad1b-1", NewerID: "7c20e9f4-1"}
	report := foundReport{}
	report.add(graduate.FindResult{
		Model: "openai/m", Found: 1, Compatible: 1, Dropped: 2, More: true, Usage: schema.Usage{Calls: 2, InputTokens: 7, OutputTokens: 3},
		Pairs: []graduate.FoundPair{
			{JudgedPair: schema.JudgedPair{EntryPair: sides, Verdict: schema.PairContradicts, Reason: "Oslo\x1b[31m\nor Lima"}, ConflictID: "0a1b2c3d-1", OlderTitle: "In Oslo.", NewerTitle: "In Lima."},
			{JudgedPair: schema.JudgedPair{EntryPair: sides, Verdict: schema.PairCompatible, Reason: "both"}},
		},
	})
	var b strings.Builder
	require.NoError(t, report.print(&b, "p"))
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, b.String(), "\n          04a5ad1b  In Oslo.\n          7c20e9f4  In Lima.\n"+
		"1 conflict found in 2 pairs: 1 do not contradict each other, 0 unclear, 0 left out; 2 answers about no pair dropped; openai/m asked: 2 calls, 7 + 3 tokens\n"+
		"to resolve one: starter conflicts resolve CONFLICT --keep=ENTRY --project=p\nthere is more to ask about: give the command again\n")
}
