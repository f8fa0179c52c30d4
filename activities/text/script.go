package text

import "unicode"

// The scripts written without spaces between words, but for Tibetan, which marks its syllables. How much a
// character says decides how many neighbours search takes together.
var (
	// In syllabic scripts a character is a syllable or a word.
	syllabic = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Yi}
	// In alphabetic scripts it is a letter.
	alphabetic = []*unicode.RangeTable{
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Javanese,
		unicode.Balinese, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham,
	}
)

// Unspaced reports whether a character is of a script that is written without spaces between words.
func Unspaced(r rune) bool {
	return r >= firstUnspaced && (isSyllabic(r) || isAlphabetic(r) || unicode.Is(unicode.Tibetan, r))
}

// firstUnspaced is the lowest character of these scripts, of Thai.
const firstUnspaced = '\u0e01'

// isSyllabic counts the mark that lengthens a vowel of kana, which belongs to no script, as kana.
func isSyllabic(r rune) bool { return r == 'ー' || r == 'ｰ' || unicode.In(r, syllabic...) }

func isAlphabetic(r rune) bool { return unicode.In(r, alphabetic...) }

// inWord reports whether a character is part of a word or a number.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
