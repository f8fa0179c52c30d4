package format

import (
	"fmt"
	"regexp"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// hermes reads messages of many sessions from one table. Those that the user took back are not active.
// Times are seconds since the epoch, with fractions.
var hermes = Format{
	Name: "hermes", Title: "Hermes", Files: "state.db (SQLite file or SQL dump)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/hermes.md",
	Dirs:      []string{".hermes/state.db", ".hermes/profiles/*/state.db"},
	tables:    tables{name: "messages", columns: []string{"session_id", "role", "content", "timestamp"}, read: readHermes},
	injects:   injections{prefix: regexp.MustCompile(`^(?:User: )?\[System note:[^\]]*\]\s*`)},
	sameNames: []string{"state"},
	tools: tools{
		"todo": todoList("todos", "content", "status"), "todo_list": todoList("todos", "content", "status"), "clarify": questions,
		"memory": memory("content"), "terminal": shell("command"), "patch": edit(""),
	},
}

func readHermes(d *database, b *builder, _ int) error {
	if have := d.columns("sessions"); have["id"] {
		order := "id"
		if have["started_at"] {
			order = "started_at, id"
		}
		if err := d.each("SELECT * FROM sessions ORDER BY "+order, b.rowHeader); err != nil {
			return err
		}
	}
	return d.each("SELECT * FROM messages ORDER BY rowid", func(r row) {
		b.useSession(r.text("session_id"))
		if r["active"] == int64(0) && r["compacted"] != int64(1) {
			return // taken back by the user
		}
		m := schema.Message{
			Role: role(r.text("role")), At: b.rowTime(r, "timestamp"), SourceID: r.text("id"),
		}
		if m.Role == "" {
			b.skip(0, fmt.Sprintf("message %q cannot be read", r.text("id")))
			return
		}
		if m.Role == schema.RoleTool {
			m.CallID, m.Tool = r.text("tool_call_id"), r.text("tool_name")
		}
		b.parts(m, []part{{kind: schema.KindThinking, text: r.text("reasoning")}})
		text := r.text("content")
		if strings.HasPrefix(text, "[CONTEXT COMPACTION") || strings.HasPrefix(text, "[CONTEXT SUMMARY]") {
			m.Kind = schema.KindContext
		}
		// Content of several parts is stored as JSON behind this mark.
		if list, ok := strings.CutPrefix(text, "\x00json:"); ok && validJSON([]byte(list)) {
			b.message(m, gjson.Parse(list))
		} else {
			b.text(m, text)
		}
		r.json("tool_calls").ForEach(func(_, call gjson.Result) bool {
			b.callOnce(m, callPart(call))
			return true
		})
	})
}
