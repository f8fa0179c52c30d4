package stacktest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"axiommind/activities/eventlog"
)

// pool holds the migrated databases that no test uses, the one that was given back first at its head.
var pool struct {
	free []restingDatabase
	// tables is the fingerprint of what a migration makes.
	tables string
}

type restingDatabase struct {
	name  string
	since time.Time
}

// rest is how long a database is not used after a test has ended: a statement of a client that was killed may still be
// at work.
const rest = 500 * time.Millisecond

// MigratedDatabase is [Database] with the tables of the event log and its projections, all empty. To make some sixty
// tables takes ClickHouse far longer than most tests do, so a database serves one test after another: what a test leaves
// in it is removed, and a database whose tables a test has changed is dropped, as is that of a test that failed.
func MigratedDatabase(t testing.TB) string {
	t.Helper()
	dsn, err := url.Parse(ClickHouse(t))
	if err != nil {
		t.Fatalf("parse the ClickHouse DSN: %v", err)
	}
	name := takeDatabase(t, dsn)
	if name == "" {
		name = makeDatabase(t, dsn)
		dsn.Path = "/" + name
		migrate(t, dsn.String())
		rememberTables(t, dsn, name)
	}
	t.Cleanup(func() {
		if t.Failed() || !emptied(t, dsn, name) {
			run(t, dsn, "DROP DATABASE "+name+" SYNC")
			return
		}
		mu.Lock()
		defer mu.Unlock()
		pool.free = append(pool.free, restingDatabase{name, time.Now()})
	})
	dsn.Path = "/" + name
	return dsn.String()
}

// takeDatabase returns a database that is as a migration leaves it, or "".
func takeDatabase(t testing.TB, dsn *url.URL) string {
	t.Helper()
	for {
		mu.Lock()
		if len(pool.free) == 0 || time.Since(pool.free[0].since) < rest {
			mu.Unlock()
			return ""
		}
		name := pool.free[0].name
		pool.free = pool.free[1:]
		mu.Unlock()
		if written, asMigrated := inspect(t, dsn, name); asMigrated && len(written) == 0 {
			return name
		}
		run(t, dsn, "DROP DATABASE "+name+" SYNC")
	}
}

func migrate(t testing.TB, dsn string) {
	t.Helper()
	conn, err := eventlog.Connect(t.Context(), dsn, eventlog.ConnectOptions{})
	if err != nil {
		t.Fatalf("connect to the test's database: %v", err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := eventlog.Migrate(t.Context(), conn); err != nil {
		t.Fatalf("migrate the test's database: %v", err)
	}
}

func rememberTables(t testing.TB, dsn *url.URL, name string) {
	t.Helper()
	mu.Lock()
	known := pool.tables != ""
	mu.Unlock()
	if known {
		return
	}
	tables, _ := look(t, dsn, name)
	mu.Lock()
	pool.tables = tables
	mu.Unlock()
}

// emptied removes all rows of the database but those about its migrations. It returns false if the database is not to be
// used again.
func emptied(t testing.TB, dsn *url.URL, name string) bool {
	t.Helper()
	written, asMigrated := inspect(t, dsn, name)
	if !asMigrated {
		return false
	}
	for _, table := range written {
		run(t, dsn, fmt.Sprintf("TRUNCATE TABLE %s.%s", name, table))
	}
	return true
}

// inspect returns the tables that hold rows, and whether the tables are those of a migration, with nothing made beside
// them and no change of rows under way.
func inspect(t testing.TB, dsn *url.URL, name string) (written []string, asMigrated bool) {
	t.Helper()
	tables, written := look(t, dsn, name)
	mu.Lock()
	same := tables == pool.tables
	mu.Unlock()
	return written, same
}

// look returns a fingerprint of the database, and the tables that hold rows. Scratch databases of a rebuild count, as they
// bear the name of the database.
func look(t testing.TB, dsn *url.URL, name string) (fingerprint string, written []string) {
	t.Helper()
	text := run(t, dsn, fmt.Sprintf(`SELECT
		groupBitXor(cityHash64(name, engine, replaceAll(create_table_query, database, ''))),
		count(),
		(SELECT count() FROM system.databases WHERE startsWith(name, '%[1]s_')),
		(SELECT count() FROM system.mutations WHERE database = '%[1]s' AND NOT is_done),
		arrayStringConcat(arraySort(groupArrayIf(name, total_rows > 0 AND name != 'schema_migrations')), ' ')
		FROM system.tables WHERE database = '%[1]s'`, name))
	fields := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
	if len(fields) != 5 {
		t.Fatalf("look at database %s: unexpected answer %q", name, text)
	}
	return strings.Join(fields[:4], " "), strings.Fields(fields[4])
}

// dropPool drops the databases that no test uses. A server of this test binary ends with them.
func dropPool(drop func(name string)) {
	mu.Lock()
	defer mu.Unlock()
	for _, d := range pool.free {
		drop(d.name)
	}
	pool.free = nil
}
