package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
	Error json.RawMessage `json:"error,omitempty"`
}

// openAIChoice is an answer.
type openAIChoice struct {
	FinishReason string        `json:"finish_reason"`
	Message      openAIMessage `json:"message"`
}

type openAIMessage struct {
	// Content is a string or, with some servers, a list of parts.
	Content   json.RawMessage `json:"content"`
	Refusal   string          `json:"refusal,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	// ReasoningContent is the older name of Reasoning.
	ReasoningContent string `json:"reasoning_content,omitempty"`
}

// readOpenAI parses the body of a chat completion.
func readOpenAI(raw []byte) (Response, error) {
	resp := Response{Raw: raw}
	var body openAIBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return resp, malformed(ProviderOpenAI, raw, err)
	}
	thought := min(body.Usage.Details.Reasoning, body.Usage.Completion)
	resp.Usage = Usage{
		InputTokens:   body.Usage.Prompt,
		OutputTokens:  body.Usage.Completion - thought,
		ThoughtTokens: thought,
	}
	if isSet(body.Error) {
		return resp, errorInBody(ProviderOpenAI, raw)
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

// whole returns a completion that arrived in pieces as one. This one is stored: a secret may be spread over pieces. Any other
// answer stays as it is.
func whole(raw []byte) ([]byte, error) {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); !bytes.HasPrefix(trimmed, []byte("data:")) && !bytes.HasPrefix(trimmed, []byte("event:")) && !bytes.HasPrefix(trimmed, []byte(":")) {
		return raw, nil
	}
	body, err := joined(raw)
	if err != nil {
		return nil, fmt.Errorf("the stream of the answer: %w", err)
	}
	return json.Marshal(body)
}

// joined reads server-sent events, of which each holds the next piece of a completion.
func joined(raw []byte) (body openAIBody, err error) {
	var content, reasoning, refusal strings.Builder
	finish, begun := "", false
	for line := range bytes.Lines(raw) {
		data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			finish = cmp.Or(finish, "done") // Not all servers say why they end.
		}
		if !isData || len(data) == 0 || data[0] != '{' {
			continue
		}
		var piece struct {
			openAIBody
			Choices []struct {
				FinishReason string        `json:"finish_reason"`
				Delta        openAIMessage `json:"delta"`
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
			begun = true
			text, err := contentText(c.Delta.Content)
			if err != nil {
				return body, err
			}
			content.WriteString(text)
			reasoning.WriteString(cmp.Or(c.Delta.Reasoning, c.Delta.ReasoningContent))
			refusal.WriteString(c.Delta.Refusal)
			finish = cmp.Or(c.FinishReason, finish)
		}
	}
	if !isSet(body.Error) && (!begun || finish == "") {
		return body, errors.New("it breaks off: the server, or a proxy before it, closed the connection")
	}
	text, err := json.Marshal(content.String())
	body.Choices = []openAIChoice{{finish, openAIMessage{Content: text, Refusal: refusal.String(), Reasoning: reasoning.String()}}}
	return body, err
}
