package format

import (
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// antigravity reads one step a line. The user's text is wrapped, and followed by metadata. The id of the session is the
// name of a directory. Times are RFC 3339.
var antigravity = Format{
	Name: "antigravity", Title: "Antigravity", Files: "transcript (JSONL)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/antigravity.md",
	Dirs:      []string{".gemini/antigravity*/brain"},
	isRecord:  isAntigravity, reader: stateless(antigravityRecord),
	injects:   injections{tags: "ADDITIONAL_METADATA EPHEMERAL_MESSAGE"},
	sameNames: []string{"transcript"}, sameDirs: []string{"logs", ".system_generated"},
}

func isAntigravity(rec gjson.Result) bool {
	return rec.Get("source").Type == gjson.String && rec.Get("created_at").Exists() &&
		(rec.Get("content").Exists() || rec.Get("tool_calls").Exists())
}

// antigravityRecord reads a step. A model's step of a type other than PLANNER_RESPONSE reports a
// tool.
func antigravityRecord(b *builder, line int, rec gjson.Result) {
	m := schema.Message{At: b.time(line, rec.Get("created_at")), Line: line}
	content, kind := rec.Get("content"), rec.Get("type").Str
	switch source := rec.Get("source").Str; {
	case source == "":
		b.skip(line, reasonNoRecord)
		return
	case source == "USER_EXPLICIT":
		m.Role = schema.RoleUser
		text, metadata := antigravityRequest(content.Str)
		b.text(m, text)
		m.Kind = schema.KindContext
		b.text(m, metadata)
		return
	case source != "MODEL":
		m.Role = schema.RoleSystem
	case kind == "" || kind == "PLANNER_RESPONSE":
		m.Role = schema.RoleAssistant
	default:
		m.Role, m.Tool = schema.RoleTool, strings.ToLower(kind)
	}
	if thinking := rec.Get("thinking"); thinking.Type == gjson.String {
		b.parts(m, []part{{kind: schema.KindThinking, text: thinking.Str}})
	}
	b.message(m, content)
	rec.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
		b.parts(m, []part{callPart(call)})
		return true
	})
}

// antigravityRequest separates the user's text from the wrapper and the metadata.
func antigravityRequest(text string) (request, metadata string) {
	const open, end, meta = "<USER_REQUEST>", "</USER_REQUEST>", "<ADDITIONAL_METADATA>"
	start := strings.Index(text, open)
	if start < 0 {
		return text, ""
	}
	rest := text[start+len(open):]
	stop := len(rest)
	for _, mark := range []string{meta, end} {
		if i := strings.Index(rest, mark); i >= 0 {
			stop = min(stop, i)
		}
	}
	return strings.Trim(rest[:stop], "\r\n"), strings.TrimSuffix(rest[stop:], end)
}
