package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrAmbiguous is wrapped if several ids begin with the given text.
var ErrAmbiguous = errors.New("ambiguous")

// MinPrefix is the minimum length of an id's prefix. Lists print eight characters.
const MinPrefix = 4

// MostPrefixed is how many ids with a prefix should be read: enough to see that the prefix is ambiguous and to name
// some of them.
const MostPrefixed = 3

// Prefix is an id, or the beginning of one, as typed by a person.
type Prefix struct {
	// What is the kind of thing it names, and Where the place to look for it, such as "entry" and "project \"demo\"".
	// Without What, the errors do not repeat Given.
	What, Where string
	Given       string
	// NotFound is wrapped by the error for a text that names nothing. Ambiguous, by default [ErrAmbiguous], is
	// wrapped by the error for a text that names several things.
	NotFound, Ambiguous error
}

// Text returns the text that the ids must begin with.
func (p Prefix) Text() string { return strings.ToLower(strings.TrimSpace(p.Given)) }

// Long reports whether the text is long enough to search for ids that begin with it.
func (p Prefix) Long() bool { return len(p.Text()) >= MinPrefix }

// ProjectsWith returns the projects of the rows whose id begins with the text. It returns nothing else of a project, and so is
// the only read of several.
func ProjectsWith(ctx context.Context, conn Conn, from, id, text string) (projects []string, err error) {
	p := Prefix{Given: text}
	if !p.Long() {
		return nil, nil
	}
	err = Query(ctx, conn, Column(&projects), "SELECT DISTINCT project FROM "+from+" WHERE startsWith("+id+", ?) ORDER BY project LIMIT ?", p.Text(), MostPrefixed)
	if err != nil {
		return nil, fmt.Errorf("find the projects with id %q: %w", text, err)
	}
	return projects, nil
}

// Pick chooses from the ids that begin with the text, of which up to [MostPrefixed] were read. It returns the id that
// equals the text, or else the only one.
func (p Prefix) Pick(ids []string) (string, error) {
	switch {
	case len(ids) == 0 || !p.Long():
		return "", p.Missing("")
	case len(ids) == 1:
		return ids[0], nil
	}
	for _, id := range ids {
		if id == p.Text() {
			return id, nil
		}
	}
	return "", p.Several(ids)
}

// Choose is [Prefix.Pick] for the rows with such ids.
func Choose[T any](p Prefix, rows []T, idOf func(T) string) (none T, err error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = idOf(row)
	}
	picked, err := p.Pick(ids)
	if err != nil {
		return none, err
	}
	return rows[slices.Index(ids, picked)], nil
}

// Several returns the error for a text that several ids begin with. Up to [MostPrefixed] of them are given.
func (p Prefix) Several(ids []string) error {
	more, reason := "", p.Ambiguous
	if len(ids) >= MostPrefixed {
		more = " and perhaps more"
	}
	if reason == nil {
		reason = ErrAmbiguous
	}
	return p.named(fmt.Errorf("%w: %s%s begin with it: give more of the id", reason, strings.Join(ids, ", "), more))
}

// Missing returns the error for a text that names nothing. Hint names another form of input, such as "a title".
func (p Prefix) Missing(hint string) error {
	if hint != "" {
		hint = ", " + hint
	}
	return p.named(fmt.Errorf("%w: give an id, the first %d or more characters of one%s", p.NotFound, MinPrefix, hint))
}

// named puts the name of the thing before the error.
func (p Prefix) named(err error) error {
	if p.What == "" {
		return err
	}
	name := fmt.Sprintf("%s %q", p.What, p.Given)
	if p.Where != "" {
		name += " in " + p.Where
	}
	return fmt.Errorf("%s: %w", name, err)
}
