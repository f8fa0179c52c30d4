package format

import (
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// gemini reads a document, or lines that repeat, replace and take back messages. Times are RFC 3339.
var gemini = Format{
	Name: "gemini", Title: "Gemini CLI", Files: "chat (JSON or JSONL)",
	Reference: "github.com/google-gemini/gemini-cli, packages/core/src/services/chatRecordingService.ts; github.com/vshulcz/deja-vu, docs/registry/gemini.md",
	Dirs:      []string{".gemini/tmp/*/chats"},
	isRecord:  isGemini, reader: geminiReader,
	tools: tools{
		"write_todos": todoList("todos", "description", "status"), "ask_user": questions, "exit_plan_mode": plan, "save_memory": memory("fact"),
		"run_shell_command": shell("command"), "replace": edit(""), "write_file": edit(""),
	},
}

func isGemini(rec gjson.Result) bool {
	return rec.Get("sessionId").Exists() && rec.Get("startTime").Exists() ||
		rec.Get("type").Str == "gemini" || rec.Get("$set").IsObject()
}

// geminiReader reads lines of a chat, and snapshots of all its messages. A message that comes again
// under its id is a later state of it: the first one stays.
func geminiReader() recordFunc {
	seen := make(map[string]bool)
	var read recordFunc
	read = func(b *builder, line int, rec gjson.Result) {
		messages := firstOf(rec, "$set.messages", "messages")
		switch {
		case rec.Get("startTime").Exists(), messages.IsArray():
			if rec.Get("sessionId").Exists() {
				b.header(line, rec)
			}
			messages.ForEach(func(_, m gjson.Result) bool {
				read(b, line, m)
				return true
			})
		case rec.Get("type").Str != "":
			if id := rec.Get("id").Str; id != "" {
				if seen[id] {
					return
				}
				seen[id] = true
			}
			b.geminiMessage(line, rec)
		case rec.Get("$rewindTo").Exists():
			b.rewind(rec.Get("$rewindTo").String())
		case !rec.Get("$set").Exists():
			b.skip(line, reasonNoRecord)
		}
	}
	return read
}

// rewind takes back the message with the source id and all after it.
func (b *builder) rewind(id string) {
	s := b.session()
	for i := range s.Messages {
		if s.Messages[i].SourceID == id {
			s.Messages, s.list = s.Messages[:i], nil
			return
		}
	}
}

func (b *builder) geminiMessage(line int, rec gjson.Result) {
	m := schema.Message{
		Role: role(rec.Get("type").Str), At: b.time(line, rec.Get("timestamp")), SourceID: rec.Get("id").Str, Line: line,
	}
	if m.Role == "" {
		// Notices of the program: info, warning, error.
		m.Role = schema.RoleSystem
	}
	rec.Get("thoughts").ForEach(func(_, t gjson.Result) bool {
		b.parts(m, []part{{kind: schema.KindThinking, text: firstOf(t, "description", "subject").Str}})
		return true
	})
	b.message(m, rec.Get("content"))
	rec.Get("toolCalls").ForEach(func(_, call gjson.Result) bool {
		p := callPart(call)
		b.parts(m, []part{p})
		if status := call.Get("status").Str; status == "error" || status == "cancelled" {
			delete(b.session().waiting, p.callID)
		}
		if result := firstOf(call, "resultDisplay", "result"); result.Type == gjson.String {
			b.parts(m, []part{{kind: schema.KindToolResult, text: result.Str, callID: p.callID}})
		} else {
			b.message(m, call.Get("result"))
		}
		return true
	})
}
