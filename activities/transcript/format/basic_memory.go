package format

import (
	"cmp"
	"regexp"
	"strings"
)

// basicMemory reads a note of Basic Memory: a YAML head, prose, observations and relations. Relations are context.
var basicMemory = Format{
	Name: "basic-memory", Title: "Basic Memory", Files: "notes (Markdown with a YAML head)",
	Reference: "docs.basicmemory.com/concepts/knowledge-format; github.com/basicmachines-co/basic-memory, NOTE-FORMAT.md",
	Dirs:      nowhere, migrated: true,
	isText: hasHead, readText: readBasicMemory,
}

var (
	observation = regexp.MustCompile(`^\s*[-*] \[([^\[\]()]{2,})\] (\S.*)$`)
	relation    = regexp.MustCompile(`^\s*[-*] [^\[\]]*\[\[[^\]]+\]\]`)
)

func readBasicMemory(s *source, b *builder) error {
	data, err := s.all()
	if err != nil {
		return err
	}
	n, err := readNote(data)
	if err != nil || len(n.head) == 0 {
		return cmp.Or(err, errNoHead)
	}
	b.sessionOf(n, n.field("permalink"))
	m := recalled{by: "basic-memory", at: b.timeText(1, cmp.Or(n.field("modified"), n.field("created"), n.field("created_at"), n.field("date")))}
	b.context(1, m, n.yaml)
	var prose strings.Builder
	from := n.line
	flush := func(next int) {
		if strings.TrimSpace(prose.String()) != "" {
			m.text = prose.String()
			b.state(from, m)
		}
		prose.Reset()
		from = next
	}
	eachLine(n.body, func(i int, line string, fenced bool) {
		at := n.line + i - 1
		bare := strings.TrimRight(line, "\r\n")
		switch found := observation.FindStringSubmatch(bare); {
		case fenced:
			prose.WriteString(line)
		case found != nil:
			flush(at + 1)
			b.context(at, m, "["+found[1]+"]")
			m.text = found[2]
			b.state(at, m)
		case relation.MatchString(bare):
			flush(at + 1)
			b.context(at, m, bare)
		case strings.TrimSpace(bare) == "## Observations", strings.TrimSpace(bare) == "## Relations":
		default:
			prose.WriteString(line)
		}
	})
	flush(0)
	return nil
}
