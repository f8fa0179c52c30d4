// Package weaviate writes to Weaviate through its client library.
package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-openapi/strfmt"
	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate/entities/models"

	"axiommind/activities/vector/store"
	"axiommind/schema"
)

type writer struct{ api *weaviate.Client }

// Open implements [store.Open]. The library asks the server for its version.
func Open(u *url.URL, headers map[string]string, client *http.Client) (store.Writer, error) {
	api, err := weaviate.NewClient(weaviate.Config{
		Host: u.Host, Scheme: u.Scheme, Headers: headers, Timeout: client.Timeout, ConnectionClient: client,
	})
	if err != nil {
		return nil, fmt.Errorf("make weaviate client: %w", err)
	}
	return &writer{api}, nil
}

// CreateClass implements [store.Writer].
func (w *writer) CreateClass(ctx context.Context, class schema.WeaviateClass) error {
	data, err := json.Marshal(class)
	if err != nil {
		return fmt.Errorf("encode class: %w", err)
	}
	var model models.Class
	if err := json.Unmarshal(data, &model); err != nil {
		return fmt.Errorf("decode class: %w", err)
	}
	return w.api.Schema().ClassCreator().WithClass(&model).Do(ctx)
}

// DeleteClass implements [store.Writer].
func (w *writer) DeleteClass(ctx context.Context, class string) error {
	return w.api.Schema().ClassDeleter().WithClassName(class).Do(ctx)
}

// CreateTenant implements [store.Writer].
func (w *writer) CreateTenant(ctx context.Context, class, tenant string) error {
	return w.api.Schema().TenantsCreator().WithClassName(class).WithTenants(models.Tenant{Name: tenant}).Do(ctx)
}

// SetTenants implements [store.Writer].
func (w *writer) SetTenants(ctx context.Context, class string, tenants []string, status string) error {
	all := make([]models.Tenant, len(tenants))
	for i, name := range tenants {
		all[i] = models.Tenant{Name: name, ActivityStatus: status}
	}
	return w.api.Schema().TenantsUpdater().WithClassName(class).WithTenants(all...).Do(ctx)
}

// DeleteTenants implements [store.Writer].
func (w *writer) DeleteTenants(ctx context.Context, class string, tenants []string) error {
	return w.api.Schema().TenantsDeleter().WithClassName(class).WithTenants(tenants...).Do(ctx)
}

// Put implements [store.Writer].
func (w *writer) Put(ctx context.Context, class, tenant string, objects []store.Object) ([]store.Result, error) {
	batch := make([]*models.Object, len(objects))
	for i, o := range objects {
		batch[i] = &models.Object{Class: class, Tenant: tenant, ID: strfmt.UUID(o.ID), Vector: o.Vector, Properties: o.Properties}
	}
	answers, err := w.api.Batch().ObjectsBatcher().WithObjects(batch...).Do(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]store.Result, len(answers))
	for i, a := range answers {
		results[i] = result(a)
	}
	return results, nil
}

func result(a models.ObjectsGetResponse) store.Result {
	r := store.Result{ID: a.ID.String()}
	if a.Result == nil {
		r.Failed, r.Reasons = true, []string{fmt.Sprintf("no result for object %q", r.ID)}
		return r
	}
	if a.Result.Errors != nil {
		for _, e := range a.Result.Errors.Error {
			if e != nil {
				r.Reasons = append(r.Reasons, e.Message)
			}
		}
	}
	r.Failed = len(r.Reasons) > 0 || a.Result.Status != nil && *a.Result.Status == models.ObjectsGetResponseAO2ResultStatusFAILED
	return r
}

// Delete implements [store.Writer].
func (w *writer) Delete(ctx context.Context, class, tenant, id string) error {
	return w.api.Data().Deleter().WithClassName(class).WithTenant(tenant).WithID(id).Do(ctx)
}
