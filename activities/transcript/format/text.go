package format

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"

	"axiommind/schema"
)

// plainText reads a conversation in which a line opens with the speaker's label: a word for a role in one of several
// languages, or a name that recurs. It has no times.
var plainText = Format{
	Name: "text", Title: "plain text", Files: "with speaker prefixes, such as \"User: \"",
	Reference: "no specification",
	Dirs:      nowhere,
	isText:    isPlainText, readText: parseText, anonymous: true,
}

// speakerWords are the labels of roles in plain text, in lower case.
var speakerWords = map[schema.Role]map[string]bool{
	schema.RoleUser: labelSet("user|human|you said|사용자|유저|用户|使用者|用戶|ユーザー|" +
		"utilisateur|usuario|benutzer|пользователь"),
	schema.RoleAssistant: labelSet("assistant|ai|bot|agent|claude|chatgpt|chatgpt said|gpt|gpt-4|gpt-4o|gemini|copilot|" +
		"claude code|codex|cursor|어시스턴트|도우미|인공지능|助手|助理|アシスタント|asistente|assistent|ассистент"),
	schema.RoleSystem: labelSet("system|시스템|系统|系統|システム"),
	schema.RoleTool:   labelSet("tool|tool result|function|도구|工具|ツール"),
}

func labelSet(labels string) map[string]bool {
	set := make(map[string]bool)
	for l := range strings.SplitSeq(labels, "|") {
		set[l] = true
	}
	return set
}

func speakerRole(label string) schema.Role {
	label = strings.ToLower(label)
	for r, words := range speakerWords {
		if words[label] {
			return r
		}
	}
	return ""
}

var (
	speakerLine = regexp.MustCompile(`^(?:\[[^\]\n]{1,40}\] ?)?(?:#{1,6} +)?(?:\*\*|__)?` +
		`([\p{L}][\p{L}\p{N} ._'()-]{0,39}?)(?:\*\*|__)? ?[:：](?:\*\*|__)?(?:[ \t]+|$)`)
	fullWidth   = regexp.MustCompile(`^([\p{L}][\p{L}\p{N}]{0,19})：`)
	headingLine = regexp.MustCompile(`^#{1,6} +(?:\*\*)?([\p{L}][\p{L}\p{N} -]{0,19}?)(?:\*\*)?[ \t]*$`)
)

// speaker returns the label that the line opens with, and the line after it.
func speaker(line string) (label, rest string, ok bool) {
	head := line[:min(len(line), 200)]
	if i := strings.IndexAny(head, "\r\n"); i >= 0 {
		head = head[:i]
	}
	for _, re := range []*regexp.Regexp{speakerLine, fullWidth} {
		if m := re.FindStringSubmatchIndex(head); m != nil {
			return strings.TrimSpace(head[m[2]:m[3]]), line[m[1]:], true
		}
	}
	if m := headingLine.FindStringSubmatch(head); m != nil && speakerRole(m[1]) != "" {
		return m[1], "", true
	}
	return "", "", false
}

// speakersOf returns a function that maps the labels of a text to speakers: words for roles if there are any, else the
// names that recur. It is nil when there are none. Strict asks for two names that recur.
func speakersOf(text string, strict bool) func(label string) (schema.Role, bool) {
	counts := make(map[string]int)
	known := false
	eachLine(text, func(_ int, line string, fenced bool) {
		if label, _, ok := speaker(line); ok && !fenced {
			counts[label]++
			r := speakerRole(label)
			known = known || r == schema.RoleUser || r == schema.RoleAssistant
		}
	})
	if known {
		return func(label string) (schema.Role, bool) {
			r := speakerRole(label)
			return r, r != ""
		}
	}
	names, recurring := make(map[string]bool), make(map[string]bool)
	for label, n := range counts {
		if !isName(label) {
			continue
		}
		names[label] = true
		if n > 1 {
			recurring[label] = true
		}
	}
	switch {
	case len(recurring) >= 2:
		names = recurring
	case strict || len(names) < 2:
		return nil
	}
	return func(label string) (schema.Role, bool) { return schema.RoleUser, names[label] }
}

// isName reports whether a label may be a person's name: at most three words, none in lower case.
func isName(label string) bool {
	words := strings.Fields(label)
	for _, w := range words {
		if unicode.IsLower([]rune(w)[0]) {
			return false
		}
	}
	return len(words) <= 3
}

func isPlainText(head []byte) bool {
	return bytes.IndexByte(head, 0) < 0 && speakersOf(string(head), true) != nil
}

// parseText reads a conversation in plain text: a message starts at a line with a speaker's label.
// A text without labels is one message of the user.
func parseText(s *source, b *builder) error {
	data, err := s.all()
	if err != nil {
		return err
	}
	text := string(data)
	b.session()
	who := speakersOf(text, false)
	if who == nil {
		b.text(schema.Message{Role: schema.RoleUser, Line: 1}, trimBreaks(text))
		return nil
	}
	m := schema.Message{Role: schema.RoleSystem, Kind: schema.KindContext, Line: 1}
	var body strings.Builder
	flush := func() {
		m.Text = trimBreaks(body.String())
		if strings.TrimSpace(m.Text) != "" {
			b.addApart(m)
		}
		body.Reset()
	}
	eachLine(text, func(n int, line string, fenced bool) {
		if label, rest, ok := speaker(line); ok && !fenced {
			if r, ok := who(label); ok {
				flush()
				m = schema.Message{Role: r, Kind: textKind(r), Line: n}
				if speakerRole(label) == "" {
					m.Author = label
				}
				line = rest
			}
		}
		body.WriteString(line)
	})
	flush()
	return nil
}

func textKind(r schema.Role) schema.Kind {
	switch r {
	case schema.RoleSystem:
		return schema.KindContext
	case schema.RoleTool:
		return schema.KindToolResult
	}
	return schema.KindText
}
