// Package normal converts text to the form in which quotes are compared, and maps it back to the original
// text.
package normal

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"axiommind/activities/text"
)

// Form is the form in which quotes are compared. It is in this package because of its [View], which maps
// back to the quoted text, and it is pinned like the forms of package text.
var Form = text.Form{Name: "quote", Version: 1, Of: Form1}

// Form1 returns a text in normal form 1, in which two quotes of the same words are equal: NFKC, full
// case folding, one space for any white space, plain quotes, dashes and ellipses, no characters
// without width and no Markdown emphasis. It changes nothing more when it is applied again.
//
// Stored evidence depends on it: a change of its results is another form, with another number.
func Form1(text string) string { return Of(text).Text }

// Of returns the view of a text in normal form 1.
func Of(text string) *View { return fold(text, false) }

// OfPiece is [Of] for a piece of another text. A mark of emphasis at either end of it may have been
// inside a word, and stays.
func OfPiece(text string) *View { return fold(text, true) }

func fold(text string, cut bool) *View {
	f := folder{src: text, cut: cut, out: make([]byte, 0, len(text)+len(text)/16+8)}
	for f.pos < len(text) {
		f.step()
	}
	return &View{Text: string(f.out), runs: f.runs}
}

type folder struct {
	src      string
	cut      bool
	pos      int
	out      []byte
	runs     []run
	segments map[string]string
}

// plain[c] is the folded form of an ASCII byte that needs no look at its neighbours, or 0.
var plain = func() (table [256]byte) {
	for c := byte('!'); c < 0x7f; c++ {
		table[c] = c
		if 'A' <= c && c <= 'Z' {
			table[c] = c + 'a' - 'A'
		}
	}
	table['`'] = '\''
	for _, c := range []byte("*_~.-") {
		table[c] = 0
	}
	return table
}()

func (f *folder) step() {
	if f.plainRun(); f.pos == len(f.src) {
		return
	}
	c := f.src[f.pos]
	if c < utf8.RuneSelf && f.marked() {
		f.segment()
		return
	}
	switch c {
	case '*', '_', '~':
		f.emphasis()
	case '.':
		f.dots()
	case '-':
		f.dashes()
	default:
		r, size := utf8.DecodeRuneInString(f.src[f.pos:])
		switch {
		case unicode.IsSpace(r) || text.Ignored(r):
			f.space()
		case ellipsis(r) > 0:
			f.dots()
		case dash(r):
			f.dashes()
		case r >= utf8.RuneSelf && f.aloneHere(r, size):
			f.linear(size, f.src[f.pos:f.pos+size])
		default:
			f.segment()
		}
	}
}

// plainRun copies ASCII that folds only to lower case, single spaces included.
func (f *folder) plainRun() {
	src, i := f.src, f.pos
	out := f.out
	for i < len(src) {
		p := plain[src[i]]
		if p == 0 {
			if src[i] != ' ' || len(out) == 0 || out[len(out)-1] == ' ' || i+1 == len(src) || plain[src[i+1]] == 0 {
				break
			}
			p = ' '
		}
		out = append(out, p)
		i++
	}
	n := i - f.pos
	// The last byte may carry a combining mark: leave it to segment.
	if n > 0 && i < len(src) && src[i] >= utf8.RuneSelf && !norm.NFKC.PropertiesString(src[i:]).BoundaryBefore() {
		n, out = n-1, out[:len(out)-1]
	}
	if n > 0 {
		f.mapLinear(len(out)-n, n)
	}
	f.out, f.pos = out, f.pos+n
}

// iotaSubscript is the one mark that folds to a letter: the character before it is handled as if that
// letter followed.
const iotaSubscript = "\u0345"

// marked reports whether the ASCII byte at hand is followed by a rune that composes with it.
func (f *folder) marked() bool {
	next := f.pos + 1
	return next < len(f.src) && f.src[next] >= utf8.RuneSelf && f.src[f.pos] > ' ' &&
		!norm.NFKC.PropertiesString(f.src[next:]).BoundaryBefore() && !strings.HasPrefix(f.src[next:], iotaSubscript)
}

// mapLinear records that the output from to on represents the source from pos on.
func (f *folder) mapLinear(to, n int) {
	if last := len(f.runs) - 1; last >= 0 {
		r := f.runs[last]
		if r.size == 0 && f.pos-to == r.from-r.to {
			return
		}
	}
	if n > 0 {
		f.runs = append(f.runs, run{to: to, from: f.pos})
	}
}

