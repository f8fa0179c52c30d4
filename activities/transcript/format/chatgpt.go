package format

import (
	"strings"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// chatGPT reads an export: a list of conversations, each a tree of messages in which an edit is a branch.
// Times are seconds since the epoch, with fractions.
var chatGPT = Format{
	Name: "chatgpt", Title: "ChatGPT", Files: "export: conversations.json",
	Reference: "observed exports; OpenAI documents no schema",
	Dirs:      nowhere,
	isRecord:  isChatGPT, reader: stateless(chatGPTRecord), lists: true,
}

func isChatGPT(rec gjson.Result) bool {
	return rec.Get("mapping").IsObject() && (rec.Get("current_node").Exists() ||
		rec.Get("conversation_id").Exists() || rec.Get("create_time").Exists())
}

// chatGPTRecord reads a conversation of an export, or a list of them.
func chatGPTRecord(b *builder, line int, rec gjson.Result) {
	if rec.IsArray() {
		rec.ForEach(func(_, one gjson.Result) bool {
			chatGPTRecord(b, line, one)
			return true
		})
		return
	}
	if !rec.Get("mapping").IsObject() {
		b.skip(line, reasonNoRecord)
		return
	}
	s := b.useSession(firstOf(rec, "conversation_id", "id").String())
	s.Title = clean(rec.Get("title").Str)
	s.includeTime(b.time(line, rec.Get("create_time")))
	s.includeTime(b.time(line, rec.Get("update_time")))
	for _, node := range chatGPTPath(rec) {
		if msg := node.Get("message"); msg.IsObject() {
			b.chatGPTMessage(line, msg)
		}
	}
}

// chatGPTPath returns the nodes from the root to the current node: the branch that the user sees.
// Without a current node it follows the last child, which is the latest edit.
func chatGPTPath(rec gjson.Result) []gjson.Result {
	nodes := make(map[string]gjson.Result)
	root := ""
	rec.Get("mapping").ForEach(func(id, node gjson.Result) bool {
		nodes[id.Str] = node
		if parent := node.Get("parent"); root == "" && (parent.Str == "" || !parent.Exists()) {
			root = id.Str
		}
		return true
	})
	var path []gjson.Result
	seen := make(map[string]bool)
	visit := func(id string) (gjson.Result, bool) {
		node, ok := nodes[id]
		if !ok || seen[id] {
			return node, false
		}
		seen[id] = true
		path = append(path, node)
		return node, true
	}
	if node, ok := visit(rec.Get("current_node").Str); ok {
		for ok {
			node, ok = visit(node.Get("parent").Str)
		}
		for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
			path[i], path[j] = path[j], path[i]
		}
		return path
	}
	for node, ok := visit(root); ok; {
		children := node.Get("children").Array()
		if len(children) == 0 {
			break
		}
		node, ok = visit(children[len(children)-1].Str)
	}
	return path
}

func (b *builder) chatGPTMessage(line int, msg gjson.Result) {
	m := schema.Message{
		Role:     role(msg.Get("author.role").Str),
		At:       b.time(line, msg.Get("create_time")),
		SourceID: msg.Get("id").Str,
		Line:     line,
	}
	if m.Role == "" {
		b.skip(line, "message without a known role")
		return
	}
	name := msg.Get("author.name").Str
	if m.Role == schema.RoleTool {
		m.Tool = name
	} else {
		m.Author = name
	}
	if msg.Get("metadata.is_visually_hidden_from_conversation").Bool() {
		m.Kind = schema.KindContext
	}
	content := msg.Get("content")
	to := msg.Get("recipient").Str
	if m.Role == schema.RoleAssistant && to != "" && to != "all" {
		m.Kind, m.Tool = schema.KindToolCall, to
		m.Text = strings.Join(chatGPTTexts(content), "\n")
		b.add(m)
		return
	}
	switch content.Get("content_type").Str {
	case "user_editable_context", "model_editable_context":
		m.Kind = schema.KindContext
	case "thoughts", "reasoning_recap":
		m.Kind = schema.KindThinking
	}
	for _, text := range chatGPTTexts(content) {
		b.text(m, text)
	}
	content.Get("parts").ForEach(func(_, p gjson.Result) bool {
		if kind := p.Get("content_type").Str; strings.HasSuffix(kind, "_pointer") {
			at := m
			at.Kind, at.Text, at.CallID = schema.KindContext, "["+strings.TrimSuffix(kind, "_asset_pointer")+"]", ""
			b.add(at)
		}
		return true
	})
}

// chatGPTTexts returns the texts of a content of any type.
func chatGPTTexts(content gjson.Result) []string {
	var texts []string
	add := func(v gjson.Result) {
		if v.Type == gjson.String && v.Str != "" {
			texts = append(texts, v.Str)
		}
	}
	content.Get("parts").ForEach(func(_, p gjson.Result) bool {
		add(p)
		add(p.Get("text"))
		return true
	})
	content.Get("thoughts").ForEach(func(_, t gjson.Result) bool {
		add(firstOf(t, "content", "summary"))
		return true
	})
	for _, field := range []string{"text", "result", "content", "user_profile", "user_instructions", "model_set_context"} {
		add(content.Get(field))
	}
	return texts
}
