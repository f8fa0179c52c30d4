package format

import (
	"cmp"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// The harnesses that log events, of which some carry messages.

// callOnce adds a tool call unless the session holds one with its id: some harnesses log a call
// when it is asked for and again when it runs.
func (b *builder) callOnce(m schema.Message, p part) {
	if _, known := b.here().tools[p.callID]; known && p.callID != "" {
		return
	}
	b.parts(m, []part{p})
}

func isCopilot(rec gjson.Result) bool {
	kind := rec.Get("type").Str
	return rec.Get("data").IsObject() && (strings.HasPrefix(kind, "session.") ||
		strings.HasPrefix(kind, "user.") || strings.HasPrefix(kind, "assistant.") || strings.HasPrefix(kind, "tool."))
}

func copilotRecord(b *builder, line int, rec gjson.Result) {
	kind, data := rec.Get("type").Str, rec.Get("data")
	m := schema.Message{At: b.time(line, rec.Get("timestamp")), SourceID: rec.Get("id").Str, Line: line}
	switch kind {
	case "":
		b.skip(line, reasonNoRecord)
	case "session.start":
		s := b.header(line, data)
		s.CWD = clean(data.Get("context.cwd").Str)
	case "system.message", "user.message", "assistant.message", "assistant.reasoning":
		m.Role = role(kind[:strings.IndexByte(kind, '.')])
		if kind == "assistant.reasoning" {
			m.Kind = schema.KindThinking
		}
		if text := data.Get("reasoningText"); text.Type == gjson.String {
			b.parts(m, []part{{kind: schema.KindThinking, text: text.Str}})
		}
		b.message(m, data.Get("content"))
		data.Get("toolRequests").ForEach(func(_, call gjson.Result) bool {
			b.callOnce(m, callPart(call))
			return true
		})
	case "tool.execution_start":
		b.callOnce(m, callPart(data))
	case "tool.execution_complete":
		p := resultPart(data)
		p.text = resultText(first(data, "result.content", "result", "error.message", "error"))
		b.parts(m, []part{p})
	}
}

func isDeepSeek(rec gjson.Result) bool {
	if rec.Get("type").Str == "session" {
		return rec.Get("createdAt").Exists() && rec.Get("id").Exists()
	}
	return strings.Contains(rec.Get("type").Str, "/") && rec.Get("seq").Exists() && rec.Get("data").Exists()
}

func deepSeekRecord(b *builder, line int, rec gjson.Result) {
	data := rec.Get("data")
	m := schema.Message{At: b.time(line, rec.Get("time")), Line: line}
	switch rec.Get("type").Str {
	case "":
		b.skip(line, reasonNoRecord)
	case "session":
		b.header(line, rec)
	case "session/title":
		b.here().Title = clean(data.Get("title").Str)
	case "user/message":
		m.Role = schema.RoleUser
		if data.Get("source.kind").Str != "user" {
			m.Kind = schema.KindContext
		}
		b.message(m, data.Get("content"))
	case "assistant/message":
		m.Role = schema.RoleAssistant
		for _, p := range contentParts(data.Get("message.content")) {
			if p.kind == schema.KindToolCall {
				b.callOnce(m, p)
			} else {
				b.parts(m, []part{p})
			}
		}
	case "tool/call":
		b.callOnce(m, callPart(data))
	case "tool/result":
		m.Role = schema.RoleTool
		b.message(m, data.Get("message.content"))
	}
}

func isKimi(rec gjson.Result) bool {
	kind := rec.Get("type").Str
	return strings.HasPrefix(kind, "context.append_") || kind == "metadata" && rec.Get("protocol_version").Exists()
}

// kimiRecord reads a wire log. The parts of one step are one message.
func kimiRecord(b *builder, line int, rec gjson.Result) {
	m := schema.Message{At: b.time(line, rec.Get("time")), Line: line}
	switch rec.Get("type").Str {
	case "":
		b.skip(line, reasonNoRecord)
	case "metadata":
		b.here().span(b.time(line, rec.Get("created_at")))
	case "config.update":
		m.Role = schema.RoleSystem
		b.message(m, rec.Get("systemPrompt"))
	case "context.append_message":
		msg := rec.Get("message")
		if m.Role = role(msg.Get("role").Str); m.Role == "" {
			b.skip(line, reasonNoRecord)
			return
		}
		if origin := msg.Get("origin.kind").Str; origin != "" && origin != "user" {
			m.Kind = schema.KindContext
		}
		m.CallID = msg.Get("toolCallId").Str
		b.message(m, msg.Get("content"))
		msg.Get("toolCalls").ForEach(func(_, call gjson.Result) bool {
			b.callOnce(m, callPart(call))
			return true
		})
	case "context.append_loop_event":
		b.kimiEvent(m, rec.Get("event"))
	}
}

func (b *builder) kimiEvent(m schema.Message, event gjson.Result) {
	m.SourceID = event.Get("uuid").Str
	switch event.Get("type").Str {
	case "content.part":
		m.Role = schema.RoleAssistant
		for _, p := range contentParts(event.Get("part")) {
			one := m
			one.Kind, one.Text = p.kind, p.text
			b.extend(event.Get("stepUuid").Str, one)
		}
	case "tool.call":
		b.callOnce(m, callPart(event))
	case "tool.result":
		p := resultPart(event)
		p.text = resultText(first(event, "output", "result.output", "result", "content"))
		b.parts(m, []part{p})
	}
}

func isGrok(rec gjson.Result) bool { return rec.Get("params.update.sessionUpdate").Exists() }

// grokRecord reads an Agent Client Protocol stream. The chunks of one prompt are one message.
func grokRecord(b *builder, line int, rec gjson.Result) {
	update := rec.Get("params.update")
	if !update.IsObject() {
		b.skip(line, reasonNoRecord)
		return
	}
	if id := rec.Get("params.sessionId").Str; id != "" {
		b.use(id)
	}
	meta := first(rec, "params.update._meta", "params._meta", "_meta")
	m := schema.Message{At: b.time(line, first(rec, "timestamp", "params._meta.agentTimestampMs")), Line: line}
	kind := update.Get("sessionUpdate").Str
	switch kind {
	case "user_message_chunk":
		m.Role, m.Kind = schema.RoleUser, schema.KindText
	case "agent_message_chunk":
		m.Role, m.Kind = schema.RoleAssistant, schema.KindText
	case "agent_thought_chunk":
		m.Role, m.Kind = schema.RoleAssistant, schema.KindThinking
	case "tool_call":
		p := callPart(update)
		p.text = raw(first(update, "rawInput", "content"))
		p.tool = cmp.Or(p.tool, update.Get("title").Str, update.Get("kind").Str)
		b.callOnce(m, p)
		return
	case "tool_call_update":
		if status := update.Get("status").Str; status == "completed" || status == "failed" {
			p := resultPart(update)
			p.text = resultText(first(update, "rawOutput.output", "content", "rawOutput"))
			b.parts(m, []part{p})
		}
		return
	default:
		return
	}
	prompt := first(meta, "promptId", "promptIndex").String()
	for _, p := range contentParts(update.Get("content")) {
		one := m
		one.Text = p.text
		if p.kind == schema.KindText {
			b.extend(prompt, one)
		} else {
			b.parts(m, []part{p})
		}
	}
}

func isAntigravity(rec gjson.Result) bool {
	return rec.Get("source").Type == gjson.String && rec.Get("created_at").Exists() &&
		(rec.Get("content").Exists() || rec.Get("tool_calls").Exists())
}

// antigravityRecord reads a step. A model's step of a type other than PLANNER_RESPONSE reports a
// tool.
func antigravityRecord(b *builder, line int, rec gjson.Result) {
	m := schema.Message{At: b.time(line, rec.Get("created_at")), Line: line}
	content, kind := rec.Get("content"), rec.Get("type").Str
	switch source := rec.Get("source").Str; {
	case source == "":
		b.skip(line, reasonNoRecord)
		return
	case source == "USER_EXPLICIT":
		m.Role = schema.RoleUser
		text, metadata := antigravityRequest(content.Str)
		b.text(m, text)
		m.Kind = schema.KindContext
		b.text(m, metadata)
		return
	case source != "MODEL":
		m.Role = schema.RoleSystem
	case kind == "" || kind == "PLANNER_RESPONSE":
		m.Role = schema.RoleAssistant
	default:
		m.Role, m.Tool = schema.RoleTool, strings.ToLower(kind)
	}
	if thinking := rec.Get("thinking"); thinking.Type == gjson.String {
		b.parts(m, []part{{kind: schema.KindThinking, text: thinking.Str}})
	}
	b.message(m, content)
	rec.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
		b.parts(m, []part{callPart(call)})
		return true
	})
}

// antigravityRequest parts what the user typed from the wrapper and the machine's metadata.
func antigravityRequest(text string) (request, metadata string) {
	const open, end, meta = "<USER_REQUEST>", "</USER_REQUEST>", "<ADDITIONAL_METADATA>"
	start := strings.Index(text, open)
	if start < 0 {
		return text, ""
	}
	rest := text[start+len(open):]
	stop := len(rest)
	for _, mark := range []string{meta, end} {
		if i := strings.Index(rest, mark); i >= 0 {
			stop = min(stop, i)
		}
	}
	return strings.Trim(rest[:stop], "\r\n"), strings.TrimSuffix(rest[stop:], end)
}
