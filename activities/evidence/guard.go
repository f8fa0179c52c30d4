package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// guard decides whether a quote and the text it was aligned with say the same. A quote that does not
// prove may still be found: where it is damaged beyond doubt, what may be another word or a damaged
// number is as likely damage.
type guard struct {
	quote, source side
	columns       []edit
	// inEnglish, once known, tells whether the source's words are mostly English ones.
	inEnglish, knownLanguage bool
}

// side is one of the two texts, folded, and its runes. It begins at byte offset of the view, which leads
// to the original for the case of its letters.
type side struct {
	folded   string
	text     []rune
	view     *view
	original string
	offset   int
}

// verdict is what a difference may be, from harmless to fatal.
type verdict int

const (
	// harmless: separators only.
	harmless verdict = iota
	// damage: no writer means it, such as a foreign letter within a word. It shows that the quote
	// is noisy.
	damage
	// unsure: likely a slip, but it may be another word.
	unsure
	// doubtful: as likely another word or number as a slip.
	doubtful
	// suspect: more likely another word.
	suspect
	// another: a word that the source does not have there.
	another
	// fatal: the meaning changes.
	fatal
)

// heavyDamage is how much of a quote must be damaged for a word that the source does not have to be
// damage too.
const heavyDamage = 3

// judge reports whether the quote is found at the text, and where it may say something else.
func (g *guard) judge() (doubts []schema.Doubt, ok bool) {
	if !slices.Equal(negations(g.quote.folded), negations(g.source.folded)) ||
		!slices.Equal(operators(g.quote.folded), operators(g.source.folded)) {
		return nil, false
	}
	noise, misspelt := 0, 0
	var count [fatal]int
	for start := 0; start < len(g.columns); {
		end, equal := start, true
		for end < len(g.columns) && !g.separates(end) {
			c := g.columns[end]
			equal = equal && g.quote.at(c.q) == g.source.at(c.s)
			end++
		}
		if !equal {
			d := g.newDifference(start, end)
			v := d.judge()
			if v == fatal {
				return nil, false
			}
			count[v]++
			noise += d.noise
			if d.misspelt {
				misspelt++
			}
			if v > damage {
				doubts = append(doubts, d.doubt())
			}
		}
		start = end + 1
	}
	return doubts, outweighed(count, noise, misspelt)
}

// outweighed reports whether a quote is damaged enough for the doubts about it to be damage too: who
// changes a meaning changes one word or two and leaves the rest alone.
func outweighed(count [fatal]int, noise, misspelt int) bool {
	switch {
	case count[another] > 0:
		return noise >= heavyDamage*count[another]
	case count[suspect] > 0:
		return noise+misspelt+count[unsure] >= count[suspect]
	case count[doubtful] > 0:
		return noise > 0 || count[unsure]+count[doubtful] > 1
	}
	return true
}

// english reports whether the dictionary can tell the source's words from others: whether most of its
// words in Latin letters are English.
func (g *guard) english() bool {
	if g.knownLanguage {
		return g.inEnglish
	}
	words, known := 0, 0
	for word := range strings.FieldsFuncSeq(g.source.folded, func(r rune) bool { return !wordRune(r) || cjk(r) }) {
		if len(word) < 3 {
			continue
		}
		words++
		if english(word) {
			known++
		}
	}
	g.knownLanguage, g.inEnglish = true, 2*known > words
	return g.inEnglish
}

// separates reports whether a column is an equal separator on both sides, so that differences
// before it and after it are judged apart.
func (g *guard) separates(i int) bool {
	c := g.columns[i]
	if c.q < 0 || c.s < 0 || g.quote.text[c.q] != g.source.text[c.s] || wordRune(g.quote.text[c.q]) {
		return false
	}
	return !g.quote.joins(c.q) && !g.source.joins(c.s)
}

// at returns the rune at i, 0 outside of the text.
func (s *side) at(i int) rune {
	if i < 0 || i >= len(s.text) {
		return 0
	}
	return s.text[i]
}

// joins reports whether the rune at i is punctuation inside a number.
func (s *side) joins(i int) bool {
	switch s.at(i) {
	case '.', ',', ':':
		return unicode.IsDigit(s.at(i-1)) && unicode.IsDigit(s.at(i+1))
	}
	return false
}

// written returns the word that holds a range of the text, as the original has it and whole even
// where the text cuts it.
func (s *side) written(start, end int) string {
	if start < 0 || start >= end {
		return ""
	}
	from := s.offset + byteOffset(s.folded, start)
	to := s.offset + byteOffset(s.folded, end)
	x := s.view.original(from, to)
	return s.original[wordStart(s.original, x.start):wordEnd(s.original, x.end)]
}

