package cluster_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/activities/clickhouse/cluster"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var update = flag.Bool("update", false, "write the golden files")

var target = cluster.Target{Name: "memory", Database: "axiom"}

// others are the statements of the product that are in no migration, as the rooms write them.
var others = []string{
	"CREATE DATABASE IF NOT EXISTS `axiom_rebuild_7` COMMENT '{\"axiommind_scratch_of\":\"axiom\"}'",
	"ALTER DATABASE `axiom_rebuild_7` MODIFY COMMENT 'x'",
	"ALTER TABLE `axiom_rebuild_7`.`entries_raw` MODIFY COMMENT 'made by rebuild 7'",
	"CREATE TABLE `axiom_rebuild_7`.`rebuild_horizon_1` (stream String, last_seq UInt64) ENGINE = MergeTree ORDER BY stream",
	"RENAME TABLE `axiom_rebuild_7`.`rebuild_horizon_1` TO `axiom_rebuild_7`.`rebuild_horizon`",
	"CREATE TABLE `axiom_rebuild_7`.`switch_2_open` (x UInt8) ENGINE = Null",
	"EXCHANGE TABLES `entries_raw` AND `axiom_rebuild_7`.`entries_raw_claimed_5`",
	"CREATE TABLE `axiom_rebuild_7`.`before_entries_raw_2_1` AS `entries_raw`",
	"ALTER TABLE `axiom_rebuild_7`.`before_entries_raw_2_1` ATTACH PARTITION ID 'all' FROM `entries_raw`",
	"DROP DATABASE IF EXISTS `axiom_rebuild_7` SYNC",
	"ALTER TABLE events_raw DELETE WHERE stream IN (SELECT stream FROM erasing_raw WHERE erasure_id = 'e' AND seq = 0)",
	"ALTER TABLE `erasing_raw` DELETE WHERE erasure_id = 'e'",
	"ALTER TABLE erasure_secrets DROP PARTITION 'e'",
	"ALTER TABLE `events_raw` DROP PARTITION ID 'none'",
	"SYSTEM SYNC REPLICA `erasing_raw`",
	"DROP TABLE IF EXISTS entries_raw SYNC",
}

