package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"axiommind/activities/eventlog"
	"axiommind/activities/table"
)

// Bounds of an error's text, in characters: of a quoted part, and of a line.
const (
	maxQuoted    = 160
	maxErrorLine = 1000
)

// usageError is a mistake on the command line or in its input.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// busyError means that another run is already processing the session.
type busyError struct{ error }

func (b busyError) Unwrap() error { return b.error }

// badUsage marks the error as a mistake on the command line or in its input.
func badUsage(err error) error { return usageError{err} }

// usagef returns an error about the command line or its input.
func usagef(format string, args ...any) error { return badUsage(fmt.Errorf(format, args...)) }

// busy marks the error: another run is processing the session.
func busy(err error) error { return busyError{err} }

// complain prints an error. The first line begins with the program's name and the others are indented, so that no text
// inside the error looks like a separate message.
func (a *app) complain(err error) {
	lines := strings.Split(reason(err), "\n")
	for i, line := range lines {
		if i > 0 && !strings.HasPrefix(line, "  ") {
			line = "  " + line
		}
		lines[i] = cut(line, maxErrorLine)
	}
	_, _ = fmt.Fprintln(a.errOut, "starter: "+strings.Join(lines, "\n"))
}

// reason returns the error in plain words. The request that a driver sent and the names of library layers are removed, and
// long quoted texts are cut.
func reason(err error) string { return plainWords(eventlog.Readable(err).Error()) }

// jargon maps the wording of libraries to plain words.
var jargon = []struct {
	pattern *regexp.Regexp
	plain   string
}{
	{regexp.MustCompile(`connection error: desc = "((?:[^"\\]|\\.)*)"`), "$1"},
	{regexp.MustCompile(`rpc error: (?:code = \w+ )?(?:desc = )?`), ""},
	{regexp.MustCompile(`failed reaching server: |last (?:connection |resolver )?error: |transport: |(?:e|E)rror while dialing: `), ""},
	{regexp.MustCompile(`(?:name resolver error: )?(?:no children to pick from|produced zero addresses)`), "no such host"},
	{regexp.MustCompile(`invalid target address [^\n]*, error info: [^\n]*`), "want host:port"},
	{regexp.MustCompile(`error reading server preface: remote error: `), ""},
	{regexp.MustCompile(`error reading server preface: [^\n;]*`), "the server is not Temporal"},
	{regexp.MustCompile(`strconv\.\w+: parsing ("(?:[^"\\]|\\.)*"): value out of range`), "$1 is too large a number"},
	{regexp.MustCompile(`strconv\.\w+: parsing ("(?:[^"\\]|\\.)*"): invalid syntax`), "$1 is not a valid value"},
	{regexp.MustCompile(`(?s)Unknown (?:table )?expression identifier ('[^']*').*`), "there is no table $1: starter doctor names the remedy"},
	{regexp.MustCompile(`context deadline exceeded(?: \(Client\.Timeout[^)]*\)| while waiting for connections to become ready)?`), "no answer in time"},
}

var quoted = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)

// plainWords replaces the wording of libraries, and cuts long quoted texts.
func plainWords(text string) string {
	for _, j := range jargon {
		text = j.pattern.ReplaceAllString(text, j.plain)
	}
	return quoted.ReplaceAllStringFunc(text, cutQuoted)
}

// cutQuoted removes the middle of a long quoted text, because the end of a path is important.
func cutQuoted(text string) string {
	content, err := strconv.Unquote(text)
	if runes := []rune(content); err == nil && len(runes) > maxQuoted {
		text = strconv.Quote(string(runes[:maxQuoted*2/3]) + "…" + string(runes[len(runes)-maxQuoted/3:]))
	}
	return text
}

// isUsage reports whether the command line or its input is wrong.
func isUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage) || errors.Is(err, table.ErrNoScope)
}
