package format

import (
	"fmt"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// store is a harness that keeps its sessions in SQLite.
type store struct {
	format string
	// table and columns tell the store.
	table   string
	columns []string
	read    func(d *database, b *builder, limit int) error
}

var stores = []store{
	{"zed", "threads", []string{"id", "data_type", "data"}, readZed},
	{"goose", "messages", []string{"session_id", "content_json", "role"}, readGoose},
	{"opencode", "part", []string{"message_id", "data"}, readOpenCode},
	{"cursor", "cursordiskkv", []string{"key", "value"}, readCursorStore},
	{"hermes", "messages", []string{"session_id", "role", "content", "timestamp"}, readHermes},
}

// storeInHead tells a store from the schema at the start of a database or dump; empty when the
// schema does not show there.
func storeInHead(head []byte) string {
	text := strings.ToLower(string(head))
	for _, st := range stores {
		found := tableNamed(text, st.table)
		for _, c := range st.columns {
			found = found && strings.Contains(text, c)
		}
		if found {
			return st.format
		}
	}
	return ""
}

// tableNamed reports whether a script in lower case creates the table.
func tableNamed(script, table string) bool {
	for rest := script; ; {
		_, after, ok := strings.Cut(rest, "create table")
		if !ok {
			return false
		}
		rest = after
		name := strings.TrimPrefix(strings.TrimLeft(after, " \t\r\n"), "if not exists")
		if name = strings.TrimLeft(name, " \t\r\n\"`['"); strings.HasPrefix(name, table) {
			if next := strings.TrimPrefix(name, table); next == "" || strings.IndexByte(" \t\r\n\"`]'(", next[0]) >= 0 {
				return true
			}
		}
	}
}

// parseStore reads the sessions of a database or dump, whichever harness made it.
func parseStore(s *source, b *builder) error {
	d, err := s.openDatabase(b)
	if err != nil {
		return err
	}
	defer d.close()
	for _, st := range stores {
		have := d.columns(st.table)
		found := len(have) > 0
		for _, c := range st.columns {
			found = found && have[c]
		}
		if found {
			b.format = st.format
			return st.read(d, b, s.opts.MaxDocument)
		}
	}
	return fmt.Errorf("%w: no table of the database holds sessions that are known", ErrUnknownFormat)
}

// rowHeader takes what a row tells of a session.
func (b *builder) rowHeader(r row) {
	s := b.use(r.text("id"))
	for _, c := range []string{"working_dir", "directory", "cwd", "git_repo_root"} {
		if s.CWD == "" {
			s.CWD = clean(r.text(c))
		}
	}
	for _, c := range []string{"title", "description", "name", "summary"} {
		if s.Title == "" {
			s.Title = clean(r.text(c))
		}
	}
	for _, c := range []string{"created_at", "updated_at", "time_created", "time_updated", "started_at", "ended_at"} {
		s.span(b.rowTime(r, c))
	}
}

func readGoose(d *database, b *builder, _ int) error {
	if len(d.columns("sessions")) > 0 {
		if err := d.each("SELECT * FROM sessions ORDER BY created_at, id", b.rowHeader); err != nil {
			return err
		}
	}
	return d.each("SELECT * FROM messages ORDER BY session_id, id", func(r row) {
		b.use(r.text("session_id"))
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
		b.use(r.text("session_id"))
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

func readOpenCode(d *database, b *builder, _ int) error {
	if err := d.each("SELECT * FROM session ORDER BY time_created, id", b.rowHeader); err != nil {
		return err
	}
	const query = `SELECT m.session_id AS session_id, m.id AS id, m.time_created AS at, m.data AS message, p.data AS part
		FROM message m JOIN part p ON p.message_id = m.id
		ORDER BY m.session_id, m.time_created, m.id, p.id`
	return d.each(query, func(r row) {
		b.use(r.text("session_id"))
		message, p := r.json("message"), r.json("part")
		m := schema.Message{Role: role(message.Get("role").Str), SourceID: r.text("id")}
		m.At = b.time(0, first(p, "time.start", "state.time.start"))
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
			b.parts(m, []part{{kind: schema.KindToolCall, text: raw(state.Get("input")), tool: p.Get("tool").Str, callID: call}})
			if out := first(state, "output", "error"); out.Exists() {
				b.parts(m, []part{{kind: schema.KindToolResult, text: resultText(out), tool: p.Get("tool").Str, callID: call}})
			}
		case "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction", "subtask":
		default:
			b.message(m, p)
		}
	})
}

func readZed(d *database, b *builder, limit int) error {
	return d.each("SELECT * FROM threads ORDER BY updated_at, id", func(r row) {
		b.rowHeader(r)
		s := b.here()
		s.CWD, _, _ = strings.Cut(clean(r.text("folder_paths")), "\n")
		data := []byte(r.text("data"))
		if r.text("data_type") == "zstd" {
			var err error
			if data, err = inflate(data, limit); err != nil {
				b.skip(0, fmt.Sprintf("thread %q cannot be read: %v", s.ID, err))
				return
			}
		}
		if !validJSON(data) {
			b.skip(0, fmt.Sprintf("thread %q cannot be read: %s", s.ID, reasonNotJSON))
			return
		}
		gjson.GetBytes(data, "messages").ForEach(func(_, msg gjson.Result) bool {
			b.zedMessage(msg)
			return true
		})
	})
}

// zedMessage reads a message of either generation: {"User": …} or {"role": …, "segments": …}.
func (b *builder) zedMessage(msg gjson.Result) {
	if user := msg.Get("User"); user.IsObject() {
		b.zedContent(schema.Message{Role: schema.RoleUser, SourceID: user.Get("id").String()}, user.Get("content"))
		return
	}
	if agent := msg.Get("Agent"); agent.IsObject() {
		m := schema.Message{Role: schema.RoleAssistant}
		b.zedContent(m, agent.Get("content"))
		agent.Get("tool_results").ForEach(func(id, res gjson.Result) bool {
			b.parts(m, []part{{kind: schema.KindToolResult, callID: id.Str, tool: res.Get("tool_name").Str,
				text: resultText(first(res, "content.Text", "content", "output"))}})
			return true
		})
		return
	}
	m := schema.Message{Role: role(msg.Get("role").Str), SourceID: msg.Get("id").String()}
	if m.Role == "" {
		return
	}
	b.message(m, msg.Get("segments"))
	for _, list := range []string{"tool_uses", "tool_results"} {
		msg.Get(list).ForEach(func(_, item gjson.Result) bool {
			if list == "tool_uses" {
				b.parts(m, []part{callPart(item)})
			} else {
				b.parts(m, []part{resultPart(item)})
			}
			return true
		})
	}
}

func (b *builder) zedContent(m schema.Message, content gjson.Result) {
	content.ForEach(func(_, block gjson.Result) bool {
		block.ForEach(func(tag, v gjson.Result) bool {
			switch tag.Str {
			case "Text":
				b.text(m, v.String())
			case "Thinking":
				b.parts(m, []part{{kind: schema.KindThinking, text: v.Get("text").Str}})
			case "ToolUse":
				b.parts(m, []part{callPart(v)})
			case "Mention":
				b.parts(m, []part{{kind: schema.KindContext, text: v.Get("content").Str}})
			case "Image":
				b.parts(m, []part{attachmentPart("image", v)})
			}
			return true
		})
		return true
	})
}

// readCursorStore reads the editor's key-value table: composerData:ID is a chat, and
// bubbleId:ID:BUBBLE a message of it.
func readCursorStore(d *database, b *builder, _ int) error {
	var chats []gjson.Result
	err := d.each("SELECT key, value FROM cursorDiskKV WHERE key LIKE 'composerData:%' ORDER BY key", func(r row) {
		if chat := r.json("value"); chat.Get("composerId").Exists() {
			chats = append(chats, chat)
		}
	})
	if err != nil {
		return err
	}
	for _, chat := range chats {
		id := chat.Get("composerId").String()
		s := b.use(id)
		s.Title = clean(chat.Get("name").Str)
		s.span(b.time(0, chat.Get("createdAt")))
		s.span(b.time(0, chat.Get("lastUpdatedAt")))
		for _, bubble := range chat.Get("conversation").Array() {
			b.cursorBubble(bubble)
		}
		for _, head := range chat.Get("fullConversationHeadersOnly").Array() {
			err := d.each("SELECT value FROM cursorDiskKV WHERE key = ?", func(r row) {
				b.cursorBubble(r.json("value"))
			}, "bubbleId:"+id+":"+head.Get("bubbleId").String())
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) cursorBubble(bubble gjson.Result) {
	m := schema.Message{
		Role: schema.RoleAssistant, SourceID: bubble.Get("bubbleId").String(),
		At: b.time(0, first(bubble, "timestamp", "createdAt", "timingInfo.clientStartTime")),
	}
	if bubble.Get("type").Int() == 1 {
		m.Role = schema.RoleUser
	}
	if s := b.here(); s.CWD == "" {
		s.CWD = clean(bubble.Get("workspaceProjectDir").Str)
	}
	b.parts(m, []part{{kind: schema.KindThinking, text: bubble.Get("thinking.text").Str}})
	b.text(m, first(bubble, "text", "rawText").String())
	if tool := bubble.Get("toolFormerData"); tool.IsObject() {
		p := callPart(tool)
		p.text = raw(first(tool, "rawArgs", "params"))
		b.parts(m, []part{p})
		if result := tool.Get("result"); result.Exists() {
			b.parts(m, []part{{kind: schema.KindToolResult, text: resultText(result), callID: p.callID}})
		}
	}
}
