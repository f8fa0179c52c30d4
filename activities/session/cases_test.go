package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunAreas(t, sharedtest.Judges{"scheduled_strip": judgeScheduled})
}

// judgeScheduled describes the defect in the selection of messages of which a harness scheduled some.
func judgeScheduled(input, expect json.RawMessage) string {
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	var want struct {
		Kept [][2]string `json:"kept"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	var messages []schema.Message
	for _, m := range in.Messages {
		role := schema.Role(m.Role)
		var text string
		var blocks []struct {
			Type    string          `json:"type"`
			Text    string          `json:"text"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(m.Content, &text) == nil {
			messages = append(messages, schema.Message{Role: role, Kind: schema.KindText, Text: text})
			continue
		}
		if err := json.Unmarshal(m.Content, &blocks); err != nil {
			return err.Error()
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				messages = append(messages, schema.Message{Role: role, Kind: schema.KindText, Text: b.Text})
			case "tool_use":
				messages = append(messages, schema.Message{Role: schema.RoleAssistant, Kind: schema.KindToolCall, Text: string(b.Content)})
			case "tool_result":
				messages = append(messages, schema.Message{Role: schema.RoleTool, Kind: schema.KindToolResult, Text: string(b.Content)})
			default:
				return fmt.Sprintf("do not know what the type %q means", b.Type)
			}
		}
	}
	messages = numbered(messages)
	kept := [][2]string{}
	scheduled := false
	for _, m := range messages {
		if scheduled = Scheduled(scheduled, m); !scheduled {
			kept = append(kept, [2]string{string(m.Role), m.Text})
		}
	}
	if !slices.Equal(kept, want.Kept) {
		return fmt.Sprintf("got %q, want %q", kept, want.Kept)
	}
	return ""
}
