package format

import (
	"cmp"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// grok reads session/update notifications, in which a message comes in chunks. The id of the session may be
// the name of its directory. Times are seconds since the epoch, or agentTimestampMs.
var grok = Format{
	Name: "grok", Title: "Grok Build", Files: "updates.jsonl (Agent Client Protocol)",
	Reference: "agentclientprotocol.com, session/update; github.com/vshulcz/deja-vu, docs/registry/grok.md",
	Dirs:      []string{".grok/sessions"},
	isRecord:  isGrok, reader: stateless(grokRecord),
	tools: tools{
		"run_terminal_command": shell("command"), "search_replace": edit(""),
	},
	sameNames:  []string{"updates"},
	companions: []companion{{description: stateOfSession, isRecord: hasFields("info.id", "session_summary")}},
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
		b.useSession(id)
	}
	meta := firstOf(rec, "params.update._meta", "params._meta", "_meta")
	m := schema.Message{At: b.time(line, firstOf(rec, "timestamp", "params._meta.agentTimestampMs")), Line: line}
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
		p.text = rawText(firstOf(update, "rawInput", "content"))
		p.tool = cmp.Or(p.tool, update.Get("title").Str, update.Get("kind").Str)
		b.callOnce(m, p)
		return
	case "tool_call_update":
		if status := update.Get("status").Str; status == "completed" || status == "failed" {
			p := resultPart(update)
			p.text = resultText(firstOf(update, "rawOutput.output", "content", "rawOutput"))
			p.failed = status == "failed"
			b.parts(m, []part{p})
		}
		return
	default:
		return
	}
	prompt := firstOf(meta, "promptId", "promptIndex").String()
	for _, p := range contentParts(update.Get("content")) {
		one := m
		one.Text = p.text
		if p.kind == schema.KindText {
			b.addChunk(prompt, one)
		} else {
			b.parts(m, []part{p})
		}
	}
}
