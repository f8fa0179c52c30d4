// Package store defines the interface for writing to Weaviate. Package weaviate implements it with the client library,
// so that only programs that write link the library.
package store

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"axiommind/schema"
)

// Object is an item and its vector as stored in Weaviate.
type Object struct {
	ID         string
	Vector     []float32
	Properties map[string]any
}

// Result is the outcome of writing an object.
type Result struct {
	ID string
	// Failed is true if the object was not written. Even then Reasons may be empty.
	Failed  bool
	Reasons []string
}

// Writer makes the changes in one server. Errors are those of the client library.
type Writer interface {
	CreateClass(context.Context, schema.WeaviateClass) error
	DeleteClass(ctx context.Context, class string) error
	CreateTenant(ctx context.Context, class, tenant string) error
	// SetTenants changes the states of tenants, as ACTIVE, INACTIVE or OFFLOADED.
	SetTenants(ctx context.Context, class string, tenants []string, status string) error
	DeleteTenants(ctx context.Context, class string, tenants []string) error
	// Put inserts or replaces objects. It returns the results in the order of the server, which may leave some out.
	Put(ctx context.Context, class, tenant string, objects []Object) ([]Result, error)
	Delete(ctx context.Context, class, tenant, id string) error
}

// Open opens the writer of the server at the URL. All requests have the headers and go through the HTTP client.
type Open func(u *url.URL, headers map[string]string, client *http.Client) (Writer, error)

// ErrReadOnly is the error of all methods of [ReadOnly].
var ErrReadOnly = errors.New("this program does not write to weaviate")

// ReadOnly is the writer of a program that writes nothing.
type ReadOnly struct{}

// CreateClass implements [Writer].
func (ReadOnly) CreateClass(context.Context, schema.WeaviateClass) error { return ErrReadOnly }

// DeleteClass implements [Writer].
func (ReadOnly) DeleteClass(context.Context, string) error { return ErrReadOnly }

// CreateTenant implements [Writer].
func (ReadOnly) CreateTenant(context.Context, string, string) error { return ErrReadOnly }

// SetTenants implements [Writer].
func (ReadOnly) SetTenants(context.Context, string, []string, string) error { return ErrReadOnly }

// DeleteTenants implements [Writer].
func (ReadOnly) DeleteTenants(context.Context, string, []string) error { return ErrReadOnly }

// Put implements [Writer].
func (ReadOnly) Put(context.Context, string, string, []Object) ([]Result, error) {
	return nil, ErrReadOnly
}

// Delete implements [Writer].
func (ReadOnly) Delete(context.Context, string, string, string) error { return ErrReadOnly }
