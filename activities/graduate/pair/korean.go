package pair

import "strings"

// koreanWord is a Korean word without its particle or ending.
type koreanWord struct {
	stem string
	// topic reports that the word ends the topic of the statement.
	topic bool
	// particle is a particle with a meaning of its own: until, each, rather than.
	particle string
	copula   bool
	past     bool
	// resolved and denied report an ending that a following auxiliary completes: 하기로 했다, 하지 않는다.
	resolved, denied bool
}

var (
	topicParticles = []string{"에서는", "에는", "께서는", "으로는", "은", "는", "이", "가", "께서"}
	// plainParticles mark the relation of a noun to its verb, which word order shows too.
	plainParticles = []string{"에서", "에게", "으로", "을", "를", "에", "로", "과", "와", "의"}
	// wordParticles have a meaning of their own.
	wordParticles = []string{"까지", "부터", "마다", "보다", "도"}
	copulas       = []string{"이었습니다", "였습니다", "이었다", "였다", "입니다", "이에요", "예요", "이다"}
)

// korean splits a word into its parts. Short nouns keep an ending that may be part of the noun.
func korean(word string) koreanWord {
	for _, c := range copulas {
		if stem, ok := strings.CutSuffix(word, c); ok {
			return koreanWord{stem: stem, copula: true, past: strings.ContainsAny(c, "었였")}
		}
	}
	for _, p := range wordParticles {
		if stem, ok := strings.CutSuffix(word, p); ok && (p != "도" || len(stem) > 3) {
			return koreanWord{stem: stem, particle: p}
		}
	}
	if w, ok := koreanVerb(word); ok {
		return w
	}
	for _, p := range topicParticles {
		if stem, ok := strings.CutSuffix(word, p); ok && (len(stem) > 3 || p == "는" || p == "은" || len(p) > 3 || stem == "") {
			return koreanWord{stem: stem, topic: true}
		}
	}
	for _, p := range plainParticles {
		if stem, ok := strings.CutSuffix(word, p); ok && (len(stem) > 3 || p == "을" || p == "를" || len(p) > 3 || stem == "") {
			return koreanWord{stem: stem}
		}
	}
	return koreanWord{stem: word}
}

// koreanVerb returns the stem of a word that has the ending of a verb.
func koreanVerb(word string) (koreanWord, bool) {
	for _, end := range []string{"기로", "지"} {
		if stem, ok := strings.CutSuffix(word, end); ok && stem != "" {
			return koreanWord{stem: stem, resolved: end == "기로", denied: end == "지"}, true
		}
	}
	for _, end := range []string{"습니다", "어요", "아요", "는다", "니다", "다", "요"} {
		stem, ok := strings.CutSuffix(word, end)
		if !ok || stem == "" {
			continue
		}
		return finalSyllable(stem), true
	}
	return koreanWord{}, false
}

const (
	hangulFirst, hangulLast = '가', '힣'
	finals                  = 28
	finalNieun              = 4
	finalBieup              = 17
	finalSsang              = 20
)

// finalSyllable removes the marks of tense and politeness from the end of a stem: 합 and 한 become 하, 했 becomes 하 and
// past.
func finalSyllable(stem string) koreanWord {
	runes := []rune(stem)
	last := runes[len(runes)-1]
	if last < hangulFirst || last > hangulLast {
		return koreanWord{stem: stem}
	}
	w := koreanWord{}
	switch final := (last - hangulFirst) % finals; final {
	case finalNieun, finalBieup:
		last -= final
	case finalSsang:
		switch last {
		case '있':
			return koreanWord{stem: stem}
		case '었', '았', '였':
			w.past, runes, last = true, runes[:len(runes)-1], 0
		case '겠':
			runes, last = runes[:len(runes)-1], 0
		default:
			w.past = true
			last -= final
		}
	}
	if last == '해' {
		last = '하'
	}
	if last == '돼' {
		last = '되'
	}
	if last != 0 {
		runes[len(runes)-1] = last
	}
	w.stem = string(runes)
	return w
}
