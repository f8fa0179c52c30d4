package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// judgeWords decides whether the letters of a difference are one word with slips or two words. A name
// or a token with digits is never beyond doubt.
func (d *difference) judgeWords() verdict {
	v := d.judgeLetters()
	if v == damage {
		switch {
		case d.versioned():
			return unsure
		case d.digits || d.name():
			return doubtful
		}
		d.noise = 1
	}
	return v
}

func (d *difference) judgeLetters() verdict {
	q, s := string(d.q), string(d.s)
	slips, allowed := len(d.edits), slipsAllowed(max(len(d.q), len(d.s)))
	switch {
	case slips == 0, q == s:
		if d.hyphenated() {
			return unsure
		}
		return harmless
	case len(d.q) == 0 || len(d.s) == 0:
		return d.judgeMissing()
	case d.versioned():
		return unsure
	case d.otherUnit() || affixed(q, s) || affixed(s, q) || prefixesDiffer(q, s) || d.koreanNegated():
		return fatal
	case d.extraWord() > 1 || d.address():
		return another
	case d.extraWord() == 1 || slips > 1 && d.splits():
		return suspect
	case known[q] || knownKorean(d.q, d.s) || d.elsewhere(q):
		if slips > 1 || d.name() || d.person() {
			return another
		}
		return suspect
	case d.scanned():
		return damage
	case d.name() || d.person():
		if slips == 1 && d.foreign() {
			return damage
		}
		return another
	case d.foreign() && slips <= allowed+2:
		return damage
	case d.unlike():
		return d.judgeUnlike()
	case slips > allowed+1:
		if slips < len(d.s) && len(d.s) > 2 && slips <= allowed+2 {
			return suspect
		}
		return another
	case slips > allowed:
		if slips > 2 || !english(s) {
			return max(doubtful, d.judgeScript())
		}
		return max(unsure, d.judgeScript())
	}
	return d.judgeScript()
}

// hyphenated reports whether a hyphen comes or goes behind a prefix: to re-sign is not to resign.
func (d *difference) hyphenated() bool {
	for _, c := range d.columns {
		if c.q < 0 && d.g.source.prefixed(c.s) || c.s < 0 && d.g.quote.prefixed(c.q) {
			return true
		}
	}
	return false
}

// prefixed reports whether the rune at i is a hyphen between a prefix and letters.
func (s *side) prefixed(i int) bool {
	if s.at(i) != '-' || !letter(s.at(i+1)) {
		return false
	}
	start := i
	for letter(s.at(start - 1)) {
		start--
	}
	return meaningfulPrefix[string(s.text[start:i])]
}

// judgeUnlike decides on two sides that share no letter: scraps where a Chinese, Japanese or Korean
// word stood are damage at most, anything else is another word.
func (d *difference) judgeUnlike() verdict {
	switch {
	case len(d.s) > 2 || !cjk(d.s[0]) || critical[d.q[0]]:
		return another
	case len(d.q) <= 2 && script(d.q[0]) == unicode.Latin && !known[string(d.q)]:
		return unsure
	case len(d.q) > 1 && !d.mixed():
		return another
	}
	return suspect
}

// scanned reports whether a word differs by what a scanner confuses or by two neighbours that changed
// places, and is no other word for it.
func (d *difference) scanned() bool {
	return (lookalikes(string(d.q), string(d.s)) || len(d.s) > 3 && transposed(d.q, d.s)) && !cjk(d.s[0]) && !d.anotherWord()
}

// beginsSentence reports whether a word is an English one with the capital of the sentence it begins,
// and too long to be a name as well.
func (d *difference) beginsSentence() bool {
	before := strings.TrimRight(string(d.g.source.text[:d.sStart]), " ")
	last, _ := utf8.DecodeLastRuneInString(before)
	return len(d.s) >= 6 && (before == "" && d.g.source.offset == 0 || strings.ContainsRune(".!?:-", last)) && english(string(d.s))
}

// unlike reports whether the two sides share no letter.
func (d *difference) unlike() bool {
	for _, c := range d.columns {
		if q := d.g.quote.at(c.q); letter(q) && q == d.g.source.at(c.s) {
			return false
		}
	}
	return len(d.edits) > 1
}

// mixed reports whether the quote's letters are of more than one script.
func (d *difference) mixed() bool {
	return slices.ContainsFunc(d.q, func(r rune) bool { return script(r) != script(d.q[0]) })
}

// versioned reports whether the only slip is a letter before or among the digits of a number or version
// of the source.
func (d *difference) versioned() bool {
	letters := string(d.s)
	return d.digits && len(d.edits) == 1 && d.edits[0].q != 0 && (letters == "v" || letters == "" && !units[string(d.q)])
}

