package format

import (
	"regexp"
	"strings"
)

// This file recognizes two texts of memory without a tag: the context block of facts and profile, and the preface that
// replaces compacted turns. An agent puts both into a user's message.

// A preface ends with prefaceEnd. Other programs end theirs with a line of three hyphens.
var (
	prefaceEnd  = regexp.MustCompile(`The recent conversation continues below\.\r?\n\r?\n---\r?\n\r?\n`)
	prefaceRule = regexp.MustCompile(`\n---\r?\n`)
)

var prefaceLine = regexp.MustCompile(`^\s*\[System: Previous conversation summary[^\]\n]{0,80}\][ \t]*\r?(?:\n|$)`)

// prefaceLen returns the length of the prefaces that a text begins with. One without an end is all of the text.
func prefaceLen(text string) int {
	n, mark := 0, prefaceEnd
	for {
		head := prefaceLine.FindString(text[n:])
		if head == "" {
			return n
		}
		n += len(head)
		place := mark.FindStringIndex(text[n:])
		if place == nil && mark == prefaceEnd {
			mark = prefaceRule // There is none further on either.
			place = mark.FindStringIndex(text[n:])
		}
		if place == nil {
			return len(text)
		}
		n += place[1]
	}
}

// contextSections are the headers of a context block and how the lines below each begin.
var contextSections = []struct {
	header string
	labels []string
	line   *regexp.Regexp
}{
	{"User Context:", []string{"- Work: ", "- Personal: ", "- Current Focus: "}, regexp.MustCompile(`^- (?:Work|Personal|Current Focus): `)},
	{"History:", []string{"- Recent: ", "- Earlier: ", "- Background: "}, regexp.MustCompile(`^- (?:Recent|Earlier|Background): `)},
	{"Facts:", nil, regexp.MustCompile(`^- \[[^\]|\n]{1,64} \| (?:0\.[0-9]{2}|1\.00)\] `)},
}

// contextCut ends a context block that was longer than its budget.
const contextCut = "..."

// contextLen returns the length of the section of a context block that a text begins with, else 0.
func contextLen(text string) int {
	for _, section := range contextSections {
		header, at := lineAt(text, 0)
		if header != section.header {
			continue
		}
		items := 0
		for {
			line, next := lineAt(text, at)
			if !section.line.MatchString(line) {
				break
			}
			at, items = next, items+1
		}
		cut := cutLen(text[at:])
		if items == 0 && cut == 0 {
			return 0
		}
		return at + cut
	}
	return 0
}

// cutLen returns the length of the end of a context block that was cut: perhaps blank lines, the beginning of a label or
// header, and the mark.
func cutLen(text string) int {
	line, at := lineAt(text, 0)
	for blanks := 0; line == "" && at < len(text) && blanks < 2; blanks++ {
		line, at = lineAt(text, at)
	}
	if line != contextCut && line != "" && isCutOff(line) {
		line, at = lineAt(text, at)
	}
	if line != contextCut {
		return 0
	}
	return at
}

// isCutOff reports whether a line is the beginning of a label or header.
func isCutOff(line string) bool {
	for _, section := range contextSections {
		if strings.HasPrefix(section.header, line) {
			return true
		}
		for _, label := range section.labels {
			if strings.HasPrefix(label, line) {
				return true
			}
		}
	}
	return false
}

// lineAt returns the line that begins at a place, without white space at its end, and where the next one begins.
func lineAt(text string, at int) (line string, next int) {
	next = len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		next = at + i + 1
	}
	return strings.TrimRight(text[at:next], " \t\r\n"), next
}
