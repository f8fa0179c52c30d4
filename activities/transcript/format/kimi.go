package format

import (
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// kimi reads one event a line, of which the parts of one step make a message. The id of the session is the
// name of its directory. Times are milliseconds since the epoch.
var kimi = Format{
	Name: "kimi", Title: "Kimi Code", Files: "wire log (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/kimi.md",
	Dirs:      []string{".kimi-code/sessions", ".kimi/sessions"},
	isRecord:  isKimi, reader: stateless(kimiRecord),
	tools: tools{
		"SetTodoList": todoList("todos", "title", "status"), "TodoList": todoList("todos", "title", "status"), "StrReplaceFile": edit("edit"),
		"WriteFile": edit(""), "AskUserQuestion": questions, "ExitPlanMode": plan,
	},
	sameNames: []string{"wire"}, sameDirs: []string{"agents", "main"},
	companions: []companion{
		{description: stateOfSession, isRecord: hasFields("createdAt", "lastPrompt")},
		{description: stateOfSession, isRecord: hasFields("workDir", "agents")},
	},
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
		b.session().includeTime(b.time(line, rec.Get("created_at")))
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
			b.addChunk(event.Get("stepUuid").Str, one)
		}
	case "tool.call":
		b.callOnce(m, callPart(event))
	case "tool.result":
		p := resultPart(event)
		p.text = resultText(firstOf(event, "output", "result.output", "result", "content"))
		b.parts(m, []part{p})
	}
}
