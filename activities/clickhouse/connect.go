package clickhouse

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse/cluster"
)

// Defaults and bounds of a connection pool.
const (
	// DefaultMaxOpenConns is the default of [ConnectOptions.MaxOpenConns].
	DefaultMaxOpenConns = 8
	// dialTimeout bounds the time to connect and the wait for a free connection.
	dialTimeout = 10 * time.Second
	// readTimeout bounds the wait for a response if the context has no deadline.
	readTimeout = 2 * time.Minute
)

// ConnectOptions configures a connection pool. The zero value uses the defaults.
type ConnectOptions struct {
	// MaxOpenConns bounds the number of concurrent requests. Default [DefaultMaxOpenConns].
	MaxOpenConns int
	// RootCAs are the accepted authorities of a server's certificate. Default: those of the system.
	RootCAs *x509.CertPool
	// Cluster is the name of the cluster that the tables are on, as in package cluster. Default: none, they are on one server.
	Cluster string
	// UsageDays is how many days the table of usage keeps a row. Default: [DefaultUsageDays]. See [KeepUsage].
	UsageDays int
}

// Connect opens a connection pool and checks that the server answers. The dsn has the form
// http://user:password@host:8123/database or https for ClickHouse's HTTP interface, and clickhouse://user:password@host:9000/database
// or clickhouses for its native protocol, the second ones with TLS. The caller closes the pool.
func Connect(ctx context.Context, dsn string, opts ConnectOptions) (driver.Conn, error) {
	o, err := parseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse clickhouse address: %w", err)
	}
	if o.TLS != nil && opts.RootCAs != nil {
		o.TLS.RootCAs = opts.RootCAs
	}
	if !clusterName.MatchString(opts.Cluster) {
		return nil, fmt.Errorf("--cluster %q: want letters, digits and signs such as - and _, or a macro such as {cluster}", opts.Cluster)
	}
	o.MaxOpenConns = cmp.Or(opts.MaxOpenConns, DefaultMaxOpenConns)
	o.MaxIdleConns = o.MaxOpenConns
	o.DialTimeout = dialTimeout
	o.ReadTimeout = readTimeout
	if o.TLS != nil && o.Protocol == clickhouse.HTTP {
		// The driver makes ClickHouse identify a user without a password by its certificate, and none is ever shown.
		o.HttpHeaders = map[string]string{"X-ClickHouse-SSL-Certificate-Auth": "off"}
	}
	if opts.Cluster != "" {
		settings := maps.Clone(clusterRouting)
		maps.Copy(settings, o.Settings)
		maps.Copy(settings, clusterSettings)
		o.Settings = settings
	}
	return open(ctx, o, opts)
}

