// Package client is how a program gives conversations to AxiomMind and reads its memory. It has the functions of the
// command line: [Client.Enqueue] returns at once and waits for no model, [Client.Search] finds memories with their
// evidence, and [Client.Context] returns the memories for a prompt.
//
// A [Client] opens a connection when it first needs it. Enqueue needs Temporal, and ClickHouse for a long conversation.
// Search needs ClickHouse and Weaviate. Context needs ClickHouse, and Weaviate for a query.
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	temporal "go.temporal.io/sdk/client"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/queue/door"
	"axiommind/activities/retrieve"
	"axiommind/activities/vector"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// Errors that a program can distinguish with errors.Is.
var (
	// ErrDisabled is returned by Enqueue where memory is switched off (AXIOMMIND_NO_QUEUE). Nothing was enqueued, and
	// nothing is wrong.
	ErrDisabled = errors.New("memory is switched off (no-queue): nothing was enqueued")
	// ErrFull is returned for a conversation that the queue does not take, because too much waits there.
	ErrFull = door.ErrFull
	// ErrInvalid is returned for invalid arguments or an invalid configuration. A retry fails too.
	ErrInvalid = errors.New("invalid request")
	// ErrUnavailable is returned where a server can't be reached. A retry may succeed.
	ErrUnavailable = errors.New("server is not available")
	// ErrClosed is returned by a client that was closed.
	ErrClosed = errors.New("the client is closed")
)

// failure is an error of one of the kinds that a program can distinguish.
type failure struct {
	error
	kind error
}

func (f failure) Unwrap() []error { return []error{f.error, f.kind} }

func invalid(err error) error     { return failure{err, ErrInvalid} }
func unavailable(err error) error { return failure{err, ErrUnavailable} }

// Client reaches the memory. It is safe for concurrent use.
type Client struct {
	cfg     Config
	service service.Config
	logger  *slog.Logger

	temporal   service.Lazy[temporal.Client]
	clickHouse service.Lazy[driver.Conn]
	weaviate   service.Lazy[*vector.Client]
	finder     service.Lazy[*retrieve.Finder]

	// noting waits for the usage notes that are still being written.
	noting sync.WaitGroup
	notes  notes
	// writer names this client in the streams of usage.
	writer string
	closed context.Context
	close  context.CancelFunc
}

// Open returns a client. It asks no server; the error is an [ErrInvalid]. When the context ends, the client takes no more
// requests.
func Open(ctx context.Context, cfg Config) (*Client, error) {
	s, err := cfg.service()
	if err != nil {
		return nil, invalid(err)
	}
	c := &Client{cfg: cfg, service: s, logger: cfg.Logger, writer: rand.Text()}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	c.closed, c.close = context.WithCancel(ctx)
	return c, nil
}

// openFinder keeps one finder for all queries, because it may have measured the embedder in use.
func (c *Client) openFinder(ctx context.Context) (*retrieve.Finder, error) {
	var embedder vector.Embedder
	embedder, err := llm.NewEmbedder(ctx, c.service.Embedder)
	switch {
	case err != nil && !slices.Contains(llm.EmbedderProviders(), c.service.Embedder.Provider):
		return nil, invalid(err)
	case err != nil:
		embedder = vector.NoEmbedder(invalid(err)) // The one in use may be another.
	}
	conn, err := c.askClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	weaviate, err := get(ctx, c, &c.weaviate, func(ctx context.Context) (*vector.Client, error) { return service.ConnectWeaviate(ctx, c.service) })
	if err != nil {
		return nil, err
	}
	indexes := service.NewIndexes(&service.Stores{
		ClickHouse: conn, Log: projection.New(conn, eventlog.Options{}), Weaviate: weaviate, Embedder: embedder,
	}, c.service)
	return retrieve.NewFinder(conn, weaviate, indexes, retrieve.Options{}), nil
}

// Close waits for the usage notes, for two seconds for each project at most, and closes the connections. It is called when all requests
// have ended.
func (c *Client) Close() error {
	c.close()
	c.noting.Wait()
	var err error
	c.temporal.Drop(func(t temporal.Client) { t.Close() })
	c.clickHouse.Drop(func(conn driver.Conn) { err = conn.Close() })
	return err
}

// get returns the connection, with errors that a program can distinguish.
func get[T any](ctx context.Context, c *Client, l *service.Lazy[T], open func(context.Context) (T, error)) (none T, err error) {
	if c.closed.Err() != nil {
		return none, ErrClosed
	}
	value, err := l.Get(ctx, open)
	var known failure
	switch {
	case errors.As(err, &known):
		return none, err
	case errors.Is(err, settings.ErrInvalid):
		return none, invalid(err)
	case err != nil:
		return none, unavailable(err)
	}
	return value, nil
}

func (c *Client) askClickHouse(ctx context.Context) (driver.Conn, error) {
	return get(ctx, c, &c.clickHouse, func(ctx context.Context) (driver.Conn, error) {
		return service.ConnectClickHouse(ctx, c.service, c.logger)
	})
}

func (c *Client) askTemporal(ctx context.Context) (temporal.Client, error) {
	return get(ctx, c, &c.temporal, func(ctx context.Context) (temporal.Client, error) {
		return service.ConnectTemporal(ctx, c.service, c.logger)
	})
}

type actorKey struct{}

// WithActor returns a context for requests of another actor than [Config.Actor]: a client that serves several.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

func (c *Client) actor(ctx context.Context) string {
	actor, _ := ctx.Value(actorKey{}).(string)
	return cmp.Or(actor, c.cfg.Actor, defaultActor)
}

const (
	// usageTimeout bounds the time to write usage notes.
	usageTimeout = 2 * time.Second
	// usagePause is how long a note waits for others.
	usagePause = time.Second
)

// log returns the event log.
func (c *Client) log(ctx context.Context) (*projection.Store, driver.Conn, error) {
	conn, err := c.askClickHouse(ctx)
	if err != nil {
		return nil, nil, err
	}
	return projection.New(conn, eventlog.Options{}), conn, nil
}
