package format

import (
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// codexHistory reads the prompts of many sessions, one a line, with their times in seconds since the epoch.
var codexHistory = Format{
	Name: "codex-history", Title: "Codex CLI", Files: "history.jsonl: the user's prompts",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/codex.md",
	Dirs:      []string{".codex/history.jsonl"},
	isRecord:  isCodexHistory, reader: stateless(codexHistoryRecord),
}

func isCodexHistory(rec gjson.Result) bool {
	return rec.Get("session_id").Exists() && rec.Get("ts").Type == gjson.Number &&
		rec.Get("text").Type == gjson.String && !rec.Get("role").Exists()
}

// codexHistoryRecord reads a line of history.jsonl, which holds the user's side of many sessions.
func codexHistoryRecord(b *builder, line int, rec gjson.Result) {
	if !isCodexHistory(rec) {
		b.skip(line, reasonNoRecord)
		return
	}
	b.useSession(rec.Get("session_id").String())
	b.text(schema.Message{Role: schema.RoleUser, At: b.time(line, rec.Get("ts")), Line: line}, rec.Get("text").Str)
}
