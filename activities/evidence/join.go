package evidence

import (
	"strings"

	"axiommind/schema"
)

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
		pieces = append(pieces, piece)
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
	var spans []extent
	lastEnd := -1
	for at := 0; len(spans) < MaxOccurrences; at++ {
		i := strings.Index(v.text[at:], pieces[0])
		if i < 0 {
			break
		}
		at += i
		end := chain(v.text, at, pieces)
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
	if len(spans) == 0 {
		return nil
	}
	return &match{schema.MethodNormalized, confidenceJoined, spans}
}

// chain returns where the last piece ends when the first begins at a place, each piece is whole
// words and follows the one before within MaxGap, and nothing left out between denies; otherwise -1.
func chain(text string, at int, pieces []string) int {
	end := at + len(pieces[0])
	if !boundary(text, at) || !boundary(text, end) {
		return -1
	}
	for _, piece := range pieces[1:] {
		window := text[end:min(len(text), end+MaxGap+len(piece))]
		i := strings.Index(window, piece)
		for i >= 0 && !(boundary(text, end+i) && boundary(text, end+i+len(piece))) {
			next := strings.Index(window[i+1:], piece)
			if next < 0 {
				return -1
			}
			i += 1 + next
		}
		if i < 0 || len(negations(window[:i])) > 0 {
			return -1
		}
		end += i + len(piece)
	}
	return end
}

// joinedAt reports whether a place of the message is a quote with ellipses.
func (s *source) joinedAt(q *quote, x extent) bool {
	pieces := q.pieces()
	start, end := s.folded().within(x)
	text := s.folded().text
	return len(pieces) > 0 && strings.HasPrefix(text[start:], pieces[0]) && chain(text, start, pieces) == end
}