// slipsAllowed is how many edits a word of n letters may have and still be the same word.
func slipsAllowed(n int) int {
	switch {
	case n < 8:
		return 1
	case n < 16:
		return 2
	}
	return min(n/5, 6)
}

// judgeMissing decides on letters that only one side has.
func (d *difference) judgeMissing() verdict {
	only := d.q
	if len(only) == 0 {
		only = d.s
	}
	switch word := string(only); {
	case word == "the":
		return harmless
	case d.versioned():
		return unsure
	case d.glued() && len(only) <= 2 && (len(only) == 1 || !english(word) && !known[word]) && !critical[only[0]] && !critical[only[len(only)-1]]:
		return unsure
	case len(only) > 1, critical[only[0]]:
		return another
	case d.spaced():
		return suspect
	}
	return doubtful
}

// glued reports whether the quote has letters that touch what stood there before: a scrap, no word.
func (d *difference) glued() bool {
	return len(d.s) == 0 && len(d.q) > 0 && d.g.quote.at(d.qStart) != ' ' && d.g.quote.at(d.qEnd-1) != ' ' &&
		(d.sStart >= 0 || d.g.quote.at(d.qStart-1) != ' ' || d.g.quote.at(d.qEnd) != ' ')
}

// judgeScript decides on slips within one script.
func (d *difference) judgeScript() verdict {
	n, worst := max(len(d.q), len(d.s)), harmless
	for i, e := range d.edits {
		r := e.s
		if r == 0 {
			r = e.q
		}
		v := doubtful
		switch {
		case cjk(r) && e.q != 0 && !cjk(e.q) && !critical[e.s]:
			v = damage
		case unicode.Is(unicode.Han, r):
			v = d.judgeHan(i)
		case unicode.Is(unicode.Hangul, r):
			switch {
			case n >= 5 && e.at >= 3 && soundsAlike(e.q, e.s):
				v = damage
			case d.slipOfHangul(e):
				v = unsure
			}
		case unicode.Is(unicode.Katakana, r):
			if n >= 4 {
				v = unsure
			}
		case unicode.Is(unicode.Hiragana, r):
		default:
			v = d.judgeSpelling()
		}
		worst = max(worst, v)
	}
	return worst
}

// judgeSpelling decides on slips in a word of an alphabet: what is no word where the source has an
// English one is misspelt, and so is an unknown word that is long enough to have none near it. What
// changes at the ends of a word may make another form of it.
func (d *difference) judgeSpelling() verdict {
	n, first, last := max(len(d.q), len(d.s)), d.edits[0].at, d.edits[len(d.edits)-1].at
	_, s := d.hump()
	inside := first > 0 && last+3 <= len(d.s)
	switch {
	case n == 1:
		return another
	case d.anotherWord():
		if len(d.edits) == 1 && n >= spelt && inside && !english(s) && !known[s] && d.g.english() {
			return damage
		}
		return suspect
	case n < 4 || inflected(string(d.q), string(d.s)):
		return doubtful
	case d.g.english() && (n > 4 && first > 0 && english(s) || n >= spelt && inside && len(d.edits) == 1):
		return damage
	}
	if !english(s) && !d.cut() && !unspellable(string(d.q)) {
		d.misspelt = true
		return doubtful
	}
	d.noise = 1
	return unsure
}

// unspellable reports whether a word has a q before a letter other than u, which no word has in most
// languages.
func unspellable(word string) bool {
	i := strings.IndexByte(word, 'q')
	return i >= 0 && i+1 < len(word) && word[i+1] != 'u'
}

// cut reports whether the quote begins or ends with the word of a difference, which it may cut.
func (d *difference) cut() bool {
	return d.qStart == 0 || d.qEnd == len(d.g.quote.text)
}

// spelt is the least length of a word that a slip cannot turn into another, as good as ever.
const spelt = 8

// foreign reports whether an edit brings a small letter of another script into a word of several:
// what comes out is no word at all.
func (d *difference) foreign() bool {
	if len(d.s) < 2 || unicode.In(d.s[0], unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return false
	}
	word := script(d.s[0])
	for _, e := range d.edits {
		if e.q != 0 && script(e.q) != word && (e.s == 0 || script(e.s) != script(e.q)) {
			return len(d.q) > len(d.edits) || len(d.s) > len(d.edits)
		}
	}
	return false
}

