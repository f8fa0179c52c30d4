package build

import (
	"regexp"
	"strings"
)

// plainWord matches text that a shell takes as one word without quotes.
var plainWord = regexp.MustCompile(`^[\pL\pN/_.,:@%+=-]+$`)

// Command returns the starter's command line with the arguments, quoted for a shell.
func Command(args ...string) string {
	words := []string{"starter"}
	for _, arg := range args {
		if !plainWord.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
