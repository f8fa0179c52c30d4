package text

import (
	"iter"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Boundaries finds where the sentences and lines of a text begin and end, in bytes. It reads a line on the first query
// for it, and is not safe for concurrent use.
//
// A sentence or line begins and ends
//   - where UAX #29 ends a sentence: after a full stop, a question mark or an exclamation mark, and the
//     quotation marks, brackets and marks of emphasis that close behind it: "It works. Does it?" is two,
//     and so is "**Done.** Next". A full stop ends none when the next letter is small: "e.g. this",
//     "approx. 5 tests". Nor does a mark within brackets or quotation marks when a small letter follows
//     these: "(really!) this". A full stop does when the next letter is a capital behind a space, after an
//     abbreviation too: "Dr. Smith" is two. Scripts have their own marks: «结束了。为什么？», «क्या? हाँ।»,
//     «هل وصل؟ نعم.», and the semicolon in Greek: «Τι έγινε; Τίποτα.»;
//   - where a line begins and ends: LF, VT, FF, CR, NEL, LS, PS;
//   - behind the marks at the beginning of a line that Markdown gives a quoted line ("> "), an item of a
//     list ("- ", "* ", "1. ", "2) ", "・", "一、") and a heading ("## "), as before them. A possible sign
//     before a number is no such mark ("- 5 °C", "> 5"), nor is a check box ("[ ] "), which states progress.
//
// The stop, question mark and exclamation mark of ASCII end none where a letter of an alphabet with
// capitals, a digit or a sign of ASCII follows at once: "v1.5", "net.Conn", "?q=1", "a != b". Commas,
// colons, dashes, ellipses and «；» end none. A language that ends sentences by no mark of Unicode's, as
// Thai and Tibetan do, has lines alone. In a fenced block of code there are only lines, since full stops and
// dashes are code there.
//
// White space at either end, and characters without width, belong to no sentence.
type Boundaries struct {
	text   string
	fences []fence
	// starts are where the lines begin, in order, of a text with fences alone.
	starts []int
	lines  map[int]*lineBoundaries
	last   *lineBoundaries
}

type stretch struct{ start, end int }

// lineBoundaries are the boundaries of one line, in order. Sentences follow each other, and the first begins behind the
// line's marks.
type lineBoundaries struct {
	stretch
	// marks are where the line begins, and where the text after each of its marks begins.
	marks     []int
	sentences []stretch
}

// NewBoundaries returns the boundaries of a text.
func NewBoundaries(text string) *Boundaries {
	b := &Boundaries{text: text, lines: map[int]*lineBoundaries{}}
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		b.starts = lineStarts(text)
		b.fences = fences(text, b.starts)
	}
	return b
}

// Begins reports whether a sentence or line begins at a byte of the text.
func (b *Boundaries) Begins(at int) bool {
	first, ok := b.lineAt(at).begin(at)
	return ok && first == at
}

// Ends reports whether a sentence or line ends before a byte of the text.
func (b *Boundaries) Ends(at int) bool {
	last, ok := b.lineAt(at - 1).end(at)
	return ok && last == at
}

// Whole reports whether the bytes from start to end are one or more whole sentences or lines that follow one
// another.
func (b *Boundaries) Whole(start, end int) bool {
	return start < end && b.Begins(start) && b.Ends(end)
}

// Trim returns the bytes from start to end without anything at either end that belongs to no sentence. The result may
// be empty.
func (b *Boundaries) Trim(start, end int) (first, last int) {
	first = skipSpace(b.text, start, end)
	return first, trimmedEnd(b.text, first, end)
}

// Around returns the fewest whole sentences or lines, one after another, that contain the bytes from start to end,
// except for white space at either end. It returns start and end if there are none.
func (b *Boundaries) Around(start, end int) (first, last int) {
	from, to := b.Trim(start, end)
	if from >= to {
		return start, end
	}
	first, begins := b.lineAt(from).begin(from)
	last, ends := b.lineAt(to - 1).end(to)
	if !begins || !ends {
		return start, end
	}
	return first, last
}

// Sentences returns where the sentences and lines of the text begin and end, behind the marks of their lines, in order.
func (b *Boundaries) Sentences() iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for at := 0; at < len(b.text); {
			line := b.lineAt(at)
			for _, s := range line.sentences {
				// The part that is read of a long line may begin before at.
				if s.start >= at && !yield(s.start, s.end) {
					return
				}
			}
			at = line.stretch.end
		}
	}
}

// Code returns where the fenced blocks of code begin and end, with their fences, in order.
func (b *Boundaries) Code() iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for _, f := range b.fences {
			if !yield(f.start, f.end) {
				return
			}
		}
	}
}

