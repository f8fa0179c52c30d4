package format

import "strings"

// eachLine calls fn with each line and its ending; fenced lines lie in a code block.
func eachLine(text string, fn func(n int, line string, fenced bool)) {
	fenced := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		fn(n, line, fenced || fence)
		if fence {
			fenced = !fenced
		}
	}
}

func trimBreaks(text string) string { return strings.Trim(text, "\r\n") }

// fences finds the lines of a text in a closed fenced block of code. It is asked about lines in order.
type fences struct {
	text string
	// end is where the block ends that was entered last.
	end int
	// unclosed is the length of the shortest fence, by its character, that no later line closes.
	unclosed [2]int
}

const fenceChars = "`~"

// maxFence is the length from which fences count as equal. It bounds how often a text is searched for the end of a
// block.
const maxFence = 8

// enter notes the block of code that begins at a line, if one does.
func (f *fences) enter(line int) {
	if line < f.end {
		return
	}
	char, length, rest := fenceOf(f.text[line:])
	if length == 0 || char == 0 && strings.Contains(rest, "`") || f.unclosed[char] > 0 && length >= f.unclosed[char] {
		return
	}
	at := line
	for opening := true; at < len(f.text); opening = false {
		c, n, rest := fenceOf(f.text[at:])
		if i := strings.IndexByte(f.text[at:], '\n'); i >= 0 {
			at += i + 1
		} else {
			at = len(f.text)
		}
		if !opening && c == char && n >= length && strings.TrimSpace(rest) == "" {
			f.end = at
			return
		}
	}
	f.unclosed[char] = length
}

// holds reports whether the text from start to end lies in the block.
func (f *fences) holds(start, end int) bool { return start < f.end && end <= f.end }

// fenceOf returns the fence that a line begins with: the index of its character in fenceChars, its length, or 0 if
// there is none, and the rest of the line.
func fenceOf(text string) (char, length int, rest string) {
	line := text
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		line = text[:i]
	}
	line = strings.TrimLeft(line, " \t>")
	for i := range fenceChars {
		if rest := strings.TrimLeft(line, fenceChars[i:i+1]); len(line)-len(rest) >= 3 {
			return i, min(len(line)-len(rest), maxFence), rest
		}
	}
	return 0, 0, line
}