// Every statement of the product has a form for a cluster that the engine parses. The golden files record it as the
// engine writes it.
func TestGolden(t *testing.T) {
	t.Parallel()
	conn, err := clickhouse.Connect(t.Context(), stacktest.Database(t), clickhouse.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	migrations, err := schema.Migrations()
	require.NoError(t, err)
	var all []string
	for _, m := range migrations {
		all = append(all, m.Statements...)
	}
	golden(t, conn, "migrations.sql", all)
	golden(t, conn, "statements.sql", others)
	roles, err := clickhouse.RolesOn(target)
	require.NoError(t, err)
	var grants []string
	for _, role := range roles {
		grants = append(grants, role.Statements()...)
	}
	golden(t, conn, "grants.sql", grants)
}

func golden(t *testing.T, conn driver.Conn, file string, statements []string) {
	t.Helper()
	var out strings.Builder
	for _, statement := range statements {
		rewritten, err := target.Rewrite(statement)
		require.NoError(t, err, statement)
		for _, one := range rewritten {
			var formatted string
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT formatQuery(?)", one).Scan(&formatted), one)
			require.Contains(t, formatted, "ON CLUSTER memory", one)
			out.WriteString(formatted + ";\n\n")
		}
	}
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	require.Equal(t, string(want), out.String())
}

// Each table of the log is sharded by stream, as is each projection whose sorting key has it. Rows that replace one another
// are on one shard.
func TestShardingKeys(t *testing.T) {
	t.Parallel()
	migrations, err := schema.Migrations()
	require.NoError(t, err)
	keys := map[string]string{}
	for _, m := range migrations {
		for _, statement := range m.Statements {
			rewritten, err := target.Rewrite(statement)
			require.NoError(t, err)
			for _, one := range rewritten {
				if _, engine, is := strings.Cut(one, "ENGINE = Distributed('memory', 'axiom', '"); is {
					table, key, _ := strings.Cut(strings.TrimSuffix(engine, ")"), cluster.LocalSuffix+"', ")
					keys[table] = key
				}
			}
		}
	}
	for _, table := range []string{"events_raw", "projection_offsets_raw", "erasing_raw", "usage_raw"} {
		require.Equal(t, "cityHash64(stream)", keys[table], table)
	}
	require.Equal(t, "cityHash64(project)", keys["entries_raw"])
	require.Equal(t, "cityHash64(user)", keys["profile_raw"])
	require.Equal(t, "cityHash64(erasure_id)", keys["erasure_secrets"])
	var tables []string
	for _, m := range migrations {
		tables = append(tables, m.Tables()...)
	}
	for _, table := range tables {
		require.NotEmpty(t, keys[table], table)
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	on := " ON CLUSTER `memory`"
	replicated := "('/clickhouse/tables/{uuid}/{shard}', '{replica}'"
	for sql, want := range map[string][]string{
		"SELECT 1":                   {"SELECT 1"},
		"INSERT INTO a SELECT 1":     {"INSERT INTO a SELECT 1"},
		"  -- a comment\n(SELECT 1)": {"  -- a comment\n(SELECT 1)"},
		"CREATE TABLE a (x UInt8) ENGINE = ReplacingMergeTree ORDER BY (x, y) COMMENT 'SETTINGS'": {
			"CREATE TABLE a_local" + on + " (x UInt8) ENGINE = ReplicatedReplacingMergeTree" + replicated + ") ORDER BY (x, y) SETTINGS replicated_deduplication_window = 0 COMMENT 'SETTINGS'",
			"CREATE TABLE a" + on + " AS a_local ENGINE = Distributed('memory', 'axiom', 'a_local', cityHash64(x))",
		},
		"CREATE TABLE `b``c`.\"d\" (x UInt8, PROJECTION p (SELECT x ORDER BY z)) ENGINE MergeTree() ORDER BY toDate(x, 1) SETTINGS non_replicated_deduplication_window = 7, a = 1": {
			"CREATE TABLE `b``c`.\"d_local\"" + on + " (x UInt8, PROJECTION p (SELECT x ORDER BY z)) ENGINE ReplicatedMergeTree" + replicated + ") ORDER BY toDate(x, 1) SETTINGS replicated_deduplication_window_seconds = 604800, replicated_deduplication_window = 7, a = 1",
			"CREATE TABLE `b``c`.\"d\"" + on + " AS `b``c`.\"d_local\" ENGINE = Distributed('memory', 'b`c', 'd_local', cityHash64(toDate(x, 1)))",
		},
		"CREATE OR REPLACE VIEW v AS SELECT * FROM a": {"CREATE OR REPLACE VIEW v" + on + " AS SELECT * FROM a"},
		"ALTER TABLE a ADD COLUMN x UInt8, ADD COLUMN y UInt8": {
			"ALTER TABLE a_local" + on + " ADD COLUMN x UInt8, ADD COLUMN y UInt8", "ALTER TABLE a" + on + " ADD COLUMN x UInt8, ADD COLUMN y UInt8",
		},
		"ALTER TABLE a MODIFY TTL ts + INTERVAL 1 DAY": {"ALTER TABLE a_local" + on + " MODIFY TTL ts + INTERVAL 1 DAY"},
		"ALTER TABLE a DELETE WHERE x IN (SELECT x FROM b JOIN c USING (x)) AND y = 'FROM d'": {
			"ALTER TABLE a_local" + on + " DELETE WHERE x IN (SELECT x FROM b_local JOIN c_local USING (x)) AND y = 'FROM d'",
		},
		"GRANT SELECT(x, y) ON `p`*.* TO r": {"GRANT" + on + " SELECT(x, y) ON `p`*.* TO r"},
		"REVOKE SELECT ON p.q FROM r":       {"REVOKE" + on + " SELECT ON p.q FROM r", "REVOKE" + on + " SELECT ON p.q_local FROM r"},
	} {
		got, err := target.Rewrite(sql)
		require.NoError(t, err, sql)
		require.Equal(t, want, got)
		got, err = cluster.Target{Database: "axiom"}.Rewrite(sql)
		require.NoError(t, err)
		require.Equal(t, []string{sql}, got, "without a cluster nothing changes")
	}
	for sql, reason := range map[string]string{
		"CREATE TABLE a (x UInt8) ENGINE = Memory":                         "its engine is Memory",
		"CREATE TABLE a (x UInt8) ENGINE = ReplicatedMergeTree ORDER BY x": "its engine is ReplicatedMergeTree",
		"CREATE TABLE a (x UInt8) ENGINE = MergeTree ORDER BY tuple()":     "no sorting key",
		"CREATE TABLE a (x UInt8) ENGINE = MergeTree":                      "no sorting key",
		"CREATE TABLE a ENGINE = MergeTree ORDER BY x AS SELECT 1":         "each replica would select",
		"CREATE TABLE a": "no engine",
		"ALTER TABLE a ADD COLUMN x UInt8, ADD INDEX i x TYPE minmax GRANULARITY 1": "give each a statement",
		"CREATE MATERIALIZED VIEW v TO t AS SELECT 1":                               "makes no table",
		"TRUNCATE TABLE t": "",
		"DROP TABLE a, b":  "several tables",
		"ALTER TABLE t DELETE WHERE x IN (SELECT number FROM numbers(3))": "a function",
		"ALTER TABLE t DELETE WHERE extract(day FROM ts) = 3":             "a function",
		"DELETE FROM a WHERE 1": "begins with DELETE",
		"BACKUP TABLE a TO b":   "begins with BACKUP",
		"ALTER USER u":          "alters no table",
		"SYSTEM SHUTDOWN":       "syncs no replica",
	} {
		_, err := target.Rewrite(sql)
		require.ErrorIs(t, err, cluster.ErrNoRule, sql)
		require.ErrorContains(t, err, reason, sql)
	}
}

// A column list of any form gives the sharding key of the rule.
func TestShardingKeyProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"stream", "`a`", "b", "lower(c, ',')", "toDate(d)", "seq"}), 1, 5, rapid.ID).Draw(t, "key")
		blank := rapid.SampledFrom([]string{" ", "\n", " /* ORDER BY z */ ", " -- it's\n"}).Draw(t, "blank")
		key := "(" + strings.Join(names, ","+blank) + ")"
		if len(names) == 1 && rapid.Bool().Draw(t, "bare") {
			key = names[0]
		}
		tail := rapid.SampledFrom([]string{"", " SETTINGS a = 1", " TTL ts + INTERVAL 1 DAY", " COMMENT ', ('"}).Draw(t, "tail")
		got, err := target.Rewrite("CREATE TABLE" + blank + "t (x String DEFAULT ' ORDER BY y')" + blank + "ENGINE = MergeTree(x)" + blank + "ORDER BY" + blank + key + tail)
		require.NoError(t, err)
		want := names[0]
		if slices.Contains(names, "stream") {
			want = "stream"
		}
		require.True(t, strings.HasSuffix(got[1], "'t_local', cityHash64("+want+"))"), got[1])
	})
}

func FuzzRewrite(f *testing.F) {
	for _, statement := range others {
		f.Add(statement)
	}
	f.Add("CREATE TABLE a (x String DEFAULT 'é\\'') ENGINE = MergeTree ORDER BY (x, `y")
	f.Fuzz(func(t *testing.T, sql string) {
		got, err := target.Rewrite(sql)
		if err != nil {
			require.ErrorIs(t, err, cluster.ErrNoRule)
			return
		}
		require.NotEmpty(t, got)
		for _, one := range got {
			if one != sql {
				require.Contains(t, one, "ON CLUSTER `memory`")
			}
		}
	})
}
