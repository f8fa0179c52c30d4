package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/worker/runner/runnertest"
)

// echo is a model that takes its whole input for a memory, and keeps the input.
type echo struct {
	url string

	mu    sync.Mutex
	shown bytes.Buffer
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	e := &echo{}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	e.url = server.URL + "/v1"
	return e
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, "no chat", http.StatusBadRequest)
		return
	}
	prompt := in.Messages[len(in.Messages)-1].Content
	e.mu.Lock()
	e.shown.WriteString(prompt)
	e.mu.Unlock()
	var entries []any
	types := []string{"fact", "decision", "insight", "reference", "task_note"}
	for line := range strings.Lines(prompt) {
		var m struct {
			Index int
			Role  string
			Text  string
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Text == "" || m.Role == "" {
			continue
		}
		entry := map[string]any{
			"entryId": fmt.Sprintf("ent_%d", len(entries)+1), "type": types[m.Index%len(types)], "title": strings.Join(strings.Fields(m.Text), " "), "confidence": 0.9,
			"evidence": []any{map[string]any{"messageIndex": m.Index, "quote": m.Text}},
		}
		switch entry["type"] {
		case "fact":
			entry["category"] = "knowledge"
		case "task_note":
			entry["task"] = map[string]any{"title": entry["title"], "status": "pending"}
		}
		entries = append(entries, entry)
	}
	answer, _ := json.Marshal(map[string]any{"entries": entries})
	if len(entries) == 0 {
		answer = []byte(prompt[:min(len(prompt), 400)])
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": string(answer)}, "finish_reason": "stop"}},
	})
}

