package idris

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"axiommind/activities/text"
)

// Bounds of the compiler's output: the kept bytes of a line, the kept lines of a message, and the total bytes that are
// read.
const (
	maxLine    = 400
	maxMessage = 12
	maxOutput  = 64 << 20
)

// answer is the parsed output of the compiler.
type answer struct {
	// accepted is true if the compiler succeeded and reported no error.
	accepted bool
	// failed is the exit status if the compiler did not succeed.
	failed string
	// first is the first line of output.
	first  string
	errors []compileError
}

// summary describes an answer that can't be parsed.
func (a answer) summary() string {
	switch {
	case a.failed == "":
		return strconv.Quote(a.first)
	case a.first == "":
		return a.failed
	default:
		return a.failed + ", " + strconv.Quote(a.first)
	}
}

// compileError is an error that the compiler reports. Its module is empty if the message names no place.
type compileError struct {
	module  string
	line    int
	message string
}

func (e compileError) String() string {
	if e.module == "" {
		return strconv.Quote(e.message)
	}
	return fmt.Sprintf("%q in line %d of %s", e.message, e.line, e.module)
}

// place matches the line with the location below an error's message. Versions before 0.3 name the file.
var place = regexp.MustCompile(`^([A-Z][A-Za-z0-9_.]*?)(?:\.idr)?:([0-9]{1,9})(?::[0-9]+)?(?:--[0-9]+:[0-9]+)?:?$`)

// colors matches the escape sequences by which a terminal colors text.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// reader reads the compiler's output line by line, as it is written.
//
// A message begins with "Error:" at the beginning of a line, and its place follows on a line of its own. "Warning:"
// starts a message that is no error. No text of a session can forge a place, since the name of the module is derived
// from the hash of its content.
type reader struct {
	line    []byte
	size    int
	cut     bool
	first   string
	errors  []compileError
	message []string
	// inError is true between the beginning of an error and its place.
	inError bool
}

// Write reads a piece of output. It drops all output after maxOutput bytes.
func (r *reader) Write(p []byte) (int, error) {
	n := len(p)
	if r.size += n; r.size > maxOutput {
		r.cut = true
		return n, nil
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		piece := p
		if end >= 0 {
			piece = p[:end]
		}
		if room := maxLine - len(r.line); room > 0 {
			r.line = append(r.line, piece[:min(room, len(piece))]...)
		}
		if end < 0 {
			break
		}
		r.read()
		p = p[end+1:]
	}
	return n, nil
}

// read parses the current line.
func (r *reader) read() {
	line := strings.TrimRight(colors.ReplaceAllString(strings.ToValidUTF8(string(r.line), "\uFFFD"), ""), " \r")
	r.line = r.line[:0]
	if r.first == "" {
		r.first = text.Visible(line)
	}
	switch {
	case strings.HasPrefix(line, "Error:"), strings.HasPrefix(line, "Uncaught error:"):
		r.close()
		r.inError = true
		r.message = append(r.message, line)
	case strings.HasPrefix(line, "Warning:"):
		r.close()
	case !r.inError:
	default:
		if m := place.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			r.report(m[1], n)
			return
		}
		if len(r.message) < maxMessage && line != "" {
			r.message = append(r.message, strings.TrimSpace(line))
		}
	}
}

// close reports the current error, which has no place.
func (r *reader) close() {
	if r.inError {
		r.report("", 0)
	}
}

func (r *reader) report(module string, line int) {
	message := text.Visible(strings.Join(r.message, " "))
	if utf8.RuneCountInString(message) > maxLine {
		message = string([]rune(message)[:maxLine]) + "…"
	}
	r.errors = append(r.errors, compileError{module: module, line: line, message: message})
	r.message, r.inError = nil, false
}

// answer returns the parsed output, without the exit status.
func (r *reader) answer() answer {
	if len(r.line) > 0 {
		r.read()
	}
	r.close()
	return answer{first: r.first, errors: r.errors}
}
