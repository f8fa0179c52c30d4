package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"axiommind/activities/session"
	"axiommind/activities/transcript/format"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunAreas(t, sharedtest.Judges{"message_filter": judgeFilter})
}

// judgeFilter reports wrong messages in the windows of a session. It returns "" if there are none.
func judgeFilter(input, expect json.RawMessage) string {
	var in struct {
		Messages []givenMessage `json:"messages"`
		// TrivialFilter says that acknowledgements are filtered, as they always are here.
		TrivialFilter bool `json:"trivial_filter"`
	}
	var want struct {
		Kept *[][2]string `json:"kept"`
		// KeepIfAsked says that an acknowledgement is kept, with its reply, if the assistant asked before it.
		KeepIfAsked bool `json:"keep_if_previous_assistant_asked"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	got, err := shown(in.Messages)
	if err != nil {
		return err.Error()
	}
	kept := [][2]string{}
	switch {
	case want.Kept != nil:
		kept = *want.Kept
	case want.KeepIfAsked:
		for _, m := range in.Messages {
			kept = append(kept, [2]string{m.Type, m.text()})
		}
	default:
		return "nothing is expected"
	}
	if !slices.Equal(got, kept) {
		return fmt.Sprintf("got %q, want %q", got, kept)
	}
	return ""
}

// givenMessage is a message as a case writes it.
type givenMessage struct {
	Type             string          `json:"type"`
	Content          json.RawMessage `json:"content"`
	ToolCalls        json.RawMessage `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
	Name             string          `json:"name,omitempty"`
	ID               string          `json:"id,omitempty"`
	AdditionalKwargs json.RawMessage `json:"additional_kwargs,omitempty"`
}

func (m givenMessage) text() string {
	var text string
	_ = json.Unmarshal(m.Content, &text)
	return text
}

// shown ingests the messages as a source and returns the messages that a model is shown.
func shown(given []givenMessage) ([][2]string, error) {
	var source bytes.Buffer
	for _, m := range given {
		line, err := json.Marshal(struct {
			Role string `json:"role"`
			givenMessage
		}{m.Type, m})
		if err != nil {
			return nil, err
		}
		source.Write(append(line, '\n'))
	}
	sessions, err := format.Parse(context.Background(), &source, format.Options{Format: "messages"})
	if err != nil {
		return nil, err
	}
	messages := sessions[0].Messages
	cut := session.Cut{Size: 1 << 20, Limit: 1, Hash: func([]schema.Message) string { return "" }}
	windows, _, err := session.Plan(func(yield func(schema.Message, error) bool) {
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}, session.Frontier{}, cut)
	if err != nil {
		return nil, err
	}
	out := [][2]string{}
	for _, w := range windows {
		for _, m := range session.Shown(messages, w, false) {
			speaker := map[schema.Role]string{schema.RoleUser: "human", schema.RoleAssistant: "ai"}[m.Role]
			out = append(out, [2]string{speaker, strings.TrimSpace(m.Text)})
		}
	}
	return out, nil
}

// judgeFilter handles inputs that the recorded cases do not have.
func TestJudgeFilter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ input, expect string }{
		"words around an upload": {
			`{"messages":[{"type":"human","content":"<uploaded_files>a</uploaded_files>\nsum it up"},{"type":"ai","content":"It says x."}]}`,
			`{"kept":[["human","sum it up"],["ai","It says x."]]}`,
		},
		"blocks of text": {
			`{"messages":[{"type":"human","content":[{"type":"text","text":"I am a nurse"}]},{"type":"ai","content":"Noted."}]}`,
			`{"kept":[["human","I am a nurse"],["ai","Noted."]]}`,
		},
		"hidden by the framework": {
			`{"messages":[{"type":"human","content":"todo: a","additional_kwargs":{"hide_from_ui":true}},{"type":"human","content":"go"},{"type":"ai","content":"gone"}]}`,
			`{"kept":[["human","go"],["ai","gone"]]}`,
		},
		"an answer, hidden": {
			`{"messages":[{"type":"human","content":"blue","additional_kwargs":{"hide_from_ui":true,"human_input_response":{"version":1,"kind":"human_input_response","source":"ui","request_id":"r","response_kind":"text","value":"blue"}}},{"type":"ai","content":"x"}]}`,
			`{"kept":[["human","blue"],["ai","x"]]}`,
		},
		"an answer, hidden and incomplete": {
			`{"messages":[{"type":"human","content":"blue","additional_kwargs":{"hide_from_ui":true,"human_input_response":{"version":1,"kind":"human_input_response","source":"ui","request_id":"r","response_kind":"option","value":"blue"}}},{"type":"ai","content":"x"}]}`,
			`{"kept":[["ai","x"]]}`,
		},
		"an upload in capitals, by its other name": {
			`{"messages":[{"type":"human","content":"<Current_Uploads>a</Current_Uploads>\n\n"},{"type":"ai","content":"received"},{"type":"ai","content":"more"}]}`,
			`{"kept":[["ai","more"]]}`,
		},
		"memory": {
			`{"messages":[{"type":"human","content":"<system-reminder>\n<memory>\nUser Context:\n- Work: x\n</memory>\n</system-reminder>"},{"type":"human","content":"go"},{"type":"ai","content":"gone"}]}`,
			`{"kept":[["human","go"],["ai","gone"]]}`,
		},
		"thanks in two languages": {
			`{"trivial_filter":true,"messages":[{"type":"human","content":"go"},{"type":"ai","content":"gone"},{"type":"human","content":"好的，谢谢！"},{"type":"ai","content":"不客气"},{"type":"human","content":"Danke!"},{"type":"ai","content":"Gern."}]}`,
			`{"kept":[["human","go"],["ai","gone"]]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if problem := judgeFilter(json.RawMessage(c.input), json.RawMessage(c.expect)); problem != "" {
				t.Fatal(problem)
			}
			if judgeFilter(json.RawMessage(c.input), json.RawMessage(`{"kept":[["human","other"]]}`)) == "" {
				t.Fatal("the judge accepts anything")
			}
		})
	}
}
