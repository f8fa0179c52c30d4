package format

import (
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// copilot reads one event a line. A call of a tool comes twice: asked for in a message, and run. Times are
// RFC 3339.
var copilot = Format{
	Name: "copilot", Title: "GitHub Copilot CLI", Files: "events (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/copilot.md",
	Dirs:      []string{".copilot/session-state", ".copilot/history-session-state"},
	isRecord:  isCopilot, reader: stateless(copilotRecord),
	tools: tools{
		"update_todo": todoList("todos", "content", "status"), "manage_todo_list": todoList("todoList", "title", "status"), "create": edit(""), "ask_user": questions,
		"create_file": edit(""), "replace_string_in_file": edit(""), "run_in_terminal": shell("command"), "powershell": shell("command"),
	},
	sameNames: []string{"events"},
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
		p.text = resultText(firstOf(data, "result.content", "result", "error.message", "error"))
		p.failed = data.Get("success").Type == gjson.False
		b.record = data.Get("toolTelemetry.restrictedProperties")
		b.parts(m, []part{p})
		b.record = gjson.Result{}
	}
}
