package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// question combines several selects into one query. Each row has the number of its select, a name and a value.
type question struct {
	project string
	found   *Found
	selects []string
	args    []any
	takes   []func(name, value string) error
}

func newQuestion(project string, found *Found) *question {
	return &question{project: project, found: found}
}

// add adds a select of names and values of the project. The parameter sql is the statement from the columns on, and its
// first argument is the project.
func (q *question) add(take func(name, value string) error, sql string, args ...any) {
	q.selects = append(q.selects, fmt.Sprintf("SELECT toUInt16(%d) AS n, %s", len(q.takes), sql))
	q.args = append(append(q.args, q.project), args...)
	q.takes = append(q.takes, take)
}

// ask runs the query if it has selects, and then removes them.
func (q *question) ask(ctx context.Context, t *Tables) error {
	if len(q.selects) == 0 {
		return nil
	}
	takes := q.takes
	// Each select reads a few rows: more threads cost more than they save.
	sql := "SELECT n, name, value FROM (" + strings.Join(q.selects, " UNION ALL ") + ") SETTINGS max_threads = 1"
	args := q.args[1:] // The first argument is the project of the first select, which query adds.
	q.selects, q.args, q.takes = nil, nil, nil
	return t.query(ctx, q.project, func(rows driver.Rows) error {
		var n uint16
		var name, value string
		if err := rows.Scan(&n, &name, &value); err != nil {
			return err
		}
		return takes[n](name, value)
	}, sql, args...)
}

func (q *question) observed(entryIDs []string) {
	if len(entryIDs) == 0 {
		return
	}
	q.add(func(id, _ string) error {
		q.found.Observed[id] = true
		return nil
	}, `src_id AS name, '' AS value FROM edges_raw WHERE project = ? AND src_id IN ? AND rel_type = ?`,
		clickhouse.Set(entryIDs), string(schema.RelEvidenceOf))
}

func (q *question) keys(keys []string) {
	if len(keys) == 0 {
		return
	}
	q.add(func(key, id string) error {
		q.found.Keys[key] = id
		return nil
	}, `canonical_key AS name, entity_id AS value FROM entity_aliases_raw WHERE project = ? AND canonical_key IN ?
		ORDER BY version DESC LIMIT 1 BY canonical_key`, clickhouse.Set(keys))
}

func (q *question) entities(ids []string) {
	if len(ids) == 0 {
		return
	}
	q.add(func(id, current string) error {
		e, err := decodeEntity(current)
		q.found.Entities[id] = e
		return err
	}, `entity_id AS name, current_json AS value FROM entities_raw WHERE project = ? AND entity_id IN ?
		ORDER BY version DESC LIMIT 1 BY entity_id`, clickhouse.Set(ids))
}

func (q *question) pointing(targets []string) {
	if len(targets) == 0 {
		return
	}
	q.add(func(target, source string) error {
		q.found.Pointing[target] = append(q.found.Pointing[target], source)
		return nil
	}, `dst_id AS name, src_id AS value FROM edges_raw WHERE project = ? AND dst_id IN ? AND rel_type IN ?`,
		clickhouse.Set(targets), clickhouse.Set([]schema.RelType{schema.RelBlockedBy, schema.RelResolvesTo, schema.RelMentions}))
}

// titles selects the tasks that match each title, up to [searchLimit] for the whole title and for each part: with a
// common limit, the matches of a frequent part could hide those of a rare one. They may include renamed tasks. The
// caller sees the current titles when it loads the tasks.
func (q *question) titles(titles []string) {
	const task = `'' AS name, entity_id AS value FROM entities_raw WHERE project = ? AND entity_type = 'task' AND `
	for _, title := range titles {
		s := searchOf(title)
		if s.text == "" {
			continue
		}
		take := func(_, id string) error {
			if !slices.Contains(q.found.Titles[title], id) {
				q.found.Titles[title] = append(q.found.Titles[title], id)
			}
			return nil
		}
		q.add(take, task+`hasAllTokens(search_text, ?) AND search_text = ? LIMIT 1 BY entity_id LIMIT ?`, s.words, s.text, searchLimit)
		for _, part := range s.parts {
			q.add(take, task+`hasAllTokens(search_text, ?) LIMIT 1 BY entity_id LIMIT ?`, part, searchLimit)
		}
	}
}

func decodeEntity(current string) (Entity, error) {
	var e Entity
	if err := json.Unmarshal([]byte(current), &e); err != nil {
		return e, fmt.Errorf("read current_json: %w", err)
	}
	return e, nil
}
