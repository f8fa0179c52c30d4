package evidence

import (
	"strings"

	"axiommind/activities/evidence/normal"
	"axiommind/schema"
)

// MaxPieces is how many pieces a quote with ellipses may have.
const MaxPieces = 16

// MaxGap is the maximum number of bytes in normal form that an ellipsis in a quote may replace.
const MaxGap = 400

// pieces returns the parts of a quote between its ellipses, in normal form. It returns nil if the quote has
// no ellipsis or a part is too short to be found by itself.
func (q *quote) pieces() []string {
	text := q.form().Text
	if !strings.Contains(text, normal.Ellipsis) {
		return nil
	}
	var pieces []string
	for piece := range strings.SplitSeq(text, normal.Ellipsis) {
		piece = strings.Trim(piece, " []()")
		if piece == "" {
			continue
		}
		if letters(piece) < schema.MinLetters {
			return nil
		}
		if pieces = append(pieces, piece); len(pieces) > MaxPieces {
			return nil
		}
	}
	return pieces
}

// joined finds a quote with ellipses that the message does not have: the place runs from the first piece to
// the last.
func (s *Source) joined(q *quote) *match {
	pieces := q.pieces()
	if len(pieces) == 0 {
		return nil
	}
	v := s.form()
	var places []extent
	lastEnd := -1
	for at := 0; len(places) < MaxOccurrences; at++ {
		i := strings.Index(v.Text[at:], pieces[0])
		if i < 0 {
			break
		}
		at += i
		end := chain(v.Text, at, pieces)
		if end < 0 {
			continue
		}
		x, whole := s.whole(v, at, end)
		if !whole {
			continue
		}
		if end == lastEnd { // a later beginning of the same end is nearer
			places = places[:len(places)-1]
		}
		lastEnd = end
		places = append(places, x)
	}
	return matchOf(schema.MethodJoined, confidenceJoined, places)
}

// chain returns where the last piece ends when the first begins at a place and each follows the one before
// within MaxGap, otherwise -1.
func chain(text string, at int, pieces []string) (end int) {
	end = at + len(pieces[0])
	for _, piece := range pieces[1:] {
		i := strings.Index(text[end:min(len(text), end+MaxGap+len(piece))], piece)
		if i < 0 {
			return -1
		}
		end += i + len(piece)
	}
	return end
}

// joinedAt reports whether a place of the message is a quote with ellipses.
func (s *Source) joinedAt(q *quote, x extent) bool {
	pieces := q.pieces()
	start, end := s.form().Within(x.start, x.end)
	return len(pieces) > 0 && strings.HasPrefix(s.form().Text[start:end], pieces[0]) && chain(s.form().Text, start, pieces) == end
}
