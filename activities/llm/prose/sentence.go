package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// leads may precede the first word of a sentence that matters.
var leads = []string{
	"ok", "okay", "alright", "so", "and", "but", "then", "now", "well", "yes", "no", "right", "great", "good",
	"please", "also", "first", "next", "hey", "hi", "hello", "actually", "just", "sure", "perfect", "thanks",
	"好的", "好", "嗯", "对了", "對了", "对", "對", "顺便", "順便", "另外", "其实", "其實", "行", "那", "那么", "那麼", "所以", "然后", "然後", "现在", "現在", "接下来", "先", "再",
	"네", "좋아", "그럼", "그러면", "자", "그리고", "참고로", "사실", "はい", "では", "じゃあ", "それでは", "ちなみに", "実は",
}

// Opens reports whether a phrase opens its sentence: before, the part before the phrase, contains only lead-ins and
// marks. In Chinese a space may replace a comma, and a sentence begins again behind it.
func Opens(before string) bool {
	if clause := strings.TrimRight(before, " "); clause != before {
		if last, _ := utf8.DecodeLastRuneInString(clause); unicode.Is(unicode.Han, last) {
			return true
		}
	}
	for {
		before = strings.TrimLeftFunc(before, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) || r == '\u200d' || r == '\ufe0f'
		})
		if before == "" {
			return true
		}
		cut := false
		for _, lead := range leads {
			if len(before) >= len(lead) && strings.EqualFold(before[:len(lead)], lead) &&
				(lead[0] >= utf8.RuneSelf || len(before) == len(lead) || !wordByte(before[len(lead)])) {
				before, cut = before[len(lead):], true
				break
			}
		}
		if !cut {
			return false
		}
	}
}

// ends reports whether only marks follow a phrase.
func ends(after string) bool {
	return strings.TrimFunc(after, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) || strings.ContainsRune("요ㅎㅋㅠ", r)
	}) == ""
}

// questionWords open an English question, with or without its mark.
var questionWords = map[string]bool{
	"should": true, "could": true, "can": true, "do": true, "does": true, "did": true, "is": true, "are": true,
	"was": true, "were": true, "what": true, "why": true, "how": true, "would": true, "shall": true, "which": true,
	"who": true, "when": true, "where": true, "will": true, "has": true, "have": true,
}

// questionEndings close a question in a language that marks it by a particle.
var questionEndings = []string{
	"吗", "嗎", "呢", "么", "麼", "까", "나요", "가요", "니", "을래", "할래", "ですか", "ますか", "でしょうか", "ませんか",
	"かな",
}

// Asks reports whether the sentence is a question.
func Asks(sentence string) bool {
	trimmed := strings.TrimRightFunc(sentence, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"')]}*_`”’」』）】~～.。!！", r)
	})
	if strings.HasSuffix(trimmed, "?") || strings.HasSuffix(trimmed, "？") {
		return true
	}
	for _, ending := range questionEndings {
		if strings.HasSuffix(trimmed, ending) {
			return true
		}
	}
	first := strings.TrimLeft(sentence, "*_\"'( ")
	if end := strings.IndexAny(first, " ,'"); end > 0 {
		return questionWords[strings.ToLower(first[:end])]
	}
	return false
}

// Hangul reports whether a text begins with a letter of Korean.
func Hangul(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.Hangul, r)
}

// Quoted reports whether a text leaves quotation marks open: the words behind it are mentioned and not said.
func Quoted(before string) bool {
	open, prev := 0, ' '
	straight, single := false, false
	for _, r := range before {
		switch r {
		case '"':
			straight = !straight
		case '\'':
			// An apostrophe follows a letter.
			if single || !unicode.IsLetter(prev) && !unicode.IsDigit(prev) {
				single = !single
			}
		case '“', '「', '『', '《', '«', '‘':
			open++
		case '”', '」', '』', '》', '»', '’':
			open = max(0, open-1)
		}
		prev = r
	}
	return open > 0 || straight || single
}
