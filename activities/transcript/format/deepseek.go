package format

import (
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// deepSeek reads one event a line; the chunks of a message are passed over, for the whole message follows.
// Times are milliseconds since the epoch.
var deepSeek = Format{
	Name: "deepseek", Title: "DeepSeek Harness", Files: "session (JSONL, also compressed)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/deepseek.md",
	Dirs:      []string{".dsh/sessions"},
	isRecord:  isDeepSeek, reader: stateless(deepSeekRecord),
	sameNames: []string{"session"},
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
		b.session().Title = clean(data.Get("title").Str)
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
