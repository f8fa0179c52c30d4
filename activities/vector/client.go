package vector

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate/entities/models"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// DefaultReadyDelay is the pause between two probes of [Client.Ready].
const DefaultReadyDelay = 250 * time.Millisecond

// callTimeout bounds the duration of one call.
const callTimeout = 30 * time.Second

// ClientConfig configures a [Client].
type ClientConfig struct {
	// URL is the server's address, such as http://127.0.0.1:8080.
	URL string
	// APIKey is sent as a bearer token, unless it is empty.
	APIKey string
	// RootCAs are the authorities that the server's certificate may come from. Default: those of the system.
	RootCAs *x509.CertPool
	// ReadyDelay is the pause between two probes of [Client.Ready]; 0 means DefaultReadyDelay.
	ReadyDelay time.Duration
}

// Client is the only code that talks to Weaviate. Every method that reads or writes objects takes the project and
// reaches no other project. A collection is given by its name, or by that of one of its generations. It is safe for
// concurrent use.
type Client struct {
	api        *weaviate.Client
	http       *http.Client
	headers    map[string]string
	url, host  string
	readyDelay time.Duration

	mu sync.Mutex
	// led are the classes that names led to when a search looked them up last.
	led map[string]lead
}

// NewClient returns a client. It makes no request.
func NewClient(cfg ClientConfig) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil, strings.Contains(cfg.URL, "@"):
		// Its text is not told: somebody may have written a password into it.
		return nil, errors.New("read weaviate address: want http://host:port, without a user; the key is given by WEAVIATE_API_KEY")
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("read weaviate address %q: want http://host:port", cfg.URL)
	}
	headers := map[string]string{}
	if cfg.APIKey != "" {
		headers["Authorization"] = "Bearer " + cfg.APIKey
	}
	connection := &http.Client{Timeout: callTimeout}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok && cfg.RootCAs != nil {
		transport = transport.Clone()
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs}
		connection.Transport = transport
	}
	api, err := weaviate.NewClient(weaviate.Config{
		Host: u.Host, Scheme: u.Scheme, Headers: headers, Timeout: callTimeout, ConnectionClient: connection,
	})
	if err != nil {
		return nil, fmt.Errorf("make weaviate client: %w", err)
	}
	return &Client{
		led: map[string]lead{}, api: api, http: connection, headers: headers, url: u.Scheme + "://" + u.Host, host: u.Host,
		readyDelay: cmp.Or(cfg.ReadyDelay, DefaultReadyDelay),
	}, nil
}

// Ready waits until the server reports that it is ready, and returns its version. If ctx ends first, the error names
// the host and the last reason. A server that refuses the client is not waited for.
func (c *Client) Ready(ctx context.Context) (version string, err error) {
	for {
		ready, probeErr := c.api.Misc().ReadyChecker().Do(ctx)
		if probeErr == nil {
			meta, metaErr := c.api.Misc().MetaGetter().Do(ctx) // It also tells why a server is not ready that only says so.
			if metaErr == nil && ready {
				return meta.Version, nil
			}
			probeErr = metaErr
		}
		if probeErr == nil {
			probeErr = errors.New("it answers, and is not ready")
		}
		if ctx.Err() == nil || err == nil {
			err = c.fail("wait for readiness", probeErr)
		}
		if Unauthorized(err) || statusOf(err) == http.StatusBadRequest || eventlog.Untrusted(err) {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(c.readyDelay):
		}
	}
}

func (c *Client) checkClass(op string, want schema.WeaviateClass, got *models.Class) error {
	reason := ""
	switch {
	case got.MultiTenancyConfig == nil || !got.MultiTenancyConfig.Enabled:
		reason = "it has no tenants"
	case got.VectorIndexType != want.VectorIndexType:
		reason = fmt.Sprintf("its vector index is %q, not %q", got.VectorIndexType, want.VectorIndexType)
	default:
		for _, p := range want.Properties {
			if !slices.ContainsFunc(got.Properties, func(g *models.Property) bool {
				return g.Name == p.Name && g.Tokenization == p.Tokenization
			}) {
				reason = fmt.Sprintf("its property %q is missing or tokenized in another way", p.Name)
				break
			}
		}
	}
	if reason == "" {
		return nil
	}
	return &Error{
		Host: c.host, Op: op, cause: ErrCollection,
		Message: fmt.Sprintf("%v: %q: %s: run: starter rebuild vectors", ErrCollection, want.Class, reason),
	}
}

