package format

import (
	"cmp"
	"slices"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// turnFields are the names of the lists of messages that conversations are wrapped in.
var turnFields = []string{"messages", "conversations", "conversation", "chat_messages", "history", "turns"}

func turnsOf(rec gjson.Result) gjson.Result {
	for _, f := range turnFields {
		if v := rec.Get(f); v.IsArray() {
			return v
		}
	}
	return gjson.Result{}
}

// turnRole returns the role of a message in the shapes of OpenAI, ShareGPT and Claude's export.
func turnRole(rec gjson.Result) schema.Role {
	return role(firstOf(rec, "role", "from", "sender", "author.role").Str)
}

func isTurn(rec gjson.Result) bool {
	if !rec.IsObject() || turnRole(rec) == "" {
		return false
	}
	for _, f := range []string{"content", "value", "text", "parts", "tool_calls", "function_call"} {
		if rec.Get(f).Exists() {
			return true
		}
	}
	return false
}

// turn reads one message.
func (b *builder) turn(line int, rec gjson.Result) {
	m := schema.Message{
		Role:     turnRole(rec),
		At:       b.time(line, firstOf(rec, "timestamp", "created_at", "createdAt", "create_time", "created", "ts", "time")),
		SourceID: firstOf(rec, "id", "uuid", "message_id").String(),
		Line:     line,
	}
	name := rec.Get("name").Str
	if m.Role == schema.RoleTool {
		m.Tool = cmp.Or(name, rec.Get("tool_name").Str, rec.Get("toolName").Str)
		m.CallID = firstOf(rec, "tool_call_id", "toolCallId").String()
	} else {
		m.Author = name
	}
	if rec.Get("metadata.userVisible").Type == gjson.False || isHidden(rec) {
		m.Kind = schema.KindContext
	}
	if reasoning := firstOf(rec, "reasoning_content", "reasoning"); reasoning.Type == gjson.String {
		b.parts(m, []part{{kind: schema.KindThinking, text: reasoning.Str}})
	}
	content := firstOf(rec, "content", "value", "parts", "text")
	if m.Role == schema.RoleTool {
		// A tool's result stays one message, even in several blocks.
		if parts := contentParts(content); len(parts) == 0 || parts[0].kind != schema.KindToolResult {
			m.Kind, m.Text = schema.KindToolResult, resultText(content)
			b.add(m)
			return
		}
	}
	b.message(m, content)
	rec.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
		b.parts(m, []part{callPart(call)})
		return true
	})
	if call := rec.Get("function_call"); call.IsObject() {
		b.parts(m, []part{callPart(call)})
	}
}

// isHidden reports whether a framework wrote a message in the user's name and hid it. The user's answer to a question
// of the agent is hidden too, but is the user's.
func isHidden(rec gjson.Result) bool {
	about := rec.Get("additional_kwargs")
	if !about.Get("hide_from_ui").Bool() {
		return false
	}
	answer := about.Get("human_input_response")
	if answer.Get("kind").Str != "human_input_response" || answer.Get("version").Int() != 1 {
		return true
	}
	fields := []string{"source", "request_id", "value"}
	switch answer.Get("response_kind").Str {
	case "text":
	case "option":
		fields = append(fields, "option_id")
	default:
		return true
	}
	return slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(answer.Get(f).Str) == "" })
}

// header reads the session's metadata from a record without a message.
func (b *builder) header(line int, rec gjson.Result) *session {
	if id := firstOf(rec, "sessionId", "session_id", "conversation_id", "conversationId", "id", "uuid"); id.Exists() {
		b.useSession(id.String())
	}
	return b.describe(line, rec)
}

// describe sets the directory, title and times of the current session from a record.
func (b *builder) describe(line int, rec gjson.Result) *session {
	s := b.session()
	if cwd := firstOf(rec, "cwd", "working_dir", "workspace", "directory"); cwd.Type == gjson.String {
		s.CWD = clean(cwd.Str)
	}
	if title := firstOf(rec, "title", "description", "name"); title.Type == gjson.String {
		s.Title = clean(title.Str)
	}
	s.includeTime(b.time(line, firstOf(rec, "created_at", "createdAt", "startTime", "timestamp")))
	s.includeTime(b.time(line, firstOf(rec, "updated_at", "updatedAt", "lastUpdated")))
	return s
}
