package obligation

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/evidence"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Facts are the literals of an entry that the obligations compare. All texts in them are valid UTF-8.
type Facts struct {
	EntryID string
	Entry   Record
	Pieces  []Record
}

// Session has the messages of a session, each prepared once. It is not safe for concurrent use.
type Session struct {
	messages map[int]*message
}

type message struct {
	schema.Message
	hash   string
	source *evidence.Source
}

// NewSession returns a session with its messages, by index.
func NewSession(messages map[int]schema.Message) *Session {
	s := &Session{messages: make(map[int]*message, len(messages))}
	for i, m := range messages {
		s.messages[i] = &message{Message: m}
	}
	return s
}

// Facts returns the facts of an entry. A message that the session does not have counts as empty.
func (s *Session) Facts(e schema.Entry) Facts {
	l := literals{}
	f := Facts{EntryID: l.text(e.ID), Pieces: make([]Record, 0, len(e.Evidence))}
	var stated []string
	for _, piece := range e.Evidence {
		f.Pieces = append(f.Pieces, s.piece(&l, piece, e.EvidenceRule))
		stated = append(stated, Words(l.text(piece.Text))...)
	}
	task, claims := "", ClaimsOf(l.text(e.Title))
	if e.Type == schema.EntryTaskNote {
		task = e.CanonicalKey
		if e.Task != nil {
			claims = append(claims, ClaimsOf(l.text(e.Task.Title))...)
		}
	}
	claims = sorted(claims)
	f.Entry = Record{
		EntryID: {Text: f.EntryID}, TaskKey: {Text: l.text(task)}, Type: {Text: l.text(string(e.Type))},
		Title: {Text: strings.TrimFunc(l.text(e.Title), unseen)}, Confidence: {Number: millionths(e.Confidence)},
		Pieces: {Number: len(e.Evidence)}, Claims: {Texts: claims}, Stated: {Texts: narrowed(sorted(stated), claims)},
	}
	f.Entry[Unreadable] = Literal{Number: l.unreadable}
	return f
}

// piece returns the facts of a piece of evidence.
func (s *Session) piece(l *literals, e schema.Evidence, rule int) Record {
	m := s.message(e.MessageIndex)
	start, end := e.Span.ByteStart, e.Span.ByteEnd
	r := Record{
		EventID: {Text: l.text(e.EventID)}, Found: {}, Message: {Number: bounded(e.MessageIndex)},
		Start: {Number: bounded(start)}, End: {Number: bounded(end)}, Size: {Number: len(m.Text)},
		RuneStart: {Number: bounded(e.Span.RuneStart)}, RuneEnd: {Number: bounded(e.Span.RuneEnd)},
		RunesToStart: {Number: -1}, RunesToEnd: {Number: -1},
		StoredText: {Text: l.text(e.Text)}, StoredHash: {Text: l.text(e.SourceHash)}, SourceHash: {Text: m.hash},
		Verdict: {Text: m.verdict(e, rule)}, Trust: {Text: string(m.source.Trust(e.Span))},
	}
	if e.Found {
		r[Found] = Literal{Number: 1}
	}
	if 0 <= start && start <= end && end <= len(m.Text) {
		before := utf8.RuneCountInString(m.Text[:start])
		r[RunesToStart] = Literal{Number: before}
		r[RunesToEnd] = Literal{Number: before + utf8.RuneCountInString(m.Text[start:end])}
		r[SourceText] = Literal{Text: l.text(m.Text[start:end])}
	}
	quoted, held := m.source.Forms(e)
	r[Quoted], r[Held] = Literal{Text: l.text(quoted)}, Literal{Text: l.text(held)}
	l.text(e.Quote)
	return r
}

func (s *Session) message(index int) *message {
	m := s.messages[index]
	if m == nil {
		m = &message{}
		s.messages[index] = m
	}
	if m.source == nil {
		m.Index = index
		sum := sha256.Sum256([]byte(m.Text))
		m.source, m.hash = evidence.NewMessageSource(m.Message, ""), hex.EncodeToString(sum[:])
	}
	return m
}

// verdict returns [Proven], or why the piece is not proven by the rule of proof.
func (m *message) verdict(e schema.Evidence, rule int) string {
	if err := m.source.Verify(e, rule); err != nil {
		return shown(strings.ToValidUTF8(err.Error(), "\uFFFD"))
	}
	if !e.Proven {
		return "not whole sentences"
	}
	return Proven
}

// literals makes texts valid, and counts those that were not.
type literals struct{ unreadable int }

func (l *literals) text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	l.unreadable++
	return strings.ToValidUTF8(s, "\uFFFD")
}

// maxNumber bounds all numbers, so that no verifier's integers overflow. No message is that long.
const maxNumber = 1 << 53

func bounded(n int) int { return max(-maxNumber, min(n, maxNumber)) }

// millionths returns a confidence in millionths, rounded away from the range from 0 to 1.
func millionths(confidence *float64) int {
	if confidence == nil {
		return 0
	}
	switch c := *confidence * confidenceOne; {
	case math.IsNaN(c) || c < -maxNumber:
		return -maxNumber
	case c > maxNumber:
		return maxNumber
	case c > confidenceOne:
		return int(math.Ceil(c))
	default:
		return int(math.Floor(c))
	}
}

func unseen(r rune) bool { return unicode.IsSpace(r) || text.Hidden(r) }

func sorted(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// maxStated is the maximum number of evidence words to list in full. It keeps the terms of a module small.
const maxStated = 256

// narrowed returns the words of the evidence, or only the claimed ones if there are more than maxStated.
func narrowed(words, claims []string) []string {
	if len(words) <= maxStated {
		return words
	}
	return slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(claims, w) })
}
