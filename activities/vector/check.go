package vector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axiommind/schema"
)

// ErrKeywordSearch is returned if the server's keyword search misses documents.
var ErrKeywordSearch = errors.New("keyword search loses documents")

// Sizes of the test data of [Client.CheckKeywordSearch]: many times more documents than a result holds.
const (
	probeDocuments = 400
	probeLimit     = 5
)

// CheckKeywordSearch checks that keyword search finds documents that were just written. It writes documents that
// share a frequent word, some of which also contain a rare word, and searches for the rare word. It uses a collection
// of its own, which it deletes. Weaviate up to 1.35 misses such documents if its BlockMax index is on, which is the
// default (weaviate#11780, #11779). The error then wraps ErrKeywordSearch and says what to do.
func (c *Client) CheckKeywordSearch(ctx context.Context) (err error) {
	const project, version = "probe", "probe"
	collection := schema.VectorCollection(fmt.Sprintf("probe-%d", time.Now().UnixNano()))
	if _, err := c.EnsureCollection(ctx, collection); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.DeleteCollection(context.WithoutCancel(ctx), collection))
	}()
	if err := c.EnsureTenant(ctx, collection, project); err != nil {
		return err
	}
	objects := make([]Object, probeDocuments)
	for i := range objects {
		item := Item{Kind: schema.ItemEntry, ID: fmt.Sprint(i), Project: project, Title: "frequent"}
		if i == probeDocuments/2 {
			item.Title = "frequent rare"
		}
		objects[i] = item.object(version, []float32{1, 0})
	}
	results, err := c.Put(ctx, collection, project, objects)
	if err = errors.Join(append(results, err)...); err != nil {
		return err
	}
	found, err := c.Hybrid(ctx, HybridQuery{
		Collection: collection, Project: project, Filter: Filter{Kinds: []string{schema.ItemEntry}},
		Text: "frequent rare", Vector: []float32{1, 0}, Limit: probeLimit,
	})
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].ItemID != fmt.Sprint(probeDocuments/2) {
		return fmt.Errorf("%w that were just written to weaviate at %q: "+
			"start it with USE_INVERTED_SEARCHABLE=false and create the collections again", ErrKeywordSearch, c.host)
	}
	return nil
}
