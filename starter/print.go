package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// print writes v as JSON, or lets people's text be written.
func (a *app) print(v any, people func(w io.Writer) error) error {
	if a.output == "json" {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	}
	if err := people(a.out); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// newTable returns a table without lines, as other command lines have it.
func newTable(w io.Writer, header ...string) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SuppressTrailingSpaces()
	style.Format.Header = text.FormatUpper
	t.SetStyle(style)
	row := make(table.Row, len(header))
	for i, h := range header {
		row[i] = h
	}
	t.AppendHeader(row)
	return t
}

// rightAligned are columns of numbers, some of which may be missing.
func rightAligned(first, last int) (columns []table.ColumnConfig) {
	for n := first; n <= last; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return columns
}

// oneLine shortens a text to fit a cell of n runes.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
