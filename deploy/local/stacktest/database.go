package stacktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/install"
	"axiommind/deploy/local/stack"
	"axiommind/schema"
)

// Database makes a fresh database for the test, drops it at the test's end, and returns a DSN that names it.
func Database(t testing.TB) string {
	t.Helper()
	dsn := serverDSN(t)
	name := fmt.Sprintf("test_%d_%d_%d", os.Getpid(), started, names.Add(1))
	run(t, dsn, "CREATE DATABASE "+name)
	t.Cleanup(func() { run(t, dsn, "DROP DATABASE "+name+" SYNC") })
	dsn.Path = "/" + name
	return dsn.String()
}

// NamedDatabase returns a connection to a fresh database whose name ends with the one given, in any characters.
func NamedDatabase(t testing.TB, name string) driver.Conn {
	t.Helper()
	dsn := Database(t)
	admin, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	name = path.Base(dsn) + "_" + name
	if err := admin.Exec(t.Context(), "CREATE DATABASE "+clickhouse.Identifier(name)); err != nil {
		t.Fatal(err)
	}
	conn, err := admin.(clickhouse.Neighbor).Neighbor(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		if err := admin.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+clickhouse.Identifier(name)+" SYNC"); err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	return conn
}

// MigratedDatabase is [Database] with the tables of the event log and its projections, all empty. ClickHouse takes far
// longer to make some sixty tables than most tests do, so a database serves one test after another, of any package. The
// rows that a test leaves are removed. A database is made again if a test has changed its tables or failed.
func MigratedDatabase(t testing.TB) string {
	t.Helper()
	dsn := serverDSN(t)
	p, err := openPool(dsn)
	if err != nil {
		t.Fatalf("open the pool of databases: %v", err)
	}
	d, err := p.take(t.Context())
	if err != nil {
		t.Fatalf("take a database of the pool: %v", err)
	}
	t.Cleanup(func() {
		if err := d.giveBack(t.Failed()); err != nil {
			t.Errorf("give a database back to the pool: %v", err)
		}
	})
	dsn.Path = "/" + d.name
	return dsn.String()
}

// pool is a directory with a file for each migrated database of a server. The process that has locked the file has the
// database, until it ends.
type pool struct {
	dir, prefix string
	dsn         *url.URL
}

// pooled is a database of the pool that this process has. Its file has the fingerprint of a migration.
type pooled struct {
	pool
	name string
	file *os.File
}

// rest is how long a database is not used after a test has ended: a statement of a client that was killed may still
// run.
const rest = 500 * time.Millisecond

func openPool(dsn *url.URL) (pool, error) {
	dir, err := sharedDir()
	if err != nil {
		return pool{}, err
	}
	tables, err := install.SourceDigest("schema/migrations")
	if err != nil {
		return pool{}, err
	}
	// Databases live as long as the server, and its port and token are in the name.
	dir = filepath.Join(dir, "databases-"+schema.HashText(dsn.Host + dsn.User.String())[:12])
	return pool{dir: dir, prefix: "pool_" + tables, dsn: dsn}, stack.MakePrivate(dir)
}

// take returns the first database that no process has, in the state after a migration.
func (p pool) take(ctx context.Context) (*pooled, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s_%d", p.prefix, n)
		f, err := lockFile(filepath.Join(p.dir, name), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && info.Size() > 0 && time.Since(info.ModTime()) < rest {
			_ = f.Close()
			continue
		}
		d := &pooled{p, name, f}
		if err := errors.Join(err, d.clear(ctx)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return d, nil
	}
}

// clear resets the database to the state after a migration.
func (d *pooled) clear(ctx context.Context) error {
	want, err := io.ReadAll(d.file)
	if err != nil {
		return err
	}
	if len(want) > 0 {
		tables, written, err := d.look()
		if err != nil {
			return err
		}
		if tables == string(want) {
			return d.truncate(written)
		}
	}
	if err := d.drop(); err != nil {
		return err
	}
	if _, err := statement(d.dsn, "CREATE DATABASE "+d.name); err != nil {
		return err
	}
	dsn := *d.dsn
	dsn.Path = "/" + d.name
	if err := migrate(ctx, dsn.String()); err != nil {
		return err
	}
	tables, _, err := d.look()
	if err != nil {
		return err
	}
	return errors.Join(d.file.Truncate(0), writeAt(d.file, tables))
}

// drop drops the database and the scratch databases of a rebuild of it.
func (d *pooled) drop() error {
	names, err := statement(d.dsn, fmt.Sprintf("SELECT name FROM system.databases WHERE name = '%[1]s' OR startsWith(name, '%[1]s_')", d.name))
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(names) {
		if _, err := statement(d.dsn, "DROP DATABASE IF EXISTS `"+name+"` SYNC"); err != nil {
			return err
		}
	}
	return nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

func (d *pooled) truncate(tables []string) error {
	for _, table := range tables {
		if _, err := statement(d.dsn, fmt.Sprintf("TRUNCATE TABLE %s.%s", d.name, table)); err != nil {
			return err
		}
	}
	return nil
}

// giveBack gives the database to the next test. After a failed test it is made again: a statement may still run.
func (d *pooled) giveBack(failed bool) error {
	defer func() { _ = d.file.Close() }()
	if failed {
		return d.file.Truncate(0)
	}
	now := time.Now()
	return os.Chtimes(d.file.Name(), now, now)
}

// look returns a fingerprint of the database, and the tables that contain rows. Scratch databases of a rebuild count, as
// their names begin with that of the database.
func (d *pooled) look() (fingerprint string, written []string, err error) {
	text, err := statement(d.dsn, fmt.Sprintf(`SELECT
		groupBitXor(cityHash64(name, uuid, metadata_modification_time)),
		count(),
		(SELECT count() FROM system.databases WHERE startsWith(name, '%[1]s_')),
		(SELECT count() FROM system.mutations WHERE database = '%[1]s' AND NOT is_done),
		arrayStringConcat(arraySort(groupArrayIf(name, total_rows > 0 AND name != 'schema_migrations')), ' ')
		FROM system.tables WHERE database = '%[1]s'`, d.name))
	if err != nil {
		return "", nil, err
	}
	fields := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
	if len(fields) != 5 {
		return "", nil, fmt.Errorf("look at database %s: unexpected answer %q", d.name, text)
	}
	return strings.Join(fields[:4], " "), strings.Fields(fields[4]), nil
}

func migrate(ctx context.Context, dsn string) error {
	conn, err := clickhouse.Connect(ctx, dsn, clickhouse.ConnectOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = clickhouse.Migrate(ctx, conn)
	return err
}

func serverDSN(t testing.TB) *url.URL {
	t.Helper()
	dsn, err := url.Parse(ClickHouse(t))
	if err != nil {
		t.Fatalf("parse the ClickHouse DSN: %v", err)
	}
	return dsn
}

// run runs a statement and returns its output.
func run(t testing.TB, dsn *url.URL, sql string) string {
	t.Helper()
	text, err := statement(dsn, sql)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func statement(dsn *url.URL, sql string) (string, error) {
	target := url.URL{Scheme: "http", Host: dsn.Host, Path: "/", User: dsn.User}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, target.String(), strings.NewReader(sql))
	if err != nil {
		return "", fmt.Errorf("run %q: %w", sql, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("run %q: %w", sql, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(string(text))
	}
	if err != nil {
		return "", fmt.Errorf("run %q: %w", sql, err)
	}
	return string(text), nil
}
