package format

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// Memory of other systems becomes sessions. The words of a person or an agent that a system has kept are messages of theirs.
// A system's own words are statements by it: they are extracted, prove nothing, and reach no prompt until a person or the
// user's own words confirm them. All else that it says of an item, such as its trust, is context: kept, and never extracted.

// recalled is an item of another system.
type recalled struct {
	// id, at and by are the system's.
	id   string
	at   time.Time
	by   string
	text string
	// ended is true if the system no longer believes the item.
	ended bool
}

// state adds the item to the current session. A long one is several statements.
func (b *builder) state(line int, m recalled) {
	for n := 1; len(m.text) > schema.MaxStatementBytes; n++ {
		first, id := m, m.id
		at := breakOf(m.text[:schema.MaxStatementBytes])
		first.text, m.text = m.text[:at], m.text[at:]
		if id != "" {
			first.id = id + "#" + strconv.Itoa(n)
		}
		b.state(line, first)
	}
	said := schema.Message{
		Role: schema.RoleAssistant, Kind: schema.KindStatement, Author: m.by, SourceID: m.id, At: m.at, Line: line, Text: trimBreaks(m.text),
	}
	if m.ended {
		said.Role, said.Kind = schema.RoleSystem, schema.KindContext
	}
	b.add(said)
}

// ended reports whether the time at which an item ends has come. One that cannot be read counts as past.
func (b *builder) ended(line int, at string) bool {
	return at != "" && !b.opts.Now.Before(b.timeText(line, at))
}

// own notes the user whom an item belongs to.
func (b *builder) own(user gjson.Result) {
	if name := user.String(); name != "" {
		b.owners[name] = true
	}
}

// checkMigrated returns an error if the file belongs to several users or nothing in it can be read. Where a file of Zep
// names several speakers, the words of the others become statements, which prove nothing.
func (b *builder) checkMigrated() error {
	if len(b.owners) > 1 {
		return fmt.Errorf("it holds memory of %d users, %s: split it by user_id, and migrate each part with --user",
			len(b.owners), language.Clip(strings.Join(slices.Sorted(maps.Keys(b.owners)), ", "), maxReason))
	}
	speakers, messages := map[string]bool{}, 0
	for _, s := range b.sessions {
		messages += len(s.Messages)
		for _, m := range s.Messages {
			if m.Trust() == schema.TrustUser && m.Author != "" {
				speakers[m.Author] = true
			}
		}
	}
	if first := b.firstSkip(); messages == 0 && first.Reason != "" {
		return fmt.Errorf("nothing in it can be read: line %d: %s: split it, or export it again", first.Line, first.Reason)
	}
	if len(speakers) < 2 || b.format != zep.Name {
		return nil
	}
	for _, s := range b.sessions {
		for i := range s.Messages {
			m := &s.Messages[i]
			if m.Trust() != schema.TrustUser || m.Author == "" || strings.EqualFold(m.Author, b.opts.User) {
				continue
			}
			m.Role, m.Kind = schema.RoleAssistant, schema.KindStatement
			if len(m.Text) > schema.MaxStatementBytes {
				m.Role, m.Kind = schema.RoleSystem, schema.KindContext
			}
		}
	}
	return nil
}

// firstSkip returns the first place that could not be read; empty for none.
func (b *builder) firstSkip() schema.Skipped {
	listed := b.pending.listed
	for _, s := range b.sessions {
		listed = append(listed, s.skips.listed...)
	}
	if len(listed) == 0 {
		return schema.Skipped{}
	}
	return listed[0]
}

// breakOf returns the place to divide a text that is too long: after a paragraph, a line, or a character.
func breakOf(text string) int {
	for _, mark := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(text, mark); at > 0 {
			return at + len(mark)
		}
	}
	for at := len(text); at > 0; at-- {
		if utf8.RuneStart(text[at-1]) {
			return max(at-1, 1)
		}
	}
	return len(text)
}

// claim adds the named fields of the item as context.
func (b *builder) claim(line int, m recalled, rec gjson.Result, fields ...string) {
	var parts []string
	for _, name := range fields {
		if v := rec.Get(name); v.Exists() && v.Type != gjson.Null && v.Raw != `""` && v.Raw != "[]" && v.Raw != "{}" {
			parts = append(parts, `"`+name+`": `+v.Raw)
		}
	}
	if len(parts) > 0 {
		b.context(line, m, "{"+strings.Join(parts, ", ")+"}")
	}
}

// context adds text that is kept and not extracted.
func (b *builder) context(line int, m recalled, text string) {
	if m.id != "" {
		m.id += "#about"
	}
	m.ended, m.text = true, text
	b.state(line, m)
}

// joined joins the parts of a session's id that are not empty.
func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "/")
}

// itemsOf returns the items of the first of the lists that is there, or the record itself.
func itemsOf(rec gjson.Result, lists ...string) []gjson.Result {
	for _, name := range lists {
		if list := rec.Get(name); list.IsArray() {
			return list.Array()
		}
	}
	if rec.IsArray() {
		return rec.Array()
	}
	return []gjson.Result{rec}
}

// note is a Markdown file with a YAML head.
type note struct {
	head map[string]any
	// yaml is the head as written, and body the rest, which begins at the line.
	yaml, body string
	line       int
}

// SplitHead splits a Markdown file into its YAML head and the rest, which begins at the line. It returns false if the file has
// no head.
func SplitHead(data []byte) (head, body string, line int, ok bool) {
	text := string(bytes.TrimPrefix(data, utf8BOM))
	if strings.HasPrefix(text, "---\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", 0, false
	}
	head, body, ok = strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix("\n"+strings.TrimRight(rest, " \n"), "\n---"); !ok {
			return "", "", 0, false
		}
	}
	return strings.TrimPrefix(head, "\n"), body, strings.Count(head, "\n") + 3, true
}

// errNoHead means that a file does not begin with a YAML mapping.
var errNoHead = errors.New("no YAML head")

// readNote reads a Markdown file. The error is errNoHead, or names the line of the head that is not YAML.
func readNote(data []byte) (n note, err error) {
	ok := false
	if n.yaml, n.body, n.line, ok = SplitHead(data); !ok {
		return n, errNoHead
	}
	// A line break in place of the first line makes YAML count as the file does.
	if err := yaml.Unmarshal([]byte("\n"+n.yaml), &n.head); err != nil {
		return n, fmt.Errorf("the head between the lines of --- is not valid YAML: %w: correct that line, such as by quotes around a value with a colon", err)
	}
	if n.head == nil {
		return n, errNoHead
	}
	return n, nil
}

// field returns a text of the head.
func (n note) field(names ...string) string {
	at := any(n.head)
	for _, name := range names {
		of, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = of[name]
	}
	switch v := at.(type) {
	case string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

// sessionOf makes the session of the note the current one: that with the id or, without one, that named after its file and
// directory, because many directories of a tree may have a file of the name.
func (b *builder) sessionOf(n note, id string) {
	if id == "" {
		dir, _ := path.Split(strings.ReplaceAll(b.opts.Name, `\`, "/"))
		if dir = path.Base(dir); dir == "." || dir == "/" {
			dir = ""
		}
		id = joined(dir, b.fallbackID)
	}
	b.useSession(id).Title = clean(n.field("title"))
}

// hasHead recognizes a note by its first bytes, which may end in the body. A head with an error in it is one.
func hasHead(head []byte) bool {
	n, err := readNote(head)
	return len(n.head) > 0 || err != nil && !errors.Is(err, errNoHead)
}
