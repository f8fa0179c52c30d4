// Package vector keeps Weaviate what the event log says it should be: an outbox of items, a writer that
// embeds and upserts them, and a reconciliation that repairs what drifted.
package vector

import (
	"time"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// analysis names the rules of [Terms] and of what is stored. Another name makes everything that is
// stored stale, and reconcile writes it anew.
const analysis = "2"

// Item is what is written of an entry or a task title. Nothing of it changes while it keeps its id,
// except the title of a task.
type Item struct {
	Kind, ID, Project string
	Title, Content    string
	Type              string
	User, Agent       string
	SessionID         string
	OccurredAt        time.Time
}

// EntryItem returns the item of an entry.
func EntryItem(e schema.Entry) Item {
	return Item{
		Kind: schema.ItemEntry, ID: e.ID, Project: e.Project, Title: e.Title, Content: e.Content,
		Type: string(e.Type), User: e.User, Agent: e.Agent, SessionID: e.SessionID,
		OccurredAt: e.OccurredAt,
	}
}

// Text is what is embedded and searched.
func (i Item) Text() string { return schema.Entry{Title: i.Title, Content: i.Content}.Text() }

// ContentHash is the hex SHA-256 of all that is stored beside the vector.
func (i Item) ContentHash() string {
	return schema.HashParts(analysis, i.Kind, i.ID, i.Project, i.Title, i.Content, i.Type, i.User, i.Agent,
		i.SessionID, i.OccurredAt.UTC().Format(time.RFC3339Nano))
}

func (i Item) object(version string, vector []float32) Object {
	return Object{
		ID:     schema.VectorItem{Kind: i.Kind, ID: i.ID, EmbeddingVersion: version}.ObjectID(),
		Vector: vector,
		Properties: map[string]any{
			schema.PropertyItemKind:    i.Kind,
			schema.PropertyItemID:      i.ID,
			schema.PropertyTerms:       language.Terms(i.Text()),
			schema.PropertyTitle:       i.Title,
			schema.PropertyContent:     i.Content,
			schema.PropertyEntryType:   i.Type,
			schema.PropertyUser:        i.User,
			schema.PropertyAgent:       i.Agent,
			schema.PropertySessionID:   i.SessionID,
			schema.PropertyOccurredAt:  i.OccurredAt.UTC().Format(time.RFC3339Nano),
			schema.PropertyContentHash: i.ContentHash(),
		},
	}
}
