package format

import (
	"regexp"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// The harnesses whose records are messages in an envelope of their own.

func isCursor(rec gjson.Result) bool {
	return rec.Get("type").Str == "turn_ended" ||
		role(rec.Get("role").Str) != "" && rec.Get("message.content").Exists()
}

func cursorRecord(b *builder, line int, rec gjson.Result) {
	if !isCursor(rec) {
		if rec.Get("type").Str == "" {
			b.skip(line, reasonNoRecord)
		}
		return
	}
	if msg := rec.Get("message"); msg.Exists() {
		b.message(schema.Message{
			Role: role(rec.Get("role").Str), At: b.time(line, rec.Get("timestamp")), Line: line,
		}, msg.Get("content"))
	}
}

func isQwen(rec gjson.Result) bool {
	return rec.Get("message.parts").Exists() && rec.Get("sessionId").Exists()
}

func qwenRecord(b *builder, line int, rec gjson.Result) {
	if rec.Get("type").Str == "" {
		b.skip(line, reasonNoRecord)
		return
	}
	if id := rec.Get("sessionId").Str; id != "" {
		b.use(id)
	}
	if s := b.here(); s.CWD == "" {
		s.CWD = clean(rec.Get("cwd").Str)
	}
	kind := rec.Get("type").Str
	m := schema.Message{
		Role: role(kind), At: b.time(line, rec.Get("timestamp")), SourceID: rec.Get("uuid").Str, Line: line,
	}
	if m.Role == "" || !rec.Get("message").IsObject() {
		return
	}
	b.message(m, rec.Get("message.parts"))
}

func isGemini(rec gjson.Result) bool {
	return rec.Get("sessionId").Exists() && rec.Get("startTime").Exists() ||
		rec.Get("type").Str == "gemini" || rec.Get("$set").IsObject()
}

// geminiReader reads lines of a chat, and snapshots of all its messages. A message that comes again
// under its id is a later state of it: the first one stays.
func geminiReader() recordFunc {
	seen := make(map[string]bool)
	var read recordFunc
	read = func(b *builder, line int, rec gjson.Result) {
		messages := first(rec, "$set.messages", "messages")
		switch {
		case rec.Get("startTime").Exists(), messages.IsArray():
			if rec.Get("sessionId").Exists() {
				b.header(line, rec)
			}
			messages.ForEach(func(_, m gjson.Result) bool {
				read(b, line, m)
				return true
			})
		case rec.Get("type").Str != "":
			if id := rec.Get("id").Str; id != "" {
				if seen[id] {
					return
				}
				seen[id] = true
			}
			b.geminiMessage(line, rec)
		case rec.Get("$rewindTo").Exists():
			b.rewind(rec.Get("$rewindTo").String())
		case !rec.Get("$set").Exists():
			b.skip(line, reasonNoRecord)
		}
	}
	return read
}

// rewind takes back the message with the source id and all after it.
func (b *builder) rewind(id string) {
	s := b.here()
	for i := range s.Messages {
		if s.Messages[i].SourceID == id {
			s.Messages = s.Messages[:i]
			return
		}
	}
}

func (b *builder) geminiMessage(line int, rec gjson.Result) {
	m := schema.Message{
		Role: role(rec.Get("type").Str), At: b.time(line, rec.Get("timestamp")), SourceID: rec.Get("id").Str, Line: line,
	}
	if m.Role == "" {
		// Notices of the program: info, warning, error.
		m.Role = schema.RoleSystem
	}
	rec.Get("thoughts").ForEach(func(_, t gjson.Result) bool {
		b.parts(m, []part{{kind: schema.KindThinking, text: first(t, "description", "subject").Str}})
		return true
	})
	b.message(m, rec.Get("content"))
	rec.Get("toolCalls").ForEach(func(_, call gjson.Result) bool {
		p := callPart(call)
		b.parts(m, []part{p})
		if result := first(call, "resultDisplay", "result"); result.Type == gjson.String {
			b.parts(m, []part{{kind: schema.KindToolResult, text: result.Str, callID: p.callID}})
		} else {
			b.message(m, call.Get("result"))
		}
		return true
	})
}

func isPi(rec gjson.Result) bool {
	switch rec.Get("type").Str {
	case "session":
		return rec.Get("id").Exists() && rec.Get("timestamp").Exists()
	case "message":
		return rec.Get("message.role").Exists()
	}
	return false
}

// piRecord reads pi and the harnesses that keep its format: omp and openclaw.
func piRecord(b *builder, line int, rec gjson.Result) {
	m := schema.Message{
		At: b.time(line, rec.Get("timestamp")), SourceID: rec.Get("id").Str, Line: line,
	}
	switch rec.Get("type").Str {
	case "":
		b.skip(line, reasonNoRecord)
	case "session":
		b.header(line, rec)
	case "compaction", "branch_summary":
		m.Role = schema.RoleSystem
		b.message(m, rec.Get("summary"))
	case "custom_message":
		m.Role, m.Kind = schema.RoleUser, schema.KindContext
		b.message(m, rec.Get("content"))
	case "message":
		msg := rec.Get("message")
		if m.Role = role(msg.Get("role").Str); m.Role == "" {
			return
		}
		if m.Role == schema.RoleTool {
			m.Kind, m.Text = schema.KindToolResult, resultText(msg.Get("content"))
			m.CallID, m.Tool = msg.Get("toolCallId").Str, msg.Get("toolName").Str
			b.add(m)
			return
		}
		b.message(m, msg.Get("content"))
	}
}

func isCline(rec gjson.Result) bool {
	if rec.IsObject() && rec.Get("sessionId").Exists() && rec.Get("agent").Exists() && rec.Get("messages").IsArray() {
		return true
	}
	text := first(rec, "content.0.text", "content").Str
	return isTurn(rec) && strings.HasPrefix(strings.TrimSpace(text), "<task>")
}

// clineResult is how cline and roo report a tool's result in a user's text.
var clineResult = regexp.MustCompile(`^\[(\w+)(?: for '[^\n]*')?\] Result:`)

// clineRecord reads a task of cline or roo: messages in which results of tools are texts.
func clineRecord(b *builder, line int, rec gjson.Result) {
	switch {
	case rec.Get("messages").IsArray():
		b.header(line, rec)
		rec.Get("messages").ForEach(func(_, turn gjson.Result) bool {
			clineRecord(b, line, turn)
			return true
		})
	case !isTurn(rec):
		b.skip(line, reasonNoRecord)
	case turnRole(rec) != schema.RoleUser || !rec.Get("content").IsArray():
		b.turn(line, rec)
	default:
		m := schema.Message{
			Role: schema.RoleUser, At: b.time(line, rec.Get("ts")), SourceID: rec.Get("id").String(), Line: line,
		}
		parts := contentParts(rec.Get("content"))
		reported := ""
		for i := range parts {
			reported = clineResultPart(&parts[i], reported)
		}
		b.parts(m, parts)
	}
}

// clineResultPart turns a text that reports a result into one. A label alone names the tool of the
// text that follows it: the label's tool is returned.
func clineResultPart(p *part, labelled string) string {
	if p.kind != schema.KindText {
		return ""
	}
	match := clineResult.FindStringSubmatch(p.text)
	switch {
	case match != nil:
		p.kind, p.tool = schema.KindToolResult, match[1]
		if len(match[0]) == len(strings.TrimSpace(p.text)) {
			return match[1]
		}
	case labelled != "" && !strings.HasPrefix(p.text, "<environment_details>"):
		p.kind, p.tool = schema.KindToolResult, labelled
	case strings.HasPrefix(p.text, "[ERROR]"):
		p.kind = schema.KindContext
	}
	return ""
}

func isGoose(rec gjson.Result) bool {
	return rec.Get("working_dir").Exists() && (rec.Get("message_count").Exists() || rec.Get("extension_data").Exists()) ||
		isTurn(rec) && rec.Get("created").Type == gjson.Number && rec.Get("content").IsArray()
}

// gooseRecord reads a line of a Goose session: a header, then messages.
func gooseRecord(b *builder, line int, rec gjson.Result) {
	switch {
	case isTurn(rec):
		b.turn(line, rec)
	case rec.Get("working_dir").Exists():
		id := rec.Get("id")
		if !id.Exists() {
			b.here()
		}
		b.header(line, rec)
	default:
		b.skip(line, reasonNoRecord)
	}
}
