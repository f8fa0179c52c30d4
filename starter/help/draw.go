package help

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	source "github.com/yuin/goldmark/text"
)

// Bounds of the width of a drawn page, in columns.
const (
	narrowest = 40
	widest    = 100 // Longer lines are hard to read.
)

var (
	eventTable = regexp.MustCompile(`(?s)<!-- events -->.*?<!-- end of events -->\n?`)
	topicLink  = regexp.MustCompile(`^([a-z-]+)\.md(?:#.*)?$`)
)

// Draw returns the page as a terminal of the width, in columns, shows it, with or without colors. A link to another topic
// becomes the command that shows it. Comments, drawings and the table of events, which is too wide, are left out.
//
// Glamour would do this too, for 9 MB and 22 ms at the start of every command.
func (t Topic) Draw(width int, colored bool) string {
	page := []byte(eventTable.ReplaceAllString(t.Text, ""))
	d := drawer{page: page, colored: colored}
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(source.NewReader(page))
	return d.blocks(root, min(max(width, narrowest), widest), "\n\n") + "\n"
}

type drawer struct {
	page    []byte
	colored bool
}

// blocks draws the blocks below the node, joined by the separator.
func (d *drawer) blocks(parent ast.Node, width int, separator string) string {
	var drawn []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if block := d.block(n, width); block != "" {
			drawn = append(drawn, block)
		}
	}
	return strings.Join(drawn, separator)
}

func (d *drawer) block(n ast.Node, width int) string {
	switch n := n.(type) {
	case *ast.Heading:
		return d.color(strings.Repeat("#", n.Level)+" "+d.spans(n), text.Bold)
	case *ast.CodeBlock:
		return indent(string(n.Lines().Value(d.page)), "    ")
	case *ast.FencedCodeBlock:
		if string(n.Language(d.page)) == "mermaid" {
			return "A terminal does not show this drawing: read the page on the web."
		}
		return indent(string(n.Lines().Value(d.page)), "    ") // Not wrapped: a command is to be copied.
	case *ast.List:
		return d.list(n, width)
	case *tables.Table:
		return d.table(n, width)
	case *ast.HTMLBlock:
		return ""
	default: // A paragraph, or the text of a list item.
		return wrap(d.spans(n), width)
	}
}

func (d *drawer) list(list *ast.List, width int) string {
	var drawn []string
	for number, item := list.Start, list.FirstChild(); item != nil; number, item = number+1, item.NextSibling() {
		mark := "• "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
		}
		hang := strings.Repeat(" ", text.StringWidth(mark))
		body := indent(d.blocks(item, width-len(hang), "\n"), hang)
		drawn = append(drawn, mark+strings.TrimPrefix(body, hang))
	}
	return strings.Join(drawn, "\n")
}

// column is the width of a column of a table: that of its longest cell and of its longest word.
type column struct{ cell, word int }

// table draws a table. Columns that are too wide together get the same width.
func (d *drawer) table(n *tables.Table, width int) string {
	var rows []table.Row
	var columns []column
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells table.Row
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			spans := d.spans(cell)
			if len(cells) == len(columns) {
				columns = append(columns, column{})
			}
			c := &columns[len(cells)]
			c.cell = max(c.cell, text.StringWidthWithoutEscSequences(spans))
			for word := range strings.FieldsSeq(spans) {
				c.word = max(c.word, text.StringWidthWithoutEscSequences(word))
			}
			cells = append(cells, spans)
		}
		rows = append(rows, cells)
	}
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Options = table.Options{SeparateColumns: true, SeparateHeader: true}
	w.Style().Format.Header = text.FormatDefault
	w.AppendHeader(rows[0])
	w.AppendRows(rows[1:])
	most := widest
	for sum(columns, most) > width-3*len(columns) && most > 1 {
		most--
	}
	var configs []table.ColumnConfig
	for i, c := range columns {
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: c.width(most), WidthMaxEnforcer: wrap})
	}
	w.SetColumnConfigs(configs)
	return w.Render()
}

// width returns the width of the column, at most as given, but no word is broken.
func (c column) width(most int) int { return min(c.cell, max(c.word, most)) }

func sum(columns []column, most int) int {
	n := 0
	for _, c := range columns {
		n += c.width(most)
	}
	return n
}

// spans draws the words of a block. Line breaks within it are spaces.
func (d *drawer) spans(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(d.page))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			b.WriteString(d.color(d.spans(n), text.FgCyan))
		case *ast.Emphasis:
			b.WriteString(d.color(d.spans(n), text.Bold))
		case *ast.Link:
			b.WriteString(d.spans(n))
			to := string(n.Destination)
			if topic := topicLink.FindStringSubmatch(to); topic != nil {
				to = d.color("starter help "+topic[1], text.FgCyan)
			}
			if !strings.HasPrefix(to, "#") {
				b.WriteString(" (" + to + ")")
			}
		case *ast.AutoLink:
			b.Write(n.URL(d.page))
		case *ast.RawHTML:
			b.WriteByte(' ')
		default:
			b.WriteString(d.spans(n))
		}
	}
	return b.String()
}

// color colors each word by itself, so that a line may end after any.
func (d *drawer) color(s string, c text.Color) string {
	if !d.colored {
		return s
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		words[i] = c.EscapeSeq() + word + text.Reset.EscapeSeq()
	}
	return strings.Join(words, " ")
}

// wrap breaks a text between words. A word that is longer than the width stays whole.
func wrap(s string, width int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(s) {
		size := text.StringWidthWithoutEscSequences(word)
		switch {
		case at == 0:
		case at+1+size > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += size
	}
	return b.String()
}

// indent puts the prefix before each line that is not empty.
func indent(s, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		if line != "\n" {
			b.WriteString(prefix)
		}
		b.WriteString(line)
	}
	return b.String()
}
