package schema

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// TakenOut is what redaction took out of a text: what stood in the place of each placeholder, in order. It is for the
// memory of one process. Printed, logged or encoded it tells nothing but how much it is.
type TakenOut []string

// Format implements [fmt.Formatter].
func (t TakenOut) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.hidden()) }

// LogValue implements [slog.LogValuer].
func (t TakenOut) LogValue() slog.Value { return slog.StringValue(t.hidden()) }

// MarshalJSON implements [json.Marshaler].
func (t TakenOut) MarshalJSON() ([]byte, error) { return json.Marshal(t.hidden()) }

func (t TakenOut) hidden() string { return fmt.Sprintf("(%d taken out)", len(t)) }

// Restore returns the text with what was taken out of it in the place of its placeholders.
func (t TakenOut) Restore(text string) (string, error) {
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

// OriginalSealedPayload keeps what redaction took out of a message, encrypted. It stands in the stream of the session, so
// that what erases the one erases the other. See session.SealOriginal.
type OriginalSealedPayload struct {
	SessionKey
	// Index is the position of the message in the session when it was sealed.
	Index int `json:"index"`
	// Message is the key of the message: see [MessageKeys].
	Message string `json:"message"`
	// KeyID is the id of the key of which the session's is derived.
	KeyID string `json:"key_id,omitempty"`
	// Sealed is the ciphertext. It is empty if more was taken out than is kept: then TooLong is how many bytes that were.
	Sealed  []byte `json:"sealed,omitempty"`
	TooLong int    `json:"too_long,omitempty"`
}
