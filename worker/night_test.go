package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/llm"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// dreamingModel speaks OpenAI's chat. It keeps the statement of each prompt, and counts its calls and how many it has at
// a time. While ill is set, it refuses the prompts that hold its text.
type dreamingModel struct {
	*httptest.Server
	calls, now, most atomic.Int64
	ill              atomic.Value
	// The first call of all waits for the second one.
	first, other sync.Once
	second       chan struct{}
}

var statement = regexp.MustCompile(`User \d+ drinks tea number \d+\.`)

func newDreamingModel(t *testing.T) *dreamingModel {
	t.Helper()
	m := &dreamingModel{second: make(chan struct{})}
	m.ill.Store("")
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *dreamingModel) serve(w http.ResponseWriter, r *http.Request) {
	defer m.now.Add(-1)
	for now, most := m.now.Add(1), m.most.Load(); now > most && !m.most.CompareAndSwap(most, now); most = m.most.Load() {
	}
	switch m.calls.Add(1) {
	case 1:
		m.first.Do(func() { <-m.second })
	case 2:
		m.other.Do(func() { close(m.second) })
	}
	var in struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	prompt := in.Messages[len(in.Messages)-1].Content
	if ill := m.ill.Load().(string); ill != "" && strings.Contains(prompt, ill) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error": {"message": "I will not dream of this"}}`))
		return
	}
	answer := "[MEMORY]\n## Preferences\n- " + statement.FindString(prompt) + "\n\n[DREAM]\nA quiet night.\n"
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": answer}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5},
	})
}

// flushed appends a flush of today to the memory of each of the users.
func (b *bench) flushed(t *testing.T, users int) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for i := range users {
		group.Go(func() error { return b.flushOne(ctx, i) })
	}
	require.NoError(t, group.Wait())
	_, err := b.Log.ProjectAll(t.Context(), tier.NewProjector(b.ClickHouse))
	require.NoError(t, err)
}

func (b *bench) flushOne(ctx context.Context, i int) error {
	now := time.Now()
	key := schema.SessionKey{Scope: schema.Scope{Project: b.project, User: fmt.Sprintf("사용자/%d", i)}, SessionID: "s"}
	event, err := schema.NewEvent(schema.ContextFlushedPayload{
		SessionKey: key, Date: now.Format(schema.DateLayout), Clock: now.Format(schema.ClockLayout), Last: 1, Summarizer: "test",
		Text: fmt.Sprintf("- User %d drinks tea number %d.", i, i),
	}, schema.Event{
		TS: now.UTC(), Actor: "test", Project: b.project, SessionID: "s", DedupeKey: schema.ContextFlushedKey(key, 0, 1),
	})
	if err != nil {
		return err
	}
	_, err = b.Log.Append(ctx, schema.MemoryStream(key.User, ""), []schema.Event{event})
	return err
}

// events counts the events of the log.
func (b *bench) events(t *testing.T) (n uint64) {
	t.Helper()
	require.NoError(t, b.ClickHouse.QueryRow(t.Context(), `SELECT count() FROM events`).Scan(&n))
	return n
}

// night dreams of all memories.
func (b *bench) night(t *testing.T, in schema.DreamNightInput) (result schema.DreamNightResult) {
	t.Helper()
	run, err := b.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "night", TaskQueue: schema.QueueMain}, schema.WorkflowDreamNight, in)
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), &result))
	return result
}

// Many users are dreamt of in one night, some at a time. One failure stops no other dream, and a second run of
// the same night dreams of that user alone. After that there is nothing to do: no model is called, and nothing written.
func TestNight(t *testing.T) {
	t.Parallel()
	nightOf(t, 4, 2)
}

func nightOf(t *testing.T, users, atOnce int) {
	t.Helper()
	b, model := newBench(t), newDreamingModel(t)
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "dreamer", BaseURL: model.URL + "/v1"}
	b.cfg.ModelConcurrency = 64
	b.cfg.MemoryRoot = t.TempDir()
	// No worker dies here. On a busy machine one that is silent for long would lose its activity, and the model be called
	// twice.
	b.cfg.Timing.Heartbeat = schema.Timing{}.WithDefaults().Heartbeat
	b.flushed(t, users)
	b.start(t)

	model.ill.Store("User 2 drinks")
	start := time.Now()
	first := b.night(t, schema.DreamNightInput{AtOnce: atOnce})
	t.Logf("a night of %d users: %v, %d calls of the model, at most %d at a time", users, time.Since(start).Round(time.Second), model.calls.Load(), model.most.Load())
	require.Equal(t, []int{users, users - 1, 1}, []int{first.Memories, first.Committed, first.Failed + first.Refused}, first)
	require.Len(t, first.Failures, 1)
	require.Equal(t, "사용자/2", first.Failures[0].User)
	require.EqualValues(t, users, model.calls.Swap(0))
	require.LessOrEqual(t, model.most.Load(), int64(atOnce))
	require.Greater(t, model.most.Load(), int64(1))
	require.Equal(t, users-1, first.Usage.Calls)

	model.ill.Store("")
	second := b.night(t, schema.DreamNightInput{AtOnce: atOnce})
	require.Equal(t, []int{1, 0, 0}, []int{second.Committed, second.Failed, second.Refused}, second)
	require.EqualValues(t, 1, model.calls.Swap(0))

	before := b.events(t)
	third := b.night(t, schema.DreamNightInput{AtOnce: atOnce})
	require.Zero(t, model.calls.Load())
	require.Equal(t, before, b.events(t))
	require.Equal(t, third.Memories, third.Skipped, third)
	all := b.night(t, schema.DreamNightInput{AtOnce: atOnce, Date: time.Now().AddDate(0, 0, -1).Format(schema.DateLayout)})
	require.Equal(t, []int{users, users}, []int{all.Memories, all.Skipped}, "of yesterday there is nothing")
	require.Zero(t, model.calls.Load())
	require.Equal(t, before, b.events(t))
	t.Logf("survived: a night of %d users", users)
}
