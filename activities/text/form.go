package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Form is a rule that turns texts which differ only in spelling into one text. Keys, hashes and stored
// columns are computed from its result. If the result changes for any text, if only because the library
// knows a newer Unicode, the rule is another version, and data computed with the old one must be rebuilt.
// Golden files pin each version to its first results; see package formtest.
type Form struct {
	// Name says which texts the form is for.
	Name    string
	Version int
	// Of returns a text in the form.
	Of func(text string) string
}

// Fact returns the form in which two contents are the same fact: trimmed, canonically composed, and with
// full Unicode case folding. White space, width and punctuation inside it stay.
func Fact(content string) string {
	// Canonical caseless matching folds the decomposed form: folding first would see some accents
	// in another order than their composed letter has them.
	return norm.NFC.String(foldCase(norm.NFD.String(strings.TrimSpace(content))))
}

// Caseless returns the form in which two words are the same but for case and compatibility, such as width
// and ligatures.
func Caseless(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return norm.NFKC.String(foldCase(norm.NFKC.String(text)))
}

// foldCase folds case in full, as ß to ss.
func foldCase(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return strings.Map(foldCherokee, cases.Fold().String(s))
}

// foldCherokee corrects cases.Fold, which maps small Cherokee letters to capitals, as Unicode does, but
// also capitals to small ones.
func foldCherokee(r rune) rune {
	switch {
	case r >= 0xab70 && r <= 0xabbf:
		return r - 0xab70 + 0x13a0
	case r >= 0x13f8 && r <= 0x13fd:
		return r - 0x13f8 + 0x13f0
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
