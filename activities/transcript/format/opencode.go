package format

import (
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
	tables:    tables{name: "part", columns: []string{"message_id", "data"}, read: readOpenCode},
}

func readOpenCode(d *database, b *builder, _ int) error {
	if err := d.each("SELECT * FROM session ORDER BY time_created, id", b.rowHeader); err != nil {
		return err
	}
	const query = `SELECT m.session_id AS session_id, m.id AS id, m.time_created AS at, m.data AS message, p.data AS part
		FROM message m JOIN part p ON p.message_id = m.id
		ORDER BY m.session_id, m.time_created, m.id, p.id`
	return d.each(query, func(r row) {
		b.useSession(r.text("session_id"))
		message, p := r.json("message"), r.json("part")
		m := schema.Message{Role: role(message.Get("role").Str), SourceID: r.text("id")}
		m.At = b.time(0, firstOf(p, "time.start", "state.time.start"))
		if m.At.IsZero() {
			m.At = b.time(0, message.Get("time.created"))
		}
		if m.At.IsZero() {
			m.At = b.rowTime(r, "at")
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
				b.parts(m, []part{{kind: schema.KindToolResult, text: resultText(out), tool: p.Get("tool").Str, callID: call}})
			}
		case "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction", "subtask":
		default:
			b.message(m, p)
		}
	})
}
