package tier

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/schema"
)

// modelServer speaks the protocol of OpenAI. Each answer is a text and the reason why it ended.
type modelServer struct {
	mu      sync.Mutex
	prompts []string
	answer  func(prompt string) (text, finish string)
}

func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct{ Role, Content string }
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt := request.Messages[len(request.Messages)-1].Content
	s.prompts = append(s.prompts, prompt)
	text, finish := s.answer(prompt)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": finish}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5},
	})
}

func newModelBench(t *testing.T, windowBytes int, answer func(prompt string) (text, finish string)) (*flushBench, *modelServer) {
	t.Helper()
	s := &modelServer{answer: answer}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	model, err := llm.NewModel(t.Context(), llm.Config{Provider: llm.ProviderOpenAI, Model: "test-model", APIKey: "key", BaseURL: server.URL + "/v1"})
	require.NoError(t, err)
	return newFlushBenchOf(t, model, Options{WindowBytes: windowBytes}), s
}

// summarizeAll does the steps of process_session before the submission: it plans and asks.
func (b *flushBench) summarizeAll(in FlushRequest) (FlushRequest, SummaryPlan) {
	b.t.Helper()
	plan, err := b.planSummary(b.t.Context(), SummaryInput{SessionKey: in.SessionKey, Messages: in.Messages, Head: in.Head})
	require.NoError(b.t, err)
	in.Messages = plan.Messages
	for _, w := range plan.Windows {
		out, err := b.summarizeSession(b.t.Context(), SummarizeInput{SessionKey: in.SessionKey, BuildID: in.BuildID, Window: w})
		require.NoError(b.t, err)
		in.Windows = append(in.Windows, out)
	}
	return in, plan
}

func TestSummarizeSession(t *testing.T) {
	t.Parallel()
	b, server := newModelBench(t, 0, func(string) (string, string) {
		return "```\n- Moved to AcmeDB 3\n- Took 40 ms\n```", "stop"
	})
	in, _ := b.summarizeAll(b.session("s", said(schema.RoleUser, "we move to AcmeDB 3"), said(schema.RoleAssistant, "Moved.")))
	require.Equal(t, []string{"User: we move to AcmeDB 3\nAssistant: Moved."}, server.prompts)
	require.Equal(t, SummaryWindow{First: 0, Last: 1}, in.Windows[0].SummaryWindow)
	require.EqualValues(t, 5, in.Windows[0].Usage.OutputTokens)
	require.NotEmpty(t, b.must(in)[0].Flushed)
	p := b.flushes()[0]
	require.Equal(t, "- Moved to AcmeDB 3", p.Text)
	require.Equal(t, []schema.LeftOut{{Text: "- Took 40 ms", Reason: "no message holds 40"}}, p.LeftOut)
	require.Equal(t, "openai/test-model", p.Summarizer)
	require.False(t, fromTurns(p.Summarizer))
	require.Equal(t, []string{in.Windows[0].Key}, p.Responses)
	require.Equal(t, in.Windows[0].Usage, p.Usage)

	// The answer is kept: whoever asks again does not pay again.
	again, err := b.restarted().summarizeSession(t.Context(), SummarizeInput{SessionKey: in.SessionKey, BuildID: "another", Window: in.Windows[0].SummaryWindow})
	require.NoError(t, err)
	require.Equal(t, in.Windows[0].Key, again.Key)
	require.Zero(t, again.Usage)
	require.Len(t, server.prompts, 1)

	// No question is asked about flushed messages.
	_, plan := b.summarizeAll(in)
	require.Equal(t, SummaryPlan{Messages: 2}, plan)
	grown := b.session("s", said(schema.RoleUser, "and now?"))
	_, plan = b.summarizeAll(grown)
	require.Equal(t, []SummaryWindow{{First: 2, Last: 2}}, plan.Windows)
	b.must(grown)
	_, plan = b.summarizeAll(grown)
	require.Empty(t, plan.Windows)
}

// A session that comes in one part, of more windows than one plan holds, is flushed part by part to its end.
func TestSummarizeInParts(t *testing.T) {
	t.Parallel()
	summarizeInParts(t, 8)
}

