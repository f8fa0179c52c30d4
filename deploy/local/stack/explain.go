package stack

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
)

// maxExplanation bounds a line of a log that is shown, in runes.
const maxExplanation = 400

var (
	// fatalLine starts the report of a crash: the lines after it say where, not why.
	fatalLine = regexp.MustCompile(`(?i)^(panic:|fatal error:|runtime: out of memory|terminate called)|level=fatal|"level":"(fatal|panic)"|<Fatal>`)
	// errorLine is a line that reports an error.
	errorLine = regexp.MustCompile(`(?i)^error:|level=error|"level":"error"|<Error>|DB::Exception`)
	// lastWord is the last line of a program that ends, with its own name before it.
	lastWord = regexp.MustCompile(`^[a-z-]+: `)
	// messages finds the messages in a line of a log in logfmt.
	messages = regexp.MustCompile(`\b(msg|error|reason)=("(?:[^"\\]|\\.)*"|\S+)`)
)

// explanation returns the line of a log that explains why the server ended: the first that reports a
// crash, else the last that reports an error, else the program's last word. It returns "" if there is
// none.
func explanation(log string) string {
	last, word := "", ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(ansi.ReplaceAllString(line, ""))
		switch {
		case fatalLine.MatchString(line):
			return shorten(plainMessage(line))
		case errorLine.MatchString(line):
			last = line
		case lastWord.MatchString(line):
			word = line
		}
	}
	return shorten(plainMessage(cmp.Or(last, word)))
}

// plainMessage takes the message out of a line in JSON or logfmt.
func plainMessage(line string) string {
	var parts []string
	fields := map[string]any{}
	if json.Unmarshal([]byte(line), &fields) == nil {
		for _, name := range []string{"msg", "message", "error"} {
			if text, ok := fields[name].(string); ok && text != "" {
				parts = append(parts, text)
			}
		}
	} else {
		for _, m := range messages.FindAllStringSubmatch(line, -1) {
			text := m[2]
			var unquoted string
			if json.Unmarshal([]byte(text), &unquoted) == nil {
				text = unquoted
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return line
	}
	return strings.Join(parts, ": ")
}

// ansi matches the colors of logs, which hide the beginning of a line.
var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

// shorten leaves out the middle of a long line: a chain of errors begins with the action and ends with
// the cause.
func shorten(text string) string {
	const head = maxExplanation / 4
	if runes := []rune(text); len(runes) > maxExplanation {
		return string(runes[:head]) + " … " + string(runes[len(runes)-(maxExplanation-head):])
	}
	return text
}
