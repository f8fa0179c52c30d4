package schema

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Removed contains the parts that redaction removed from a text, one for each placeholder, in order. It stays in the
// memory of one process. Printing, logging or encoding it shows only their number.
type Removed []string

// Format implements [fmt.Formatter].
func (t Removed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.hidden()) }

// LogValue implements [slog.LogValuer].
func (t Removed) LogValue() slog.Value { return slog.StringValue(t.hidden()) }

// MarshalJSON implements [json.Marshaler].
func (t Removed) MarshalJSON() ([]byte, error) { return json.Marshal(t.hidden()) }

func (t Removed) hidden() string { return fmt.Sprintf("(%d taken out)", len(t)) }

// Restore returns the text with its placeholders replaced by the removed parts.
func (t Removed) Restore(text string) (string, error) {
	places := Redactions(text)
	if len(places) != len(t) {
		return "", fmt.Errorf("the text has %d placeholders, and %d texts were taken out of it", len(places), len(t))
	}
	var b strings.Builder
	at := 0
	for i, p := range places {
		b.WriteString(text[at:p[0]])
		b.WriteString(t[i])
		at = p[1]
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

// OriginalSealedPayload contains the redacted parts of a message, encrypted. It is in the stream of the session, so
// that erasing the session erases it, too. See session.SealOriginal.
type OriginalSealedPayload struct {
	SessionKey
	// Index is the position of the message in the session when it was sealed.
	Index int `json:"index"`
	// Message is the key of the message: see [MessageKeys].
	Message string `json:"message"`
	// KeyID is the id of the key from which the session's key is derived.
	KeyID string `json:"key_id,omitempty"`
	// Sealed is the ciphertext. It is empty if the parts are too long to be kept. TooLong is then their length in
	// bytes.
	Sealed  []byte `json:"sealed,omitempty"`
	TooLong int    `json:"too_long,omitempty"`
}

// Remains erases the original of an erased message.
func (p OriginalSealedPayload) Remains(f Forgetting) Remainder {
	return Remainder{Erased: f.OwnsMessage(p.Message)}
}
