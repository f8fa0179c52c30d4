package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// openAIBody holds the fields of a chat completion that are used.
type openAIBody struct {
	Choices []openAIChoice `json:"choices"`
	Usage   struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// openAIChoice is an answer.
type openAIChoice struct {
	FinishReason string        `json:"finish_reason"`
	Message      openAIMessage `json:"message"`
}

type openAIMessage struct {
	// Content is a string or, with some servers, a list of parts.
	Content   json.RawMessage `json:"content"`
	Refusal   string          `json:"refusal"`
	Reasoning string          `json:"reasoning"`
	// ReasoningContent is the older name of Reasoning.
	ReasoningContent string `json:"reasoning_content"`
}

// readOpenAI parses the body of a chat completion.
func readOpenAI(raw []byte) (Response, error) {
	resp := Response{Raw: raw}
	var body openAIBody
	var err error
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) > 0 && trimmed[0] != '{' {
		body, err = streamed(raw)
	} else {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		return resp, malformed(ProviderOpenAI, raw, err)
	}
	thought := min(body.Usage.Details.Reasoning, body.Usage.Completion)
	resp.Usage = Usage{
		InputTokens:   body.Usage.Prompt,
		OutputTokens:  body.Usage.Completion - thought,
		ThoughtTokens: thought,
	}
	if isSet(body.Error) {
		return resp, errorInBody(ProviderOpenAI, slices.Concat([]byte(`{"error":`), body.Error, []byte(`}`)))
	}
	if len(body.Choices) == 0 {
		return resp, &Error{Provider: ProviderOpenAI, Kind: KindMalformed, Message: "no choices: " + head(raw)}
	}
	first := body.Choices[0]
	text, err := contentText(first.Message.Content)
	if err != nil {
		return resp, malformed(ProviderOpenAI, raw, err)
	}
	resp.Text = text
	resp.ProviderFinish = first.FinishReason
	resp.FinishReason = finishOf(first.FinishReason)
	if refusal := first.Message.Refusal; refusal != "" {
		resp.FinishReason = FinishBlocked
		return resp, usable(ProviderOpenAI, resp, false, head([]byte(refusal)))
	}
	thoughts := first.Message.Reasoning != "" || first.Message.ReasoningContent != ""
	return resp, usable(ProviderOpenAI, resp, thoughts, "")
}

func contentText(raw json.RawMessage) (string, error) {
	if !isSet(raw) {
		return "", nil
	}
	var text string
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &text)
		return text, err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" || p.Type == "" {
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}

// streamed returns the completion that arrives in pieces: server-sent events, of which each holds what is new.
func streamed(raw []byte) (openAIBody, error) {
	var body openAIBody
	var content, reasoning, refusal strings.Builder
	finish := ""
	choices := 0
	for line := range bytes.Lines(raw) {
		data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if data = bytes.TrimSpace(data); !isData || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var piece struct {
			openAIBody
			Choices []struct {
				FinishReason string `json:"finish_reason"`
				Delta        struct {
					Content          string `json:"content"`
					Refusal          string `json:"refusal"`
					Reasoning        string `json:"reasoning"`
					ReasoningContent string `json:"reasoning_content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(data, &piece); err != nil {
			return body, err
		}
		if piece.Usage.Prompt > 0 || piece.Usage.Completion > 0 {
			body.Usage = piece.Usage
		}
		if isSet(piece.Error) {
			body.Error = piece.Error
		}
		for _, c := range piece.Choices[:min(1, len(piece.Choices))] {
			choices++
			content.WriteString(c.Delta.Content)
			reasoning.WriteString(c.Delta.Reasoning + c.Delta.ReasoningContent)
			refusal.WriteString(c.Delta.Refusal)
			finish = cmp.Or(c.FinishReason, finish)
		}
	}
	if choices > 0 && finish == "" && !isSet(body.Error) {
		return body, errors.New("the answer breaks off")
	}
	if choices > 0 {
		text, err := json.Marshal(content.String())
		if err != nil {
			return body, err
		}
		body.Choices = []openAIChoice{{finish, openAIMessage{Content: text, Refusal: refusal.String(), Reasoning: reasoning.String()}}}
	}
	return body, nil
}
