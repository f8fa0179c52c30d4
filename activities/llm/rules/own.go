package rules

import "strings"

// opening is how much of a message, in bytes, says what is asked for.
const opening = 240

// ownWords returns where what a user says for itself ends in a message: what follows a colon at the
// end of a line, or opens a letter, is handed over, and a long message is mostly pasted. A message
// that orders a text or a role is made of its terms alone.
func ownWords(text string, hands bool) int {
	limit := len(text)
	if most := pasted; limit > most || !hands && limit > most/2 {
		limit = most / 4
	}
	if !hands && ordersText(strings.ToLower(text[:min(len(text), opening)])) {
		return 0
	}
	for start := 0; start < limit; {
		end := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		line := strings.TrimSpace(text[start:end])
		if strings.HasPrefix(line, "Dear ") {
			return min(limit, start)
		}
		if _, head := headStatus(line); !head && (strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")) {
			return min(limit, end)
		}
		start = end + 1
	}
	return limit
}

// ordersText reports whether a message asks for a text or a role to be made up.
func ordersText(low string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(low, "please ")), " ")
	switch word {
	case "write", "rewrite", "summarize", "translate", "paraphrase", "proofread", "continue", "rephrase", "act", "pretend",
		"imagine", "you":
		return true
	}
	for _, p := range []string{"act as", "pretend ", "role play", "roleplay", "i want you to", "you are a", "you will be"} {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}
