package pair

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
)

// maxPhrase bounds the characters of a word in a script without spaces.
const maxPhrase = 8

// contractions has the full forms of English contractions.
var contractions = map[string]string{"'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}

// elisions are the words of French and Italian that lose their vowel before another one.
var elisions = map[string]bool{
	"l": true, "d": true, "j": true, "n": true, "s": true, "c": true, "m": true, "t": true, "qu": true,
	"dell": true, "nell": true, "all": true, "sull": true, "dall": true, "un": true, "quest": true,
}

// expand expands contractions and splits off elided words.
func expand(tokens []token) []token {
	out := make([]token, 0, len(tokens)+2)
	for _, t := range tokens {
		first, second := t.text, ""
		switch at := strings.LastIndexByte(t.text, '\''); {
		case t.text == "cannot":
			first, second = "can", "not"
		case t.text == "can't":
			first, second = "can", "not"
		case t.text == "won't":
			first, second = "will", "not"
		case at <= 0:
		case strings.HasSuffix(t.text, "n't"):
			first, second = strings.TrimSuffix(t.text, "n't"), "not"
		case contractions[t.text[at:]] != "":
			first, second = t.text[:at], contractions[t.text[at:]]
		case t.text[at:] == "'s" && lexicons()["en"].words[t.text[:at]].has(pronoun):
			first, second = t.text[:at], "is"
		case elisions[t.text[:at]]:
			first, second = t.text[:at], t.text[at+1:]
		}
		if second == "" {
			out = append(out, t)
			continue
		}
		a, b := t, t
		a.text, b.text, b.glued = first, second, false
		if at := strings.IndexAny(t.shown, "'’ʼ"); at > 0 && elisions[first] {
			_, size := utf8.DecodeRuneInString(t.shown[at:])
			a.shown, b.shown = t.shown[:at], t.shown[at+size:]
			b.name = strings.ContainsFunc(b.shown, unicode.IsUpper)
		}
		out = append(out, a, b)
	}
	return out
}

// match is a word or a phrase and its entry in the lexicon.
type match struct {
	token
	*entry
}

// lookup cuts tokens into the words and phrases of a language.
func (l *lexicon) lookup(tokens []token) []match {
	var out []match
	for i := 0; i < len(tokens); {
		if unspaced(tokens[i]) {
			end := i + 1
			for end < len(tokens) && tokens[end].glued && unspaced(tokens[end]) {
				end++
			}
			out = l.unspaced(out, tokens[i:end])
			i = end
			continue
		}
		e, n := l.phrase(tokens[i:])
		if e != nil && (e.capital && !tokens[i].name || tokens[i].quoted) {
			if e, n = nil, 1; tokens[i].text == "may" && !tokens[i].quoted {
				e = l.words["can"]
			}
		}
		t := tokens[i]
		for _, more := range tokens[i+1 : i+n] {
			t.text += " " + more.text
			t.shown += " " + more.shown
		}
		out = append(out, match{t, e})
		i += n
	}
	return out
}

// phrase returns the entry of the longest phrase at the start of the tokens, and the number of its words.
func (l *lexicon) phrase(tokens []token) (*entry, int) {
	for n := min(max(l.longest[tokens[0].text], names().longest[tokens[0].text]), len(tokens)); n > 1; n-- {
		var b strings.Builder
		for i, t := range tokens[:n] {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(t.text)
		}
		if e := l.words[b.String()]; e != nil {
			return e, n
		}
		if e := names().words[b.String()]; e != nil {
			return e, n
		}
	}
	return l.find(tokens[0].text), 1
}

func unspaced(t token) bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return text.Unspaced(r)
}

// unspaced cuts a run of characters into the longest words that the lexicon knows, and single characters between them. A
// run of katakana is one word.
func (l *lexicon) unspaced(out []match, run []token) []match {
	var runes []rune
	for _, t := range run {
		runes = append(runes, []rune(t.text)...)
	}
	afterHan := false
	for i := 0; i < len(runes); {
		e, n := l.longestWord(runes[i:])
		if m := numerals(runes[i:]); m > max(n, 1) {
			e, n = &entry{kind: number, value: string(runes[i : i+m])}, m
		} else if e == nil {
			for n = 1; scriptOf(runes[i]) == katakana && i+n < len(runes) && scriptOf(runes[i+n]) == katakana; {
				n++
			}
			// Hiragana after a Han character is its ending.
			if scriptOf(runes[i]) == kana && afterHan && l.language == "ja" {
				i++
				continue
			}
		}
		word := string(runes[i : i+n])
		out = append(out, match{token{text: word, shown: word, glued: i > 0 || run[0].glued, quoted: run[0].quoted}, quotedEntry(e, run[0])})
		afterHan = scriptOf(runes[i]) == han
		i += n
	}
	return out
}

// numerals returns the number of Han numerals at the start of the characters.
func numerals(runes []rune) int {
	n := 0
	for n < len(runes) && strings.ContainsRune("零〇一二三四五六七八九十百千万两", runes[n]) {
		n++
	}
	return n
}

func quotedEntry(e *entry, t token) *entry {
	if t.quoted {
		return nil
	}
	return e
}

func (l *lexicon) longestWord(runes []rune) (*entry, int) {
	for n := min(maxPhrase, len(runes)); n > 0; n-- {
		if e := l.words[string(runes[:n])]; e != nil {
			return e, n
		}
	}
	return nil, 1
}

// active turns an English passive with an agent into the active voice.
func active(tokens []token) []token {
	by := slices.IndexFunc(tokens, func(t token) bool { return t.text == "by" && !t.quoted })
	if by < 3 || len(tokens)-by > 4 || by+1 == len(tokens) {
		return tokens
	}
	doer := tokens[by+1]
	if e := lexicons()["en"].words[doer.text]; !doer.name && !e.has(definite|indefinite|pronoun) {
		return tokens // By default, by hand.
	}
	verb, be := tokens[by-1], by-2
	if tokens[be].text == "not" || tokens[be].text == "never" {
		be--
	}
	was := tokens[be].text == "was" || tokens[be].text == "were"
	switch form := participles[verb.text]; {
	case be == 0 || was && form != "" || !was && tokens[be].text != "is" && tokens[be].text != "are":
		return tokens
	case form != "":
		verb.text = form
	case !strings.HasSuffix(verb.text, "ed"):
		return tokens
	case !was:
		verb.text = present(verb.text)
	}
	out := append(slices.Clone(tokens[by+1:]), tokens[be+1:by-1]...)
	out = append(out, verb)
	return append(out, tokens[:be]...)
}

// present returns the verb of a regular English participle.
func present(participle string) string {
	stem := strings.TrimSuffix(participle, "ed")
	n := len(stem)
	if n > 2 && stem[n-1] == stem[n-2] && !strings.ContainsRune("sl", rune(stem[n-1])) {
		return stem[:n-1]
	}
	for _, end := range []string{"v", "z", "c", "u", "s", "at", "or", "ir", "ur", "ag", "id"} {
		if strings.HasSuffix(stem, end) && !strings.HasSuffix(stem, "ss") {
			return stem + "e"
		}
	}
	return stem
}

// participles has the present forms of verbs by their irregular participles.
var participles = map[string]string{
	"owned": "owns", "led": "leads", "maintained": "maintains", "managed": "manages", "headed": "heads", "chaired": "chairs",
	"written": "write", "built": "build", "held": "hold", "kept": "keep", "made": "make", "run": "run", "taught": "teach",
}
