package format

import (
	"bytes"
	"strings"

	"axiommind/schema"
)

// aider reads a Markdown log of many sessions. Only their starts have a time, without a zone.
var aider = Format{
	Name: "aider", Title: "aider", Files: "chat history (Markdown)",
	Reference: "github.com/vshulcz/deja-vu, docs/registry/aider.md",
	Dirs:      []string{".aider.chat.history.md"},
	isText:    isAider, readText: parseAider,
}

const aiderStart = "# aider chat started at "

func isAider(head []byte) bool {
	return bytes.HasPrefix(head, []byte(aiderStart)) || bytes.Contains(head, []byte("\n"+aiderStart))
}

// parseAider reads a chat history of aider: "#### " opens the user's text, "> " the program's output, the rest is the
// model's.
func parseAider(s *source, b *builder) error {
	data, err := s.all()
	if err != nil {
		return err
	}
	var m schema.Message
	var body strings.Builder
	flush := func() {
		m.Text = trimBreaks(body.String())
		if strings.TrimSpace(m.Text) != "" {
			b.addApart(m)
		}
		body.Reset()
	}
	eachLine(string(data), func(n int, line string, _ bool) {
		if at, ok := strings.CutPrefix(line, aiderStart); ok {
			flush()
			at = strings.TrimSpace(at)
			b.startSession("aider-" + strings.NewReplacer(" ", "-", ":", "").Replace(at))
			b.current.includeTime(b.timeText(n, at))
			m = schema.Message{}
			return
		}
		next := schema.Message{Role: schema.RoleAssistant, Kind: schema.KindText, Line: n}
		switch {
		case strings.HasPrefix(line, "#### "):
			next.Role, line = schema.RoleUser, line[len("#### "):]
		case strings.HasPrefix(line, "> "), strings.TrimSpace(line) == ">":
			next.Role, next.Kind, line = schema.RoleSystem, schema.KindContext, strings.TrimPrefix(line[1:], " ")
		case strings.TrimSpace(line) == "" && m.Role != schema.RoleAssistant:
			flush()
			m = schema.Message{}
			return
		}
		if next.Role != m.Role {
			flush()
			m = next
		}
		body.WriteString(line)
	})
	flush()
	return nil
}
