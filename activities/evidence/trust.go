package evidence

import (
	"crypto/sha256"
	"encoding/hex"

	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// trusted knows the class of trust of each part of a message.
type trusted struct{ format.Trusted }

// NewMessageSource returns a source for a message of the event. Unlike one of [NewSource], it knows the class of its
// text, and only text of the user or the assistant proves.
func NewMessageSource(m schema.Message, eventID string) *Source {
	s := NewSource(m.Index, eventID, m.Text)
	if m.Role != "" {
		s.message = &m
	}
	return s
}

// trust returns the class of the text at a place, or "" if only the text is known.
func (s *Source) trust(x extent) schema.Trust {
	if s.message == nil {
		return ""
	}
	if s.trusted == nil {
		s.trusted = &trusted{format.TrustOf(*s.message)}
	}
	return s.trusted.At(x.start, x.end)
}

// Trust returns the class of the text at a span, or "" if only the text is known.
func (s *Source) Trust(span schema.Span) schema.Trust { return s.trust(extentOf(span)) }

// by returns the name of the agent whose statement the message is, or "".
func (s *Source) by() string {
	if s.message == nil || s.message.Trust() != schema.TrustAgent {
		return ""
	}
	return s.message.Author
}

// trusts reports whether the text at a place may prove something. Text of unknown class may.
func (s *Source) trusts(x extent) bool {
	t := s.trust(x)
	return t == "" || t.Proves()
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