func summarizeInParts(t *testing.T, windows int) {
	t.Helper()
	b, server := newModelBench(t, 100, func(string) (string, string) { return "- Something was said.", "stop" })
	b.planWindows = windows
	messages := make([]schema.Message, 2*windows+5)
	for i := range messages {
		messages[i] = said(schema.RoleUser, fmt.Sprintf("message %d %s", i, strings.Repeat("x", 90)))
	}
	in := b.session("s", messages...)
	var ends []int
	for more := true; more; {
		part, plan := b.summarizeAll(in)
		more = plan.More
		require.NotEmpty(t, b.must(part)[0].Flushed)
		ends = append(ends, plan.Messages)
	}
	require.Equal(t, []int{windows, 2 * windows, len(messages)}, ends)
	require.Len(t, server.prompts, len(messages), "no message is asked about twice")
	next := 0
	for _, p := range b.flushes() {
		require.Equal(t, next, p.First)
		next = p.Last + 1
	}
	require.Equal(t, len(messages), next)
}

// Messages whose summary the model refuses, or does not finish, are summarized offline, each in its place, and the record
// has the reason.
func TestSummarizeSessionRefused(t *testing.T) {
	t.Parallel()
	long := func(i int) schema.Message {
		return said(schema.RoleUser, fmt.Sprintf("question %d %s", i, strings.Repeat("x", 480)))
	}
	b, _ := newModelBench(t, 1024, func(prompt string) (string, string) {
		switch {
		case strings.Contains(prompt, "question 0 "):
			return "", "content_filter"
		case strings.Contains(prompt, "question 6 "):
			return "- asked quest", "length"
		default:
			return "- asked question " + prompt[len("User: question "):][:1], "stop"
		}
	})
	in, plan := b.summarizeAll(b.session("s", long(0), long(1), long(2), long(3), long(4), long(5), long(6), long(7)))
	require.Equal(t, []SummaryWindow{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, plan.Windows)
	require.NotEmpty(t, b.must(in)[0].Flushed)
	p := b.flushes()[0]
	lines := strings.Split(p.Text, "\n")
	require.Len(t, lines, 4)
	require.Contains(t, lines[0], "- User: question 1 xxx")
	require.Equal(t, []string{"- asked question 2", "- asked question 4"}, lines[1:3])
	require.Contains(t, lines[3], "- User: question 7 xxx")
	require.Len(t, p.LeftOut, 2)
	require.Equal(t, "the summary of messages 0 to 1", p.LeftOut[0].Text)
	require.Contains(t, p.LeftOut[0].Reason, "blocked")
	require.Equal(t, "the answer broke off at its limit of tokens", p.LeftOut[1].Reason)
	require.Equal(t, "openai/test-model", p.Summarizer)
	require.Len(t, p.Responses, 3)
}

// A session without a summary by the model is flushed as one that is not worth recording.
func TestSummarizeSessionNone(t *testing.T) {
	t.Parallel()
	b, _ := newModelBench(t, 0, func(string) (string, string) { return "None", "stop" })
	in, _ := b.summarizeAll(b.session("s", said(schema.RoleUser, "good morning")))
	require.Equal(t, SessionResult{}, b.must(in)[0])
	require.Empty(t, b.flushes()[0].Text)
}

// A session of more windows than a plan holds is flushed in parts that follow one another.
func TestPlanSummaryInParts(t *testing.T) {
	t.Parallel()
	b, _ := newModelBench(t, 1024, func(string) (string, string) { return "- more", "stop" })
	var messages []schema.Message
	for range maxSummarized + 3 {
		messages = append(messages, said(schema.RoleUser, strings.Repeat("質", 499)), schema.Message{Role: schema.RoleTool, Kind: schema.KindToolResult, Text: "output"})
	}
	b.session("s", messages...)
	whole := b.session("s", said(schema.RoleUser, "the end"))
	plan, err := b.planSummary(t.Context(), SummaryInput{SessionKey: whole.SessionKey, Messages: whole.Messages})
	require.NoError(t, err)
	require.True(t, plan.More)
	require.Len(t, plan.Windows, maxSummarized)
	require.Equal(t, 2*maxSummarized-1, plan.Messages)
	part := whole
	part.Messages, part.Windows = plan.Messages, nil
	b.must(part)
	plan, err = b.planSummary(t.Context(), SummaryInput{SessionKey: whole.SessionKey, Messages: whole.Messages})
	require.NoError(t, err)
	require.False(t, plan.More)
	require.Equal(t, whole.Messages, plan.Messages)
	require.Equal(t, SummaryWindow{First: 2 * maxSummarized, Last: 2 * maxSummarized}, plan.Windows[0])
}

func TestPlanSummaryOffline(t *testing.T) {
	t.Parallel()
	b := newFlushBench(t)
	in := b.session("s", deploy)
	plan, err := b.planSummary(t.Context(), SummaryInput{SessionKey: in.SessionKey, Messages: in.Messages})
	require.NoError(t, err)
	require.Equal(t, SummaryPlan{Messages: 1}, plan)
}
