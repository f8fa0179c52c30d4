package format

import (
	"fmt"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// zed reads one thread a row, a JSON document that may be compressed. Messages have no times; the thread's are RFC
// 3339.
var zed = Format{
	Name: "zed", Title: "Zed", Files: "threads.db (SQLite file or SQL dump)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/zed.md",
	Dirs: []string{".local/share/zed/threads/threads.db", "Library/Application Support/Zed/threads/threads.db",
		"AppData/Local/Zed/threads/threads.db"},
	tables: tables{name: "threads", columns: []string{"id", "data_type", "data"}, read: readZed},
}

func readZed(d *database, b *builder, limit int) error {
	return d.each("SELECT * FROM threads ORDER BY updated_at, id", func(r row) {
		b.rowHeader(r)
		s := b.session()
		s.CWD, _, _ = strings.Cut(clean(r.text("folder_paths")), "\n")
		data := []byte(r.text("data"))
		if r.text("data_type") == "zstd" {
			var err error
			if data, err = decompress(data, limit); err != nil {
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
				text: resultText(firstOf(res, "content.Text", "content", "output")), failed: res.Get("is_error").Bool()}})
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
