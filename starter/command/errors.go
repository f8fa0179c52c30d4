package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/activities/task"
	"axiommind/activities/tier"
)

// Bounds of an error's text, in characters: of a quoted part, and of a line.
const (
	maxQuoted    = 160
	MaxErrorLine = 1000
)

// usageError is a mistake on the command line or in its input.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// missingError means that an id names nothing.
type missingError struct{ error }

func (m missingError) Unwrap() error { return m.error }

// conflictError means that the state of the memory does not allow the change.
type conflictError struct{ error }

func (c conflictError) Unwrap() error { return c.error }

// busyError means that another run is already processing the session.
type busyError struct{ error }

func (b busyError) Unwrap() error { return b.error }

// BadUsage marks the error as a mistake on the command line or in its input.
func BadUsage(err error) error { return usageError{err} }

// Usagef returns an error about the command line or its input.
func Usagef(format string, args ...any) error { return BadUsage(fmt.Errorf(format, args...)) }

// Missingf returns a usage error about an id that names nothing.
func Missingf(format string, args ...any) error {
	return BadUsage(missingError{fmt.Errorf(format, args...)})
}

// Conflictf returns a usage error about a change that the state of the memory does not allow.
func Conflictf(format string, args ...any) error {
	return BadUsage(conflictError{fmt.Errorf(format, args...)})
}

// Busy marks the error: another run is processing the session.
func Busy(err error) error { return busyError{err} }

// Complain prints an error. The first line begins with the program's name and the others are indented, so that no text
// inside the error looks like a separate message.
func (a *App) Complain(err error) {
	lines := strings.Split(Reason(err), "\n")
	for i, line := range lines {
		if i > 0 && !strings.HasPrefix(line, "  ") {
			line = "  " + line
		}
		lines[i] = Cut(line, MaxErrorLine)
	}
	_, _ = fmt.Fprintln(a.ErrOut, "starter: "+strings.Join(lines, "\n"))
}

// Reason returns the error in plain words. The request that a driver sent and the names of library layers are removed, and
// long quoted texts are cut.
func Reason(err error) string { return PlainWords(clickhouse.Readable(err).Error()) }

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
	{regexp.MustCompile(`json: cannot unmarshal (\w+) into Go struct field \w+\.(\w+) of type \S+`), "$2 is a $1"},
	{regexp.MustCompile(`json: cannot unmarshal (\w+) into Go value of type \S+`), "it is a $1"},
	{regexp.MustCompile(`strconv\.\w+: parsing ("(?:[^"\\]|\\.)*"): value out of range`), "$1 is too large a number"},
	{regexp.MustCompile(`strconv\.\w+: parsing ("(?:[^"\\]|\\.)*"): invalid syntax`), "$1 is not a valid value"},
	{regexp.MustCompile(`(?s)Unknown (?:table )?expression identifier ('[^']*').*`), "there is no table $1: starter doctor names the remedy"},
	{regexp.MustCompile(`context deadline exceeded(?: \(Client\.Timeout[^)]*\)| while waiting for connections to become ready)?`), "no answer in time"},
}

var quoted = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)

// PlainWords replaces the wording of libraries, and cuts long quoted texts.
func PlainWords(text string) string {
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

// IsUsage reports whether the command line or its input is wrong, such as an id that names nothing, or several things.
func IsUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage) || namesNothing(err) || isOneOf(err, clickhouse.ErrNoScope, clickhouse.ErrAmbiguous, task.ErrAmbiguous, task.ErrCommand)
}

// IsMissing reports whether an id names nothing, or nothing in its project.
func IsMissing(err error) bool {
	var missing missingError
	return errors.As(err, &missing) || namesNothing(err)
}

func namesNothing(err error) bool {
	return isOneOf(err, entry.ErrNotFound, task.ErrNotFound, build.ErrNotFound, fact.ErrFactNotFound, retrieve.ErrNoMessage, tier.ErrVersionNotFound,
		graduate.ErrNoConflict, graduate.ErrNoDecision, graduate.ErrNoProposal)
}

func isOneOf(err error, known ...error) bool {
	return slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) })
}

// IsConflict reports whether the state of the memory does not allow the change, or another run is at work.
func IsConflict(err error) bool {
	var conflict conflictError
	var busy busyError
	return errors.As(err, &conflict) || errors.As(err, &busy)
}

// Away reports whether the error means that Temporal is unreachable.
func Away(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &late)
}

// FailureText returns the message of the failure itself, without the layers around it.
func FailureText(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return PlainWords(application.Message())
	}
	return Reason(err)
}
