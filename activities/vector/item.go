// Package vector keeps Weaviate consistent with the event log. It has an outbox of items, a writer that embeds and
// upserts them, and a reconciliation that repairs drift.
package vector

import (
	"strconv"
	"strings"
	"time"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// analysis is the version of the rules of [Terms] and of what is stored. A new version makes everything stored stale,
// and reconcile rewrites it.
const analysis = "3"

// Item is what is written for an entry, a task title or a message. As long as the id stays the same, nothing of it
// changes.
type Item struct {
	Kind, ID, Project string
	Title, Content    string
	Type              string
	User, Agent       string
	SessionID         string
	// Message is the index of a message in its session.
	Message    int
	OccurredAt time.Time
}

// EntryItem returns the item of an entry.
func EntryItem(e schema.Entry) Item {
	return Item{
		Kind: schema.ItemEntry, ID: e.ID, Project: e.Project, Title: e.Title, Content: e.Content,
		Type: string(e.Type), User: e.User, Agent: e.Agent, SessionID: e.SessionID,
		OccurredAt: storedTime(e.OccurredAt),
	}
}

// storedTime returns the time as the table of entries holds it. An item that is read from the log and one that is read
// from the table must have the same hash.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return time.UnixMicro(t.UnixNano() / 1000).UTC()
}

// usersFirst is above every time, and repairsFirst above the urgency of every item.
const (
	usersFirst   = 1 << 61
	repairsFirst = 1 << 62
)

// urgency says which new items are written first, the highest: the words of users, as they are short and most questions are about
// them, and of each kind the newest. A long import is useful long before it is done. [Outbox.Due] also serves old items.
func (i Item) urgency() int64 {
	urgency := min(max(i.OccurredAt.UnixMicro(), 0), usersFirst-1)
	if i.Kind == schema.ItemMessage && i.Type == string(schema.RoleUser) {
		urgency += usersFirst
	}
	return urgency
}

// Text returns the text that is embedded and searched.
func (i Item) Text() string {
	if i.Kind == schema.ItemMessage {
		return i.Content
	}
	return schema.Entry{Title: i.Title, Content: i.Content}.Text()
}

// ContentHash returns the hex SHA-256 of everything stored beside the vector.
func (i Item) ContentHash() string {
	return schema.HashParts(analysis, i.Kind, i.ID, i.Project, i.Title, i.Content, i.Type, i.User, i.Agent,
		i.SessionID, strconv.Itoa(i.Message), i.OccurredAt.UTC().Format(time.RFC3339Nano))
}

func (i Item) object(version string, vector []float32) Object {
	terms := language.Terms(i.Text())
	return Object{
		ID:     schema.VectorItem{Kind: i.Kind, ID: i.ID, EmbeddingVersion: version}.ObjectID(),
		Vector: vector,
		Properties: map[string]any{
			schema.PropertyItemKind:    i.Kind,
			schema.PropertyItemID:      i.ID,
			schema.PropertyTerms:       terms,
			schema.PropertyLength:      len(strings.Fields(terms)),
			schema.PropertyTitle:       i.Title,
			schema.PropertyContent:     i.Content,
			schema.PropertyEntryType:   i.Type,
			schema.PropertyUser:        i.User,
			schema.PropertyAgent:       i.Agent,
			schema.PropertySessionID:   i.SessionID,
			schema.PropertyMessage:     i.Message,
			schema.PropertyOccurredAt:  i.OccurredAt.UTC().Format(time.RFC3339Nano),
			schema.PropertyContentHash: i.ContentHash(),
		},
	}
}
