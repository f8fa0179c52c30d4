package format

import (
	"regexp"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// cline reads the messages of a task, in which the results of tools are texts of the user. Only newer versions have an
// id and times, in milliseconds since the epoch.
var cline = Format{
	Name: "cline", Title: "Cline", Files: "messages.json or api_conversation_history.json",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/cline.md",
	Dirs:      append([]string{".cline/data/sessions"}, editorDirs("saoudrizwan.claude-dev/tasks")...),
	isRecord:  isCline, reader: stateless(clineRecord), family: "cline",
	tools: tools{
		"ask_followup_question": questions, "execute_command": shell("command"), "write_to_file": edit(""),
		"plan_mode_respond": reply("response"), "attempt_completion": reply("result"), "submit_and_exit": reply("summary"),
	},
	messageFiles: []string{clineHistory + ".json"}, sameNames: []string{clineHistory},
	injects: injections{tags: "environment_details explicit_instructions file_content_from_mentions"},
	companions: []companion{
		{description: "a list of tasks", isRecord: hasFields("id", "task", "tokensIn")},
		{description: stateOfSession, isRecord: hasFields("session_id", "messages_path")},
	},
}

// clineHistory names the file of each task. It holds plain messages.
const clineHistory = "api_conversation_history"

func isCline(rec gjson.Result) bool {
	if rec.IsObject() && rec.Get("sessionId").Exists() && rec.Get("agent").Exists() && rec.Get("messages").IsArray() {
		return true
	}
	text := firstOf(rec, "content.0.text", "content").Str
	return isTurn(rec) && strings.HasPrefix(strings.TrimSpace(text), "<task>")
}

// clineResult is how cline and roo report a tool's result in a user's text.
var clineResult = regexp.MustCompile(`^\[(\w+)(?: for '[^\n]*')?\] Result:`)

// clineRecord reads a task of cline or roo: messages in which results of tools are texts.
func clineRecord(b *builder, line int, rec gjson.Result) {
	switch {
	case rec.Get("messages").IsArray():
		b.header(line, rec)
		rec.Get("messages").ForEach(func(_, turn gjson.Result) bool {
			clineRecord(b, line, turn)
			return true
		})
	case !isTurn(rec):
		b.skip(line, reasonNoRecord)
	case turnRole(rec) != schema.RoleUser || !rec.Get("content").IsArray():
		b.turn(line, rec)
	default:
		m := schema.Message{
			Role: schema.RoleUser, At: b.time(line, rec.Get("ts")), SourceID: rec.Get("id").String(), Line: line,
		}
		parts := contentParts(rec.Get("content"))
		reported := ""
		for i := range parts {
			reported = clineResultPart(&parts[i], reported)
		}
		b.parts(m, parts)
	}
}

// clineResultPart turns a text that reports a result into one. A label alone names the tool of the
// text that follows it: the label's tool is returned.
func clineResultPart(p *part, labelled string) string {
	if p.kind != schema.KindText {
		return ""
	}
	match := clineResult.FindStringSubmatch(p.text)
	switch {
	case match != nil:
		p.kind, p.tool = schema.KindToolResult, match[1]
		if len(match[0]) == len(strings.TrimSpace(p.text)) {
			return match[1]
		}
	case labelled != "" && !strings.HasPrefix(p.text, "<environment_details>"):
		p.kind, p.tool = schema.KindToolResult, labelled
	case strings.HasPrefix(p.text, "[ERROR]"):
		p.kind = schema.KindContext
	}
	return ""
}
