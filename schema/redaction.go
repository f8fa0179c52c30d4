package schema

import "strings"

// A placeholder marks the place where redaction removed a part of a text: "[redacted: ", the name of the rule that
// found it, and "]". It contains nothing of the removed part.
const (
	redactedOpening = "[redacted: "
	redactedClosing = "]"
	// maxRedactionRule bounds the name of a rule in a placeholder.
	maxRedactionRule = 64
)

// MaxRedacted bounds a placeholder, in bytes.
const MaxRedacted = len(redactedOpening) + maxRedactionRule + len(redactedClosing)

// Redacted returns the placeholder for a match of the rule.
func Redacted(rule string) string { return redactedOpening + rule + redactedClosing }

// Redactions returns the placeholders in the text, in order, as half-open ranges of bytes.
func Redactions(text string) [][2]int {
	var all [][2]int
	for at := 0; ; {
		i := strings.Index(text[at:], redactedOpening)
		if i < 0 {
			return all
		}
		start := at + i
		at = start + len(redactedOpening)
		end := at
		for end < len(text) && end-at < maxRedactionRule && isRuleByte(text[end]) {
			end++
		}
		if end > at && strings.HasPrefix(text[end:], redactedClosing) {
			at = end + len(redactedClosing)
			all = append(all, [2]int{start, at})
		}
	}
}

func isRuleByte(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}

// ContainsRedaction reports whether the text contains a placeholder.
func ContainsRedaction(text string) bool { return len(Redactions(text)) > 0 }

// CountRedactions returns the number of placeholders in the text by rule, or nil if there are none.
func CountRedactions(text string) map[string]int {
	var counts map[string]int
	for _, p := range Redactions(text) {
		if counts == nil {
			counts = make(map[string]int)
		}
		counts[text[p[0]+len(redactedOpening):p[1]-len(redactedClosing)]]++
	}
	return counts
}
