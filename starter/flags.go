package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// oneOf checks that the flag's value is one of the known ones.
func oneOf[T ~string](flag string, value T, known []T) error {
	if slices.Contains(known, value) {
		return nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	return usagef("--%s %q: want one of %s", flag, value, strings.Join(names, ", "))
}

// oneOfOrNone is oneOf for an optional flag.
func oneOfOrNone[T ~string](flag string, value T, known []T) error {
	if value == "" {
		return nil
	}
	return oneOf(flag, value, known)
}

// parseTime parses a flag's value as a day or a time.
func parseTime(flag, value string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, usagef("--%s %q: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z", flag, value)
}

// Bounds of a list.
const (
	defaultPage = 50
	maxPage     = 1000
)

// page is the part of a list to show. All lists have the same two flags for it.
type page struct{ limit, offset, most int }

// add declares the flags.
func (p *page) add(f *pflag.FlagSet, limit, most int, order string) {
	p.most = most
	f.IntVar(&p.limit, "limit", limit, "how many at a time, "+order)
	f.IntVar(&p.offset, "offset", 0, "how many to skip: for the next ones, the number listed so far")
}

// check validates the flags.
func (p *page) check() error {
	switch {
	case p.limit < 1 || p.limit > p.most:
		return usagef("--limit %d: want 1 to %d", p.limit, p.most)
	case p.offset < 0:
		return usagef("--offset %d: want 0 or more", p.offset)
	}
	return nil
}

// ask returns how many rows to read: one more than to show, to detect whether there are more.
func (p *page) ask() int { return p.limit + 1 }

// list prints the rows of a page, of which one extra may have been read. If so, a line below shows how to see the next ones.
// With JSON output that line goes to stderr.
func list[T any](a *app, p *page, rows []T, none string, people func(w io.Writer, rows []T) error) error {
	more := len(rows) > p.limit
	rows = rows[:min(len(rows), p.limit)]
	if rows == nil {
		rows = []T{}
	}
	if len(rows) == 0 && p.offset == 0 {
		none = cmp.Or(a.emptyProject(), none)
	}
	if err := a.print(rows, func(w io.Writer) error { return p.print(w, len(rows), none, func() error { return people(w, rows) }) }); err != nil {
		return err
	}
	return a.closing(p, len(rows), more)
}

// print prints the rows, or the text none if there are no rows.
func (p *page) print(w io.Writer, rows int, none string, people func() error) error {
	switch {
	case rows > 0:
		return people()
	case p.offset > 0:
		none = fmt.Sprintf("nothing is left after the first %d", p.offset)
	}
	_, err := fmt.Fprintln(w, none)
	return err
}

// closing prints that there are more rows.
func (a *app) closing(p *page, rows int, more bool) error {
	if !more {
		return nil
	}
	w := a.out
	if a.output == outputJSON {
		w = a.errOut
	}
	_, err := fmt.Fprintf(w, "there are more: add --offset %d\n", p.offset+rows)
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
