package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// doubts lists where a quote may say something else than the place at which it is found.
func (s *source) doubts(q *quote, method schema.Method, x extent) []schema.Doubt {
	var doubts []schema.Doubt
	if cut := cutBefore(s.text, x); cut < x.start {
		end := wordEnd(s.text, x.start)
		end += numberTail(s.text[end:])
		doubts = append(doubts, schema.Doubt{Quote: s.text[x.start:end], Source: s.text[cut:end]})
	}
	switch method {
	case schema.MethodNormalized:
		doubts = append(doubts, s.unproven(q, x)...)
	case schema.MethodApproximate:
		_, inside := s.similarityAt(q, x)
		doubts = append(doubts, inside...)
	}
	if cut := cutAfter(s.text, x); cut > x.end {
		start := min(wordStart(s.text, x.end), numberStart(s.text, x.end))
		doubts = append(doubts, schema.Doubt{Quote: s.text[start:x.end], Source: s.text[start:cut]})
	}
	return doubts
}

// unproven lists where a place of equal letters may say something else than a quote: a word goes on
// that the quote ends with a mark, a power is written as a plain number, punctuation lacks in numbers.
func (s *source) unproven(q *quote, x extent) []schema.Doubt {
	text := s.text[x.start:x.end]
	doubts := raised(q.text, text)
	inner := q.bare().original(0, len(q.bare().text))
	if outer(q.text[:inner.start]) > 0 && !boundary(s.text, x.start) {
		start, end := wordStart(s.text, x.start), wordEnd(s.text, x.start)
		doubts = append(doubts, schema.Doubt{Quote: s.text[x.start:end], Source: s.text[start:end]})
	}
	if outer(q.text[inner.end:]) > 0 && !boundary(s.text, x.end) {
		start, end := wordStart(s.text, x.end), wordEnd(s.text, x.end)
		doubts = append(doubts, schema.Doubt{Quote: s.text[start:x.end], Source: s.text[start:end]})
	}
	if !s.joinedAt(q, x) {
		lacking, _ := s.marksAt(q, x)
		doubts = append(doubts, lacking...)
	}
	return doubts
}

// cutBefore returns where what a place begins with really begins, when the place leaves out the
// beginning of a number or what denies its first word; otherwise the start of the place.
func cutBefore(text string, x extent) int {
	first, _ := utf8.DecodeRuneInString(text[x.start:])
	before, size := utf8.DecodeLastRuneInString(text[:x.start])
	if size == 0 {
		return x.start
	}
	if unicode.IsDigit(first) && numeric(text[:x.start], before) {
		return numberStart(text, x.start)
	}
	if denying[before] {
		return x.start - size
	}
	if letter(first) && letter(before) {
		start := wordStart(text, x.start)
		prefix := strings.ToLower(text[start:x.start])
		if meaningfulPrefix[prefix] || negatingPrefix[before] && start == x.start-size {
			return start
		}
		return x.start
	}
	head := strings.TrimRight(text[:x.start], " \u00a0")
	if start := wordStart(head, len(head)); len(head) < x.start && denies(head[start:]) {
		return start
	}
	return x.start
}

// cutAfter returns where what a place ends with really ends, when the place leaves out the end of a
// number or what denies its last word; otherwise the end of the place.
func cutAfter(text string, x extent) int {
	if end := cutNumber(text, x.end); end > x.end {
		return end
	}
	last, _ := utf8.DecodeLastRuneInString(text[:x.end])
	rest := text[x.end:]
	start, end := wordStart(text, x.end), wordEnd(text, x.end)
	word := strings.ToLower(text[start:end])
	cut := strings.ToLower(text[start:x.end])
	if end > x.end && (denies(word) && !denies(cut) || meaningfulSuffix[word[len(cut):]]) {
		return end
	}
	next := strings.TrimLeft(rest, " \u00a0")
	r, size := utf8.DecodeRuneInString(next)
	after := len(text) - len(next)
	switch {
	case denying[r] && (len(next) == len(rest) || last == '지'):
		return after + size
	case len(next) == len(rest):
		for _, phrase := range denyingPhrases {
			if strings.HasPrefix(next, phrase) {
				return after + len(phrase)
			}
		}
	case auxiliary[word] && denies(next[:wordEnd(next, 0)]):
		return after + wordEnd(next, 0)
	}
	return x.end
}

// cutNumber returns where the number ends that a place of a text may cut; the place when it cuts none.
func cutNumber(text string, at int) int {
	if last, _ := utf8.DecodeLastRuneInString(text[:at]); !unicode.IsDigit(last) {
		return at
	}
	return at + numberTail(text[at:])
}

// denies reports whether a word as it is written denies.
func denies(word string) bool {
	return negation(strings.ToLower(strings.ReplaceAll(word, "’", "'"))) != ""
}

// numeric reports whether a text that ends with a rune goes on into a number that follows.
func numeric(text string, last rune) bool {
	rest := text[:len(text)-utf8.RuneLen(last)]
	before, _ := utf8.DecodeLastRuneInString(rest)
	switch last {
	case '.', ',', ':':
		return unicode.IsDigit(before) || last == '.' && !wordRune(before) && before != '.'
	case '-', '−':
		return rest == "" || strings.ContainsRune(" (=\n\t", before)
	}
	return unicode.IsDigit(last)
}

// numberStart returns where the number that goes on at a place of a text begins.
func numberStart(text string, at int) int {
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if !unicode.IsDigit(r) && !numeric(text[:at], r) {
			break
		}
		at -= size
	}
	return at
}

// numberTail returns how many bytes of a text go on with a number that ends before it.
func numberTail(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if strings.ContainsRune(".,:", r) {
			if next, _ := utf8.DecodeRuneInString(text[n+size:]); !unicode.IsDigit(next) {
				break
			}
		} else if !unicode.IsDigit(r) {
			break
		}
		n += size
	}
	return n
}

// wordStart returns where the word that holds or ends at a place begins. An apostrophe inside
// belongs to it.
func wordStart(text string, at int) int {
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if !wordRune(r) && !apostrophe(r) {
			break
		}
		at -= size
	}
	return at
}

// wordEnd returns where the word that holds or begins at a place ends.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !wordRune(r) && !apostrophe(r) {
			break
		}
		at += size
	}
	return at
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' }

// raised lists the numbers that are powers or indices in the source and plain digits in the quote,
// which the normal form does not tell apart.
func raised(quote, text string) []schema.Doubt {
	q, s := raisedDigits(quote), raisedDigits(text)
	if slices.Equal(q, s) {
		return nil
	}
	return []schema.Doubt{{Quote: strings.Join(q, " "), Source: strings.Join(s, " ")}}
}

// raisedDigits returns the stretches of a text in which a raised, lowered or fractional digit follows
// a plain one.
func raisedDigits(text string) []string {
	var found []string
	var before rune
	for i, r := range text {
		if unicode.Is(unicode.No, r) && unicode.IsDigit(before) && !unicode.Is(unicode.No, before) {
			found = append(found, text[numberStart(text, i):i+utf8.RuneLen(r)])
		}
		before = r
	}
	return found
}
