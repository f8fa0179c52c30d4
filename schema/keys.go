package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// namespace roots every derived id of the project. It must never change.
var namespace = uuid.MustParse("6b1f5c0e-59e8-5d7a-9c39-4f7f5f1d2a61")

// DerivedID returns the UUIDv5 of the parts. Parts are length-prefixed, so no two different lists
// of parts share an id.
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

// MessageKeys sets Key of each message: the hash of role, kind, tool and text, and how many equal
// ones came before it in the slice. So a session that grew, or was rewritten or compacted, keeps
// the keys of what it still holds, and a repeated "yes" is two messages.
func MessageKeys(messages []Message) {
	seen := make(map[string]int, len(messages))
	for i := range messages {
		m := &messages[i]
		h := HashParts(string(m.Role), string(m.Kind), m.Tool, m.Text)
		m.Key = h[:32] + "-" + strconv.Itoa(seen[h])
		seen[h]++
	}
}
