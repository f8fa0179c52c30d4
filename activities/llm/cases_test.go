package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"axiommind/activities/llm/answer"
	"axiommind/activities/llm/signal"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunAreas(t, sharedtest.Judges{
		"parse_llm_json":    judgeUpdate,
		"signals":           judgeSignals,
		"conversation_text": judgeConversation,
	})
}

// judgeUpdate judges the update read from an answer, which is a text or a list of blocks.
func judgeUpdate(input, expect json.RawMessage) string {
	var in struct {
		Response json.RawMessage `json:"response"`
		Text     *string         `json:"text"`
	}
	var want struct {
		NewFacts []json.RawMessage          `json:"newFacts"`
		Removals []string                   `json:"factsToRemove"`
		Sections map[string]json.RawMessage `json:"sections"`
		User     map[string]json.RawMessage `json:"user"`
		History  map[string]json.RawMessage `json:"history"`
		Error    string                     `json:"error"`
		Message  string                     `json:"message"`
		// Retry describes an allowed second question. The reader changes nothing, so that any is allowed.
		Retry any `json:"retry"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	text := string(in.Response)
	if in.Text != nil {
		text = *in.Text
	} else if json.Unmarshal(in.Response, &text) != nil {
		text = string(in.Response)
	}
	got, err := answer.ReadUpdate(text)
	if want.Error != "" || err != nil {
		return judgeRefusal(err, want.Error, strings.HasPrefix(want.Message, "Unsafe"))
	}
	var removals []string
	for _, r := range got.Removals {
		removals = append(removals, r.ID)
	}
	if want.Removals != nil && !slices.Equal(removals, want.Removals) {
		return fmt.Sprintf("got the removals %q, want %q", removals, want.Removals)
	}
	summaries := map[string]string{}
	for _, s := range got.Sections {
		summaries[s.Section] = s.Summary
	}
	for _, sections := range []map[string]json.RawMessage{want.Sections, want.User, want.History} {
		if problem := judgeSummaries(summaries, sections); problem != "" {
			return problem
		}
	}
	return judgeNewFacts(got.NewFacts, want.NewFacts)
}

func judgeRefusal(err error, want string, unsafe bool) string {
	switch {
	case want == "":
		return fmt.Sprintf("refused: %v", err)
	case want != "parse":
		return fmt.Sprintf("there is no error %q", want)
	case !errors.Is(err, answer.ErrUnreadable):
		return fmt.Sprintf("got the error %v, want one in reading", err)
	case unsafe && !errors.Is(err, answer.ErrUnsafeUpdate):
		return fmt.Sprintf("got the error %v, want one for an unsafe update", err)
	}
	return ""
}

// judgeSummaries judges sections by the names that the seed has for them.
func judgeSummaries(got map[string]string, want map[string]json.RawMessage) string {
	names := map[string]string{
		"workContext": schema.SectionWork, "personalContext": schema.SectionPersonal, "topOfMind": schema.SectionTopOfMind,
		"recentMonths": schema.SectionRecent, "earlierContext": schema.SectionEarlier, "longTermBackground": schema.SectionBackground,
	}
	for name, raw := range want {
		var summary string
		if json.Unmarshal(raw, &summary) != nil {
			var object struct {
				Summary string `json:"summary"`
			}
			if err := json.Unmarshal(raw, &object); err != nil {
				return fmt.Sprintf("cannot read section %s: %v", raw, err)
			}
			summary = object.Summary
		}
		if got[names[name]] != summary {
			return fmt.Sprintf("section %q is %q, want %q", name, got[names[name]], summary)
		}
	}
	return ""
}

func judgeNewFacts(got []answer.NewFact, want []json.RawMessage) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got the facts %+v, want %s", got, want)
	}
	for i, f := range got {
		var fields []any
		if err := json.Unmarshal(want[i], &fields); err != nil {
			return fmt.Sprintf("cannot read fact %s: %v", want[i], err)
		}
		have := []any{f.Content, f.Category, f.Confidence, f.SourceError}
		if len(fields) > len(have) || !reflect.DeepEqual(have[:len(fields)], fields) {
			return fmt.Sprintf("got the fact %+v, want %s", f, want[i])
		}
	}
	return ""
}

// said is a message as the cases write it. Its content is a text, or a list of parts.
type said struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   any             `json:"tool_calls"`
}

// conversation returns the messages as a session holds them: a part is a message of its own.
func conversation(all []said) ([]schema.Message, error) {
	var out []schema.Message
	for i, s := range all {
		m := schema.Message{Index: i, Kind: schema.KindText, Role: schema.RoleAssistant, SourceID: fmt.Sprintf("message %d", i)}
		switch s.Type + s.Role {
		case "human", "user":
			m.Role = schema.RoleUser
		case "ai", "assistant":
		case "tool":
			m.Role, m.Kind = schema.RoleTool, schema.KindToolResult
		default:
			return nil, fmt.Errorf("no speaker %q", s.Type+s.Role)
		}
		var text string
		var parts []any
		if json.Unmarshal(s.Content, &text) == nil {
			parts = append(parts, text)
		} else if err := json.Unmarshal(s.Content, &parts); err != nil {
			return nil, fmt.Errorf("read content %s: %w", s.Content, err)
		}
		for _, part := range parts {
			if object, ok := part.(map[string]any); ok {
				part = object["text"]
			}
			if m.Text, _ = part.(string); m.Text != "" {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

func judgeSignals(input, expect json.RawMessage) string {
	var in struct {
		Kind     signal.Signal `json:"kind"`
		Text     string        `json:"text"`
		Messages []said        `json:"messages"`
	}
	var want struct {
		Detected      *bool `json:"detected"`
		Correction    *bool `json:"correction"`
		Reinforcement *bool `json:"reinforcement"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	messages, err := conversation(in.Messages)
	if err != nil {
		return err.Error()
	}
	if len(in.Messages) == 0 {
		messages = []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: in.Text}}
	}
	seen := map[signal.Signal]bool{}
	for _, s := range signal.Last(messages) {
		seen[s.Signal] = true
	}
	for _, w := range []struct {
		signal signal.Signal
		want   *bool
	}{
		{in.Kind, want.Detected}, {signal.Correction, want.Correction}, {signal.Reinforcement, want.Reinforcement},
	} {
		if w.want != nil && seen[w.signal] != *w.want {
			return fmt.Sprintf("%s seen: %v, want %v", w.signal, seen[w.signal], *w.want)
		}
	}
	return ""
}

func judgeConversation(input, expect json.RawMessage) string {
	var in struct {
		Messages []said `json:"messages"`
	}
	var want struct {
		Text string `json:"text"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	messages, err := conversation(in.Messages)
	if err != nil {
		return err.Error()
	}
	if got := ConversationText(messages); got != want.Text {
		return fmt.Sprintf("got %q, want %q", got, want.Text)
	}
	return ""
}
