package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
)

// maxMistake bounds the words of a mistake, in runes: a longer piece is no name for one.
const maxMistake = 60

// mistake returns the mistake that a correction names, in its own words, or "" if it names none: Y of "use X, not Y".
func mistake(sentence string) string {
	for _, find := range []func(string) string{englishMistake, chineseMistake, japaneseMistake, koreanMistake} {
		if found := prose.Title(find(sentence)); found != "" && utf8.RuneCountInString(found) <= maxMistake {
			return found
		}
	}
	return ""
}

var (
	// negated are words that a "not" after them turns into their opposite: no mistake's name follows.
	negated = prose.Set("is are was were be been am do does did should would could can may might must will shall have has had " +
		"it's that's there's i'm we're you're they're he's she's")
	// denied open a clause that names a mistake: "it's not X, it's Y".
	denied = prose.Set("is was are were it's that's")
	// unnamed follow "not" where no mistake does.
	unnamed = prose.Set("only just sure yet necessarily really quite always exactly that this it")
	// clauseWords begin another clause, after the name of a mistake.
	clauseWords = prose.Set("because since but and so as when if while which who where please for")
)

// englishMistake reads "X, not Y", "X instead of Y", "X rather than Y" and "it's not Y, it's X".
func englishMistake(sentence string) string {
	words := prose.Words(sentence)
	for i, w := range words {
		from := i + 1
		two := i+1 < len(words) && (w.Low == "instead" && words[i+1].Low == "of" || w.Low == "rather" && words[i+1].Low == "than")
		if two {
			from = i + 2
		}
		negation := w.Low == "not" || w.Low == "isn't" || w.Low == "wasn't" || w.Low == "aren't"
		if from >= len(words) || i == 0 || !two && !negation || unnamed[words[from].Low] {
			continue
		}
		end := from + 1
		for end < len(words) && !words[end].Opens && !clauseWords[words[end].Low] {
			end++
		}
		found := sentence[words[from].Start:words[end-1].End]
		if two || w.Low == "not" && !negated[words[i-1].Low] {
			return found
		}
		// The right alternative must follow a denied one, or the sentence contrasts nothing.
		if (w.Low != "not" || denied[words[i-1].Low]) && end < len(words) && (words[end].Low == "but" || denied[words[end].Low] ||
			end+1 < len(words) && words[end].Low == "it" && denied[words[end+1].Low]) {
			return found
		}
	}
	return ""
}

// upToMark returns the beginning of the text before a mark that ends a clause, or before one of the words.
func upToMark(text string, words ...string) string {
	if at := strings.IndexFunc(text, endsClause); at >= 0 {
		text = text[:at]
	}
	for _, w := range words {
		text, _, _ = strings.Cut(text, w)
	}
	return text
}

// afterMark returns the end of the text after a mark that ends a clause.
func afterMark(text string) string {
	if at := strings.LastIndexFunc(text, endsClause); at >= 0 {
		_, size := utf8.DecodeRuneInString(text[at:])
		return text[at+size:]
	}
	return text
}

func endsClause(r rune) bool { return strings.ContainsRune(",，、;；。.!！?？:：", r) }

// chineseMistake reads "X 而不是 Y", "不是 Y，而是 X" and "是 X，不是 Y".
func chineseMistake(sentence string) string {
	for _, not := range []string{"而不是", "而非", "不应该是", "不應該是", "不是"} {
		for from := 0; ; {
			at := strings.Index(sentence[from:], not)
			if at < 0 {
				break
			}
			at += from
			from = at + len(not)
			before, after := sentence[:at], sentence[from:]
			found := upToMark(after, "而是", "是")
			if strings.HasSuffix(before, "是") || strings.HasPrefix(after, "的") || !strings.ContainsFunc(found, prose.WordRune) {
				continue // 是不是 asks.
			}
			if strings.HasPrefix(not, "而") || prose.ContainsAny(before+after[len(found):], chineseRight) {
				return found
			}
		}
	}
	return ""
}

// chineseRight introduce the right alternative in a sentence that names a mistake.
var chineseRight = []string{"是", "用", "改"}

// japaneseMistake reads "Y ではなく X". The topic precedes the particle.
func japaneseMistake(sentence string) string {
	for _, not := range []string{"ではなく", "じゃなく"} {
		before, _, ok := strings.Cut(sentence, not)
		if !ok {
			continue
		}
		before = afterMark(before)
		for _, particle := range []string{"は", "が", "を"} {
			if at := strings.LastIndex(before, particle); at >= 0 {
				before = before[at+len(particle):]
			}
		}
		before = strings.TrimSpace(before)
		if r, _ := utf8.DecodeRuneInString(before); before != "" && !unicode.Is(unicode.Hiragana, r) {
			return before
		}
	}
	return ""
}

// koreanPointers refer to an earlier text, and name nothing.
var koreanPointers = map[string]bool{"그것": true, "그거": true, "이것": true, "이거": true, "그런 뜻": true, "그런 게": true}

// koreanMistake reads "Y이 아니라 X" and "Y 말고 X".
func koreanMistake(sentence string) string {
	for _, not := range []string{"이 아니라", "가 아니라", "이 아니고", "가 아니고", " 말고"} {
		before, _, ok := strings.Cut(sentence, not)
		if !ok {
			continue
		}
		words := strings.Fields(afterMark(before))
		topic := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "은") || strings.HasSuffix(w, "는") })
		if found := strings.Join(words[topic+1:], " "); found != "" && !koreanPointers[found] {
			return found
		}
	}
	return ""
}
