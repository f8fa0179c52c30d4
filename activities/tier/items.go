package tier

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// ParseCore returns the items that a MEMORY.md states, without sources.
//
// An item is an entry of a list, with its indented content, nested lists and code, or a paragraph, with the list below
// it if it ends in a colon. Its heading is the one before it, with the headings around that one. No word is lost: a
// heading with nothing below it, not even a heading, is an item.
func ParseCore(text string) []schema.CoreItem {
	items, _ := parseItems(text, true)
	return items
}

// RenderCore returns the MEMORY.md with the items, which are grouped by their headings in the order in which these come
// first. A heading within another one follows it: the outermost has two marks. Items without a heading come before all
// others, and those of a heading before the headings within it.
func RenderCore(items []schema.CoreItem) string { return renderCore(items, 2) }

// renderCore is [RenderCore] with outermost headings of the level.
func renderCore(items []schema.CoreItem, outermost int) string {
	var b strings.Builder
	var before []string
	for _, item := range grouped(items) {
		path := headingParts(item.Heading)
		if !slices.Equal(path, before) {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			for level, part := range path {
				if level >= len(before) || !slices.Equal(path[:level+1], before[:level+1]) {
					b.WriteString(strings.Repeat("#", level+outermost) + " " + part + "\n\n")
				}
			}
			before = path
		}
		renderItem(&b, item.Text)
	}
	return b.String()
}

// grouped returns the items in the order in which they are rendered.
func grouped(items []schema.CoreItem) []schema.CoreItem {
	root := headingNode{}
	for _, item := range items {
		root.under(headingParts(item.Heading)).add(item)
	}
	return root.appendTo(make([]schema.CoreItem, 0, len(items)))
}

// headingNode is a heading with the items and headings below it.
type headingNode struct {
	items  []schema.CoreItem
	within map[string]*headingNode
	order  []*headingNode
}

func (n *headingNode) add(item schema.CoreItem) { n.items = append(n.items, item) }

// under returns the node of a path.
func (n *headingNode) under(path []string) *headingNode {
	for _, part := range path {
		next := n.within[part]
		if next == nil {
			if n.within == nil {
				n.within = map[string]*headingNode{}
			}
			next = &headingNode{}
			n.within[part], n.order = next, append(n.order, next)
		}
		n = next
	}
	return n
}

func (n *headingNode) appendTo(items []schema.CoreItem) []schema.CoreItem {
	items = append(items, n.items...)
	for _, next := range n.order {
		items = next.appendTo(items)
	}
	return items
}

func renderItem(b *strings.Builder, text string) {
	text = closeFence(text)
	lead := "- "
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			b.WriteString(lead + line)
		}
		b.WriteString("\n")
		lead = "  "
	}
}

// closeFence closes an open code fence, which would otherwise include the text after it.
func closeFence(text string) string {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		open = fenceAfter(open, line)
	}
	if open == "" {
		return text
	}
	return text + "\n" + open
}

// lines reads any break of a line as LF, and bytes that are no UTF-8 as U+FFFD.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func plainLines(text string) string {
	return lines.Replace(strings.ToValidUTF8(text, "\ufffd"))
}

// itemParser reads the items of Markdown line by line.
type itemParser struct {
	items []schema.CoreItem
	// headings are those that are open, the outermost first.
	headings []openHeading
	// all makes items of headings without content.
	all bool
	// units separates code from the text above it, if that does not end in a colon.
	units bool
	// used are the headings with items, in order.
	used []string

	// open reports whether an item is being read: its lines, and how far its mark and its text are indented.
	open          bool
	lines         []string
	base, content int
	// entry is true if the item has a mark, and leads if a list below it is a part of it.
	entry, leads bool
	// entries reports for each item whether it has a mark.
	entries []bool
	// fence is the mark of the block of code that is open, and blank is true behind a blank line.
	fence string
	blank bool
}

// openHeading is a heading below which lines are read.
type openHeading struct {
	level int
	text  string
	// own is the number of items when it began, and holds is true if a heading began within it.
	own   int
	holds bool
}

// parseItems returns the items of a text, and their headings. If all is true, a heading without items is one.
func parseItems(text string, all bool) ([]schema.CoreItem, []string) {
	p := itemParser{all: all}
	for line := range strings.SplitSeq(plainLines(text), "\n") {
		p.line(line)
	}
	p.endHeadings(0)
	return p.items, p.used
}

// unitsOf returns the units of a text, without its headings.
func unitsOf(text string) []unit {
	p := itemParser{units: true}
	for line := range strings.SplitSeq(plainLines(text), "\n") {
		p.line(line)
	}
	p.endHeadings(0)
	units := make([]unit, len(p.items))
	for i, item := range p.items {
		units[i] = unit{item.Text, p.entries[i]}
	}
	return units
}

func (p *itemParser) line(line string) {
	if p.fence != "" {
		p.append(line)
		return
	}
	indent, rest := indentOf(line)
	rest = strings.TrimRightFunc(rest, unicode.IsSpace)
	if rest == "" {
		p.blank = true
		return
	}
	mark := bullet(rest)
	heading, level := headingOf(rest)
	switch {
	case p.open && indent > p.base && (mark == 0 || indent >= p.base+2):
		p.append(line)
	case isRule(rest):
		p.end()
	case level > 0:
		p.beginHeading(heading, level)
	case mark > 0 && p.followsColon():
		p.leads = true
		p.append(line)
	case mark > 0:
		p.begin(indent, indent+mark, rest[mark:])
		p.entry = true
	case p.open && (!p.blank || fenceAfter("", rest) != "" && p.takesCode()):
		p.append(line)
	default:
		p.begin(indent, indent, rest)
	}
}