// linear emits text that represents the next n bytes of the source, byte for byte.
func (f *folder) linear(n int, text string) {
	f.mapLinear(len(f.out), n)
	f.out = append(f.out, text...)
	f.pos += n
}

// whole emits text that represents the next n bytes of the source as a whole.
func (f *folder) whole(n int, text string) {
	if text != "" {
		f.runs = append(f.runs, run{to: len(f.out), from: f.pos, size: n})
		f.out = append(f.out, text...)
	}
	f.pos += n
}

// space turns a stretch of whitespace and ignored characters into one space, or into nothing.
func (f *folder) space() {
	i, any := f.pos, false
	for i < len(f.src) {
		r, size := utf8.DecodeRuneInString(f.src[i:])
		if unicode.IsSpace(r) {
			any = true
		} else if !text.Ignored(r) {
			break
		}
		i += size
	}
	switch n := i - f.pos; {
	case !any || len(f.out) > 0 && f.out[len(f.out)-1] == ' ':
		f.whole(n, "")
	case n == 1:
		f.linear(1, " ")
	default:
		f.whole(n, " ")
	}
}

// emphasis leaves out Markdown's marks of emphasis, which have a word on exactly one side.
func (f *folder) emphasis() {
	end := f.marks(f.pos)
	fits := markdown(f.src[f.pos:end])
	before, _ := utf8.DecodeLastRune(f.out)
	after := f.peek(end)
	if f.cut && (len(f.out) == 0 || after == 0) {
		fits = false
	}
	if fits && (WordRune(before) != WordRune(after) || closesSentence(before, after)) {
		f.whole(end-f.pos, "")
		return
	}
	for f.pos < end {
		if f.src[f.pos] < utf8.RuneSelf {
			f.linear(1, f.src[f.pos:f.pos+1])
			continue
		}
		_, size := utf8.DecodeRuneInString(f.src[f.pos:])
		f.whole(size, "")
	}
}

// closesSentence reports whether marks of emphasis follow the punctuation that ends the emphasized text.
func closesSentence(before, after rune) bool {
	return before != 0 && (after == 0 || unicode.IsSpace(after)) &&
		(unicode.Is(unicode.STerm, before) || unicode.In(before, unicode.Pe, unicode.Pf) || strings.ContainsRune(`:;,"'`, before))
}

// marks returns where a stretch of marks that begins at byte i ends.
func (f *folder) marks(i int) int {
	for i < len(f.src) {
		r, size := utf8.DecodeRuneInString(f.src[i:])
		if r != '*' && r != '_' && r != '~' && !text.Ignored(r) {
			break
		}
		i += size
	}
	return i
}

// markdown reports whether each of some marks is of a length that Markdown knows.
func markdown(marks string) bool {
	var last rune
	n := 0
	known := func() bool { return last == 0 || last == '~' && n == 2 || last != '~' && n <= 3 }
	for _, r := range marks {
		switch {
		case text.Ignored(r):
		case r == last:
			n++
		case !known():
			return false
		default:
			last, n = r, 1
		}
	}
	return known()
}

// peek returns the first rune that the text from byte i on folds to, or 0.
func (f *folder) peek(i int) rune {
	for i < len(f.src) {
		r, size := utf8.DecodeRuneInString(f.src[i:])
		if r < utf8.RuneSelf {
			return r
		}
		for _, first := range foldSegment(f.src[i : i+size]) {
			return first
		}
		i += size
	}
	return 0
}

// dots writes three dots for any ellipsis. Dots after the third are left out.
func (f *folder) dots() {
	for left := 3; f.pos < len(f.src); {
		r, size := utf8.DecodeRuneInString(f.src[f.pos:])
		n := ellipsis(r)
		if r == '.' {
			n = 1
		}
		if n == 0 {
			break
		}
		n = min(n, left)
		left -= n
		if r == '.' && n == 1 {
			f.linear(1, ".")
			continue
		}
		f.whole(size, Ellipsis[:n])
	}
}

// dashes writes plain dashes, and one for two or three that represent an em dash between words.
func (f *folder) dashes() {
	i, n := f.pos, 0
	for i < len(f.src) {
		r, size := utf8.DecodeRuneInString(f.src[i:])
		if dash(r) {
			n++
		} else if !text.Ignored(r) {
			break
		}
		i += size
	}
	if n == 2 || n == 3 {
		before, _ := utf8.DecodeLastRune(f.out)
		after := f.peek(f.marks(i))
		if unicode.IsSpace(before) && unicode.IsSpace(after) || WordRune(before) && WordRune(after) {
			n = 1
		}
	}
	text := strings.Repeat("-", n)
	if f.src[f.pos:i] == text {
		f.linear(n, text)
		return
	}
	f.whole(i-f.pos, text)
}

