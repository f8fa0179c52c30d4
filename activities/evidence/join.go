package evidence

import (
	"strings"
	"unicode"

	"axiommind/schema"
)

// MaxPieces is how many pieces a quote with ellipses may have.
const MaxPieces = 16

// MaxGap is how many bytes of normalized text an ellipsis in a quote may stand for.
const MaxGap = 400

const ellipsisMark = "..."

// pieces returns what stands between the ellipses of a quote, normalized, or nil when it has none
// or when a piece is too short to be found by itself.
func (q *quote) pieces() []string {
	text := q.folded().text
	if !strings.Contains(text, ellipsisMark) {
		return nil
	}
	var pieces []string
	for piece := range strings.SplitSeq(text, ellipsisMark) {
		piece = strings.Trim(piece, " []()")
		if piece == "" {
			continue
		}
		if letters(piece) < MinLetters {
			return nil
		}
		if pieces = append(pieces, piece); len(pieces) > MaxPieces {
			return nil
		}
	}
	return pieces
}

// joined finds a quote with ellipses that the message does not have: the span runs from the first
// piece to the last.
func (s *source) joined(q *quote) *match {
	pieces := q.pieces()
	if len(pieces) == 0 {
		return nil
	}
	v := s.folded()
	for _, piece := range pieces {
		if !strings.Contains(v.text, piece) {
			return nil
		}
	}
	var spans []extent
	lastEnd := -1
	for at := 0; len(spans) < MaxOccurrences; at++ {
		i := strings.Index(v.text[at:], pieces[0])
		if i < 0 {
			break
		}
		at += i
		_, end := chain(v.text, at, pieces)
		if end < 0 {
			continue
		}
		x, whole := s.whole(v, at, end)
		if !whole {
			continue
		}
		if end == lastEnd { // a later beginning of the same end is nearer
			spans = spans[:len(spans)-1]
		}
		lastEnd = end
		spans = append(spans, x)
	}
	return matchOf(schema.MethodNormalized, confidenceJoined, spans)
}

// chain returns what is left out between the pieces and where the last ends when the first begins at a
// place, each piece is whole words and follows the one before within MaxGap, and nothing left out
// denies; otherwise -1.
func chain(text string, at int, pieces []string) (gaps []extent, end int) {
	end = at + len(pieces[0])
	if !boundary(text, at) || !boundary(text, end) {
		return nil, -1
	}
	for _, piece := range pieces[1:] {
		window := text[end:min(len(text), end+MaxGap+len(piece))]
		i := strings.Index(window, piece)
		for i >= 0 && !(boundary(text, end+i) && boundary(text, end+i+len(piece))) {
			next := strings.Index(window[i+1:], piece)
			if next < 0 {
				return nil, -1
			}
			i += 1 + next
		}
		if i < 0 || len(negations(window[:i])) > 0 {
			return nil, -1
		}
		gaps = append(gaps, extent{end, end + i})
		end += i + len(piece)
	}
	return gaps, end
}

// joinedAt reports whether a place of the message is a quote with ellipses, and what those left out
// of the message.
func (s *source) joinedAt(q *quote, x extent) (gaps []extent, ok bool) {
	pieces := q.pieces()
	v := s.folded()
	start, end := v.within(x)
	if len(pieces) == 0 || !strings.HasPrefix(v.text[start:], pieces[0]) {
		return nil, false
	}
	between, last := chain(v.text, start, pieces)
	for _, gap := range between {
		if gap.start < gap.end {
			gaps = append(gaps, v.original(gap.start, gap.end))
		}
	}
	return gaps, last == end
}

// gapDoubts lists the ellipses that leave out the end of a sentence, what contradicts, or the rest of a
// number or denial.
func (s *source) gapDoubts(gaps []extent) []schema.Doubt {
	var doubts []schema.Doubt
	for _, gap := range gaps {
		left := s.text[gap.start:gap.end]
		start := gap.start + len(left) - len(strings.TrimLeft(left, " "))
		end := gap.end - len(left) + len(strings.TrimRight(left, " "))
		if start >= end {
			continue
		}
		contrary := strings.ContainsAny(left, ".!?;\n。！？；") ||
			numeral(s.text[gap.end:wordEnd(s.text, gap.end)]) && strings.ContainsFunc(left, unicode.IsDigit)
		for word := range strings.FieldsSeq(strings.ToLower(left)) {
			word = strings.Trim(word, ",:()")
			contrary = contrary || refusing[word] || excepting[word] || word == "but"
		}
		if contrary || cutAfter(s.text, start) > start || cutAfter(s.text, gap.start) > gap.start || cutBefore(s.text, end) < end || cutBefore(s.text, gap.end) < gap.end {
			doubts = append(doubts, schema.Doubt{Quote: ellipsisMark, Source: strings.TrimSpace(left)})
		}
	}
	return doubts
}
