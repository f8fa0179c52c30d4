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

// The name of a collection is an alias in Weaviate: it leads to a class, the generation in use. The client looks the
// class up, because Weaviate takes an alias in some places only: not where tenants are made, and not
// in a filter (weaviate#8995, #11561).

// aliasOf is an alias as Weaviate's REST endpoint takes and returns it. The client library does not know aliases.
type aliasOf struct {
	Alias string `json:"alias,omitempty"`
	Class string `json:"class"`
}

// maxAnswer limits how much of an answer is read, in bytes.
const maxAnswer = 256 << 20

// maxAttempts bounds the attempts at a GET whose answer breaks off.
const maxAttempts = 3

// request sends a request that the client library can't, and decodes the answer unless into is nil. A GET whose answer breaks off
// is sent again: a loaded server was seen to break off the list of its collections, and Go's client repeats a request only while
// nothing of the answer has come.
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

// class returns the Weaviate class that the name leads to. A name without an alias is its own class: a generation is, and
// so is a collection that was made before there were generations. The class need not exist.
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

// leadKept is how long a search uses what a name led to. A generation stays whole until it is deleted, and then it is looked up
// again; who writes looks it up each time.
const leadKept = searchersKeep

// lead is where a name led to at a time.
type lead struct {
	class string
	at    time.Time
}

// recentClass is the class that the name led to a moment ago.
func (c *Client) recentClass(ctx context.Context, collection string) (string, error) {
	c.mu.Lock()
	last := c.led[collection]
	c.mu.Unlock()
	if time.Since(last.at) < leadKept {
		return last.class, nil
	}
	return c.freshClass(ctx, collection)
}

// freshClass looks the class up for searches to come.
func (c *Client) freshClass(ctx context.Context, collection string) (string, error) {
	class, err := c.class(ctx, collection)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.led[collection] = lead{class, time.Now()}
	}
	return class, err
}

// Point makes the name of the collection lead to the class from now on. Requests that have begun end in the class that
// it led to before. A class that has the very name of the collection is deleted, because it hides the alias; until the
// alias is there, which takes some milliseconds, a search finds nothing.
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

// generations returns the classes that are generations of the collection, the first first.
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

// EnsureCollection creates the collection if it is missing, and returns the class that its name leads to. Concurrent
// calls are safe. If the class has no tenants or another kind of index, the error is ErrCollection and nothing is
// changed. If the name leads nowhere but there are generations, it leads to the last one from then on: whoever deleted
// the one in use did not want to lose the other.
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
	return class, c.ensureClass(ctx, schema.EntryClass(class))
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
	if err := c.ensureClass(ctx, schema.EntryClass(class)); err != nil {
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
		// Another writer may have created it first. What counts is what exists now.
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
