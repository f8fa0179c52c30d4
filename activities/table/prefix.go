package table

import (
	"errors"
	"fmt"
	"strings"
)

// ErrAmbiguous is wrapped when the beginning of an id is that of several.
var ErrAmbiguous = errors.New("ambiguous")

// MinPrefix is how much of an id must be given. Lists print eight characters.
const MinPrefix = 4

// MostPrefixed is how many ids that begin with a text are to be read: enough to tell that it is ambiguous, and
// of which ones.
const MostPrefixed = 3

// Prefix is an id, or the beginning of one, as a person gives it.
type Prefix struct {
	// What is named, and where, such as "entry" and "project \"demo\"".
	What, Where string
	Given       string
	// NotFound is wrapped by the error of what names nothing, and Ambiguous, or else [ErrAmbiguous], by that of
	// what names several.
	NotFound, Ambiguous error
}

// Text is what the ids have to begin with.
func (p Prefix) Text() string { return strings.ToLower(strings.TrimSpace(p.Given)) }

// Long reports whether enough is given to look for ids that begin with it.
func (p Prefix) Long() bool { return len(p.Text()) >= MinPrefix }

// Pick returns the one that is meant of the ids that begin with the text, of which up to [MostPrefixed] were
// read: the id that is the text, else the only one.
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

// Several is the error of what several ids begin with, of which up to [MostPrefixed] are given.
func (p Prefix) Several(ids []string) error {
	more, reason := "", p.Ambiguous
	if len(ids) >= MostPrefixed {
		more = " and perhaps more"
	}
	if reason == nil {
		reason = ErrAmbiguous
	}
	return fmt.Errorf("%s: %w: %s%s begin with it: give more of the id", p.name(), reason, strings.Join(ids, ", "), more)
}

// Missing is the error of what names nothing. Hint says what else may be given, such as "a title".
func (p Prefix) Missing(hint string) error {
	if hint != "" {
		hint = ", " + hint
	}
	return fmt.Errorf("%s: %w: give an id, the first %d or more characters of one%s", p.name(), p.NotFound, MinPrefix, hint)
}

func (p Prefix) name() string {
	name := fmt.Sprintf("%s %q", p.What, p.Given)
	if p.Where != "" {
		name += " in " + p.Where
	}
	return name
}
