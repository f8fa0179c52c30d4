package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	language "axiommind/activities/text"
	"axiommind/schema"
)

// Tables is the [Index] over the projection's tables.
type Tables struct{ conn table.Conn }

// NewTables returns the index over the tables of a migrated database.
func NewTables(conn table.Conn) *Tables { return &Tables{conn} }

// Resolve implements [Index].
func (t *Tables) Resolve(ctx context.Context, project string, keys []string) (map[string]string, error) {
	out := make(map[string]string, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	return out, table.Query(ctx, t.conn, func(rows driver.Rows) error {
		var key, id string
		err := rows.Scan(&key, &id)
		out[key] = id
		return err
	}, `SELECT canonical_key, entity_id FROM entity_aliases_raw WHERE project = ? AND canonical_key IN ?
		ORDER BY version DESC LIMIT 1 BY canonical_key`, project, table.Set(keys))
}

// Load implements [Index].
func (t *Tables) Load(ctx context.Context, project string, ids []string) (map[string]Entity, error) {
	out := make(map[string]Entity, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	return out, table.Query(ctx, t.conn, func(rows driver.Rows) error {
		e, err := scanEntity(rows)
		out[e.ID] = e
		return err
	}, `SELECT current_json FROM entities_raw WHERE project = ? AND entity_id IN ?
		ORDER BY version DESC LIMIT 1 BY entity_id`, project, table.Set(ids))
}

func scanEntity(rows driver.Rows) (Entity, error) {
	var current string
	var e Entity
	if err := rows.Scan(&current); err != nil {
		return e, err
	}
	if err := json.Unmarshal([]byte(current), &e); err != nil {
		return e, fmt.Errorf("read current_json: %w", err)
	}
	return e, nil
}

// maxTokens bounds the number of words that a search looks for.
const maxTokens = 24

// SearchTitles implements [Index]. It finds tasks whose titles have the same words, then those that contain the
// title's two longest words, then those that contain all of any third of its words. So a title that differs in one
// place is found even if all its words are common.
func (t *Tables) SearchTitles(ctx context.Context, project, title string, limit int) ([]string, error) {
	words := language.TitleTerms(title)
	if len(words) == 0 {
		return nil, nil
	}
	const search = `SELECT DISTINCT entity_id, toUInt8(%d) AS rank FROM entities_raw
		WHERE project = ? AND entity_type = 'task' AND %s LIMIT ?`
	args := []any{project, rarest(words, maxTokens), searchText(title), limit, project, rarest(words, 2), limit}
	queries := []string{
		fmt.Sprintf(search, 1, "hasAllTokens(search_text, ?) AND search_text = ?"),
		fmt.Sprintf(search, 2, "hasAllTokens(search_text, ?)"),
	}
	third := (len(words) + 2) / 3
	for part := range slices.Chunk(words, third) {
		args = append(args, project, rarest(part, maxTokens), limit)
		queries = append(queries, fmt.Sprintf(search, 3, "hasAllTokens(search_text, ?)"))
	}
	var out []string
	// The results may include tasks that have been renamed. The caller sees their current titles when it loads them.
	err := table.Query(ctx, t.conn, func(rows driver.Rows) error {
		var id string
		var rank uint8
		err := rows.Scan(&id, &rank)
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
		return err
	}, "SELECT entity_id, rank FROM ("+strings.Join(queries, " UNION ALL ")+") ORDER BY rank, entity_id", args...)
	return out, err
}

// searchText returns the title in the form of the column that is searched.
func searchText(title string) string { return strings.Join(language.TitleTerms(title), " ") }

// rarest returns up to n different words: the longest, which usually are the rarest.
func rarest(words []string, n int) []string {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words[:min(len(words), n)]
}

// Pointing implements [Index].
func (t *Tables) Pointing(ctx context.Context, project string, ids []string) (map[string][]string, error) {
	out := map[string][]string{}
	if len(ids) == 0 {
		return out, nil
	}
	return out, table.Query(ctx, t.conn, func(rows driver.Rows) error {
		var dst, src string
		err := rows.Scan(&dst, &src)
		out[dst] = append(out[dst], src)
		return err
	}, `SELECT DISTINCT dst_id, src_id FROM edges_raw WHERE project = ? AND dst_id IN ? AND rel_type IN ?`, project, table.Set(ids),
		table.Set([]schema.RelType{schema.RelBlockedBy, schema.RelResolvesTo, schema.RelMentions}))
}

// Prefixed implements [Index].
func (t *Tables) Prefixed(ctx context.Context, project string, types []schema.EntityType, prefix string, limit int) ([]string, error) {
	return t.ids(ctx, `SELECT DISTINCT entity_id FROM entities_raw
		WHERE project = ? AND entity_type IN ? AND startsWith(entity_id, ?) ORDER BY entity_id LIMIT ?`, project, table.Set(types), prefix, limit)
}

// ReportedDone implements [Index].
func (t *Tables) ReportedDone(ctx context.Context, project string, limit int) ([]string, error) {
	return t.ids(ctx, `SELECT entity_id FROM entities WHERE project = ? AND entity_type = 'task' AND reported_done
		ORDER BY updated_at, entity_id LIMIT ?`, project, limit)
}

// Observed implements [Index].
func (t *Tables) Observed(ctx context.Context, project string, entryIDs []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(entryIDs) == 0 {
		return out, nil
	}
	ids, err := t.ids(ctx, `SELECT DISTINCT src_id FROM edges_raw WHERE project = ? AND src_id IN ? AND rel_type = ?`,
		project, table.Set(entryIDs), string(schema.RelEvidenceOf))
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}

func (t *Tables) ids(ctx context.Context, sql string, args ...any) ([]string, error) {
	var out []string
	err := table.Query(ctx, t.conn, func(rows driver.Rows) error {
		var id string
		err := rows.Scan(&id)
		out = append(out, id)
		return err
	}, sql, args...)
	return out, err
}
