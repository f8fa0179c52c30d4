package format

import (
	"fmt"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// goose reads early sessions, a header and one message a line, and the database of later ones. The times of
// messages are seconds since the epoch.
var goose = Format{
	Name: "goose", Title: "Goose", Files: "session (JSONL) or sessions.db (SQLite)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/goose.md",
	Dirs:      []string{".local/share/goose/sessions"},
	isRecord:  isGoose, reader: stateless(gooseRecord),
	tools: tools{
		"todo__todo_write": todoList("content", "", ""), "developer__shell": shell("command"), "developer__text_editor": edit(""),
		"memory__remember_memory": memory("data"),
	},
	tables: tables{name: "messages", columns: []string{"session_id", "content_json", "role"}, read: readGoose},
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
			b.session()
		}
		b.header(line, rec)
	default:
		b.skip(line, reasonNoRecord)
	}
}

func readGoose(d *database, b *builder, _ int) error {
	if len(d.columns("sessions")) > 0 {
		if err := d.each("SELECT * FROM sessions ORDER BY created_at, id", b.rowHeader); err != nil {
			return err
		}
	}
	return d.each("SELECT * FROM messages ORDER BY session_id, id", func(r row) {
		b.useSession(r.text("session_id"))
		m := schema.Message{Role: role(r.text("role")), At: b.rowTime(r, "created_timestamp"), SourceID: r.text("message_id")}
		content := r.json("content_json")
		if m.Role == "" || !content.Exists() {
			b.skip(0, fmt.Sprintf("message %q cannot be read", r.text("id")))
			return
		}
		if r.json("metadata_json").Get("userVisible").Type == gjson.False {
			m.Kind = schema.KindContext
		}
		b.message(m, content)
	})
}
