package format

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// tools are the tools of a harness by which an agent says something: to the user, or for later.
type tools map[string]tool

// tool reads a call once its result shows that it was done.
type tool struct {
	read func(b *builder, c call)
	// runs says that the result may be what a program wrote. Else the harness wrote it.
	runs bool
}

// call is a call of a tool and its result.
type call struct {
	schema.Message
	args   gjson.Result
	result string
	// record is what the harness notes of the result apart from its text.
	record gjson.Result
}

// allTools are the tools of the registry. Like marks they count in every session.
var allTools = sync.OnceValue(func() tools {
	all := tools{}
	for _, f := range registry {
		for name, t := range f.tools {
			all[strings.ToLower(name)] = t
		}
	}
	return all
})

// acted takes note of a call by which the agent says something, and reads it when it is done: with its result, or at once if
// the source does not tell which result belongs to it. The message holds its text as the source gives it.
func (b *builder) acted(m schema.Message) {
	s := b.session()
	switch m.Kind {
	case schema.KindToolCall:
		t, known := b.known[strings.ToLower(m.Tool)]
		if !known || b.err != nil {
			return
		}
		c := call{Message: m, args: gjson.Parse(m.Text)}
		if m.CallID == "" || b.noResults {
			t.read(b, c)
			return
		}
		if s.waiting == nil {
			s.waiting = map[string]call{}
		}
		s.waiting[m.CallID] = c
	case schema.KindToolResult:
		c, waits := s.waiting[m.CallID]
		if !waits {
			return
		}
		delete(s.waiting, m.CallID)
		t := b.known[strings.ToLower(c.Tool)]
		c.result, c.record, c.At = m.Text, b.record, m.At
		switch words, refused := refusal(m.Text); {
		case refused && !t.runs:
			b.says(c, schema.RoleUser, schema.KindText, words)
		case !refused && !b.failed:
			t.read(b, c)
		}
	}
}

// says adds what the agent, or the user, says by the call.
func (b *builder) says(c call, role schema.Role, kind schema.Kind, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	m := c.Message
	m.Role, m.Kind, m.Text, m.TakenOut = role, kind, text, nil
	if role == schema.RoleUser && kind == schema.KindText {
		b.addApart(m)
		return
	}
	b.add(m)
}

// The marks of the states of a list's item.
var stateMarks = map[string]string{
	"pending": "[ ]", "not_started": "[ ]", "not-started": "[ ]", "todo": "[ ]", "open": "[ ]", "": "[ ]",
	"in_progress": "[/]", "in-progress": "[/]", "active": "[/]",
	"completed": "[x]", "done": "[x]", "complete": "[x]",
	"cancelled": "[-]", "canceled": "[-]", "deleted": "[-]", "removed": "[-]", "blocked": "[!]",
}

// item is an item of a to-do list.
type item struct{ id, text, state string }

// todoList reads a list in which each call gives all items, unless it says that they are to be merged. The paths are those of
// the list, which may be Markdown, and of the text and the state of an item.
func todoList(list, text, state string) tool {
	return tool{read: func(b *builder, c call) {
		items := firstOf(c.args, list, "content")
		if items.Type == gjson.String {
			b.listed(c, boxes(items.Str), true)
			return
		}
		if !items.IsArray() {
			return
		}
		var all []item
		for _, i := range items.Array() {
			all = append(all, item{i.Get("id").String(), i.Get(text).String(), i.Get(state).String()})
		}
		b.listed(c, all, !c.args.Get("merge").Bool())
	}}
}

// boxes returns the items of a list in Markdown.
func boxes(list string) []item {
	var out []item
	for line := range strings.Lines(list) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+ ")
		if len(line) < 4 || line[0] != '[' || line[2] != ']' {
			continue
		}
		state := "pending"
		switch line[1] {
		case 'x', 'X':
			state = "completed"
		case '-', '/', '~', '>':
			state = "in_progress"
		}
		out = append(out, item{text: line[3:], state: state})
	}
	return out
}

// listed adds the changes of the list: new items, and those whose state is another one. An item that a whole list no longer has
// is dropped, unless it is done.
func (b *builder) listed(c call, items []item, whole bool) {
	s := b.session()
	var lines []string
	change := func(text, mark string) {
		lines = append(lines, "- "+mark+" "+text)
	}
	var now []item
	for _, i := range items {
		i.text = strings.Join(strings.Fields(i.text), " ")
		mark, known := stateMarks[strings.ToLower(i.state)]
		n := slices.IndexFunc(s.list, func(o item) bool {
			return o.text == i.text || i.id != "" && o.id == i.id && (!whole || i.text == "")
		})
		if i.text == "" && n >= 0 {
			i.text = s.list[n].text
		}
		if i.text == "" || !known {
			continue
		}
		i.state = mark
		if n < 0 || s.list[n].state != mark {
			change(i.text, mark)
		}
		now = append(now, i)
	}
	for _, o := range s.list {
		switch {
		case slices.ContainsFunc(now, func(i item) bool { return i.text == o.text || !whole && i.id != "" && i.id == o.id }):
		case !whole:
			now = append(now, o)
		case o.state != "[x]" && o.state != "[-]":
			change(o.text, "[-]")
		}
	}
	s.list = now
	b.says(c, schema.RoleAssistant, schema.KindTodo, strings.Join(lines, "\n"))
}

