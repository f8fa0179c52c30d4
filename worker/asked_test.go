package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/task"
	"axiommind/schema"
)

// model is a server that speaks OpenAI's chat completions. It answers with nothing of use until it is
// told to be well.
type model struct {
	url string

	mu      sync.Mutex
	well    bool
	prompts []string
	// summaries counts the requests for a summary, which are not among the prompts.
	summaries int
	// held is closed to let requests go on; nil when none waits.
	held chan struct{}
}

// shownMessage is a message as a prompt shows it.
type shownMessage struct {
	Index int
	Text  string
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL + "/v1"
	return m
}

// use makes the bench ask the model, in windows of a kilobyte.
func (m *model) use(b *bench) *bench {
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "test-model", BaseURL: m.url, ResponseFormat: llm.FormatNone}
	b.cfg.WindowBytes = 1 << 10
	return b
}

func (m *model) get(well bool) { m.mu.Lock(); defer m.mu.Unlock(); m.well = well }

func (m *model) calls() int { m.mu.Lock(); defer m.mu.Unlock(); return len(m.prompts) }

// requests counts the prompts and the requests for a summary.
func (m *model) requests() int { m.mu.Lock(); defer m.mu.Unlock(); return len(m.prompts) + m.summaries }

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) != 2 {
		http.Error(w, "no chat", http.StatusBadRequest)
		return
	}
	prompt := in.Messages[1].Content
	var shown []shownMessage
	for line := range strings.Lines(prompt) {
		var s shownMessage
		if json.Unmarshal([]byte(line), &s) == nil && s.Text != "" {
			shown = append(shown, s)
		}
	}
	m.mu.Lock()
	well, held := m.well, m.held
	if len(shown) > 0 {
		m.prompts = append(m.prompts, prompt)
	} else {
		m.summaries++
		held = nil
	}
	m.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": answer(prompt, shown, well)}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
	})
}

// answer is one entry for each message. While the model is unwell, windows of one message get no answer
// at all and those of more get one that breaks off after the first entry. Asked for the rest it gives
// that entry again, in other words. To be summarized there is nothing.
func answer(prompt string, shown []shownMessage, well bool) string {
	switch {
	case len(shown) == 0:
		return "None"
	case !well && len(shown) == 1:
		return "I would rather not say."
	}
	var items []string
	for _, s := range shown {
		quote, _, _ := strings.Cut(s.Text, "\n")
		item := map[string]any{
			"entryId": fmt.Sprint("e", s.Index), "type": "decision", "title": quote, "evidence": []any{map[string]any{"messageIndex": s.Index, "quote": quote}},
		}
		switch {
		case strings.HasPrefix(quote, "I prefer"):
			item["type"], item["category"], item["confidence"] = "fact", "preference", 0.9
		case strings.HasPrefix(quote, "TODO"):
			item["type"], item["task"] = "task_note", map[string]any{"title": strings.TrimPrefix(quote, "TODO: "), "status": "pending"}
		}
		if len(items) == 0 && strings.Contains(prompt, "Do not repeat them") {
			item["title"] = "In other words: " + quote
		}
		data, _ := json.Marshal(item)
		items = append(items, string(data))
	}
	if !well {
		return `{"entries":[` + items[0] + `,` + items[1][:len(items[1])/2]
	}
	return `{"entries":[` + strings.Join(items, ",") + `]}`
}

// troubled writes a session of two windows: the unwell model answers nothing to the first, and breaks off
// in the second.
func troubled(t *testing.T, path, name string) string {
	t.Helper()
	first := "I prefer " + name + " over anything else.\n"
	first += strings.Repeat("-", 1000-len(first)) // No other message fits into its window.
	return write(t, path,
		said(1, "user", first),
		said(2, "user", "We decided to use ClickHouse for "+name+"."), said(3, "user", "TODO: write the page on "+name+"."))
}

