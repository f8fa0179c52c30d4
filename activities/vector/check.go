package vector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"axiommind/schema"
)

// ErrKeywordSearch is returned if the server's keyword search misses documents.
var ErrKeywordSearch = errors.New("keyword search loses documents")

// Sizes of the test data of [Client.CheckKeywordSearch]: many times more documents than a result has.
const (
	probeDocuments = 400
	probeLimit     = 5
)

// CheckKeywordSearch checks that keyword search finds documents that were just written. It writes documents that share
// a frequent word, some of which also contain a rare word, and searches for the rare word. It uses a temporary
// collection, which it deletes. Weaviate up to 1.35 misses such documents if its BlockMax index is on, which is the
// default (weaviate#11780, #11779). The error then wraps ErrKeywordSearch and names a remedy.
func (c *Client) CheckKeywordSearch(ctx context.Context) (err error) {
	const project, version = "probe", "probe"
	class := schema.VectorCollection(fmt.Sprintf("probe-%d", time.Now().UnixNano()))
	if err := c.probeRequest(ctx, http.MethodPost, "/schema", schema.EntryClass(class), nil); err != nil {
		return err
	}
	path := "/schema/" + url.PathEscape(class)
	defer func() {
		err = errors.Join(err, c.probeRequest(context.WithoutCancel(ctx), http.MethodDelete, path, nil, nil))
	}()
	tenant := schema.VectorTenant(project)
	if err := c.probeRequest(ctx, http.MethodPost, path+"/tenants", []map[string]string{{"name": tenant}}, nil); err != nil {
		return err
	}
	objects := make([]map[string]any, probeDocuments)
	for i := range objects {
		item := Item{Kind: schema.ItemEntry, ID: fmt.Sprint(i), Project: project, Title: "frequent"}
		if i == probeDocuments/2 {
			item.Title = "frequent rare"
		}
		o := item.object(version, []float32{1, 0})
		objects[i] = map[string]any{"class": class, "tenant": tenant, "id": o.ID, "vector": o.Vector, "properties": o.Properties}
	}
	var results []struct {
		Result struct {
			Status string          `json:"status"`
			Errors json.RawMessage `json:"errors"`
		} `json:"result"`
	}
	if err := c.probeRequest(ctx, http.MethodPost, "/batch/objects", map[string]any{"objects": objects}, &results); err != nil {
		return err
	}
	for _, r := range results {
		if r.Result.Status == "FAILED" {
			return fmt.Errorf("write a document of the probe to weaviate at %q: %s", c.host, r.Result.Errors)
		}
	}
	found, err := c.Hybrid(ctx, HybridQuery{
		Collection: class, Project: project, Filter: Filter{Kinds: []string{schema.ItemEntry}},
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

// probeRequest sends a request of the probe, also for a program that writes nothing else: see [store.ReadOnly].
func (c *Client) probeRequest(ctx context.Context, method, path string, body, into any) error {
	return c.request(ctx, "probe keyword search", method, path, body, into)
}