// reply reads what the agent reports to the user by a call.
func reply(path string) tool {
	return tool{read: func(b *builder, c call) { b.says(c, schema.RoleAssistant, schema.KindText, c.args.Get(path).String()) }}
}

// memory reads what the agent keeps for later.
func memory(paths ...string) tool {
	return tool{read: func(b *builder, c call) {
		if action := c.args.Get("action").Str; action == "remove" || action == "delete" {
			return
		}
		b.says(c, schema.RoleAssistant, schema.KindRule, firstOf(c.args, paths...).String())
	}}
}

// memorized returns an instruction that the user has typed for the agent's memory, if that is all the text.
func memorized(text string) (words string, ok bool) {
	words, opens := strings.CutPrefix(strings.TrimSpace(text), "<user-memory-input>")
	words, closes := strings.CutSuffix(words, "</user-memory-input>")
	words = strings.TrimSpace(words)
	return words, opens && closes && words != "" && !strings.Contains(words, "user-memory-input>")
}

// maxRules is the number of lines above which a change of a file is a document, which is found where it is.
const maxRules = 10

// instructs reports whether a file holds instructions for agents.
func instructs(file string) bool {
	file = strings.ToLower(strings.ReplaceAll(file, `\`, "/"))
	switch base := path.Base(file); base {
	case "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "qwen.md", "warp.md", "memory.md",
		"copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".roorules":
		return true
	}
	dir := path.Dir("/" + file)
	return slices.ContainsFunc([]string{"/.cursor/rules", "/.claude/rules", "/.clinerules", "/.windsurf/rules", "/.roo/rules"}, func(rules string) bool {
		return strings.HasSuffix(dir, rules)
	})
}

// rules adds the lines by which a change makes a file of instructions longer.
func (b *builder) rules(c call, file, before, after string) {
	if !instructs(file) {
		return
	}
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[strings.TrimSpace(line)] = true
	}
	var lines []string
	fenced := false
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		const least = 12
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced, known[line], strings.HasPrefix(line, "#"), utf8.RuneCountInString(line) < least:
		default:
			lines = append(lines, line)
		}
	}
	if len(lines) <= maxRules {
		b.says(c, schema.RoleAssistant, schema.KindRule, strings.Join(lines, "\n"))
	}
}

// edit reads a change of a file: of its names for the paths of the file, the text that is replaced, and the new text, each harness
// has its own. Several changes are a list.
func edit(list string) tool {
	return tool{read: func(b *builder, c call) {
		changes := []gjson.Result{c.args}
		if several := c.args.Get(list); list != "" && several.Exists() {
			changes = several.Array()
		}
		var before, after []string
		for _, change := range changes {
			before = append(before, firstOf(change, "old_string", "oldString", "old_str", "old_text", "oldText", "old", "before", "TargetContent").String())
			after = append(after, firstOf(change, "new_string", "newString", "new_str", "new_text", "newText", "new", "after", "ReplacementContent",
				"content", "contents", "file_text", "CodeContent").String())
		}
		file := firstOf(c.args, "file_path", "filePath", "path", "TargetFile").String()
		b.rules(c, file, strings.Join(before, "\n"), strings.Join(after, "\n"))
	}}
}

// patch reads a patch, by the paths that it may have. Without one, it is the whole text.
func patch(paths ...string) tool {
	return tool{read: func(b *builder, c call) { b.patched(c, cmp.Or(firstOf(c.args, paths...).String(), c.Text)) }}
}

// patched adds the lines that a patch adds to files of instructions.
func (b *builder) patched(c call, patch string) {
	file := ""
	var before, after []string
	flush := func() {
		b.rules(c, file, strings.Join(before, "\n"), strings.Join(after, "\n"))
		before, after = nil, nil
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		name, begins := strings.CutPrefix(line, "*** Update File: ")
		if !begins {
			name, begins = strings.CutPrefix(line, "*** Add File: ")
		}
		switch {
		case begins:
			flush()
			file = strings.TrimSpace(name)
		case strings.HasPrefix(line, "*** "):
			flush()
			file = ""
		case strings.HasPrefix(line, "+"):
			after = append(after, line[1:])
		case line != "":
			before = append(before, line[1:])
		}
	}
	flush()
}