// followsColon reports whether a list that begins or goes on here belongs to the paragraph above it, which ends in a colon.
func (p *itemParser) followsColon() bool {
	if !p.open || p.entry {
		return false
	}
	return p.leads || endsInColon(p.lines[len(p.lines)-1])
}

// takesCode reports whether a block of code behind a blank line belongs to the item above it.
func (p *itemParser) takesCode() bool {
	return !p.units || endsInColon(p.lines[len(p.lines)-1])
}

// endsInColon reports whether a line ends in a colon, but for marks of emphasis.
func endsInColon(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \t*_~`"))
	return strings.ContainsRune(":：﹕︰", r)
}

// begin begins an item. Its text has no mark.
func (p *itemParser) begin(base, content int, text string) {
	p.end()
	p.open, p.base, p.content, p.blank = true, base, content, false
	p.lines = append(p.lines, strings.TrimSpace(text))
	p.fence = fenceAfter("", text)
}

// append adds a line to the item.
func (p *itemParser) append(line string) {
	line = strings.TrimRightFunc(dedent(line, p.content), unicode.IsSpace)
	if p.blank {
		p.lines = append(p.lines, "")
		p.blank = false
	}
	p.lines = append(p.lines, line)
	p.fence = fenceAfter(p.fence, line)
}

// end ends the item.
func (p *itemParser) end() {
	if p.open {
		p.add(strings.TrimSpace(closeFence(strings.Join(p.lines, "\n"))))
	}
	p.open, p.lines, p.fence, p.blank = false, nil, "", false
	p.entry, p.leads = false, false
}

func (p *itemParser) add(text string) {
	if onlyMarks(text) {
		return
	}
	heading := p.heading()
	p.items = append(p.items, schema.CoreItem{Text: text, Heading: heading})
	p.entries = append(p.entries, p.entry)
	if n := len(p.used); heading != "" && (n == 0 || p.used[n-1] != heading) {
		p.used = append(p.used, heading)
	}
}

func onlyMarks(text string) bool { return strings.Trim(text, " \n\t-*_=+#>`~|") == "" }

// heading returns the path of the headings that are open.
func (p *itemParser) heading() string {
	var parts []string
	for _, h := range p.headings {
		parts = append(parts, h.text)
	}
	if n := maxHeadings; len(parts) > n {
		parts = append(parts[:n-1:n-1], strings.Join(parts[n-1:], headingSeparator))
	}
	return strings.Join(parts, "\n")
}

// beginHeading begins a heading of a level. One without a text only ends others: it does not count as content of those
// around it.
func (p *itemParser) beginHeading(text string, level int) {
	p.endHeadings(level)
	if onlyMarks(text) {
		return
	}
	for i := range p.headings {
		p.headings[i].holds = true
	}
	p.headings = append(p.headings, openHeading{level: level, text: text, own: len(p.items)})
}

// endHeadings ends the headings from a level on. A heading without content is an item.
func (p *itemParser) endHeadings(level int) {
	p.end()
	for n := len(p.headings) - 1; n >= 0 && p.headings[n].level >= level; n-- {
		h := p.headings[n]
		p.headings = p.headings[:n]
		if p.all && len(p.items) == h.own && !h.holds {
			p.add(h.text)
		}
	}
}

// tab is the width of a tab.
const tab = 4

// indentOf returns how far a line is indented, and the rest of it.
func indentOf(line string) (width int, rest string) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			width++
		case '\t':
			width += tab
		default:
			return width, line[i:]
		}
	}
	return width, ""
}

// dedent takes an indentation of as much as the width off a line.
func dedent(line string, width int) string {
	for width > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		width--
		if line[0] == '\t' {
			width -= tab - 1
		}
		line = line[1:]
	}
	return line
}

// bullet returns how many bytes the mark of a list's entry takes with the white space behind it, or 0: a hyphen, an
// asterisk, a plus, a dot, or a number of up to three digits.
func bullet(line string) int {
	r, n := utf8.DecodeRuneInString(line)
	if digits := len(line) - len(strings.TrimLeft(line, "0123456789")); 0 < digits && digits <= 3 {
		if n = digits + 1; n > len(line) || line[digits] != '.' && line[digits] != ')' {
			return 0
		}
	} else if !strings.ContainsRune("-*+•", r) {
		return 0
	}
	text := strings.TrimLeft(line[n:], " \t")
	if spaces := len(line) - n - len(text); spaces > 0 || text == "" {
		return n + spaces
	}
	return 0
}

// headingOf returns the text of a heading, and its level, or 0 if the line is none.
func headingOf(line string) (string, int) {
	text := strings.TrimLeft(line, "#")
	level := len(line) - len(text)
	if level == 0 || level > 6 || text != "" && text[0] != ' ' && text[0] != '\t' {
		return "", 0
	}
	text = strings.TrimSpace(text)
	if end := strings.TrimRight(text, "#"); end == "" || strings.HasSuffix(end, " ") {
		text = strings.TrimSpace(end)
	}
	return text, level
}

// isRule reports whether a line is a rule between sections, or the line under a heading.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, line[:1]) == "" && strings.ContainsRune("-*_=", rune(line[0]))
}

// fenceAfter returns the mark of the block of code that is open behind a line, if the one with the mark open was before
// it. There is none if it is empty.
func fenceAfter(open, line string) string {
	line = strings.TrimSpace(line)
	if open != "" {
		if strings.HasPrefix(line, open) && strings.Trim(line, open[:1]) == "" {
			return ""
		}
		return open
	}
	for n := bullet(line); n > 0; n = bullet(line) {
		line = line[n:]
	}
	return fenceOf(line)
}

// fenceOf returns the mark of a line that opens a block of code.
func fenceOf(line string) string {
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return ""
	}
	info := strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(info, "`") {
		return ""
	}
	return line[:len(line)-len(info)]
}
