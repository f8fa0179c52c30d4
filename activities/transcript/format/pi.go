package format

import (
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// pi reads a session line, then one entry a line. Times are RFC 3339.
var pi = Format{
	Name: "pi", Title: "pi", Files: "session (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/pi.md",
	Dirs:      []string{".pi/agent/sessions"},
	isRecord:  isPi, reader: stateless(piRecord), family: "pi",
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
			b.failed = msg.Get("isError").Bool()
			b.add(m)
			b.failed = false
			return
		}
		b.message(m, msg.Get("content"))
	}
}