// dash reports whether a rune is a dash in any form.
func dash(r rune) bool {
	return r == '-' || r == '\uff0d' || r == '\ufe63' || variant(r) == '-'
}

// aloneHere reports whether the rune at hand is a segment of its own that folding does not change.
func (f *folder) aloneHere(r rune, size int) bool {
	if !alone(r) {
		return false
	}
	rest := f.src[f.pos+size:]
	if rest == "" || rest[0] < utf8.RuneSelf {
		return true
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return alone(next)
}

// alone reports whether a rune is unchanged by folding and composes with no rune for which alone
// holds.
func alone(r rune) bool {
	return 0xAC00 <= r && r <= 0xD7A3 || 0x4E00 <= r && r <= 0x9FFF ||
		0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FA || 0x1F300 <= r && r <= 0x1F5FF ||
		0x1F600 <= r && r <= 0x1F64F || 0x1F680 <= r && r <= 0x1F6FF
}

// segment folds the stretch up to the next place where normalization cannot reach across.
func (f *folder) segment() {
	n := norm.NFKC.NextBoundaryInString(f.src[f.pos:], true)
	if n <= 0 {
		n = 1
	}
	src := f.src[f.pos : f.pos+n]
	text, known := f.segments[src]
	if !known {
		text = foldSegment(src)
		if f.segments == nil {
			f.segments = make(map[string]string)
		}
		f.segments[src] = text
	}
	if text != "" && len(f.out) > 0 && !norm.NFKC.PropertiesString(text).BoundaryBefore() {
		f.rejoin(n, text)
		return
	}
	if text == src {
		f.linear(n, text)
		return
	}
	f.whole(n, text)
}

// rejoin folds a segment together with the end of the output: the characters between them were left out.
func (f *folder) rejoin(n int, text string) {
	cut := max(norm.NFKC.LastBoundary(f.out), 0)
	v := View{runs: f.runs}
	from, _ := v.Original(cut, cut+1)
	text = foldSegment(string(f.out[cut:]) + text)
	keep := sort.Search(len(f.runs), func(i int) bool { return f.runs[i].to >= cut })
	f.runs, f.out = f.runs[:keep], f.out[:cut]
	n += f.pos - from
	f.pos = from
	f.whole(n, text)
}

// foldSegment folds one segment until folding changes nothing more.
func foldSegment(s string) string {
	for range 4 {
		next := norm.NFKC.String(s)
		if len(next) > 1 && next[0] == ' ' && s[0] != ' ' || strings.ContainsAny(next, "*_~") && !strings.ContainsAny(s, "*_~") {
			// A spacing accent is a character of its own, not a space with an accent. A character that only
			// resembles a mark of emphasis is none.
			next = norm.NFC.String(s)
		}
		// text.FoldCase also unites the two cases of Cherokee. Rule 1 distinguishes them, and is pinned.
		next = norm.NFC.String(cases.Fold().String(next))
		next = strings.Map(variant, next)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// variant returns the plain form of punctuation, and -1 for an invisible character.
func variant(r rune) rune {
	switch r {
	case '“', '”', '„', '‟', '«', '»', '〝', '〞', '〟', '「', '」', '『', '』', '″':
		return '"'
	case '‘', '’', '‚', '‛', '‹', '›', '′', '´', '`', 'ʼ':
		return '\''
	case '‐', '‑', '‒', '–', '—', '―', '−', '⸺', '⸻', '﹘':
		return '-'
	case '。':
		return '.'
	case '、':
		return ','
	}
	switch {
	case unicode.IsSpace(r):
		return ' '
	case text.Ignored(r):
		return -1
	}
	return r
}

// Ellipsis is how the normal form writes any ellipsis.
const Ellipsis = "..."

// ellipsis returns the number of dots that a rune represents, or 0.
func ellipsis(r rune) int {
	switch r {
	case '…', '⋯':
		return 3
	case '‥':
		return 2
	case '．', '﹒', '。', '｡':
		return 1
	}
	return 0
}

// WordRune reports whether a rune belongs to a word or a number.
func WordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}
