package entry

import (
	"strconv"

	"axiommind/activities/text"
	"axiommind/schema"
)

// maxKeyRunes is the length up to which a canonical key contains a title in full. The key of a longer one ends in its
// hash.
const maxKeyRunes = 160

// titleKey is the title's part of a canonical key.
func titleKey(title string) string {
	key := text.Title(title)
	if runes := []rune(key); len(runes) > maxKeyRunes {
		key = string(runes[:maxKeyRunes]) + "~" + schema.HashText(key)[:12]
	}
	return key
}

// statedKey is the key of an entry's statement: its title and, of a summary, the section of the profile that it sums
// up. A summary is another entry than the fact of the same title. Two spaces separate them, since the form of a title
// has none.
func statedKey(e *schema.Entry) string {
	if e.Section == "" {
		return titleKey(e.Title)
	}
	return e.Section + "  " + titleKey(e.Title)
}

// CanonicalKey identifies the statement of an entry. A task note is an observation made at one place. Its key contains
// the place, so that a task that is blocked twice in a session is two notes.
func CanonicalKey(e schema.Entry) string {
	key := string(e.Type) + ":" + statedKey(&e)
	if e.Type != schema.EntryTaskNote {
		return key
	}
	place := "-"
	if len(e.Evidence) > 0 {
		first := e.Evidence[0]
		place = strconv.Itoa(first.MessageIndex)
		if first.Found {
			place += "." + strconv.Itoa(first.Span.ByteStart)
		} else {
			place += "." + first.QuoteHash[:min(12, len(first.QuoteHash))]
		}
	}
	return key + "@" + place
}

// ID is the id of the entry with the key in the session.
func ID(session schema.SessionKey, entryType schema.EntryType, canonicalKey string) string {
	return schema.DerivedID("entry", session.Stream(), string(entryType), canonicalKey)
}
