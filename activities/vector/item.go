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

// analysis is the version of the rules of [Terms] and of the stored properties. A new version makes all stored objects
// stale, and reconcile rewrites them.
const analysis = "3"

// Item is the indexed content of an entry, a task title, a message or a fact. Items with the same id have the same
// content.
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

// storedTime returns the time in the precision of the table of entries. An item from the log and one from the table
// must have the same hash.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return time.UnixMicro(t.UnixNano() / 1000).UTC()
}

// usersFirst is greater than every time, and repairsFirst greater than the urgency of every item.
const (
	usersFirst   = 1 << 61
	repairsFirst = 1 << 62
)

// urgency orders new items, the highest first: messages of users, since they are short and most questions are about
// them, and among the others the newest. So a long import is useful long before it is done. [Outbox.Due] also serves
// old items.
func (i Item) urgency() int64 {
	urgency := min(max(i.OccurredAt.UnixMicro(), 0), usersFirst-1)
	if i.Kind == schema.ItemMessage && i.Type == string(schema.RoleUser) {
		urgency += usersFirst
	}
	return urgency
}

// Text returns the text to embed and search.
func (i Item) Text() string {
	if i.Kind == schema.ItemMessage {
		return i.Content
	}
	return schema.Entry{Title: i.Title, Content: i.Content}.Text()
}

// ContentHash returns the hex SHA-256 of everything that is stored except the vector.
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
