package format

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"axiommind/schema"
)

// okf reads a concept of the Open Knowledge Format. Its head is context, with the sources, the checks and the end of validity
// that it claims, and its body is a statement by the actor who generated it. The body of a deprecated or
// stale concept is context, too.
// A concept of the type Session, as starter export writes it, has the messages of a session as they were.
var okf = Format{
	Name: "okf", Title: "Open Knowledge Format 0.2", Files: "concepts (Markdown with a YAML head)",
	Reference: "github.com/GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md",
	Dirs:      nowhere, migrated: true,
	isText: isConcept, readText: readConcept,
}

// Values of the key memory in the head of a concept, by which starter export marks the parts of a user's memory. They are no
// sessions: facts and the profile have a writer of their own, and the next dream makes core memory again.
const (
	OKFFact    = "fact"
	OKFProfile = "profile"
	OKFCore    = "core"
)

// isConcept recognizes a concept, or a head with an error in it.
func isConcept(head []byte) bool {
	n, err := readNote(head)
	return n.isConcept() || err != nil && !errors.Is(err, errNoHead)
}

// isConcept reports whether the note has a type. Index files and logs have none.
func (n note) isConcept() bool {
	return n.field("type") != "" && !slices.Contains([]string{OKFFact, OKFProfile, OKFCore}, n.field("memory"))
}

// footnote is the label of a source, or a span of code, where a label is text. definition is a line that defines a label.
var (
	footnote   = regexp.MustCompile("`+[^`]+`+|" + `\[\^[^\]\s]+\]`)
	definition = regexp.MustCompile(`^\[\^([^\]\s]+)\]:`)
)

// withoutFootnotes returns the body without the labels of its sources, and their definitions at its end.
func (n note) withoutFootnotes() string {
	ids := map[string]bool{}
	sources, _ := n.head["sources"].([]any)
	for _, s := range sources {
		if s, ok := s.(map[string]any); ok && s["id"] != nil {
			ids[fmt.Sprint(s["id"])] = true
		}
	}
	body := strings.TrimSpace(n.body)
	for {
		at := strings.LastIndexByte(body, '\n') + 1
		if found := definition.FindStringSubmatch(body[at:]); found == nil || !ids[found[1]] {
			break
		}
		body = strings.TrimSpace(body[:at])
	}
	var out strings.Builder
	f := fences{text: body}
	for at := 0; at < len(body); {
		_, next := lineAt(body, at)
		if f.enter(at); at < f.end {
			next = f.end
			out.WriteString(body[at:next])
		} else {
			out.WriteString(footnote.ReplaceAllStringFunc(body[at:next], func(label string) string {
				if strings.HasPrefix(label, "`") || !ids[label[2:len(label)-1]] {
					return label
				}
				return ""
			}))
		}
		at = next
	}
	return out.String()
}

func readConcept(s *source, b *builder) error {
	data, err := s.all()
	if err != nil {
		return err
	}
	n, err := readNote(data)
	if err != nil || !n.isConcept() {
		return cmp.Or(err, errNoHead)
	}
	b.sessionOf(n, n.field("session"))
	if described, ok := n.head["messages"].([]any); ok && n.field("type") == "Session" {
		return b.conversationOf(n, described)
	}
	m := recalled{
		by: cmp.Or(n.field("generated", "by"), "okf"), at: b.timeText(1, cmp.Or(n.field("generated", "at"), n.field("timestamp"))),
		ended: n.field("status") == "deprecated" || b.ended(1, n.field("stale_after")),
	}
	b.context(1, m, n.yaml)
	if m.text = strings.TrimSpace(n.withoutFootnotes()); m.text == "" {
		m.text = cmp.Or(n.field("description"), n.field("title"))
	}
	b.state(n.line, m)
	return nil
}

// conversationOf reads the messages of a session, which the head describes and the body holds as fenced blocks.
func (b *builder) conversationOf(n note, described []any) error {
	blocks := blocksOf(n.body)
	if len(described) != len(blocks) {
		return fmt.Errorf("the head describes %d messages and the body holds %d fenced blocks: restore the missing ones, or export the session again",
			len(described), len(blocks))
	}
	for i, d := range described {
		about := note{head: map[string]any{"m": d}}
		m := schema.Message{
			Role: schema.Role(about.field("m", "role")), Kind: schema.Kind(about.field("m", "kind")), Author: about.field("m", "author"),
			Tool: about.field("m", "tool"), CallID: about.field("m", "call_id"), SourceID: about.field("m", "id"),
			At: b.timeText(n.line+blocks[i].line, about.field("m", "at")), Line: n.line + blocks[i].line, Text: blocks[i].text,
		}
		if !slices.Contains(keptRoles, m.Role) || !slices.Contains(keptKinds, m.Kind) {
			b.skip(m.Line, reasonNoRecord)
			continue
		}
		m.Text = b.sanitize(m.Line, m.Text)
		b.redact(&m)
		b.append(m)
	}
	return nil
}

// block is a fenced block with its first line.
type block struct {
	line int
	text string
}

// blocksOf returns the fenced blocks of a text. A block ends at a line with exactly its fence.
func blocksOf(text string) (out []block) {
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		fence := strings.TrimRight(lines[i], "\n")
		ticks := strings.TrimSuffix(fence, "text")
		if len(ticks) < 3 || strings.Trim(ticks, "`") != "" {
			continue
		}
		var b strings.Builder
		from := i + 1
		for i++; i < len(lines) && strings.TrimRight(lines[i], "\n") != ticks; i++ {
			b.WriteString(lines[i])
		}
		out = append(out, block{from, strings.TrimSuffix(b.String(), "\n")})
	}
	return out
}

// Fence returns the fence of a block with the text: longer than any run of its mark in the text.
func Fence(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