func (b *bench) show(t *testing.T, buildID string) build.Detail {
	t.Helper()
	d, err := build.Show(t.Context(), b.ClickHouse, buildID)
	require.NoError(t, err)
	return d
}

// Windows without a whole answer are asked about again whenever the session is processed, until there is
// one. What comes of it is memory like any other, and what was kept before is not kept twice.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	b.start(t)
	path := filepath.Join(t.TempDir(), "it's 한 session.jsonl")
	in := b.input("asked", troubled(t, path, "tabs"))

	var first string
	for asked := 1; asked <= 2; asked++ {
		before, requests := m.calls(), m.requests()
		result := b.process(t, in)
		require.Equal(t, schema.BuildPartial, result.Status)
		require.Equal(t, 2, result.Counts.Windows)
		require.Equal(t, 2, result.Counts.Quarantined)
		require.Equal(t, 1, result.Counts.Entries)
		require.Equal(t, 3, m.calls()-before, "no answer is taken from an earlier asking")
		require.Equal(t, m.requests()-requests, result.Usage.Calls)
		problems := b.show(t, result.BuildID).Problems
		require.Equal(t, []int{asked, asked}, []int{problems[0].Asked, problems[1].Asked})
		require.Contains(t, problems[0].Reason, "no JSON in it")
		require.Contains(t, problems[1].Reason, "the answer broke off")
		require.Contains(t, problems[0].Retry, "starter process '"+strings.ReplaceAll(path, "'", `'\''`)+"' --session asked --project")
		if first == "" {
			first = result.BuildID
		}
	}

	m.get(true)
	result := b.process(t, in)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, schema.BuildCounts{
		Messages: 3, Windows: 2, Entries: 3, NewEntries: 2, Rejected: 1, AlignedEntries: 3, ProvenEntries: 3, Indexed: 3,
	}, result.Counts)
	require.Contains(t, m.prompts[m.calls()-1]+m.prompts[m.calls()-2], `{"type":"decision","title":"We decided to use ClickHouse for tabs."}`)
	var titles []string
	for _, e := range b.requireProven(t, "asked") {
		require.True(t, e.EvidenceAligned)
		titles = append(titles, e.Title)
	}
	require.ElementsMatch(t, []string{
		"I prefer tabs over anything else.", "We decided to use ClickHouse for tabs.", "TODO: write the page on tabs.",
	}, titles)
	facts, err := fact.NewTables(b.ClickHouse).List(t.Context(), "u", "")
	require.NoError(t, err)
	require.Len(t, facts, 1)
	tasks, err := task.NewQueries(b.Log, b.ClickHouse).ListTasks(t.Context(), task.Selection{Project: b.project}, schema.TaskPending)
	require.NoError(t, err)
	require.Len(t, tasks, 1)
	require.Equal(t, "write the page on tabs.", tasks[0].Task.Title)
	for _, p := range b.show(t, first).Problems {
		require.Equal(t, "done: build "+result.BuildID[:8]+" has the answer", p.Retry)
	}

	requests, before := m.requests(), b.rows(t)
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
	require.Equal(t, requests, m.requests())
	require.Equal(t, before, b.rows(t))
}

// An answer that could not be read or broke off is the failure of the build that was given it: the same
// transcript in another project is asked about anew. A whole answer serves both.
func TestFailuresAreNotShared(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	b.start(t)
	uri := troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "tabs")
	process := func(project string) (schema.ProcessSessionResult, int) {
		in, before, requests := b.input("shared", uri), m.calls(), m.requests()
		in.Project += project
		result := b.process(t, in)
		require.Equal(t, m.requests()-requests, result.Usage.Calls)
		return result, m.calls() - before
	}
	for _, project := range []string{"-a", "-b"} {
		result, calls := process(project)
		require.Equal(t, schema.BuildPartial, result.Status)
		require.Equal(t, 2, result.Counts.Quarantined)
		require.Equal(t, 3, calls, "one window is asked about once more, to mend its answer")
	}
	m.get(true)
	result, calls := process("-c")
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, 3, result.Counts.Entries)
	require.Equal(t, 2, calls)

	uri = troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "spaces")
	for _, want := range []int{2, 0} {
		result, calls := process(fmt.Sprint("-well-", want))
		require.Equal(t, schema.BuildSuccess, result.Status)
		require.Equal(t, want, calls)
	}
}