// byteOffset returns where the nth rune of a text begins.
func byteOffset(text string, n int) int {
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// difference is a stretch of the alignment between two separators that both sides share.
type difference struct {
	g       *guard
	columns []edit
	// The stretch on each side, half-open in runes.
	qStart, qEnd, sStart, sEnd int
	// The letters of each side, without digits and separators, and how many edits they have.
	q, s   []rune
	edits  []letterEdit
	digits bool
	// noise is how much the difference shows that the quote is damaged: 1 for what is no word, 2 for
	// what nobody writes.
	noise int
	// misspelt: the quote's word is none, but it is unknown what the source's is.
	misspelt bool
}

// letterEdit is one changed letter: q or s is 0 where a letter is missing. At is the number of the
// source's letters before it.
type letterEdit struct {
	q, s rune
	at   int
}

func (g *guard) newDifference(start, end int) *difference {
	d := &difference{g: g, columns: g.columns[start:end], qStart: -1, sStart: -1}
	for _, c := range d.columns {
		q, s := g.quote.at(c.q), g.source.at(c.s)
		if c.q >= 0 {
			if d.qStart < 0 {
				d.qStart = c.q
			}
			d.qEnd = c.q + 1
		}
		if c.s >= 0 {
			if d.sStart < 0 {
				d.sStart = c.s
			}
			d.sEnd = c.s + 1
		}
		d.digits = d.digits || unicode.IsNumber(q) || unicode.IsNumber(s)
		if letter(q) && (unicode.IsNumber(s) || c.s >= 0 && g.source.joins(c.s) || c.s < 0 && g.quote.splits(c.q)) {
			continue // stands in a number, where judgeNumbers sees it
		}
		d.addLetters(q, s)
	}
	return d
}

func (d *difference) addLetters(q, s rune) {
	q, s, digit := letterOr0(q), letterOr0(s), unicode.IsNumber(q)
	if q != s && !digit {
		d.edits = append(d.edits, letterEdit{q, s, len(d.s)})
	}
	if q != 0 {
		d.q = append(d.q, q)
	}
	if s != 0 {
		d.s = append(d.s, s)
	}
}

// doubt names the words that hold a difference.
func (d *difference) doubt() schema.Doubt {
	return schema.Doubt{
		Quote: d.g.quote.written(d.qStart, d.qEnd), Source: d.g.source.written(d.sStart, d.sEnd),
	}
}

// splits reports whether the rune at i stands between two digits.
func (s *side) splits(i int) bool {
	return unicode.IsDigit(s.at(i-1)) && unicode.IsDigit(s.at(i+1))
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

func letterOr0(r rune) rune {
	if letter(r) {
		return r
	}
	return 0
}

// judge returns what a difference may be, and notes the noise it shows.
func (d *difference) judge() verdict {
	v := harmless
	if d.digits {
		v = d.judgeNumbers()
	}
	if v = max(v, d.judgeSigns(), d.judgeUnits()); v == fatal {
		return v
	}
	words := d.judgeWords()
	switch {
	case d.misprinted() || len(d.edits) > 0 && d.foreign():
		d.noise = 2
	case d.spaceLost():
		d.noise = max(d.noise, 1)
	}
	return max(v, words)
}

// spaceLost reports whether the quote lacks a space.
func (d *difference) spaceLost() bool {
	for _, c := range d.columns {
		if c.q < 0 && d.g.source.at(c.s) == ' ' {
			return true
		}
	}
	return false
}

// misprinted reports whether a letter stands where the source has punctuation, or has taken the
// place of a space between two words: nobody writes so.
func (d *difference) misprinted() bool {
	q, s := &d.g.quote, &d.g.source
	for i, c := range d.columns {
		if c.q < 0 || c.s < 0 || !letter(q.at(c.q)) || wordRune(s.at(c.s)) ||
			q.at(c.q-1) == ' ' && q.at(c.q+1) == ' ' {
			continue
		}
		if i+1 < len(d.columns) && d.columns[i+1].s < 0 && !wordRune(q.at(d.columns[i+1].q)) {
			continue // the punctuation comes after a longer word
		}
		if s.at(c.s) != ' ' || q.at(c.q-1) != ' ' && q.at(c.q+1) != ' ' {
			return true
		}
	}
	return false
}

// judgeSigns refuses a minus sign on one side only, another pictograph, and a separator lost between
// two numbers.
func (d *difference) judgeSigns() verdict {
	q, s := &d.g.quote, &d.g.source
	for _, c := range d.columns {
		if q.at(c.q) == s.at(c.s) {
			continue
		}
		if q.sign(c.q) || s.sign(c.s) || unicode.Is(unicode.So, q.at(c.q)) && unicode.Is(unicode.So, s.at(c.s)) {
			return fatal
		}
		if c.q < 0 && !wordRune(s.at(c.s)) && !s.joins(c.s) &&
			unicode.IsDigit(s.at(c.s-1)) && unicode.IsDigit(s.at(c.s+1)) {
			return fatal
		}
	}
	return harmless
}

// sign reports whether the rune at i is the minus sign of a number.
func (s *side) sign(i int) bool {
	return s.at(i) == '-' && unicode.IsDigit(s.at(i+1)) && !wordRune(s.at(i-1))
}

// judgeNumbers compares digits. One that the quote has and the source has not is a changed number.
// A number that lost a digit, or of which one cannot be read, may be damaged and proves nothing.
func (d *difference) judgeNumbers() verdict {
	q, s := &d.g.quote, &d.g.source
	total, lost, unread, inserted := 0, 0, 0, false
	for _, c := range d.columns {
		qr, sr := q.at(c.q), s.at(c.s)
		if unicode.IsDigit(sr) || c.s >= 0 && s.joins(c.s) {
			total++
		}
		switch {
		case qr == sr:
		case unicode.IsNumber(qr) && !(letter(sr) && looksAlike(qr, sr)), c.q >= 0 && q.joins(c.q):
			return fatal
		case unicode.IsNumber(qr):
			d.noise = 1
		case unicode.IsNumber(sr) || c.s >= 0 && s.joins(c.s):
			switch {
			case qr == 0:
				lost++
			case !letter(qr):
				return fatal
			default:
				unread++
			}
		case c.s < 0 && q.splits(c.q):
			inserted = true
		}
	}
	switch {
	case lost+unread == 0 && !inserted:
		return harmless
	case d.cutsNumber():
		return fatal
	case lost > 0 && (total < 2 || unread == 0 && total == 2):
		return another
	}
	if unread > 0 || inserted {
		d.noise = 2
	}
	if lost > 0 || total < 3 {
		return doubtful
	}
	return unsure
}

// cutsNumber reports whether the text begins or ends inside a number of the message, and not with a
// digit that the quote begins or ends with.
func (d *difference) cutsNumber() bool {
	q, s := &d.g.quote, &d.g.source
	digit := func(at int) bool {
		r, _ := utf8.DecodeRuneInString(s.view.text[at:])
		return unicode.IsDigit(r)
	}
	first, last := d.g.columns[0], d.g.columns[len(d.g.columns)-1]
	if d.sStart == 0 && q.at(first.q) != s.at(first.s) && s.offset > 0 && digit(s.offset-1) && digit(s.offset) {
		return true
	}
	end := s.offset + len(string(s.text))
	return d.sEnd == len(s.text) && q.at(last.q) != s.at(last.s) && end < len(s.view.text) && digit(end-1) && digit(end)
}

// judgeUnits refuses another unit after a number, whether joined to it or the next word.
func (d *difference) judgeUnits() verdict {
	q, s := &d.g.quote, &d.g.source
	qUnit, sUnit := q.unit(d.qStart, d.qEnd), s.unit(d.sStart, d.sEnd)
	switch {
	case qUnit == sUnit || !units[qUnit] && !units[sUnit]:
		return harmless
	case sUnit == "":
		return doubtful
	}
	return fatal
}

// unit returns the first letters after a digit in a stretch, or the stretch's letters when a number
// and a space go before it.
func (s *side) unit(start, end int) string {
	if start < 0 {
		return ""
	}
	from := -1
	if wordRune(s.at(start)) && !unicode.IsDigit(s.at(start)) && unicode.IsDigit(s.at(start-2)) && s.at(start-1) == ' ' {
		from = start
	}
	for i := start; i < end && from < 0; i++ {
		if unicode.IsDigit(s.at(i-1)) && letter(s.at(i)) {
			from = i
		}
	}
	if from < 0 {
		return ""
	}
	to := from
	for to < end && letter(s.at(to)) {
		to++
	}
	word := string(s.text[from:to])
	if !cjk(s.at(from)) {
		if from == start && to < end && unicode.IsDigit(s.at(to)) {
			return ""
		}
		return word
	}
	for n := min(3, to-from); n > 0; n-- {
		unit := string(s.text[from : from+n])
		if units[unit] && (from+n == to || particles[s.at(from+n)] || unicode.Is(unicode.Han, s.at(from))) {
			return unit
		}
	}
	return word
}
