package vector

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"axiommind/schema"
)

// contents are the names of the properties of an item.
const contents = schema.PropertyItemKind + " " + schema.PropertyItemID + " " + schema.PropertyTitle + " " +
	schema.PropertyContent + " " + schema.PropertyEntryType + " " + schema.PropertyUser + " " + schema.PropertyAgent + " " +
	schema.PropertySessionID + " " + schema.PropertyMessage + " " + schema.PropertyOccurredAt + " " + schema.PropertyContentHash

// storedItem is an object as GraphQL returns it.
type storedItem struct {
	Kind        string    `json:"item_kind"`
	ItemID      string    `json:"item_id"`
	Title       string    `json:"title"`
	Content     string    `json:"content"`
	Type        string    `json:"entry_type"`
	User        string    `json:"user"`
	Agent       string    `json:"agent"`
	SessionID   string    `json:"session_id"`
	Message     int       `json:"message"`
	Length      int       `json:"length"`
	OccurredAt  time.Time `json:"occurred_at"`
	ContentHash string    `json:"content_hash"`
	Additional  struct {
		ID     string    `json:"id"`
		Vector []float32 `json:"vector"`
		// Score is a number or a string.
		Score        any    `json:"score"`
		ExplainScore string `json:"explainScore"`
	} `json:"_additional"`
}

// item returns the object's content as an item of the project.
func (s storedItem) item(project string) Item {
	return Item{
		Kind: s.Kind, ID: s.ItemID, Project: project, Title: s.Title, Content: s.Content, Type: s.Type, User: s.User,
		Agent: s.Agent, SessionID: s.SessionID, Message: s.Message, OccurredAt: s.OccurredAt,
	}
}

func (s storedItem) stored() Stored {
	return Stored{ID: s.Additional.ID, Kind: s.Kind, ItemID: s.ItemID, ContentHash: s.ContentHash}
}

// hash returns the hash of the object's content. It is empty if it differs from the stored hash.
func (s storedItem) hash(project string) string {
	if hash := s.item(project).ContentHash(); hash == s.ContentHash {
		return hash
	}
	return ""
}

// fetch returns the objects that exist, by id, with their vectors. Pass at most [fetchPage] ids: a vector may be long.
func (c *Client) fetch(ctx context.Context, collection, project string, ids []string) (map[string]storedItem, error) {
	out := make(map[string]storedItem, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := c.contents(ctx, collection, fmt.Sprintf(`tenant:%s,limit:%d,where:{path:["id"],operator:ContainsAny,valueText:%s}`,
		quote(schema.VectorTenant(project)), len(ids), quoteAll(ids)), contents+" _additional{id vector}")
	for _, row := range rows {
		out[row.Additional.ID] = row
	}
	return out, err
}

// page returns up to limit objects of the project in the order of their ids, after the given id, without vectors.
func (c *Client) page(ctx context.Context, collection, project, after string, limit int) ([]storedItem, error) {
	return c.contents(ctx, collection, fmt.Sprintf(`tenant:%s,limit:%d,after:%s`,
		quote(schema.VectorTenant(project)), limit, quote(after)), contents+" _additional{id}")
}

// contents returns whole objects.
func (c *Client) contents(ctx context.Context, collection, arguments, fields string) ([]storedItem, error) {
	return query[storedItem](ctx, c, c.class, "read objects", "Get", collection, arguments, fields)
}

// remove deletes the object, if there is one.
func (c *Client) remove(ctx context.Context, collection, project, id string) error {
	class, err := c.class(ctx, collection)
	if err != nil {
		return err
	}
	err = c.fail("delete object", c.writer.Delete(ctx, class, schema.VectorTenant(project), id))
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}
