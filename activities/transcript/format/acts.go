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

// tool reads a call when its result is there and reports no failure.
type tool struct {
	read func(b *builder, c call)
	// answers says that only the harness writes the result, with the user's words. That holds in the harness's own
	// sessions: elsewhere a tool of the same name may be anyone's.
	answers bool
	// lists says that the call counts without a result.
	lists bool
}

// call is a call of a tool and its result.
type call struct {
	schema.Message
	args   gjson.Result
	result string
	// record is the harness's note of the result apart from its text.
	record gjson.Result
	// answers says that the result holds the user's words.
	answers bool
}

// allTools are the tools of the registry. Like marks they count in every session, but for the user's words.
var allTools = sync.OnceValue(func() tools {
	all := tools{}
	for _, f := range registry {
		for name, t := range f.tools {
			all[strings.ToLower(name)] = t
		}
	}
	return all
})

// answering are the tools whose results hold the user's words, by the name of the format and of the tool.
var answering = sync.OnceValue(func() map[[2]string]bool {
	all := map[[2]string]bool{}
	for _, f := range registry {
		for name, t := range f.tools {
			all[[2]string{f.Name, strings.ToLower(name)}] = t.answers
		}
	}
	return all
})

// acted takes note of a call by which the agent says something, and reads it when it is done. The message is redacted: a part
// of it may not show alone that it holds a secret.
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
			if t.lists {
				t.read(b, c)
			}
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
		name := strings.ToLower(c.Tool)
		c.result, c.record, c.At = m.Text, b.record, m.At
		c.answers = b.answering[[2]string{b.format, name}]
		switch words, refused := refusal(m.Text); {
		case refused && c.answers:
			b.says(c, schema.RoleUser, schema.KindText, words)
		case !refused && !b.failed:
			b.known[name].read(b, c)
		}
	}
}

// says adds the words of the agent, or of the user.
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
	"in_progress": "[/]", "in-progress": "[/]", "in progress": "[/]", "active": "[/]",
	"completed": "[x]", "done": "[x]", "complete": "[x]",
	"cancelled": "[-]", "canceled": "[-]", "deleted": "[-]", "removed": "[-]", "abandoned": "[-]", "skipped": "[-]", "blocked": "[!]",
}

// item is an item of a to-do list.
type item struct{ id, text, state string }

// todoList reads a list whose calls each give all items, unless a call asks to merge them. The paths lead to the list,
// which may be Markdown, and to the text and the state of an item.
func todoList(list, text, state string) tool {
	return tool{lists: true, answers: true, read: func(b *builder, c call) {
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

// maxItems bounds the items of a call. No agent works through more.
const maxItems = 1000

// listed adds the changes of the list: new items, and those whose state is another one. An item that a whole list no longer has is not
// said to be dropped: agents begin new lists.
func (b *builder) listed(c call, items []item, whole bool) {
	s := b.session()
	if len(items) > maxItems {
		return
	}
	byText, byID := map[string]int{}, map[string]int{}
	for n, o := range s.list {
		byText[o.text] = n
		if o.id != "" {
			byID[o.id] = n
		}
	}
	var lines []string
	now := make([]item, 0, len(items)+len(s.list))
	kept := make([]bool, len(s.list))
	for _, i := range items {
		i.text = strings.Join(strings.Fields(i.text), " ")
		n, known := byText[i.text]
		if same, found := byID[i.id]; found && (!known || !whole) {
			n, known = same, !whole || i.text == ""
		}
		before := item{}
		if known {
			before, kept[n] = s.list[n], true
		}
		mark := stateMarks[strings.ToLower(i.state)]
		i.text, i.state = cmp.Or(i.text, before.text), cmp.Or(mark, before.state)
		if i.text == "" || i.state == "" {
			continue
		}
		if i.text != before.text || i.state != before.state {
			lines = append(lines, "- "+i.state+" "+i.text)
		}
		now = append(now, i)
	}
	for n, o := range s.list {
		if !whole && !kept[n] && (o.state != "[x]" && o.state != "[-]" || len(now) < maxItems) {
			now = append(now, o)
		}
	}
	s.list = now
	b.says(c, schema.RoleAssistant, schema.KindTodo, strings.Join(lines, "\n"))
}

// reply reads a report of the agent to the user.
func reply(path string) tool {
	return tool{read: func(b *builder, c call) {
		c.CallID = "" // It asks for no answer.
		b.says(c, schema.RoleAssistant, schema.KindText, c.args.Get(path).String())
	}}
}

// memory reads a note that the agent keeps for later.
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
		case fenced, known[line], strings.HasPrefix(line, "#"), utf8.RuneCountInString(line)-redacted(line) < least:
		default:
			lines = append(lines, line)
		}
	}
	if len(lines) <= maxRules {
		b.says(c, schema.RoleAssistant, schema.KindRule, strings.Join(lines, "\n"))
	}
}

// redacted returns how many bytes of a line are placeholders of redacted text.
func redacted(line string) int {
	n := 0
	for _, place := range schema.Redactions(line) {
		n += place[1] - place[0]
	}
	return n
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

// byHarness makes a tool one of which the harness alone writes the result.
func byHarness(t tool) tool {
	t.answers = true
	return t
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
