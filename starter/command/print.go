package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	tabletext "github.com/jedib0t/go-pretty/v6/text"
	"github.com/rivo/uniseg"

	"axiommind/activities/fact"
	"axiommind/activities/text"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// GoneText describes why the fact is no longer remembered. It is empty if it is.
func GoneText(f fact.Fact) string {
	switch {
	case f.Status == fact.Active || f.Status == "":
		return ""
	case f.GoneReason == "":
		return ", " + string(f.Status)
	}
	return ", " + string(f.Status) + ": " + OneLine(f.GoneReason, 60)
}

// OrNull returns v for the JSON output, or nil if there is no value.
func OrNull(v any, there bool) any {
	if !there {
		return nil
	}
	return v
}

// OriginText describes the origin of a version.
func OriginText(v tier.VersionLine) string {
	switch v.Origin {
	case schema.OriginDream:
		if v.Date == "" {
			return fmt.Sprintf("dream %d", v.Dream)
		}
		return fmt.Sprintf("dream %d of %s", v.Dream, v.Date)
	case schema.OriginRestore:
		return fmt.Sprintf("restore of %d", v.Restored)
	case schema.OriginEdit:
	}
	return string(v.Origin)
}

// Print writes v as JSON, or the text for people, depending on --output. The result of a call is kept.
func (a *App) Print(v any, people func(b *strings.Builder)) error {
	var err error
	switch {
	case a.answer != nil:
		a.answer.take(v, people)
	case a.Output == OutputJSON:
		err = Encode(a.Exact, v)
	default:
		var b strings.Builder
		people(&b)
		_, err = io.WriteString(a.Out, b.String())
	}
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// Encode writes v as JSON. Control characters and invisible ones are escaped, so that programs read the same text.
func Encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	out := make([]byte, 0, b.Len())
	for rest := b.Bytes(); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case !text.Hidden(r):
			out = append(out, rest[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	_, err := w.Write(out)
	return err
}

// Say formats a line or a part of one. The arguments are untrusted: line breaks in them become spaces.
func Say(b *strings.Builder, format string, args ...any) {
	said := make([]any, len(args))
	for i, arg := range args {
		said[i] = inline(arg)
	}
	fmt.Fprintf(b, format, said...)
}

// inline removes line breaks from strings, errors and stringers. Other values stay as they are.
func inline(v any) any {
	switch v := v.(type) {
	case string:
		return Unbroken(v)
	case error:
		return Unbroken(v.Error())
	case fmt.Stringer:
		return Unbroken(v.String())
	}
	if value := reflect.ValueOf(v); value.Kind() == reflect.String {
		return Unbroken(value.String())
	}
	return v
}

// Unbroken replaces line breaks, with the spaces around them, by one space.
func Unbroken(s string) string {
	if strings.IndexFunc(s, breaksLine) < 0 {
		return s
	}
	parts := strings.FieldsFunc(s, breaksLine)
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return strings.Join(parts, " ")
}

func breaksLine(r rune) bool { return strings.ContainsRune("\t\n\v\f\r\u0085\u2028\u2029", r) }

// Block writes a text with a mark before each line, so that no line looks like the program's own output.
func Block(b *strings.Builder, mark, text string) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	fmt.Fprintf(b, "%s%s\n", mark, strings.ReplaceAll(text, "\n", "\n"+mark))
}

// LineWidth is the width of running text in columns.
const LineWidth = 100

// Hanging wraps the text so that no line exceeds lineWidth, given that columns precede the first line. The other lines are
// indented by columns.
func Hanging(words string, columns int) string {
	lines := strings.Split(tabletext.WrapSoft(Unbroken(words), LineWidth-columns), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", columns))
}

var wholeID = regexp.MustCompile(`"?\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"?`)

// ShortIDs shortens the ids in a text for people.
func ShortIDs(words string) string {
	return wholeID.ReplaceAllStringFunc(words, func(id string) string { return ShortID(strings.Trim(id, `"`)) })
}

// ManyLines is a cell of several lines. All other cells are one line.
type ManyLines []string

// Table writes a table without borders: a row of cells for each of the rows. The titles are separated by commas. One that begins
// with ">" is that of a column of numbers, some of which may be missing: it is aligned to the right.
func Table[T any](b *strings.Builder, titles string, rows []T, cells func(row T) []any) {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = tabletext.FormatUpper
	t.SuppressTrailingSpaces()
	t.SetStyle(style)
	var header table.Row
	var columns []table.ColumnConfig
	for i, title := range strings.Split(titles, ", ") {
		title, right := strings.CutPrefix(title, ">")
		if right {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: tabletext.AlignRight, AlignHeader: tabletext.AlignRight})
		}
		header = append(header, title)
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	for _, row := range rows {
		t.AppendRow(visible(cells(row)))
	}
	b.WriteString(t.Render() + "\n")
}

// LongTable is [Table] for the first [MaxTableRows] rows, and the number of the others. It writes nothing if there are no rows.
func LongTable[T any](b *strings.Builder, titles string, rows []T, cells func(row T) []any) {
	if len(rows) == 0 {
		return
	}
	Table(b, titles, rows[:min(len(rows), MaxTableRows)], cells)
	SayMore(b, "", len(rows)-MaxTableRows)
}

// SayMore says how many of a list a report leaves out, if any.
func SayMore(b *strings.Builder, indent string, more int) {
	if more > 0 {
		fmt.Fprintf(b, "%sand %d more: --output json lists all\n", indent, more)
	}
}

// visible escapes invisible characters in cells, so that columns line up. Only the lines of ManyLines stay apart.
func visible(cells []any) table.Row {
	shown := make(table.Row, len(cells))
	for i, cell := range cells {
		switch cell := inline(cell).(type) {
		case ManyLines:
			lines := make([]string, len(cell))
			for i, line := range cell {
				lines[i] = text.Visible(Unbroken(line))
			}
			shown[i] = strings.Join(lines, "\n")
		case string:
			shown[i] = text.Visible(cell)
		default:
			shown[i] = cell
		}
	}
	return shown
}

// OneLine converts a text to one line of at most n user-perceived characters.
func OneLine(s string, n int) string { return Excerpt(s, "", n) }

// maxExcerpted is how many bytes of a text are looked at for an excerpt.
const maxExcerpted = 64 << 10

// Excerpt is [OneLine] for a text that proves or matches a statement: it cuts around the part with the most words of the
// statement.
func Excerpt(s, statement string, n int) string {
	part, begins, ends := clipAround(s, statement)
	line := text.Visible(strings.Join(strings.Fields(part), " "))
	if !ends {
		line += "…"
	}
	if begins && (statement == "" || n < 3 || uniseg.GraphemeClusterCount(line) <= n) {
		return Cut(line, n)
	}
	stated, found := map[string]int{}, 0 // How often the part has each word of the statement, and how many it has.
	for word := range words(statement) {
		if isWord(word) {
			stated[text.Caseless(word)] = 0
		}
	}
	count := func(word string, by int) {
		word = text.Caseless(word)
		if before, is := stated[word]; is {
			stated[word] += by
			found += min(before+by, 1) - min(before, 1)
		}
	}
	all := slices.Collect(words(line))
	most, first, last := 0, 0, 0 // The best parts begin with the words from first to last.
	for begin, end, size := 0, 0, 0; end < len(all); begin++ {
		for ; end < len(all) && (end == begin || size+uniseg.GraphemeClusterCount(all[end]) <= n-2); end++ {
			count(all[end], 1)
			size += uniseg.GraphemeClusterCount(all[end])
		}
		switch {
		case found > most:
			most, first, last = found, begin, begin
		case found == most && last == begin-1:
			last = begin
		}
		count(all[begin], -1)
		size -= uniseg.GraphemeClusterCount(all[begin])
	}
	if first == 0 && begins {
		return Cut(line, n)
	}
	return "…" + Cut(strings.TrimSpace(strings.Join(all[(first+last)/2:], "")), n-1)
}

// clipAround returns the part of a long text around the first word of the statement that it has, and whether the text
// begins and ends with it.
func clipAround(s, statement string) (part string, begins, ends bool) {
	if len(s) <= maxExcerpted {
		return s, true, true
	}
	begin := 0
	for word := range words(statement) {
		if at := strings.Index(s, word); at >= 0 && isWord(word) {
			begin = max(0, at-maxExcerpted/2)
			break
		}
	}
	end := min(len(s), begin+maxExcerpted)
	return strings.ToValidUTF8(s[begin:end], ""), begin == 0, end == len(s)
}

func isWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// words yields the words of a text, and what is between them.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word, rest, state := "", s, -1; rest != ""; {
			if word, rest, state = uniseg.FirstWordInString(rest, state); !yield(word) {
				return
			}
		}
	}
}

// Cut shortens a text to n user-perceived characters.
func Cut(s string, n int) string {
	end, rest, state := 0, s, -1
	for count := 1; rest != "" && len(s) > n; count++ {
		if count > n {
			return s[:end] + "…"
		}
		if _, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state); count == n-1 {
			end = len(s) - len(rest)
		}
	}
	return s
}

// When formats a local time, or "-" for none.
func When(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// Plural returns the number with the right form of the noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ShellWord quotes a word for a POSIX shell if necessary, on one line.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(Unbroken(s), "'", `'\''`) + "'"
}

const (
	// MaxTableRows is how many sessions are shown one by one. A report of more sessions counts them and lists the failed
	// ones.
	MaxTableRows = 50
	// MaxListed bounds each list of such a report.
	MaxListed = 100
)

// ShortID returns the beginning of an id that people type.
func ShortID(id string) string { return id[:min(8, len(id))] }
