package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Form is a rule by which texts that differ in spelling alone become one text. Keys, hashes and stored
// columns are made of what it returns. A rule that returns something else for any text, if only because
// its library knows a newer Unicode, is another version: what was made by the old one has to be made
// anew. Golden files hold each version to what it returned at first; see package formtest.
type Form struct {
	// Name says what texts the form is for.
	Name    string
	Version int
	// Of returns a text in the form.
	Of func(text string) string
}

// Forms returns the forms of this package. One more, of quotes, leads back to the place in the text that
// was quoted, and so stands in evidence/normal.
func Forms() []Form {
	return []Form{
		{Name: "title", Version: 1, Of: Title},
		{Name: "title-words", Version: 1, Of: TitleWords},
		{Name: "title-terms", Version: 1, Of: func(title string) string { return strings.Join(TitleTerms(title), " ") }},
		{Name: "fact", Version: 1, Of: Fact},
		{Name: "caseless", Version: 1, Of: Caseless},
		{Name: "terms", Version: 1, Of: Terms},
		{Name: "url", Version: 1, Of: func(text string) string { address, _ := URL(text); return address }},
	}
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

// foldCherokee mends cases.Fold, which turns small Cherokee letters into capitals, as Unicode has
// it, and capitals into small ones.
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
