package format

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"axiommind/schema"
)

// claudeMem reads the file that claude-mem's script export-memories writes: the prompts of the user, in the user's own words,
// and the observations and summaries of its model. A session's items are in the order of their times.
var claudeMem = Format{
	Name: "claude-mem", Title: "claude-mem", Files: "export (JSON)",
	Reference: "github.com/thedotmack/claude-mem, scripts/export-memories.ts and docs/public/usage/export-import.mdx",
	Dirs:      nowhere, migrated: true, anonymous: true,
	isRecord: func(rec gjson.Result) bool {
		return rec.Get("exportedAt").Exists() && (rec.Get("observations").Exists() || rec.Get("totalObservations").Exists())
	},
	reader: stateless(claudeMemExport),
}

// claudeMemItem is an item with its session and list.
type claudeMemItem struct {
	gjson.Result
	session, list string
}

func claudeMemExport(b *builder, line int, rec gjson.Result) {
	// The program's own session id of a memory session.
	own := map[string]string{}
	for _, s := range rec.Get("sessions").Array() {
		memory, content := firstOf(s, "memory_session_id", "sdk_session_id").String(), firstOf(s, "content_session_id", "claude_session_id").String()
		if memory != "" && content != "" {
			own[memory] = content
		}
	}
	var items []claudeMemItem
	for _, list := range []string{"prompts", "observations", "summaries"} {
		for _, item := range rec.Get(list).Array() {
			id := firstOf(item, "content_session_id", "claude_session_id").String()
			if id == "" {
				id = firstOf(item, "memory_session_id", "sdk_session_id").String()
				if content := own[id]; content != "" {
					id = content
				}
			}
			items = append(items, claudeMemItem{item, joined("claude-mem", id), list})
		}
	}
	slices.SortStableFunc(items, func(x, y claudeMemItem) int {
		return cmp.Compare(x.Get("created_at_epoch").Float(), y.Get("created_at_epoch").Float())
	})
	for _, item := range items {
		b.useSession(item.session)
		if b.current.CWD == "" {
			b.current.CWD = clean(firstOf(item.Result, "project").String())
		}
		item.read(b, line)
	}
}

func (i claudeMemItem) read(b *builder, line int) {
	m := recalled{by: "claude-mem", at: b.time(line, firstOf(i.Result, "created_at", "created_at_epoch"))}
	if id := i.Get("id").String(); id != "" {
		m.id = i.list + "/" + id
	}
	if i.list == "prompts" {
		b.addApart(schema.Message{Role: schema.RoleUser, Kind: schema.KindText, SourceID: m.id, At: m.at, Line: line, Text: firstOf(i.Result, "prompt_text", "prompt").String()})
		return
	}
	var parts []string
	for _, name := range []string{"title", "subtitle", "narrative", "text", "facts", "request", "investigated", "learned", "completed", "next_steps", "notes"} {
		parts = append(parts, claudeMemTexts(i.Get(name))...)
	}
	m.text = strings.Join(parts, "\n")
	b.claim(line, m, i.Result, "type", "project", "concepts", "files_read", "files_modified", "prompt_number")
	b.state(line, m)
}

// claudeMemTexts returns the texts of a field: a text, a list, or the JSON of a list.
func claudeMemTexts(v gjson.Result) (texts []string) {
	list := v
	if v.Type == gjson.String && strings.HasPrefix(v.Str, "[") && gjson.Valid(v.Str) {
		list = gjson.Parse(v.Str)
	}
	if !list.IsArray() {
		if text := strings.TrimSpace(v.String()); text != "" {
			texts = append(texts, text)
		}
		return texts
	}
	for _, item := range list.Array() {
		if text := strings.TrimSpace(item.String()); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