func (b *Boundaries) fenceAt(at int) (fence, bool) {
	n := sort.Search(len(b.fences), func(i int) bool { return b.fences[i].end > at })
	if n == len(b.fences) || at < b.fences[n].start {
		return fence{}, false
	}
	return b.fences[n], true
}

// lineAt returns the line that contains a byte, or the part around it of a long line. A break belongs to the line
// before it.
func (b *Boundaries) lineAt(at int) *lineBoundaries {
	at = max(0, min(at, len(b.text)-1))
	if b.last != nil && b.last.start <= at && at < b.last.stretch.end {
		return b.last
	}
	in, code := b.fenceAt(at)
	around, marked := b.around(at, code)
	line, known := b.lines[around.start]
	if !known || line.stretch != around {
		line = &lineBoundaries{stretch: around}
		line.split(b.text, marked, code, in.depth)
		b.lines[around.start] = line
	}
	b.last = line
	return line
}

// Sizes of the part of a line that is read at once.
const (
	longLine  = 2048 // bytes on either side of the place that is asked about
	longMarks = 256  // bytes of the marks at the beginning of a line
)

// around returns the line that contains a byte, or its part between two certain boundaries, and whether that includes
// the line's beginning. Code has no certain boundaries.
func (b *Boundaries) around(at int, code bool) (stretch, bool) {
	if code {
		n := sort.SearchInts(b.starts, at+1)
		end := len(b.text)
		if n < len(b.starts) {
			end = b.starts[n]
		}
		return stretch{b.starts[n-1], end}, true
	}
	start, end := at, min(at+1, len(b.text))
	for start > 0 && !breaksBefore(b.text, start) {
		if at-start >= longLine && certain(b.text, start) && inLine(b.text, start) {
			break
		}
		start--
	}
	for end < len(b.text) && !breaksBefore(b.text, end) && !(end-at >= longLine && certain(b.text, end)) {
		end++
	}
	return stretch{start, end}, start == 0 || breaksBefore(b.text, start)
}

// certain reports whether a sentence begins at a byte of a line in any context: behind a mark and a space, with a
// capital.
func certain(text string, at int) bool {
	return at > 2 && 'A' <= text[at] && text[at] <= 'Z' && text[at-1] == ' ' &&
		(text[at-2] == '.' || text[at-2] == '?' || text[at-2] == '!')
}

// inLine reports whether a byte is so far behind the beginning of its line that no marks of it reach there.
func inLine(text string, at int) bool {
	for i := at; i > at-longMarks; i-- {
		if i <= 0 || breaksBefore(text, i) {
			return false
		}
	}
	return true
}

// breaksBefore reports whether a line ends with the byte before at.
func breaksBefore(text string, at int) bool {
	switch c := text[at-1]; {
	case c == '\r':
		return at == len(text) || text[at] != '\n'
	case '\n' <= c && c < '\r':
		return true
	case c == 0x85:
		return strings.HasSuffix(text[:at], "\u0085")
	case c == 0xa8 || c == 0xa9:
		return strings.HasSuffix(text[:at], "\u2028") || strings.HasSuffix(text[:at], "\u2029")
	}
	return false
}

// begin returns the last beginning that is not after a byte.
func (l *lineBoundaries) begin(at int) (int, bool) {
	first, found := 0, false
	if n := sort.SearchInts(l.marks, at+1); n > 0 {
		first, found = l.marks[n-1], true
	}
	if n := sort.Search(len(l.sentences), func(i int) bool { return l.sentences[i].start > at }); n > 0 {
		first, found = max(first, l.sentences[n-1].start), true
	}
	return first, found
}

// end returns the first end that is not before a byte.
func (l *lineBoundaries) end(at int) (int, bool) {
	n := sort.Search(len(l.sentences), func(i int) bool { return l.sentences[i].end >= at })
	if n == len(l.sentences) {
		return 0, false
	}
	return l.sentences[n].end, true
}

func (l *lineBoundaries) split(text string, marked, code bool, depth int) {
	at, end := skipSpace(text, l.start, l.stretch.end), trimmedEnd(text, l.start, l.stretch.end)
	if at >= end {
		return
	}
	if marked {
		l.marks = append(l.marks, at)
	}
	for marked && !code || depth > 0 && text[at] == '>' {
		n, next := lineMark(text[at:end]), 0
		if code {
			n, depth = 1, depth-1
		}
		if next = skipSpace(text, at+n, end); n == 0 || next == end || extends(text[next:]) {
			break
		}
		at = next
		l.marks = append(l.marks, at)
	}
	if code {
		l.sentences = append(l.sentences, stretch{at, end})
		return
	}
	begin := at
	rest, state := respell(text[at:end]), -1
	for rest != "" {
		var sentence string
		sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
		at += len(sentence)
		boundary, ok := settle(text, begin, at, end)
		if !ok {
			continue
		}
		if s := (stretch{skipSpace(text, begin, boundary), trimmedEnd(text, begin, boundary)}); s.start < s.end {
			l.sentences = append(l.sentences, s)
		}
		begin = boundary
	}
}

