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
