package tier

import (
	"context"
	"encoding/json"
	"sync"

	"axiommind/activities/llm"
)

// scriptedModel answers as a function says, in the form of an OpenAI-compatible server.
type scriptedModel struct {
	answer func(llm.Request) (text string, finish llm.FinishReason, err error)

	mu       sync.Mutex
	requests []llm.Request
}

func (m *scriptedModel) Identity() llm.ModelIdentity {
	return llm.ModelIdentity{Provider: llm.ProviderOpenAI, Model: "scripted"}
}

func (m *scriptedModel) Generate(_ context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	text, finish, err := m.answer(r)
	if err != nil {
		return llm.Response{}, err
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	type choice struct {
		Message message          `json:"message"`
		Finish  llm.FinishReason `json:"finish_reason"`
	}
	raw, err := json.Marshal(map[string]any{
		"choices": []choice{{message{"assistant", text}, finish}}, "usage": map[string]int{"prompt_tokens": len(r.Prompt), "completion_tokens": len(text)},
	})
	if err != nil {
		return llm.Response{}, err
	}
	response, err := llm.ReadRaw(llm.ProviderOpenAI, raw)
	response.Raw = raw
	return response, err
}

// asked is the number of calls so far.
func (m *scriptedModel) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}
