package build_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// tablesOfNone are the tables that no projector makes, and why.
var tablesOfNone = map[string]string{
	"events_raw":             "the log itself",
	"projection_offsets_raw": "how far the projectors are",
	"schema_migrations":      "which migrations were applied",
	"memory_files_raw":       "what was written to files last",
	"erasing_raw":            "what an erasure deletes",
	"erasure_secrets":        "keys and fingerprints of erasures that have not ended",
}

// Every table belongs to one projector of the list, or to a part of one that says which rows are its own.
func TestEveryTableHasItsProjection(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	there := map[string]bool{}
	require.NoError(t, clickhouse.Query(t.Context(), conn, func(rows driver.Rows) error {
		var name string
		err := rows.Scan(&name)
		there[name] = true
		return err
	}, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine NOT LIKE '%View'"))
	require.NotEmpty(t, there)

	names, owners := map[string]bool{}, map[string][]string{}
	parts := map[[3]string]string{}
	for _, p := range build.Projections(conn, "one", "other") {
		require.False(t, names[p.Name()], "two projectors are called %q", p.Name())
		names[p.Name()] = true
		require.NotZero(t, p.Version(), "projector %q: versions begin at 1, 0 is of rows that were never made", p.Name())
		require.NotEmpty(t, p.Tables(), "projector %q", p.Name())
		for _, owned := range p.Tables() {
			require.True(t, there[owned.Name], "projector %q: no migration makes table %q", p.Name(), owned.Name)
			require.Empty(t, tablesOfNone[owned.Name], "projector %q makes table %q", p.Name(), owned.Name)
			part := [3]string{owned.Name, owned.Column, owned.Value}
			require.Empty(t, parts[part], "projector %q makes the same rows of table %q", p.Name(), owned.Name)
			parts[part] = p.Name()
			owners[owned.Name] = append(owners[owned.Name], owned.Column)
		}
	}
	for name := range there {
		if tablesOfNone[name] == "" {
			require.NotEmpty(t, owners[name], "no projector of build.Projections makes table %q", name)
		}
		columns := slices.Compact(slices.Sorted(slices.Values(owners[name])))
		if len(owners[name]) > 1 {
			require.Len(t, columns, 1, "table %q is shared by different columns", name)
			require.NotEmpty(t, columns[0], "two projectors share table %q and none says which rows are its own", name)
		}
	}
}

// Every event type of a projector is registered, and is found in a stream that the projector reads.
func TestProjectorsReadRegisteredEvents(t *testing.T) {
	t.Parallel()
	for _, p := range build.Projections(nil, "v") {
		require.NotEmpty(t, p.Types(), p.Name())
		for _, name := range p.Types() {
			i := slices.IndexFunc(schema.EventTypes(), func(known schema.EventType) bool { return known.Name == name })
			require.GreaterOrEqual(t, i, 0, "projector %q wants %q, which no event is", p.Name(), name)
			require.True(t, strings.HasPrefix(schema.EventTypes()[i].StreamPrefix, p.StreamPrefix()),
				"projector %q wants %q, which stands in no stream %s…", p.Name(), name, p.StreamPrefix())
		}
	}
}