// settle returns the end of a sentence that begins at start and ends before at by UAX #29, and false if none ends
// there. The rest of the line ends with end.
func settle(text string, start, at, end int) (int, bool) {
	if at >= end {
		return end, true
	}
	if at <= start {
		return 0, false
	}
	next := skipSpace(text, at, end)
	if next > at || trimmedEnd(text, start, at) < at {
		// French sets a space before the mark that closes: « Oui. »
		if n := closing(text[next:end], ""); n > 0 && parted(text[next+n:end]) {
			at = next + n
		}
		return at, !joined(text, at) && !goesOn(text, start, at, end)
	}
	boundary := at
	for boundary > start {
		r, size := utf8.DecodeLastRuneInString(text[start:boundary])
		if !unicode.In(r, unicode.Ps, unicode.Pi) {
			break
		}
		boundary -= size // UAX #29 assigns the mark that opens the next sentence to this one.
	}
	if boundary == start {
		boundary = at
	}
	n := closing(text[boundary:end], `"'`)
	if n > 0 && parted(text[boundary+n:end]) {
		return boundary + n, !joined(text, boundary+n) && !goesOn(text, start, boundary+n, end)
	}
	if mark := text[boundary-1]; mark == '.' || mark == '?' || mark == '!' {
		return boundary, !glued(text[boundary:end]) && !joined(text, boundary)
	}
	// Text without spaces: emphasis that was opened in the sentence closes behind it.
	if n = emphasis(text[boundary:end]); n > 0 && strings.Count(text[start:boundary], text[boundary:boundary+n])%2 == 1 {
		boundary += n
	}
	return boundary, !joined(text, boundary)
}

// goesOn reports whether a sentence continues behind the bracket or quotation mark that closes a part of it: with a
// small letter, as in (really!) this.
func goesOn(text string, start, at, end int) bool {
	after, _ := utf8.DecodeRuneInString(text[skipSpace(text, at, end):end])
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text[start:trimmedEnd(text, start, at)], "*_~`"))
	return unicode.IsLower(after) && (unicode.In(before, unicode.Pe, unicode.Pf, unicode.Pi) || before == '"' || before == '\'')
}

// closing returns how many bytes the marks take that close a sentence and begin none, and others.
func closing(text, others string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !unicode.In(r, unicode.Pe, unicode.Pf) && !strings.ContainsRune("*_~`"+others, r) {
			break
		}
		n += size
	}
	return n
}

func emphasis(text string) int { return len(text) - len(strings.TrimLeft(text, "*_~`")) }

// parted reports whether a text is empty or begins with white space.
func parted(text string) bool { return skipSpace(text, 0, len(text)) > 0 || text == "" }

// glued reports whether a text goes on with a letter, digit or sign that makes the mark before it a part of a
// name, a number or code.
func glued(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return ' ' < r && r < utf8.RuneSelf || unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.N)
}

// joined reports whether a byte of the text is inside a sequence that is read as one character.
func joined(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return extends(text[at:]) || unicode.Is(unicode.Prepended_Concatenation_Mark, before)
}

// extends reports whether a text begins with a character that modifies the one before it.
func extends(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r > unicode.MaxLatin1 && (unicode.In(r, unicode.M, unicode.Other_Grapheme_Extend) || r == joiner ||
		0x1f3fb <= r && r <= 0x1f3ff)
}

// lineStarts returns where the lines of a text begin. A text that ends with a break has an empty last line.
func lineStarts(text string) []int {
	starts := []int{0}
	for at := 1; at <= len(text); at++ {
		if breaksBefore(text, at) {
			starts = append(starts, at)
		}
	}
	return starts
}

// blank reports whether a character is white space, or independent and invisible. A character that modifies the one
// before it is neither.
func blank(r rune) bool {
	return unicode.IsSpace(r) || r > unicode.MaxASCII && r != nonJoiner && r != joiner && unicode.Is(unicode.Cf, r) &&
		Hidden(r) && !unicode.Is(unicode.Other_Grapheme_Extend, r)
}

// skipSpace returns the position of the first character between two bytes that is not blank. A space that carries an
// accent is not.
func skipSpace(text string, at, end int) int {
	for at < end {
		r, size := utf8.DecodeRuneInString(text[at:end])
		if !blank(r) || !unicode.IsControl(r) && extends(text[at+size:]) {
			break
		}
		at += size
	}
	return at
}

func trimmedEnd(text string, start, end int) int {
	for start < end {
		r, size := utf8.DecodeLastRuneInString(text[start:end])
		if !blank(r) || !unicode.IsControl(r) && (joined(text, end) || joined(text, end-size)) {
			break
		}
		end -= size
	}
	return end
}