// secretFiles writes the cases as transcripts of several harnesses: said by the user and the agent, in the arguments of
// tools, and in their results. It returns the files' URIs.
func secretFiles(t *testing.T, cases []redacttest.Case) []string {
	t.Helper()
	quote := func(v any) string { text, _ := json.Marshal(v); return string(text) }
	dir := t.TempDir()
	var claude, codex, markdown []string
	var list, mapping []any
	parent := any(nil)
	for i, c := range cases {
		at := time.Date(2026, 3, 1, 9, 0, i, 0, time.UTC).Format(time.RFC3339)
		args, role := quote(map[string]string{"command": c.Text}), []string{"user", "assistant"}[i%2]
		claude = append(claude, said(i, role, c.Text),
			fmt.Sprintf(`{"type":"assistant","uuid":"t-%d","sessionId":"c","timestamp":%q,"message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":%s}]}}`, i, at, i, args),
			fmt.Sprintf(`{"type":"user","uuid":"r-%d","sessionId":"c","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]}}`, i, at, i, quote(c.Text)))
		codex = append(codex,
			fmt.Sprintf(`{"timestamp":%q,"type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%s}]}}`, at, role, map[string]string{"user": "input_text", "assistant": "output_text"}[role], quote(c.Text)),
			fmt.Sprintf(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c%d","arguments":%s}}`, at, i, quote(args)),
			fmt.Sprintf(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":%s}}`, at, i, quote(quote(map[string]string{"output": c.Text}))))
		list = append(list, map[string]any{"role": role, "content": c.Text})
		markdown = append(markdown, "## "+strings.ToUpper(role[:1])+role[1:]+"\n\n"+strings.ReplaceAll(c.Text, "\r", ""))
		id := fmt.Sprintf("n%d", i)
		mapping = append(mapping, id, map[string]any{"id": id, "parent": parent, "children": []string{fmt.Sprintf("n%d", i+1)}, "message": map[string]any{
			"id": id, "author": map[string]any{"role": role}, "create_time": 1767225600 + i, "content": map[string]any{"content_type": "text", "parts": []string{c.Text}}}})
		parent = id
	}
	nodes := map[string]any{}
	for i := 0; i < len(mapping); i += 2 {
		nodes[mapping[i].(string)] = mapping[i+1]
	}
	codex = append([]string{`{"timestamp":"2026-03-01T09:00:00Z","type":"session_meta","payload":{"id":"codex","timestamp":"2026-03-01T09:00:00Z","cwd":"/w"}}`}, codex...)
	last := fmt.Sprintf("n%d", len(cases)-1)
	nodes[last].(map[string]any)["children"] = []string{}
	return []string{
		write(t, filepath.Join(dir, "claude.jsonl"), claude...),
		write(t, filepath.Join(dir, "rollout-codex.jsonl"), codex...),
		write(t, filepath.Join(dir, "list.json"), quote(list)),
		write(t, filepath.Join(dir, "chat.md"), markdown...),
		write(t, filepath.Join(dir, "conversations.json"), quote([]any{map[string]any{
			"id": "gpt", "title": "Keys", "create_time": 1767225600, "current_node": last, "mapping": nodes}})),
	}
}

// No secret of a session is stored anywhere, shown to the model, or logged: not in the log nor a table of ClickHouse,
// not in Weaviate, not in a file of the memory, not in a history of Temporal. The model takes its whole input for
// memories. (I9)
func TestI9NoSecretIsStoredAnywhere(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	var cases []redacttest.Case
	for _, c := range secretCases(t) {
		if !kinds[c.Kind] {
			kinds[c.Kind] = true
			cases = append(cases, c)
		}
	}
	noSecretIsStoredAnywhere(t, cases, 4)
}

// secretCases are many secrets, of all kinds.
func secretCases(t *testing.T) (cases []redacttest.Case) {
	t.Helper()
	all := redacttest.Cases(11)
	kinds := map[string]bool{}
	for i := range 220 {
		c := all[(i*97)%len(all)]
		if slices.ContainsFunc(c.Secrets, func(s string) bool { return len(s) < 7 }) {
			continue // The digits of a pin are in times and counts, too.
		}
		kinds[c.Kind] = true
		cases = append(cases, c)
	}
	require.Greater(t, len(kinds), 40)
	return cases
}

// noSecretIsStoredAnywhere has a session of the first format hold all secrets, and those of the other formats, and a
// person's notes, the first so many.
func noSecretIsStoredAnywhere(t *testing.T, cases []redacttest.Case, others int) {
	t.Helper()
	b, model := newBench(t), newEcho(t)
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "echo", BaseURL: model.url, ResponseFormat: llm.FormatNone}
	var logged runnertest.Log
	b.startLogging(t, slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	group, ctx := errgroup.WithContext(t.Context())
	uris := slices.Concat(secretFiles(t, cases)[:1], secretFiles(t, cases[:others])[1:])
	if !inCampaign(t) {
		uris = some(t, uris, 1, uris[0])
	}
	redacted := make([]int, len(uris))
	for i, uri := range uris {
		group.Go(func() error {
			in := b.input(fmt.Sprintf("secrets-%d", i), uri)
			in.IncludeTools = i == 0
			result, err := b.try(ctx, in)
			redacted[i] = result.Counts.Redacted
			return err
		})
	}
	require.NoError(t, group.Wait())
	for i, n := range redacted {
		require.GreaterOrEqual(t, n, map[bool]int{true: len(cases), false: others}[i == 0], "session %d", i)
	}
	for i, c := range cases[:min(others, 20)] {
		content := fmt.Sprintf("Note %d. %s", i, c.Text)
		if _, err := b.command(t.Context(), fact.Command{User: "u", RequestID: fmt.Sprint("r", i), Actor: "a", At: time.Now(), Op: fact.OpCreate, Content: &content}); err != nil {
			require.ErrorContains(t, err, "duplicate", c.Text)
		}
	}
	b.awaitIndexed(t)
	b.awaitGraduated(t.Context(), t)

	places := b.places(t)
	places["the worker's log"], places["what the model was shown"] = logged.String(), model.shown.String()
	for _, known := range []string{"the table events_raw", "Weaviate", "what the model was shown", "the table entries_raw", "the table facts_raw", "the table records_raw", "the files"} {
		require.Contains(t, places[known], "[redacted: ", known)
	}
	require.Contains(t, places["Temporal"], "secrets-0")
	requireNowhere(t, places, cases)
	for _, row := range column(t, b.ClickHouse, "SELECT event_type FROM events WHERE position(payload_json, '[redacted: ') > 0 AND (sensitivity != 'redacted' OR payload_redacted = '')") {
		t.Errorf("a %s that holds a placeholder does not say so", row)
	}
	t.Logf("survived: %d secrets of %d formats", len(cases), len(uris))
}

// places returns the content of each store, by its name: tables, vectors, files and histories.
func (b *bench) places(t *testing.T) map[string]string {
	t.Helper()
	places, queries := map[string]string{}, map[string]string{}
	for _, table := range column(t, b.ClickHouse, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine NOT LIKE '%View'") {
		queries["the table "+table] = "SELECT toString(tuple(*)) AS row FROM `" + table + "`"
	}
	for table, rows := range columns(t, b.ClickHouse, queries) {
		places[table] = strings.Join(rows, "\n")
	}
	places["Weaviate"] = strings.Join(b.objects(t), "\n")
	places["the files"] = filesBelow(t, b.cfg.MemoryRoot)
	places["Temporal"] = b.histories(t)
	return places
}

// requireNowhere fails for each secret that is in a place.
func requireNowhere(t *testing.T, places map[string]string, cases []redacttest.Case) {
	t.Helper()
	for place, text := range places {
		for _, c := range cases {
			for _, secret := range c.Secrets {
				if at := strings.Index(text, secret); at >= 0 {
					t.Errorf("%s (%s) is in %s: …%s…", c.Kind, c.Wording, place, text[max(0, at-80):min(len(text), at+len(secret)+20)])
				}
			}
		}
	}
}

// filesBelow returns the names and contents of all files below a directory.
func filesBelow(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Clean(path))
		b.WriteString(path + "\n" + string(text) + "\n")
		return err
	}))
	return b.String()
}

// histories returns the events of all workflows of the namespace, as they are stored.
func (b *bench) histories(t *testing.T) string {
	t.Helper()
	var all bytes.Buffer
	var token []byte
	for {
		page, err := b.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{NextPageToken: token})
		require.NoError(t, err)
		for _, w := range page.GetExecutions() {
			all.WriteString(w.String())
			all.WriteString(b.history(t.Context(), t, w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId()))
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return all.String()
		}
	}
}

func (b *bench) history(ctx context.Context, t *testing.T, id, run string) string {
	t.Helper()
	var all bytes.Buffer
	events := b.Temporal.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		data, err := proto.Marshal(e)
		require.NoError(t, err)
		all.Write(data)
	}
	return all.String()
}