// A worker that is killed while it asks again, and started again, ends where one ends that nobody
// disturbed (I2).
func TestI2KilledAskingAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a worker seven times and waits for what it left behind")
	}
	t.Parallel()
	killedIn := []string{
		"IngestSession", "PlanWindows", "ExtractWindow", "RecordExtraction", "AlignSession", "MaterializeEntries", "CloseBuild",
	}
	dir := t.TempDir()
	calmModel, killedModel := newModel(t), newModel(t)
	calm, killed := calmModel.use(newBench(t)), killedModel.use(newBench(t))
	killed.project = calm.project // Ids are made of it.
	calm.start(t)
	worker := buildWorker(t, killed)
	worker.args = append(worker.args, "--model-provider", "openai", "--model", "test-model", "--model-url", killedModel.url,
		"--model-format", llm.FormatNone, "--window-bytes", "1024")
	stop := worker.start(t)
	inputs := make([]schema.ProcessSessionInput, len(killedIn))
	for i, activity := range killedIn {
		name := "killed-in-" + activity
		inputs[i] = calm.input(name, troubled(t, filepath.Join(dir, name+".jsonl"), name))
		for _, b := range []*bench{calm, killed} {
			require.Equal(t, schema.BuildPartial, b.process(t, inputs[i]).Status)
		}
	}
	stop()
	calmModel.get(true)
	killedModel.get(true)
	runs := make([]client.WorkflowRun, len(killedIn))
	for i, activity := range killedIn {
		require.Equal(t, schema.BuildSuccess, calm.process(t, inputs[i]).Status)
		kill := worker.start(t)
		var err error
		runs[i], err = killed.submit(t.Context(), inputs[i])
		require.NoError(t, err)
		awaitScheduled(t.Context(), t, killed.Temporal, runs[i], activity)
		kill()
	}
	t.Cleanup(worker.start(t))
	for _, run := range runs {
		var result schema.ProcessSessionResult
		require.NoError(t, run.Get(t.Context(), &result), run.GetID())
		require.Equal(t, schema.BuildSuccess, result.Status, run.GetID())
		require.Equal(t, 3, result.Counts.Entries)
	}
	calm.awaitIndexed(t)
	killed.awaitIndexed(t)
	want, got := calm.lasting(t), killed.lasting(t)
	for name := range want {
		require.NotEmpty(t, want[name], name)
		require.Equal(t, want[name], got[name], name)
	}
}

// A build can be seen to run from its first event on, long before there is anything to project, and its
// row is the one that a rebuild makes.
func TestRunningBuildIsSeen(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.well, m.held = true, make(chan struct{})
	b := m.use(newBench(t))
	b.start(t)
	run, err := b.submit(t.Context(), b.input("running", troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "it")))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return m.calls() > 0 }, time.Minute, 10*time.Millisecond)
	list := func() []build.Run {
		runs, err := build.List(t.Context(), b.ClickHouse, build.Filter{SessionID: "running", Limit: 2})
		require.NoError(t, err)
		require.Len(t, runs, 1)
		return runs
	}
	running := list()
	require.Equal(t, schema.BuildRunning, running[0].Status)
	require.Contains(t, running[0].Source.URI, "s.jsonl")
	_, err = b.Log.Rebuild(t.Context(), build.NewProjector(b.ClickHouse))
	require.NoError(t, err)
	require.Equal(t, running, list())
	close(m.held)
	var result schema.ProcessSessionResult
	require.NoError(t, run.Get(context.Background(), &result))
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, schema.BuildSuccess, list()[0].Status)
	require.Equal(t, running[0].StartedAt, list()[0].StartedAt, fmt.Sprint(result))
}