// Address returns an address without user, password and settings, for people and logs.
func Address(dsn string) string {
	u, err := readURL(dsn)
	if err != nil {
		return "an address that can't be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// readURL parses the URL of an address. A password that contains one of / ? # ends the host part of a URL: its
// remainder would be parsed as a path, and shown.
func readURL(dsn string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(dsn, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	begin := strings.LastIndex(rest[:end], "@") + 1
	host, others, several := strings.Cut(rest[begin:end], ",") // The driver takes several hosts, net/url one.
	u, err := url.Parse(scheme + "://" + rest[:begin] + host + rest[end:])
	if err == nil && several {
		u.Host += "," + others
	}
	if err != nil || strings.Contains(u.Path, "@") || u.User == nil && strings.Contains(dsn, "@") {
		return nil, errors.New("it is no URL: want http://user:password@host:8123/database or https://, or clickhouse:// with port 9000; " +
			"write / ? # @ % in a password as %2F %3F %23 %40 %25")
	}
	return u, nil
}

// The schemes of addresses, and whether each speaks TLS.
var schemes = map[string]bool{"http": false, "https": true, "clickhouse": false, nativeTLS: true}

// nativeTLS is the scheme of the native protocol with TLS, which the driver doesn't know.
const nativeTLS = "clickhouses"

// parseDSN is [clickhouse.ParseDSN] with errors that contain no part of the password. https and clickhouses need no other
// setting.
func parseDSN(dsn string) (*clickhouse.Options, error) {
	u, err := readURL(dsn)
	if err != nil {
		return nil, err
	}
	secure, known := schemes[u.Scheme]
	if !known {
		return nil, errors.New("want http://host:8123/database or https://, the HTTP interface, or clickhouse://host:9000/database or clickhouses://, the native protocol")
	}
	if settings := u.Query(); secure && !settings.Has("secure") {
		settings.Set("secure", "true")
		u.RawQuery = settings.Encode()
	}
	if u.Scheme == nativeTLS {
		u.Scheme = "clickhouse"
	}
	o, err := clickhouse.ParseDSN(u.String())
	if err != nil {
		return nil, withoutSecrets(err, u)
	}
	return o, nil
}

// withoutSecrets hides the password and the values of settings in an error.
func withoutSecrets(err error, u *url.URL) error {
	said := err.Error()
	password, _ := u.User.Password()
	secrets := []string{u.RawQuery, password, url.QueryEscape(password)}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	for _, secret := range secrets {
		if secret != "" {
			said = strings.ReplaceAll(said, strings.Trim(strconv.Quote(secret), `"`), "…")
		}
	}
	return errors.New(said)
}

func open(ctx context.Context, o *clickhouse.Options, opts ConnectOptions) (driver.Conn, error) {
	conn, err := clickhouse.Open(o)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse at %q: %w", o.Addr, err)
	}
	if err := reach(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("reach clickhouse at %s: %w", strings.Join(o.Addr, ", "), Readable(err))
	}
	described := &describedConn{Conn: tracedConn{conn}, options: o, opts: opts, columns: map[string][]clickhouse.ColumnNameAndType{}}
	if opts.Cluster == "" {
		return described, nil
	}
	return &clusterConn{described, cluster.Target{Name: opts.Cluster, Database: databaseOf(o)}}, nil
}

// reach has the connection ask the server for its version, as it does before its first statement. A ping would be a
// statement more.
func reach(ctx context.Context, conn driver.Conn) error {
	answered := make(chan error, 1)
	go func() {
		_, err := conn.ServerVersion() // It takes no context, and ends by the limit for a new connection.
		answered <- err
	}()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Neighbor is a connection that can open another one, to a database of the same server. That of [Connect] can.
type Neighbor interface {
	// Neighbor opens a connection to the database with the options of this one. The caller closes it.
	Neighbor(ctx context.Context, database string) (driver.Conn, error)
}

// Neighbor implements [Neighbor].
func (c *describedConn) Neighbor(ctx context.Context, database string) (driver.Conn, error) {
	o := *c.options
	o.Auth.Database = database
	o.Settings = maps.Clone(o.Settings)
	return open(ctx, &o, c.opts)
}

// describedConn remembers the columns of the tables that were written to. Without that, the client asks the server for
// them before each insert.
type describedConn struct {
	driver.Conn
	options *clickhouse.Options
	opts    ConnectOptions

	mu sync.Mutex
	// columns are the columns of a statement.
	columns map[string][]clickhouse.ColumnNameAndType
}

func (c *describedConn) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.mu.Lock()
	known := c.columns[query]
	c.mu.Unlock()
	if known != nil {
		batch, err := c.Conn.PrepareBatch(clickhouse.Context(ctx, clickhouse.WithColumnNamesAndTypes(known)), query, opts...)
		if err != nil {
			return nil, err
		}
		return &describedBatch{batch, func() { c.know(query, nil) }}, nil
	}
	batch, err := c.Conn.PrepareBatch(ctx, query, opts...)
	if err != nil {
		return nil, err
	}
	for _, column := range batch.Columns() {
		known = append(known, clickhouse.ColumnNameAndType{Name: column.Name(), Type: string(column.Type())})
	}
	c.know(query, known)
	return batch, nil
}

func (c *describedConn) know(query string, columns []clickhouse.ColumnNameAndType) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.columns[query] = columns
}

// describedBatch forgets the columns after an error: the table may have been changed.
type describedBatch struct {
	driver.Batch
	forget func()
}

func (b *describedBatch) Send() error {
	err := b.Batch.Send()
	if err != nil {
		b.forget()
	}
	return err
}
