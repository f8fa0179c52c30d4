package format

import (
	"cmp"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

func isClaude(rec gjson.Result) bool {
	switch rec.Get("type").Str {
	case "user", "assistant":
		return rec.Get("message.role").Exists() && !rec.Get("message.parts").Exists()
	case "summary":
		return rec.Get("leafUuid").Exists()
	case "file-history-snapshot", "queue-operation":
		return true
	}
	return rec.Get("parentUuid").Exists() && rec.Get("sessionId").Exists()
}

// claudeRecord reads a line of a Claude Code session. Lines of types that carry no conversation are
// passed over.
func claudeRecord(b *builder, line int, rec gjson.Result) {
	kind := rec.Get("type")
	if kind.Type != gjson.String {
		b.skip(line, reasonNoRecord)
		return
	}
	if id := rec.Get("sessionId").Str; id != "" {
		// A subagent has a file of its own that repeats the id of the session.
		if agent := rec.Get("agentId").Str; agent != "" && rec.Get("isSidechain").Bool() {
			id += "-agent-" + agent
		}
		b.use(id)
	}
	m := schema.Message{
		At:       b.time(line, rec.Get("timestamp")),
		SourceID: rec.Get("uuid").Str,
		Line:     line,
	}
	switch kind.Str {
	case "user", "assistant":
		b.claudeMessage(m, rec)
	case "system":
		m.Role = schema.RoleSystem
		b.message(m, rec.Get("content"))
	case "summary":
		m.Role, m.SourceID = schema.RoleSystem, rec.Get("leafUuid").Str
		b.message(m, rec.Get("summary"))
		b.here().Title = clean(rec.Get("summary").Str)
	case "custom-title", "ai-title":
		b.here().Title = clean(first(rec, "customTitle", "aiTitle", "title").String())
	case "attachment":
		if a := rec.Get("attachment"); a.Get("type").Str == "queued_command" {
			m.Role = schema.RoleUser
			if mode := a.Get("commandMode").Str; mode != "" && mode != "prompt" {
				m.Kind = schema.KindContext
			}
			b.message(m, a.Get("prompt"))
		}
	}
}

func (b *builder) claudeMessage(m schema.Message, rec gjson.Result) {
	msg := rec.Get("message")
	m.Role = role(cmp.Or(msg.Get("role").Str, rec.Get("type").Str))
	content := msg.Get("content")
	if m.Role == "" || content.Type != gjson.String && !content.IsArray() {
		b.skip(m.Line, reasonNoContent)
		return
	}
	if s := b.here(); s.CWD == "" {
		s.CWD = clean(rec.Get("cwd").Str)
	}
	injected := rec.Get("isMeta").Bool() || rec.Get("isCompactSummary").Bool() ||
		rec.Get("isVisibleInTranscriptOnly").Bool()
	if rec.Get("isSidechain").Bool() {
		m.Author = cmp.Or(rec.Get("agentId").Str, "sidechain")
		// The prompt of a subagent is written by the agent that calls it.
		injected = injected || m.Role == schema.RoleUser
	}
	if injected {
		m.Kind = schema.KindContext
	}
	b.message(m, content)
}
