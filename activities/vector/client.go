package vector

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/spans"
	"axiommind/activities/vector/store"
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
	// RootCAs are the certificate authorities for the server's certificate. Default: those of the system.
	RootCAs *x509.CertPool
	// Replicas is the replication factor of new classes. Default: 1.
	Replicas int
	// Writer opens the writer. Default: none, and the client only reads.
	Writer store.Open
	// ReadyDelay is the pause between two probes of [Client.Ready]; 0 means DefaultReadyDelay.
	ReadyDelay time.Duration
	// Patience returns how long [Client.Ready] waits if the last probe failed with the error. Default: as long as its context.
	Patience func(error) time.Duration
}

// Client is the only code that talks to Weaviate. Every method that reads or writes objects takes the project and
// reaches no other project. A collection is given by its name, or by that of one of its generations. It is safe for
// concurrent use.
type Client struct {
	writer     store.Writer
	http       *http.Client
	headers    map[string]string
	url, host  string
	readyDelay time.Duration
	replicas   int
	patience   func(error) time.Duration

	mu sync.Mutex
	// cached holds the classes of names that searches looked up.
	cached map[string]cachedClass
}

// NewClient returns a client. It makes no request, except that the writer may ask for the server's version.
func NewClient(cfg ClientConfig) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil, strings.Contains(cfg.URL, "@"):
		// The error leaves out the address, which may contain a password.
		return nil, errors.New("read weaviate address: want http://host:port, without a user; the key is given by WEAVIATE_API_KEY")
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("read weaviate address %q: want http://host:port", cfg.URL)
	}
	headers := map[string]string{}
	if cfg.APIKey != "" {
		headers["Authorization"] = "Bearer " + cfg.APIKey
	}
	connection := &http.Client{Timeout: callTimeout, Transport: spans.Transport("weaviate", http.DefaultTransport)}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok && cfg.RootCAs != nil {
		transport = transport.Clone()
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs}
		connection.Transport = spans.Transport("weaviate", transport)
	}
	var writer store.Writer = store.ReadOnly{}
	if cfg.Writer != nil {
		if writer, err = cfg.Writer(u, headers, connection); err != nil {
			return nil, err
		}
	}
	return &Client{
		cached: map[string]cachedClass{}, writer: writer, http: connection, headers: headers, url: u.Scheme + "://" + u.Host, host: u.Host,
		readyDelay: cmp.Or(cfg.ReadyDelay, DefaultReadyDelay), replicas: cfg.Replicas, patience: cfg.Patience,
	}, nil
}

// Ready waits until the server reports that it is ready, and returns its version. If ctx ends first, the error names
// the host and the last reason. It does not wait for a server that refuses the client.
func (c *Client) Ready(ctx context.Context) (version string, err error) {
	for begun := time.Now(); ; {
		version, probeErr := c.probe(ctx)
		if probeErr == nil {
			return version, nil
		}
		if ctx.Err() == nil || err == nil {
			err = probeErr
		}
		if Unauthorized(err) || statusOf(err) == http.StatusBadRequest || clickhouse.Untrusted(err) ||
			c.patience != nil && time.Since(begun) > c.patience(err) {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(c.readyDelay):
		}
	}
}

// probe returns the version of a server that is ready.
func (c *Client) probe(ctx context.Context) (string, error) {
	const op = "wait for readiness"
	readyErr := c.request(ctx, op, http.MethodGet, "/.well-known/ready", nil, nil)
	if readyErr != nil && statusOf(readyErr) == 0 {
		return "", readyErr
	}
	var meta struct {
		Version string `json:"version"`
	}
	// It also gives the reason of a server that is not ready.
	if err := c.request(ctx, op, http.MethodGet, "/meta", nil, &meta); err != nil {
		return "", err
	}
	if readyErr != nil {
		return "", c.reject(op, 0, "it answers, and is not ready")
	}
	return meta.Version, nil
}

func (c *Client) checkClass(op string, want, got schema.WeaviateClass) error {
	reason := ""
	switch {
	case !got.MultiTenancyConfig.Enabled:
		reason = "it has no tenants"
	case got.VectorIndexType != want.VectorIndexType:
		reason = fmt.Sprintf("its vector index is %q, not %q", got.VectorIndexType, want.VectorIndexType)
	default:
		for _, p := range want.Properties {
			if !slices.ContainsFunc(got.Properties, func(g schema.WeaviateProperty) bool {
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
	return c.fail("ensure tenant", c.writer.CreateTenant(ctx, class, schema.VectorTenant(project)))
}

// deleteTenants deletes those tenants of the collection that exist, with their objects.
func (c *Client) deleteTenants(ctx context.Context, collection string, tenants []string) error {
	class, err := c.class(ctx, collection)
	if err != nil {
		return err
	}
	return c.fail("delete tenants", c.writer.DeleteTenants(ctx, class, tenants))
}

// Tenants returns the names of the collection's tenants. If there is no such collection, it returns none.
func (c *Client) Tenants(ctx context.Context, collection string) ([]string, error) {
	tenants, err := c.tenants(ctx, collection)
	if err != nil || tenants == nil {
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
	_, err := c.definition(ctx, "look for collection", class)
	if statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// definition returns the definition of a class, reduced to the relevant fields.
func (c *Client) definition(ctx context.Context, op, class string) (schema.WeaviateClass, error) {
	var got schema.WeaviateClass
	err := c.request(ctx, op, http.MethodGet, classPath(class), nil, &got)
	return got, err
}

// listedClass is a class in the server's schema.
type listedClass struct {
	Class       string `json:"class"`
	Description string `json:"description"`
}

// classes returns all classes.
func (c *Client) classes(ctx context.Context) ([]listedClass, error) {
	var dump struct {
		Classes []listedClass `json:"classes"`
	}
	err := c.request(ctx, "list collections", http.MethodGet, "/schema", nil, &dump)
	return dump.Classes, err
}

func classPath(class string) string { return "/schema/" + url.PathEscape(class) }

// Object is an item and its vector as stored in Weaviate.
type Object = store.Object

// Put inserts or replaces objects of one project. It returns one error per object, which is nil if the object was
// written. If the second error is set, the whole request failed and the state of the objects is unknown.
func (c *Client) Put(ctx context.Context, collection, project string, objects []Object) ([]error, error) {
	const op = "put objects"
	class, err := c.class(ctx, collection)
	if err != nil {
		return nil, err
	}
	position := make(map[string]int, len(objects))
	for i, o := range objects {
		position[strings.ToLower(o.ID)] = i
	}
	answers, err := c.writer.Put(ctx, class, schema.VectorTenant(project), objects)
	if err != nil {
		return nil, c.fail(op, err)
	}
	results := make([]error, len(objects))
	answered := make([]bool, len(objects))
	for _, a := range answers {
		i, ok := position[strings.ToLower(a.ID)]
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

func (c *Client) objectError(op string, a store.Result) error {
	if !a.Failed {
		return nil
	}
	return c.reject(op, 0, "%s", cmp.Or(strings.Join(a.Reasons, "; "), "refused without a reason"))
}
