package vector

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"axiommind/schema"
)

// The name of a collection is an alias in Weaviate for a class, the generation in use. The client resolves the alias
// itself, because Weaviate does not accept an alias everywhere: not for creating tenants, and not in a filter
// (weaviate#8995, #11561).

// aliasOf is an alias in Weaviate's REST API. The client library does not support aliases.
type aliasOf struct {
	Alias string `json:"alias,omitempty"`
	Class string `json:"class"`
}

// maxAnswer limits the size of an answer, in bytes.
const maxAnswer = 256 << 20

// maxAttempts bounds the attempts at a GET whose answer breaks off.
const maxAttempts = 3

// request sends a request that the client library can't, and decodes the answer unless into is nil. A GET whose answer
// breaks off is retried: a loaded server was seen to break off the list of its collections, and Go's client retries a
// request only before the answer begins.
func (c *Client) request(ctx context.Context, op, method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s: encode request: %w", op, err)
	}
	for attempt := 1; ; attempt++ {
		err := c.send(ctx, op, method, path, data, into)
		if method != http.MethodGet || attempt == maxAttempts || !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
	}
}

func (c *Client) send(ctx context.Context, op, method, path string, data []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.url+"/v1"+path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: make request: %w", op, err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.fail(op, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return c.reject(op, resp.StatusCode, "%s", cmp.Or(string(text), http.StatusText(resp.StatusCode)))
	}
	if into == nil {
		return nil
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return c.fail(op, fmt.Errorf("read answer: %w", err))
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return c.fail(op, fmt.Errorf("decode answer: %w", err))
	}
	return nil
}

// class returns the Weaviate class that the name refers to. A name without an alias is its own class: a generation, or
// a collection from before there were generations. The class need not exist.
func (c *Client) class(ctx context.Context, collection string) (string, error) {
	if _, n := schema.SplitGeneration(collection); n > 0 {
		return collection, nil
	}
	var alias aliasOf
	err := c.request(ctx, "look up collection", http.MethodGet, "/aliases/"+url.PathEscape(collection), nil, &alias)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return collection, nil
	case err == nil && alias.Class == "":
		return "", c.reject("look up collection", 0, "answer names no class")
	}
	return alias.Class, err
}

// classTTL is how long searches cache the class of a name. A generation stays complete until it is deleted, and then
// the name is looked up again. Writes look it up each time.
const classTTL = searchersKeep

// cachedClass is the class of a name at a time.
type cachedClass struct {
	class string
	at    time.Time
}

// recentClass returns the class of the name, possibly from the cache.
func (c *Client) recentClass(ctx context.Context, collection string) (string, error) {
	c.mu.Lock()
	last := c.cached[collection]
	c.mu.Unlock()
	if time.Since(last.at) < classTTL {
		return last.class, nil
	}
	return c.freshClass(ctx, collection)
}

// freshClass looks up the class and caches it for later searches.
func (c *Client) freshClass(ctx context.Context, collection string) (string, error) {
	class, err := c.class(ctx, collection)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cached[collection] = cachedClass{class, time.Now()}
	}
	return class, err
}

// Point switches the name of the collection to the class. Requests that have begun end in the earlier class. A class
// with the very name of the collection is deleted, because it hides the alias. Until the alias exists, which takes some
// milliseconds, a search finds nothing.
func (c *Client) Point(ctx context.Context, collection, class string) error {
	const op = "switch collection"
	path := "/aliases/" + url.PathEscape(collection)
	err := c.request(ctx, op, http.MethodPut, path, aliasOf{Class: class}, nil)
	if status := statusOf(err); status != http.StatusNotFound {
		return err
	}
	exists, err := c.exists(ctx, class)
	switch {
	case err != nil:
		return err
	case !exists:
		return c.reject(op, http.StatusUnprocessableEntity, "class %q does not exist", class)
	}
	if err := c.request(ctx, op, http.MethodGet, "/aliases", nil, nil); err != nil {
		return fmt.Errorf("%w (aliases of collections need Weaviate 1.32)", err)
	}
	if err := c.deleteClass(ctx, collection); err != nil {
		return err
	}
	err = c.request(ctx, op, http.MethodPost, "/aliases", aliasOf{Alias: collection, Class: class}, nil)
	if err == nil {
		return nil
	}
	if now, lookErr := c.class(ctx, collection); lookErr == nil && now == class {
		return nil // Another caller was first.
	}
	return err
}

// generations returns the classes that are generations of the collection, the oldest first.
func (c *Client) generations(ctx context.Context, collection string) ([]listedClass, error) {
	classes, err := c.classes(ctx)
	if err != nil {
		return nil, err
	}
	var out []listedClass
	for _, class := range classes {
		if of, n := schema.SplitGeneration(class.Class); n > 0 && of == collection {
			out = append(out, class)
		}
	}
	slices.SortFunc(out, func(a, b listedClass) int { return cmp.Compare(generation(a.Class), generation(b.Class)) })
	return out, nil
}

func generation(class string) int {
	_, n := schema.SplitGeneration(class)
	return n
}

// EnsureCollection creates the collection if it is missing, and returns the class that its name refers to. Concurrent
// calls are safe. If the class has no tenants or another kind of index, the error is ErrCollection and nothing is
// changed. If the name has no class but there are generations, it is switched to the last one: the deletion of the
// class in use need not lose the others.
func (c *Client) EnsureCollection(ctx context.Context, collection string) (class string, err error) {
	class, err = c.class(ctx, collection)
	if err != nil {
		return "", err
	}
	if class == collection {
		exists, err := c.exists(ctx, collection)
		if err != nil {
			return "", err
		}
		if !exists {
			return c.createCollection(ctx, collection)
		}
	}
	return class, c.ensureClass(ctx, c.entryClass(class))
}

func (c *Client) createCollection(ctx context.Context, collection string) (class string, err error) {
	made, err := c.generations(ctx, collection)
	if err != nil {
		return "", err
	}
	class = schema.VectorGeneration(collection, 1)
	if len(made) > 0 {
		class = made[len(made)-1].Class
	}
	if err := c.ensureClass(ctx, c.entryClass(class)); err != nil {
		return "", err
	}
	return class, c.Point(ctx, collection, class)
}

// ensureClass creates the class if it is missing.
func (c *Client) ensureClass(ctx context.Context, want schema.WeaviateClass) error {
	const op = "ensure collection"
	got, err := c.definition(ctx, op, want.Class)
	if statusOf(err) == http.StatusNotFound {
		if err = c.fail(op, c.writer.CreateClass(ctx, want)); err == nil {
			return nil
		}
		// Another writer may have created it first. Only the existing class counts.
		created := err
		if got, err = c.definition(ctx, op, want.Class); err != nil {
			return created
		}
	}
	if err != nil {
		return err
	}
	return c.checkClass(op, want, got)
}

// DeleteCollection deletes the collection with all its tenants, its other generations, and its name.
func (c *Client) DeleteCollection(ctx context.Context, collection string) error {
	made, err := c.generations(ctx, collection)
	for _, class := range made {
		err = errors.Join(err, c.deleteClass(ctx, class.Class))
	}
	err = errors.Join(err, c.deleteClass(ctx, collection))
	gone := c.request(ctx, "delete collection", http.MethodDelete, "/aliases/"+url.PathEscape(collection), nil, nil)
	if statusOf(gone) == http.StatusNotFound {
		gone = nil
	}
	return errors.Join(err, gone)
}

// deleteClass deletes the class, if there is one.
func (c *Client) deleteClass(ctx context.Context, class string) error {
	return c.fail("delete collection", c.writer.DeleteClass(ctx, class))
}
