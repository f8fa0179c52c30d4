package format

import (
	"errors"
	"fmt"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// openCode reads sessions, messages and their parts from three tables, with JSON in the column data. Times
// are milliseconds since the epoch.
var openCode = Format{
	Name: "opencode", Title: "OpenCode", Files: "opencode.db (SQLite file or SQL dump)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/opencode.md",
	Dirs:      []string{".local/share/opencode/opencode.db"},
	tools: tools{
		"question": questions, "todowrite": todoList("todos", "content", "status"),
	},
	tables: tables{name: "part", columns: []string{"message_id", "data"}, read: readOpenCode},
}

func readOpenCode(d *database, b *builder, _ int) error {
	if len(d.columns("session")) == 0 || len(d.columns("message")) == 0 {
		return errors.New("the database has no tables session and message")
	}
	if err := d.each("SELECT * FROM session ORDER BY time_created, id", b.rowHeader); err != nil {
		return err
	}
	// A join of ids that are not unique may have any number of rows, and would sort them all.
	if err := d.exec("CREATE INDEX parts_of_messages ON part (message_id, id)"); err != nil {
		return fmt.Errorf("index parts: %w", err)
	}
	return d.each("SELECT session_id, id, time_created, data FROM message ORDER BY session_id, time_created, id", func(r row) {
		message := r.json("data")
		b.fail(d.each("SELECT data FROM part WHERE message_id = ? ORDER BY id", func(p row) {
			b.useSession(r.text("session_id"))
			b.openCodePart(r, message, p.json("data"))
		}, r["id"]))
	})
}

// openCodePart reads a part of the message in a row.
func (b *builder) openCodePart(r row, message, p gjson.Result) {
	m := schema.Message{Role: role(message.Get("role").Str), SourceID: r.text("id")}
	m.At = b.time(0, firstOf(p, "time.start", "state.time.start"))
	if m.At.IsZero() {
		m.At = b.time(0, message.Get("time.created"))
	}
	if m.At.IsZero() {
		m.At = b.rowTime(r, "time_created")
	}
	if m.Role == "" || !p.IsObject() {
		b.skip(0, fmt.Sprintf("part of message %q cannot be read", m.SourceID))
		return
	}
	if p.Get("synthetic").Bool() || message.Get("summary").Type == gjson.True {
		m.Kind = schema.KindContext
	}
	switch p.Get("type").Str {
	case "tool":
		call, state := p.Get("callID").String(), p.Get("state")
		b.parts(m, []part{{kind: schema.KindToolCall, text: rawText(state.Get("input")), tool: p.Get("tool").Str, callID: call}})
		if out := firstOf(state, "output", "error"); out.Exists() {
			b.parts(m, []part{{kind: schema.KindToolResult, text: resultText(out), tool: p.Get("tool").Str, callID: call,
				failed: state.Get("status").Str == "error"}})
		}
	case "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction", "subtask":
	default:
		b.message(m, p)
	}
}
