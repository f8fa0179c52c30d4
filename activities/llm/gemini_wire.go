package llm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// geminiBody holds the fields of a generateContent response that are used.
type geminiBody struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text    string `json:"text"`
				Thought bool   `json:"thought"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason  enumName `json:"finishReason"`
		FinishMessage string   `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        enumName `json:"blockReason"`
		BlockReasonMessage string   `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	UsageMetadata struct {
		Prompt     int `json:"promptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		ToolUse    int `json:"toolUsePromptTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// enumName is an enum value, given by name or as a number, which becomes its decimal digits.
type enumName string

// UnmarshalJSON implements json.Unmarshaler.
func (e *enumName) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*e = enumName(s)
		return nil
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("read enum %q: %w", data, err)
	}
	*e = enumName(fmt.Sprint(n))
	return nil
}

// readGemini parses the body of a generateContent response.
func readGemini(raw []byte) (Response, error) {
	resp := Response{Raw: raw}
	var body geminiBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return resp, malformed(ProviderGemini, raw, err)
	}
	resp.Usage = Usage{
		InputTokens:   body.UsageMetadata.Prompt + body.UsageMetadata.ToolUse,
		OutputTokens:  body.UsageMetadata.Candidates,
		ThoughtTokens: body.UsageMetadata.Thoughts,
	}
	if isSet(body.Error) {
		return resp, errorInBody(ProviderGemini, raw)
	}
	if reason := string(body.PromptFeedback.BlockReason); reason != "" && len(body.Candidates) == 0 {
		resp.FinishReason, resp.ProviderFinish = FinishBlocked, reason
		return resp, &Error{Provider: ProviderGemini, Kind: KindBlocked, Code: reason,
			Message: strings.TrimSpace("prompt blocked " + body.PromptFeedback.BlockReasonMessage)}
	}
	if len(body.Candidates) == 0 {
		if body.UsageMetadata.Prompt == 0 {
			return resp, &Error{Provider: ProviderGemini, Kind: KindMalformed, Message: "no candidates: " + head(raw)}
		}
		return resp, &Error{Provider: ProviderGemini, Kind: KindEmpty, Message: "no candidates"}
	}
	first := body.Candidates[0]
	var text strings.Builder
	thoughts := 0
	for _, p := range first.Content.Parts {
		if p.Thought {
			thoughts++
			continue
		}
		text.WriteString(p.Text)
	}
	resp.Text = text.String()
	resp.ProviderFinish = string(first.FinishReason)
	resp.FinishReason = finishOf(resp.ProviderFinish)
	return resp, usable(ProviderGemini, resp, thoughts > 0, first.FinishMessage)
}

// usable returns an error if the answer cannot be used.
func usable(provider string, resp Response, thoughts bool, detail string) error {
	e := &Error{Provider: provider, Code: resp.ProviderFinish, Message: detail}
	empty := strings.TrimSpace(resp.Text) == ""
	switch {
	case resp.FinishReason == FinishBlocked:
		e.Kind = KindBlocked
		e.Message = strings.TrimSpace("answer blocked " + detail)
	case empty && resp.FinishReason == FinishLength:
		e.Kind = KindTruncated
		e.Message = fmt.Sprintf("token limit reached after %d thought tokens and before any text",
			resp.Usage.ThoughtTokens)
	case empty && thoughts:
		e.Kind, e.Message = KindEmpty, strings.TrimSpace("thoughts only "+detail)
	case empty:
		e.Kind, e.Message = KindEmpty, strings.TrimSpace("no text "+detail)
	default:
		return nil
	}
	return e
}

func malformed(provider string, raw []byte, cause error) error {
	return &Error{Provider: provider, Kind: KindMalformed, cause: cause,
		Message: fmt.Sprintf("unreadable body of %d bytes: %s", len(raw), head(raw))}
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// errorInBody classifies an error that some proxies send with status 200.
func errorInBody(provider string, raw []byte) error {
	pe, _ := readProviderError(raw)
	return errorFromBody(provider, pe.httpStatus(), raw)
}
