package graduate

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/graduate/pair"
	"axiommind/schema"
)

// corrected loads the entries that an entry in focus corrects, and those that correct an entry in focus. Both are of
// one scope.
func (l loader) corrected(ctx context.Context, w *snapshot) ([]string, error) {
	var ids []string
	for _, id := range w.focus {
		if s := w.entries[id]; s != nil && s.Corrects != "" {
			ids = append(ids, s.Corrects)
		}
	}
	keys := map[schema.Scope][]string{}
	for _, id := range w.focus {
		if s := w.entries[id]; s != nil {
			keys[s.Scope] = append(keys[s.Scope], correctsKey(id))
		}
	}
	for scope, of := range keys {
		correcting, err := l.ids(ctx, `SELECT DISTINCT entry_id FROM claims_raw WHERE project = ? AND user = ? AND agent = ? AND claim_key IN ?`,
			scope.Project, scope.User, scope.Agent, clickhouse.Set(of))
		if err != nil {
			return nil, err
		}
		ids = append(ids, correcting...)
	}
	return ids, l.read(ctx, w, ids)
}

// related loads the entries that relate to the given loaded ones, and returns their ids.
func (l loader) related(ctx context.Context, w *snapshot, ids []string) (found []string, err error) {
	shared, err := l.sharing(ctx, w, ids)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, near := range shared {
		all = append(all, near...)
	}
	said, err := l.statements(ctx, w, all)
	if err != nil {
		return nil, err
	}
	for id, near := range shared {
		s := w.entries[id]
		kinds := map[pair.Kind][]*statement{}
		for _, other := range near {
			o, ok := said[other]
			if !ok || other == id {
				continue
			}
			if kind := w.parse(s.Title).Compare(w.parse(o.Title)).Kind; kind != pair.Unrelated {
				kinds[kind] = append(kinds[kind], o)
			}
		}
		for kind, others := range kinds {
			w.near[id] = append(w.near[id], nearest(s, kind, others, l.nearestLimit)...)
		}
		slices.Sort(w.near[id])
		found = append(found, w.near[id]...)
	}
	return found, l.read(ctx, w, found)
}

// maxNearest bounds the entries that an entry is compared with, separately for those that repeat it and those that
// contradict it. Otherwise a sentence in thousands of sessions, each with another number, would cause millions of
// conflicts.
const maxNearest = 64

// nearest returns the ids of the statements to compare s with, at most the given number. All of the others relate to s in
// the same way. Of restatements it keeps the oldest and the newest. Of contradictions it keeps those next to s by age,
// a relation that is symmetric. Corrections are compared with all.
func nearest(s *statement, kind pair.Kind, others []*statement, most int) []string {
	others = sortedByAge(others)
	before, _ := slices.BinarySearchFunc(others, s, func(o, s *statement) int {
		if older(o, s) {
			return -1
		}
		return 1
	})
	ids := make([]string, 0, len(others))
	for i, o := range others {
		near := i >= before-most/2 && i < before+most/2
		if kind == pair.Restatement {
			near = i < most/2 || i >= len(others)-most/2
		}
		if near || o.corrects() || s.corrects() {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// sharing returns, for each given entry, the ids of the entries of its scope that share a key with it. Entries whose
// neighbours are known are left out.
func (l loader) sharing(ctx context.Context, w *snapshot, ids []string) (map[string][]string, error) {
	type claim struct {
		scope schema.Scope
		key   string
	}
	askers, keys := map[claim][]string{}, map[schema.Scope][]string{}
	out := map[string][]string{}
	for _, id := range ids {
		s := w.entries[id]
		if _, known := w.near[id]; known || s == nil || s.Type == schema.EntryTaskNote {
			continue
		}
		w.near[id], out[id] = []string{}, nil
		for _, key := range w.parse(s.Title).Keys() {
			c := claim{s.Scope, key}
			if len(askers[c]) == 0 {
				keys[s.Scope] = append(keys[s.Scope], key)
			}
			askers[c] = append(askers[c], id)
		}
	}
	for scope, of := range keys {
		for part := range slices.Chunk(of, page) {
			err := clickhouse.Query(ctx, l.conn, func(rows driver.Rows) error {
				var key, other string
				if err := rows.Scan(&key, &other); err != nil {
					return err
				}
				for _, id := range askers[claim{scope, key}] {
					out[id] = append(out[id], other)
				}
				return nil
			}, `SELECT DISTINCT claim_key, entry_id FROM claims_raw WHERE project = ? AND user = ? AND agent = ? AND claim_key IN ?`,
				scope.Project, scope.User, scope.Agent, clickhouse.Set(part))
			if err != nil {
				return nil, fmt.Errorf("look for entries that share a claim: %w", err)
			}
		}
	}
	for id, near := range out {
		slices.Sort(near)
		out[id] = slices.Compact(near)
	}
	return out, nil
}

// statements reads the statements of entries, which need not be loaded.
func (l loader) statements(ctx context.Context, w *snapshot, ids []string) (map[string]*statement, error) {
	slices.Sort(ids)
	out := map[string]*statement{}
	for part := range slices.Chunk(slices.Compact(ids), page) {
		rows, err := l.entries.Read(ctx, entry.InProject(w.project).IDs(part), entry.Statement)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[row.ID] = &statement{Row: row}
		}
	}
	return out, nil
}
