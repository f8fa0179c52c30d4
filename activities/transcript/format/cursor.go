package format

import (
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// cursor reads the agent's transcripts, one message a line, and the editor's key-value table, with
// times in milliseconds since the epoch.
var cursor = Format{
	Name: "cursor", Title: "Cursor", Files: "agent transcript (JSONL) or state.vscdb (SQLite)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/cursor.md",
	Dirs: append([]string{".cursor/projects"}, under(configDirs,
		"Cursor/User/globalStorage/state.vscdb", "Cursor/User/workspaceStorage/*/state.vscdb")...),
	isRecord: isCursor, reader: stateless(cursorRecord),
	tools: tools{
		"StrReplace": edit(""), "run_terminal_cmd": shell("command"),
	},
	tables:  tables{name: "cursordiskkv", columns: []string{"key", "value"}, read: readCursorStore},
	injects: injections{tags: `system_reminder attached_files open_and_recently_viewed_files user_info project_layout additional_data`},
}

func isCursor(rec gjson.Result) bool {
	return rec.Get("type").Str == "turn_ended" ||
		role(rec.Get("role").Str) != "" && rec.Get("message.content").Exists()
}

func cursorRecord(b *builder, line int, rec gjson.Result) {
	if !isCursor(rec) {
		if rec.Get("type").Str == "" {
			b.skip(line, reasonNoRecord)
		}
		return
	}
	b.noResults = true
	if msg := rec.Get("message"); msg.Exists() {
		b.message(schema.Message{
			Role: role(rec.Get("role").Str), At: b.time(line, rec.Get("timestamp")), Line: line,
		}, msg.Get("content"))
	}
}

// readCursorStore reads the editor's key-value table: composerData:ID is a chat, and
// bubbleId:ID:BUBBLE a message of it.
func readCursorStore(d *database, b *builder, _ int) error {
	return d.each("SELECT key, value FROM cursorDiskKV WHERE key LIKE 'composerData:%' ORDER BY key", func(r row) {
		chat := r.json("value")
		if !chat.Get("composerId").Exists() {
			return
		}
		id := chat.Get("composerId").String()
		s := b.useSession(id)
		s.Title = clean(chat.Get("name").Str)
		s.includeTime(b.time(0, chat.Get("createdAt")))
		s.includeTime(b.time(0, chat.Get("lastUpdatedAt")))
		for _, bubble := range chat.Get("conversation").Array() {
			b.cursorBubble(bubble)
		}
		for _, head := range chat.Get("fullConversationHeadersOnly").Array() {
			b.fail(d.each("SELECT value FROM cursorDiskKV WHERE key = ?", func(r row) {
				b.cursorBubble(r.json("value"))
			}, "bubbleId:"+id+":"+head.Get("bubbleId").String()))
		}
	})
}

func (b *builder) cursorBubble(bubble gjson.Result) {
	m := schema.Message{
		Role: schema.RoleAssistant, SourceID: bubble.Get("bubbleId").String(),
		At: b.time(0, firstOf(bubble, "timestamp", "createdAt", "timingInfo.clientStartTime")),
	}
	if bubble.Get("type").Int() == 1 {
		m.Role = schema.RoleUser
	}
	if s := b.session(); s.CWD == "" {
		s.CWD = clean(bubble.Get("workspaceProjectDir").Str)
	}
	b.parts(m, []part{{kind: schema.KindThinking, text: bubble.Get("thinking.text").Str}})
	b.text(m, firstOf(bubble, "text", "rawText").String())
	if tool := bubble.Get("toolFormerData"); tool.IsObject() {
		p := callPart(tool)
		p.text = rawText(firstOf(tool, "rawArgs", "params"))
		b.parts(m, []part{p})
		if result := tool.Get("result"); result.Exists() {
			b.parts(m, []part{{kind: schema.KindToolResult, text: resultText(result), callID: p.callID}})
		}
	}
}
