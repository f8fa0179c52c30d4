package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/spans"
	"axiommind/activities/vector"
	"axiommind/activities/vector/store"
	"axiommind/schema"
	"axiommind/worker/settings"
)

const (
	retryFirst = 250 * time.Millisecond
	retryLast  = 5 * time.Second
)

// Stores are the connections to the servers.
type Stores struct {
	Temporal   client.Client
	ClickHouse driver.Conn
	Log        *projection.Store
	Weaviate   *vector.Client
	Embedder   llm.Embedder
	// Eraser is the connection of a user who may erase, or nil.
	Eraser driver.Conn
}

// Close closes the connections.
func (s *Stores) Close() {
	if s.Temporal != nil {
		s.Temporal.Close()
	}
	if s.Log != nil {
		ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
		defer cancel()
		_ = s.Log.SaveOffsets(ctx) // Else the last events are projected again.
	}
	for _, conn := range []driver.Conn{s.ClickHouse, s.Eraser} {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

// saveTimeout bounds the last request of a program that ends.
const saveTimeout = 5 * time.Second

// Connect connects to all servers. It waits up to the configured time for servers that are still starting. It logs
// each failed attempt with its reason. writer opens the writer of Weaviate.
func Connect(ctx context.Context, cfg Config, writer store.Open, logger *slog.Logger) (_ *Stores, err error) {
	s := &Stores{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if _, err = cfg.TemporalOptions(); err != nil {
		return nil, err // A missing key is reported before waiting for any server.
	}
	if s.Embedder, err = llm.NewEmbedder(ctx, cfg.Embedder); err != nil {
		return nil, fmt.Errorf("set up the embedder: %w", err)
	}
	if s.ClickHouse, err = ConnectClickHouse(ctx, cfg, logger); err != nil {
		return nil, err
	}
	s.Log = projection.New(s.ClickHouse, eventlog.Options{Lease: cfg.Timing.Lease, Offsets: cfg.Timing.Offsets, Appended: cfg.Appended})
	if cfg.EraserDSN != "" {
		eraser := cfg
		eraser.ClickHouseDSN = cfg.EraserDSN
		if s.Eraser, err = ConnectClickHouse(ctx, eraser, logger); err != nil {
			return nil, fmt.Errorf("eraser-dsn: %w", err)
		}
	}
	if s.Weaviate, err = connectWeaviate(ctx, cfg, writer); err != nil {
		return nil, err
	}
	s.Temporal, err = ConnectTemporal(ctx, cfg, logger)
	return s, err
}

// ConnectClickHouse connects to ClickHouse and waits until it is ready.
func ConnectClickHouse(ctx context.Context, cfg Config, logger *slog.Logger) (conn driver.Conn, err error) {
	roots, err := settings.Roots(cfg.TLSCA)
	if err != nil {
		return nil, err
	}
	err = retryConnect(ctx, cfg.Servers, logger, "clickhouse at "+cfg.ClickHouseAddress(), func(ctx context.Context) error {
		conn, err = clickhouse.Connect(ctx, cfg.ClickHouseDSN, clickhouse.ConnectOptions{RootCAs: roots, Cluster: cfg.Cluster, UsageDays: cmp.Or(cfg.UsageDays, clickhouse.UsageForGood)})
		if err != nil && !clickhouse.Retryable(err) {
			return permanent{settings.Explain(cfg.ClickHouseAddress(), err)}
		}
		return settings.Explain(cfg.ClickHouseAddress(), err)
	})
	return conn, err
}

// ConnectWeaviate connects to Weaviate, to read only, and waits until it is ready.
func ConnectWeaviate(ctx context.Context, cfg Config) (*vector.Client, error) {
	return connectWeaviate(ctx, cfg, nil)
}

func connectWeaviate(ctx context.Context, cfg Config, writer store.Open) (*vector.Client, error) {
	roots, err := settings.Roots(cfg.TLSCA)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	type made struct {
		client *vector.Client
		err    error
	}
	done := make(chan made, 1)
	// The writer requests the server's version without a context. A server that accepts connections and
	// never answers would block it until the request times out.
	go func() {
		c, err := vector.NewClient(vector.ClientConfig{URL: cfg.WeaviateURL, APIKey: cfg.WeaviateAPIKey, RootCAs: roots, Writer: writer, Replicas: cfg.WeaviateReplicas, Patience: cfg.Patience})
		if err == nil {
			_, err = c.Ready(ctx)
		}
		done <- made{c, err}
	}()
	var m made
	select {
	case m = <-done:
	case <-ctx.Done():
		select {
		case m = <-done: // It has the reason.
		case <-time.After(retryFirst):
			m.err = fmt.Errorf("wait for readiness on weaviate at %q: %w", cfg.WeaviateURL, ctx.Err())
		}
	}
	if m.err == nil {
		return m.client, nil
	}
	if vector.Unauthorized(m.err) {
		return nil, settings.Refused(m.err, "give its key by WEAVIATE_API_KEY")
	}
	return nil, settings.Explain(cfg.WeaviateURL, m.err)
}

// ConnectTemporal connects to Temporal and waits until it is ready.
func ConnectTemporal(ctx context.Context, cfg Config, logger *slog.Logger) (c client.Client, err error) {
	options, err := cfg.TemporalOptions()
	if err != nil {
		return nil, err
	}
	options.Logger = log.NewStructuredLogger(logger)
	err = retryConnect(ctx, cfg.Servers, logger, "temporal at "+cfg.TemporalAddress, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, retryLast)
		defer cancel()
		c, err = client.DialContext(ctx, options)
		if unauthorized(err) {
			return settings.Refused(err, "give a key that it takes by TEMPORAL_API_KEY")
		}
		return cfg.ExplainTemporal(err)
	})
	return c, err
}

// unauthorized reports whether Temporal, or a proxy before it, refuses the key.
func unauthorized(err error) bool {
	var denied *serviceerror.PermissionDenied
	return errors.As(err, &denied) || status.Code(err) == codes.Unauthenticated
}

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// retryConnect retries until it succeeds, the error is permanent, or the time limit is reached.
func retryConnect(ctx context.Context, s settings.Servers, logger *slog.Logger, what string, try func(context.Context) error) error {
	begun := time.Now()
	// This also ends an attempt on a server that accepts connections but never answers.
	ctx, cancel := context.WithTimeout(ctx, max(s.ConnectTimeout, retryFirst))
	defer cancel()
	for wait := retryFirst; ; wait = min(2*wait, retryLast) {
		err := try(ctx)
		var p permanent
		switch {
		case err == nil:
			return nil
		case errors.As(err, &p), errors.Is(err, settings.ErrRefused), ctx.Err() != nil, time.Since(begun)+wait > s.Patience(err):
			return fmt.Errorf("connect to %s: %w", what, err)
		}
		logger.Warn("server is not there yet", "server", what, "retry_in", wait, "reason", err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("connect to %s: %w", what, err)
		case <-time.After(wait):
		}
	}
}

// searchAttributes are the search attributes that starters set.
var searchAttributes = map[string]enums.IndexedValueType{
	schema.AttributeProject: enums.INDEXED_VALUE_TYPE_KEYWORD,
	schema.AttributeSession: enums.INDEXED_VALUE_TYPE_KEYWORD,
}

// MissingSearchAttributes returns the search attributes that the namespace lacks, sorted by name.
func MissingSearchAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("list search attributes: %w", err)
	}
	var missing []string
	for _, name := range []string{schema.AttributeProject, schema.AttributeSession} {
		if _, ok := have.GetCustomAttributes()[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// RegisterSearchAttributes registers the missing search attributes.
func RegisterSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	missing, err := MissingSearchAttributes(ctx, c, namespace)
	if err != nil || len(missing) == 0 {
		return err
	}
	add := map[string]enums.IndexedValueType{}
	for _, name := range missing {
		add[name] = searchAttributes[name]
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: add,
	})
	if err != nil {
		return fmt.Errorf("register search attributes %s: %w", strings.Join(missing, ", "), err)
	}
	return nil
}

// LogReadable is for [slog.HandlerOptions]: the errors that are logged are readable ones, which quote no message.
func LogReadable(_ []string, a slog.Attr) slog.Attr {
	if err, is := a.Value.Any().(error); is {
		a.Value = slog.StringValue(clickhouse.Readable(err).Error())
	}
	return a
}

// NewLogger returns a logger that writes text to standard error at the configured level, with the ids of the trace and the span
// that a line belongs to.
func NewLogger(cfg Config) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		return nil, fmt.Errorf("log level %q: want debug, info, warn or error", cfg.LogLevel)
	}
	return slog.New(spans.Logged(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: LogReadable}))), nil
}
