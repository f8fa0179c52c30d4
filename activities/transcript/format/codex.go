package format

import (
	"regexp"
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// codex reads a rollout: a session_meta line, then items in the shape of OpenAI's Responses interface, each
// in an envelope with its time. Early versions have no envelope. Times are RFC 3339.
var codex = Format{
	Name: "codex", Title: "Codex CLI", Files: "rollout (JSONL)",
	Reference: "github.com/openai/codex, codex-rs/protocol/src/protocol.rs; github.com/vshulcz/deja-vu, docs/registry/codex.md",
	Dirs:      []string{".codex/sessions", ".codex/archived_sessions"},
	isRecord:  isCodex, reader: codexReader,
	injects: injections{
		tags: `environment_context user_instructions permissions turn_aborted user_shell_command
			subagent_notification collaboration_mode skills_instructions apps_instructions`,
		starts: []string{"# AGENTS.md instructions"},
	},
	tools: tools{
		"update_plan": todoList("plan", "step", "status"), "request_user_input": questions, "shell": shell("command"), "exec_command": shell("cmd"),
		"shell_command": shell("command"), "local_shell": shell("command"), "apply_patch": patch("input", "patch", "patchText"),
	},
}

func isCodex(rec gjson.Result) bool {
	switch rec.Get("type").Str {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
		return rec.Get("payload").Exists()
	case "":
		// The first line of early versions.
		return rec.Get("instructions").Exists() && rec.Get("id").Exists() && rec.Get("timestamp").Exists()
	}
	return false
}

// codexReader reads a rollout. Its event_msg lines repeat the text of the response items. Only the first session_meta
// counts: a fork repeats its parent's.
func codexReader() recordFunc {
	named := false
	return func(b *builder, line int, rec gjson.Result) {
		kind, payload := rec.Get("type").Str, rec.Get("payload")
		if !payload.Exists() {
			payload = rec
		}
		m := schema.Message{At: b.time(line, rec.Get("timestamp")), Line: line}
		switch {
		case kind == "session_meta", kind == "" && isCodex(rec):
			id := firstOf(payload, "id", "session_id")
			if named || !id.Exists() {
				return
			}
			named = true
			s := b.useSession(id.String())
			s.CWD = clean(payload.Get("cwd").Str)
			s.includeTime(b.time(line, firstOf(payload, "timestamp", "created_at")))
			m.Role = schema.RoleSystem
			b.message(m, firstOf(payload, "base_instructions.text", "instructions"))
		case kind == "event_msg", kind == "turn_context":
		case kind == "compacted":
			m.Role = schema.RoleSystem
			b.message(m, payload.Get("message"))
		case kind == "" && !rec.Get("record_type").Exists():
			b.skip(line, reasonNoRecord)
		default:
			b.codexItem(m, payload)
		}
	}
}

// codexFailed matches the report of a command that failed.
var codexFailed = regexp.MustCompile(`(?m)^(?:Exit code: |Process exited with code )-?[1-9]`)

// codexHead returns the harness's report of a command, before the command's output.
func codexHead(result string) string {
	head, _, _ := strings.Cut(result[:min(len(result), 500)], "\nOutput:")
	return head
}

func (b *builder) codexItem(m schema.Message, item gjson.Result) {
	m.SourceID = item.Get("id").String()
	switch kind := item.Get("type").Str; kind {
	case "message", "":
		if m.Role = role(item.Get("role").Str); m.Role == "" {
			if kind == "message" {
				b.skip(m.Line, "message without a known role")
			}
			return
		}
		if !item.Get("content").Exists() {
			b.skip(m.Line, reasonNoContent)
			return
		}
		b.message(m, item.Get("content"))
	case "reasoning":
		m.Role = schema.RoleAssistant
		for _, path := range []string{"summary", "content"} {
			for _, p := range contentParts(item.Get(path)) {
				p.kind = schema.KindThinking
				b.parts(m, []part{p})
			}
		}
	case "function_call", "custom_tool_call", "tool_search_call":
		b.parts(m, []part{callPart(item)})
	case "local_shell_call", "web_search_call":
		b.parts(m, []part{{kind: schema.KindToolCall, text: rawText(item.Get("action")), tool: kind[:len(kind)-len("_call")],
			callID: firstOf(item, "call_id", "id").String()}})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		p := resultPart(item)
		// Early versions wrap the output in JSON.
		if strings.HasPrefix(p.text, "{") && validJSON([]byte(p.text)) {
			if inner := gjson.Get(p.text, "output"); inner.Type == gjson.String {
				p.failed = gjson.Get(p.text, "metadata.exit_code").Int() != 0
				p.text = inner.Str
			}
		}
		p.failed = p.failed || codexFailed.MatchString(codexHead(p.text))
		b.parts(m, []part{p})
	}
}
