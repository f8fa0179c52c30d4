package tier

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

var (
	_ = judgeArea("clean_summary", judgeCleanSummary)
	_ = judgeArea("flush_dedup", judgeFlushDedup)
	_ = judgeArea("context_summary", judgeContextSummary)
)

// caseMessage is a message of a case: its content is a text, or parts.
type caseMessage struct {
	Role    schema.Role     `json:"role"`
	Content json.RawMessage `json:"content"`
}

func (m caseMessage) message(index int) (schema.Message, error) {
	out := schema.Message{Index: index, Role: m.Role, Kind: schema.KindText}
	if json.Unmarshal(m.Content, &out.Text) == nil {
		return out, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return out, err
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	out.Text = strings.Join(texts, "\n")
	return out, nil
}

func messagesOf(given []caseMessage) ([]schema.Message, error) {
	out := make([]schema.Message, len(given))
	for i, m := range given {
		var err error
		if out[i], err = m.message(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func judgeCleanSummary(_ *testing.T, input, expect json.RawMessage) string {
	var in struct {
		Raw      *string       `json:"raw"`
		Messages []caseMessage `json:"messages"`
	}
	var want struct {
		Text string `json:"text"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	if in.Raw != nil {
		return differs(CleanSummary(*in.Raw), want.Text)
	}
	messages, err := messagesOf(in.Messages)
	if err != nil {
		return err.Error()
	}
	return differs(FallbackSummary(messages, chinese), want.Text)
}

func differs(got, want string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("got %q, want %q", got, want)
}

// flushCase is a case of flush_dedup: batches of messages of one session that are flushed one after the other, or the
// story of one batch, or the key of a text.
type flushCase struct {
	Batches [][]caseMessage `json:"batches"`
	Text    *string         `json:"text"`
	Event   string          `json:"event"`
	Then    string          `json:"then"`
}

type flushExpected struct {
	Results          []flushed `json:"results"`
	MD5              string    `json:"md5"`
	SecondDispatched *bool     `json:"second_dispatched"`
}

// flushed reports whether messages were flushed, and the text that a model was shown.
type flushed struct {
	Dispatched bool    `json:"dispatched"`
	Input      *string `json:"llm_input"`
}

func (f flushed) String() string {
	raw, _ := json.Marshal(f)
	return string(raw)
}

func judgeFlushDedup(t *testing.T, input, expect json.RawMessage) string {
	var in flushCase
	var want flushExpected
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	switch {
	case in.Text != nil:
		messages := []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: *in.Text}}
		schema.MessageKeys(messages)
		return differs(messages[0].Key, want.MD5)
	case in.Event != "":
		return judgeFlushStory(t, in, want)
	}
	c := newContextCase(t)
	for i, batch := range in.Batches {
		got, err := c.flush(batch)
		switch {
		case err != nil:
			return err.Error()
		case i >= len(want.Results):
			return fmt.Sprintf("batch %d has no expectation", i)
		}
		if problem := differs(got.String(), want.Results[i].String()); problem != "" {
			return fmt.Sprintf("batch %d: %s", i, problem)
		}
	}
	return ""
}

// contextCase is a session in a log whose context is flushed.
type contextCase struct {
	t   *testing.T
	log *projection.Store
	key schema.SessionKey
	to  int
}

func newContextCase(t *testing.T) *contextCase {
	conn := stacktest.Migrated(t)
	key := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}
	return &contextCase{t: t, log: projection.New(conn, eventlog.Options{}), key: key}
}

// flush adds the batch to the context, stores the messages that the log lacks, and flushes the new ones.
func (c *contextCase) flush(batch []caseMessage) (flushed, error) {
	messages, err := messagesOf(batch)
	if err != nil {
		return flushed{}, err
	}
	schema.MessageKeys(messages)
	ctx := context.Background()
	before, err := session.Open(ctx, c.log.Store, c.key)
	if err != nil {
		return flushed{}, err
	}
	fresh, err := before.Unseen(ctx, messages)
	if err != nil {
		return flushed{}, err
	}
	if len(fresh) > 0 {
		event, err := schema.NewEvent(schema.SessionIngestedPayload{SessionKey: c.key, Messages: fresh}, schema.Event{
			TS: time.UnixMicro(1), Actor: "test", DedupeKey: schema.SessionIngestedKey(c.key, fresh),
		})
		if err != nil {
			return flushed{}, err
		}
		if _, err := c.log.Append(ctx, c.key.Stream(), []schema.Event{event}); err != nil {
			return flushed{}, err
		}
	}
	now, err := session.Open(ctx, c.log.Store, c.key)
	if err != nil {
		return flushed{}, err
	}
	var said []schema.Message
	for m, err := range talk(ctx, now, c.to, now.Len()) {
		if err != nil {
			return flushed{}, err
		}
		said = append(said, m)
	}
	c.to = now.Len()
	text := conversationText(said, chinese)
	if text == "" {
		return flushed{}, nil
	}
	return flushed{true, &text}, nil
}

// judgeFlushStory plays a case that describes the events between two flushes of the same messages.
func judgeFlushStory(t *testing.T, in flushCase, want flushExpected) string {
	if want.SecondDispatched == nil || !strings.Contains(in.Then, "same messages") {
		return fmt.Sprintf("do not know how to play %q, then %q", in.Event, in.Then)
	}
	b := newFlushBench(t)
	item := b.session("s", said("user", "deploy the service"), said("assistant", "Deployed to prod."))
	first := b
	switch {
	case strings.Contains(in.Event, "append fails"):
		first = b.broken()
	case !strings.Contains(in.Event, "restart"):
		return fmt.Sprintf("do not know the event %q", in.Event)
	}
	_, _ = first.update(item)
	before := len(b.records())
	if _, err := b.restarted().update(item); err != nil {
		return err.Error()
	}
	if got := len(b.records()) > before; got != *want.SecondDispatched {
		return fmt.Sprintf("the second flush was dispatched: %v", got)
	}
	return ""
}

// judgeContextSummary plays the receiver of a summary, which comes from a model's answer or is given.
func judgeContextSummary(_ *testing.T, input, expect json.RawMessage) string {
	var in struct {
		DiscardedTurns json.RawMessage `json:"discarded_turns"`
		FirstKept      string          `json:"first_kept_user_text"`
		LLM            *string         `json:"llm"`
		Summary        *string         `json:"summary"`
	}
	var want struct {
		CallbackCalled *bool   `json:"callback_called"`
		FileWritten    *bool   `json:"file_written"`
		Text           *string `json:"text"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	var turns int
	var discarded []json.RawMessage
	if len(in.DiscardedTurns) > 0 && json.Unmarshal(in.DiscardedTurns, &turns) != nil {
		if err := json.Unmarshal(in.DiscardedTurns, &discarded); err != nil {
			return err.Error()
		}
		turns = len(discarded)
	}
	summary := ""
	switch {
	case in.Summary != nil:
		summary = readSummary(*in.Summary)
	case in.LLM != nil:
		summary = readSummary(*in.LLM)
	}
	var p schema.ContextFlushedPayload
	p.Text = summary
	var result SessionResult
	(&Activities{opts: Options{Webhook: Webhook{URL: "http://localhost"}}}).flushed(&result, flushOf("e", p))
	if want.CallbackCalled != nil && (result.Notify && result.Flushed != "") != *want.CallbackCalled {
		return fmt.Sprintf("callback called: %v", result.Notify)
	}
	if want.FileWritten != nil && !result.FilesDue.IsZero() != *want.FileWritten {
		return fmt.Sprintf("file written: %v", !result.FilesDue.IsZero())
	}
	if want.Text != nil {
		return differs(preface(summary, turns)+in.FirstKept, *want.Text)
	}
	return ""
}
