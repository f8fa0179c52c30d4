package stacktest

import (
	"context"
	"net/url"
	"testing"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stack"
)

// clusterGrants are the rights of the user of [OneShard].
const clusterGrants = "GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP, TRUNCATE, OPTIMIZE, REMOTE, CLUSTER ON *.*"

// OneShard returns the DSN of a ClickHouse server of its own that is the only shard of the cluster. It lives until the test
// ends.
func OneShard(t testing.TB, cluster string) string {
	t.Helper()
	dir, err := Dir("oneshard")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := stack.Start(ctx, stack.Options{Dir: dir, ClickHouse: true, ClickHouseGrants: []string{clusterGrants}, ClickHouseCluster: cluster})
	if err != nil {
		t.Fatalf("start clickhouse: %v", err)
	}
	t.Cleanup(s.Stop)
	return s.Addresses().ClickHouseDSN
}

// Restricted returns a DSN of a database on a ClickHouse server of its own, whose user has only the grants. The database is
// migrated, and filled by prepare, by a user with all rights. It lives until the test ends.
func Restricted(t *testing.T, database string, grants []string, prepare func(dsn string)) string {
	t.Helper()
	dir, err := Dir("restricted")
	if err != nil {
		t.Fatal(err)
	}
	start := func(grants ...string) (*stack.Stack, *url.URL) {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		s, err := stack.Start(ctx, stack.Options{Dir: dir, ClickHouse: true, ClickHouseGrants: grants})
		if err != nil {
			t.Fatalf("start clickhouse: %v", err)
		}
		dsn, err := url.Parse(s.Addresses().ClickHouseDSN)
		if err != nil {
			s.Stop()
			t.Fatal(err)
		}
		return s, dsn
	}
	func() {
		s, dsn := start()
		defer s.Stop()
		run(t, dsn, "CREATE DATABASE "+clickhouse.Identifier(database))
		dsn.Path = "/" + database
		if err := migrate(t.Context(), dsn.String()); err != nil {
			t.Fatal(err)
		}
		prepare(dsn.String())
	}()
	s, dsn := start(grants...)
	t.Cleanup(s.Stop)
	dsn.Path = "/" + database
	return dsn.String()
}
