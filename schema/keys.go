package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// namespace is the UUID namespace of every derived id. It must never change.
var namespace = uuid.MustParse("6b1f5c0e-59e8-5d7a-9c39-4f7f5f1d2a61")

// DerivedID returns the UUIDv5 of the parts. Parts are length-prefixed, so different lists of parts have different
// ids.
func DerivedID(parts ...string) string {
	return uuid.NewSHA1(namespace, []byte(joinParts(parts))).String()
}

// EventID returns the id of the event with the dedupe key.
func EventID(dedupeKey string) string { return DerivedID("event", dedupeKey) }

// HashParts returns the hex SHA-256 of the parts, length-prefixed like [DerivedID].
func HashParts(parts ...string) string {
	sum := sha256.Sum256([]byte(joinParts(parts)))
	return hex.EncodeToString(sum[:])
}

// HashText returns the hex SHA-256 of the text alone.
func HashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func joinParts(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strconv.Itoa(len(p)))
		b.WriteByte(':')
		b.WriteString(p)
	}
	return b.String()
}

// MessageKeys sets the Key of each message: a hash of its role, kind, tool and text, and of the number of equal
// messages before it in the slice. Messages thus keep their keys when a session grows, is rewritten or is compacted,
// and a repeated "yes" counts as two messages.
func MessageKeys(messages []Message) {
	seen := make(map[string]int, len(messages))
	for i := range messages {
		m := &messages[i]
		h := HashParts(string(m.Role), string(m.Kind), m.Tool, m.Text)
		m.Key = h[:32] + "-" + strconv.Itoa(seen[h])
		seen[h]++
	}
}
