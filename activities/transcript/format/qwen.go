package format

import (
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// qwen reads one record a line, with messages in the shape of the Gemini interface. Times are RFC 3339.
var qwen = Format{
	Name: "qwen", Title: "Qwen Code", Files: "chat (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/qwen.md",
	Dirs:      []string{".qwen/projects/*/chats", ".qwen/tmp/*/chats"},
	isRecord:  isQwen, reader: stateless(qwenRecord),
	tools: tools{
		"todo_write": todoList("todos", "content", "status"), "ask_user_question": questions, "exit_plan_mode": plan,
	},
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
		b.useSession(id)
	}
	if s := b.session(); s.CWD == "" {
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