func script(r rune) *unicode.RangeTable {
	for _, t := range []*unicode.RangeTable{
		unicode.Latin, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Cyrillic, unicode.Greek,
		unicode.Arabic, unicode.Devanagari, unicode.Hebrew, unicode.Thai,
	} {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

// name reports whether the source's word is written like a name, one capital and small letters or
// a short word of capitals, or the quote's is where the source has no capitals.
func (d *difference) name() bool {
	written := d.g.source.written(d.sStart, d.sEnd)
	if d.g.source.at(d.sEnd) == '(' || d.beginsSentence() || len(d.s) > 8 && english(string(d.s)) {
		return false
	}
	return nameLike(written) ||
		!strings.ContainsFunc(written, unicode.IsUpper) && nameLike(d.g.quote.written(d.qStart, d.qEnd))
}

func nameLike(word string) bool {
	upper, lower, first := 0, 0, false
	for _, r := range word {
		switch {
		case unicode.IsUpper(r):
			first = first || upper+lower == 0
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	return first && (upper == 1 && lower > 0 || lower == 0 && upper > 1 && upper <= 5)
}

// anotherWord reports whether the quote's letters make a word that people write. Of a name with
// humps only the one that differs counts.
func (d *difference) anotherWord() bool {
	q, _ := d.hump()
	return english(q) || known[q]
}

// otherUnit reports whether a name with humps ends with another unit.
func (d *difference) otherUnit() bool {
	q, s := d.hump()
	return len(s) < len(string(d.s)) && q != s && (units[q] || units[s])
}

// hump returns the part of both words between the capitals around their difference.
func (d *difference) hump() (q, s string) {
	written := []rune(d.g.source.written(d.sStart, d.sEnd))
	if len(written) != len(d.s) {
		return string(d.q), string(d.s)
	}
	same := 0
	for same < len(d.q) && same < len(d.s) && d.q[same] == d.s[same] {
		same++
	}
	start, end := min(same, len(written)-1), same+1
	for start > 0 && !unicode.IsUpper(written[start]) {
		start--
	}
	for end < len(written) && !unicode.IsUpper(written[end]) {
		end++
	}
	end = min(end, len(written))
	if rest := len(d.s) - end; rest <= len(d.q) && start <= len(d.q)-rest {
		return string(d.q[start : len(d.q)-rest]), string(d.s[start:end])
	}
	return string(d.q), string(d.s)
}

// address reports whether a difference lies in a URL or a mail address, where no slip is harmless.
func (d *difference) address() bool {
	s := &d.g.source
	start, end := d.sStart, d.sEnd
	for start > 0 && s.at(start-1) != ' ' {
		start--
	}
	for end < len(s.text) && s.at(end) != ' ' {
		end++
	}
	word := string(s.text[start:end])
	at := strings.IndexByte(word, '@')
	return strings.Contains(word, "://") || strings.HasPrefix(word, "www.") || at > 0 && strings.Contains(word[at:], ".")
}

// elsewhere reports whether the message has the quote's word as a word of its own: then it is
// another word, not a slip.
func (d *difference) elsewhere(word string) bool {
	if len(d.q) < 2 {
		return false
	}
	text := d.g.source.view.text
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(word)
		if boundary(text, start) && boundary(text, end) {
			return true
		}
		at = end
	}
}

// lookalikes reports whether two words differ only by what a scanner confuses.
func lookalikes(q, s string) bool { return skeleton.Replace(q) == skeleton.Replace(s) }

var skeleton = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "1", "l", "i", "l", "|", "l", "0", "o", "5", "s")

// looksAlike reports whether a scanner confuses a digit with a letter.
func looksAlike(digit, letter rune) bool {
	return skeleton.Replace(string(digit)) == skeleton.Replace(string(letter))
}

// transposed reports whether two words differ by two neighbours that changed places.
func transposed(q, s []rune) bool {
	if len(q) != len(s) {
		return false
	}
	i := 0
	for i < len(q) && q[i] == s[i] {
		i++
	}
	return i+1 < len(q) && q[i] == s[i+1] && q[i+1] == s[i] && slices.Equal(q[i+2:], s[i+2:])
}

// affixed reports whether a word is another with a prefix or ending that changes what it says.
func affixed(long, short string) bool {
	if len(long) <= len(short) || len(short) < 3 {
		return false
	}
	if prefix, ok := strings.CutSuffix(long, short); ok && meaningfulPrefix[prefix] {
		return true
	}
	suffix, ok := strings.CutPrefix(long, short)
	return ok && meaningfulSuffix[suffix] && english(short)
}

// inflected reports whether two words differ by one letter at the end that makes another form.
func inflected(q, s string) bool {
	if len(q) < len(s) {
		q, s = s, q
	}
	suffix, ok := strings.CutPrefix(q, s)
	return ok && (suffix == "s" || strings.HasSuffix(s, "e") && (suffix == "d" || suffix == "r"))
}

// prefixesDiffer reports whether two words are one stem with opposite prefixes.
func prefixesDiffer(q, s string) bool {
	for _, pair := range opposites {
		for range 2 {
			a, okA := strings.CutPrefix(q, pair[0])
			b, okB := strings.CutPrefix(s, pair[1])
			if okA && okB && a == b && len(a) >= 3 {
				return true
			}
			pair[0], pair[1] = pair[1], pair[0]
		}
	}
	return false
}