// EnsureTenant creates the project's tenant if it is missing. Concurrent calls are safe.
func (c *Client) EnsureTenant(ctx context.Context, collection, project string) error {
	class, err := c.class(ctx, collection)
	if err != nil {
		return err
	}
	err = c.api.Schema().TenantsCreator().WithClassName(class).
		WithTenants(models.Tenant{Name: schema.VectorTenant(project)}).Do(ctx)
	return c.fail("ensure tenant", err)
}

// deleteTenants deletes those tenants of the collection that exist, with all that is in them.
func (c *Client) deleteTenants(ctx context.Context, collection string, tenants []string) error {
	class, err := c.class(ctx, collection)
	if err != nil {
		return err
	}
	return c.fail("delete tenants", c.api.Schema().TenantsDeleter().WithClassName(class).WithTenants(tenants...).Do(ctx))
}

// Tenants returns the names of the collection's tenants. If there is no such collection, it returns none.
func (c *Client) Tenants(ctx context.Context, collection string) ([]string, error) {
	class, err := c.class(ctx, collection)
	if err != nil {
		return nil, err
	}
	tenants, err := c.api.Schema().TenantsGetter().WithClassName(class).Do(ctx)
	if err = c.fail("list tenants", err); err != nil {
		// The server answers 422 for an unknown class.
		if exists, existsErr := c.exists(ctx, class); existsErr == nil && !exists {
			return nil, nil
		}
		return nil, err
	}
	names := make([]string, 0, len(tenants))
	for _, t := range tenants {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names, nil
}

func (c *Client) exists(ctx context.Context, class string) (bool, error) {
	_, err := c.api.Schema().ClassGetter().WithClassName(class).Do(ctx)
	if err = c.fail("look for collection", err); statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// Object is an item and its vector as stored in Weaviate.
type Object struct {
	ID         string
	Vector     []float32
	Properties map[string]any
}

// Put inserts or replaces objects of one project. It returns one error per object, which is nil if the object was
// written. If the second error is set, the whole request failed and the state of the objects is unknown.
func (c *Client) Put(ctx context.Context, collection, project string, objects []Object) ([]error, error) {
	const op = "put objects"
	class, err := c.class(ctx, collection)
	if err != nil {
		return nil, err
	}
	batch := make([]*models.Object, len(objects))
	position := make(map[string]int, len(objects))
	for i, o := range objects {
		batch[i] = c.model(class, project, o)
		position[strings.ToLower(o.ID)] = i
	}
	answers, err := c.api.Batch().ObjectsBatcher().WithObjects(batch...).Do(ctx)
	if err != nil {
		return nil, c.fail(op, err)
	}
	results := make([]error, len(objects))
	answered := make([]bool, len(objects))
	for _, a := range answers {
		i, ok := position[strings.ToLower(a.ID.String())]
		if !ok {
			continue
		}
		answered[i] = true
		results[i] = c.objectError(op, a)
	}
	for i, ok := range answered {
		if !ok {
			results[i] = c.reject(op, 0, "no result for object %q", objects[i].ID)
		}
	}
	return results, nil
}

func (c *Client) model(class, project string, o Object) *models.Object {
	return &models.Object{
		Class: class, Tenant: schema.VectorTenant(project), ID: uuidOf(o.ID),
		Vector: o.Vector, Properties: o.Properties,
	}
}

func (c *Client) objectError(op string, a models.ObjectsGetResponse) error {
	if a.Result == nil {
		return c.reject(op, 0, "no result for object %q", a.ID)
	}
	var reasons []string
	if a.Result.Errors != nil {
		for _, e := range a.Result.Errors.Error {
			if e != nil {
				reasons = append(reasons, e.Message)
			}
		}
	}
	failed := a.Result.Status != nil && *a.Result.Status == models.ObjectsGetResponseAO2ResultStatusFAILED
	if len(reasons) == 0 && !failed {
		return nil
	}
	if len(reasons) == 0 {
		reasons = []string{"refused without a reason"}
	}
	return c.reject(op, 0, "%s", strings.Join(reasons, "; "))
}

// convert copies between two types with the same JSON form.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encode class: %w", err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("decode class: %w", err)
	}
	return nil
}
