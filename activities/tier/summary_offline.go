package tier

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"axiommind/schema"
)

const (
	// maxEvents is the number of events of an offline summary.
	maxEvents = 10
	// minAsked and minReplied are the lengths, in characters, from which on a message of the user and a line of a reply
	// say something.
	minAsked   = 4
	minReplied = 5
)

// FallbackSummary is the offline summary of the conversation: the user's words, and the beginning of the reply.
func FallbackSummary(messages []schema.Message, l Labels) string {
	e := events{labels: l}
	for _, m := range messages {
		e.add(m)
	}
	return e.text()
}

// events makes an offline summary of messages that are given one after the other. It holds no more than the summary.
type events struct {
	labels Labels
	lines  []string
	asked  string
}

func (e *events) add(m schema.Message) {
	text := saidIn(m)
	if len(e.lines) == maxEvents || !m.Extractable() || blank(text) {
		return
	}
	if m.Role == schema.RoleUser {
		if said := inLine(text); utf8.RuneCountInString(said) >= minAsked {
			e.asked = beginning(said)
		}
		return
	}
	if e.asked != "" {
		e.put(" → " + e.labels.Reply + ": " + firstContentLine(text))
	}
}

func (e *events) put(reply string) {
	e.lines = append(e.lines, "- "+e.labels.User+": "+e.asked+reply)
	e.asked = ""
}

func (e *events) text() string {
	if e.asked != "" && len(e.lines) < maxEvents {
		e.put("")
	}
	return strings.Join(e.lines, "\n")
}

var (
	// markupLine is a line that says nothing: a heading, a fence, a rule, or a few signs.
	markupLine = regexp.MustCompile("^(?:#{1,6}\\s|```|~~~|---|\\*\\*\\*|[^\\pL\\pN]*$)")
	lineMarks  = regexp.MustCompile(`^[*#>\-\s]+|^[\p{So}\x{fe0f}\s]+`)
)

// firstContentLine returns the first line of a reply that says something.
func firstContentLine(reply string) string {
	for line := range strings.Lines(reply) {
		line = strings.TrimSpace(line)
		if markupLine.MatchString(line) {
			continue
		}
		line = strings.TrimSpace(lineMarks.ReplaceAllString(lineMarks.ReplaceAllString(line, ""), ""))
		if utf8.RuneCountInString(line) >= minReplied {
			return beginning(line)
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(reply), "\n")
	return beginning(strings.TrimSpace(first))
}

// beginning returns the beginning of a text, and shows where it is cut.
func beginning(text string) string {
	if short := cut(text, maxQuoted); short != text {
		return short + "…"
	}
	return text
}
