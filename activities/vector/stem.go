package vector

import "strings"

// stem returns the English stem of a lower-case word: plural and verb endings are taken off, no
// more. Words with other than the letters a to z are returned as they are.
func stem(word string) string {
	if len(word) < 4 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	switch {
	case strings.HasSuffix(word, "sses"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "ing") && hasVowel(word[:len(word)-3]):
		return undouble(word[:len(word)-3])
	case strings.HasSuffix(word, "ied"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "ed") && hasVowel(word[:len(word)-2]):
		return undouble(word[:len(word)-2])
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") &&
		!strings.HasSuffix(word, "is"):
		return strings.TrimSuffix(word[:len(word)-1], "e")
	case strings.HasSuffix(word, "e"):
		return word[:len(word)-1]
	}
	return word
}

// undouble takes off what an ending adds: running is run, making and make are mak.
func undouble(s string) string {
	if n := len(s); n > 2 && s[n-1] == s[n-2] && !strings.ContainsRune("lsz", rune(s[n-1])) {
		return s[:n-1]
	}
	return strings.TrimSuffix(s, "e")
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") && len(s) > 2 }
