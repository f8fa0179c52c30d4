package llm

import (
	"encoding/json"
	"strings"
)

// openAIBody holds the fields of a chat completion that are used.
type openAIBody struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			// Content is a string or, with some servers, a list of parts.
			Content   json.RawMessage `json:"content"`
			Refusal   string          `json:"refusal"`
			Reasoning string          `json:"reasoning"`
			// ReasoningContent is the older name of Reasoning.
			ReasoningContent string `json:"reasoning_content"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
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
