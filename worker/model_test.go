package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"axiommind/activities/llm"
)

// model is a server that speaks OpenAI's chat completions. Its answers are useless until well is set.
type model struct {
	url string

	mu   sync.Mutex
	well bool
	// reads is how many bytes of messages a request may show, or 0: beyond that the model answers nothing. limit is how
	// many the server lets pass. If cuts is true, the answer to more than one message breaks off after its first entry.
	reads, limit int
	cuts         bool
	prompts      []string
	// summaries counts the requests for a summary, which are not among the prompts.
	summaries int
	// reviews are the prompts that show remembered facts, which are not among the prompts either.
	reviews []string
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
	b.cfg.Model, b.cfg.WindowBytes = m.config(), 1<<10
	return b
}

func (m *model) config() llm.Config {
	return llm.Config{Provider: llm.ProviderOpenAI, Model: "test-model", BaseURL: m.url, ResponseFormat: llm.FormatNone}
}

func (m *model) get(well bool) { m.mu.Lock(); defer m.mu.Unlock(); m.well = well }

// hold makes requests for entries wait until release.
func (m *model) hold() { m.mu.Lock(); defer m.mu.Unlock(); m.held = make(chan struct{}) }

func (m *model) release() { m.mu.Lock(); defer m.mu.Unlock(); close(m.held); m.held = nil }

func (m *model) calls() int { m.mu.Lock(); defer m.mu.Unlock(); return len(m.prompts) }

// requests counts all requests.
func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.prompts) + m.summaries + len(m.reviews)
}

// reviewed are the prompts that show remembered facts.
func (m *model) reviewed() []string { m.mu.Lock(); defer m.mu.Unlock(); return slices.Clone(m.reviews) }

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) != 2 {
		http.Error(w, "no chat", http.StatusBadRequest)
		return
	}
	prompt := in.Messages[1].Content
	var shown []shownMessage
	if strings.HasPrefix(prompt, `{"id":`) {
		m.mu.Lock()
		m.reviews = append(m.reviews, prompt)
		m.mu.Unlock()
		reply(w, ended(prompt))
		return
	}
	for line := range strings.Lines(prompt) {
		var s shownMessage
		if json.Unmarshal([]byte(line), &s) == nil && s.Text != "" {
			shown = append(shown, s)
		}
	}
	size := 0
	for _, s := range shown {
		size += len(s.Text)
	}
	m.mu.Lock()
	well, held := m.well && (m.reads == 0 || size <= m.reads) && (!m.cuts || len(shown) < 2), m.held
	tooLong := m.limit > 0 && size > m.limit
	if len(shown) > 0 {
		m.prompts = append(m.prompts, prompt)
	} else {
		m.summaries++
		held = nil
	}
	m.mu.Unlock()
	if tooLong {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"no","code":"context_length_exceeded"}}`)
		return
	}
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	reply(w, answer(prompt, shown, well))
}

func reply(w http.ResponseWriter, text string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": text}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
	})
}

// ended names each fact "I prefer x" that a message ends by "I no longer prefer x", with the line that says so.
func ended(prompt string) string {
	ids, items := map[string]string{}, []any{}
	for line := range strings.Lines(prompt) {
		var s struct {
			ID, Content, Text string
			Index             int
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			continue
		}
		if s.ID != "" {
			ids[s.Content] = s.ID
			continue
		}
		for said := range strings.Lines(s.Text) {
			said = strings.TrimSpace(said)
			what, ok := strings.CutPrefix(said, "I no longer prefer ")
			if id := ids["I prefer "+what]; ok && id != "" {
				items = append(items, map[string]any{"id": id, "messageIndex": s.Index, "quote": said, "reason": "no longer"})
			}
		}
	}
	data, _ := json.Marshal(map[string]any{"entries": items})
	return string(data)
}

// answer is one entry for each message. While the model is unwell, windows of one message get no answer
// at all and those of more get one that breaks off after the first entry. Asked for the rest it gives
// that entry again, in other words. To be summarized there is nothing.
func answer(prompt string, shown []shownMessage, well bool) string {
	switch {
	case len(shown) == 0:
		return "None"
	case !well && (len(shown) == 1 || len(shown[0].Text) > 2000):
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
