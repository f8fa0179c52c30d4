package graduate

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/text"
	"axiommind/schema"
)

// aged is an entry that is older than its half-life.
type aged struct {
	id, title string
	scope     schema.Scope
	aging     aging
	to        schema.Stage
	reason    string
	// staged is the position of the last act on its stage.
	staged uint64
}

func (a aged) fall() Fall {
	return Fall{EntryID: a.id, Title: clipped(a.title), From: a.aging.stage, To: a.to, Reason: a.reason}
}

func (a aged) act(project string, at time.Time) act {
	return act{payload: schema.EntryGraduatedPayload{
		Scope: a.scope, EntryID: a.id, From: a.aging.stage, To: a.to, Demotes: true, Policy: PolicyVersion, Reasons: []string{a.reason},
	}, key: schema.GraduationKey(project, schema.EntryGraduated, a.id, a.staged), at: at}
}

// maxTitle bounds a title in a result, in bytes.
const maxTitle = 200

func clipped(title string) string { return text.Clip(title, maxTitle) }

// expired returns the active entries of the project that are older than the half-life of their stage, by id.
func (a *Activities) expired(ctx context.Context, project string, now time.Time) ([]aged, error) {
	var out []aged
	err := eachAged(ctx, a.conn, project, now.Add(-shortestLife()), func(e aged) {
		var falls bool
		if e.to, e.reason, falls = e.aging.demotion(now); falls {
			out = append(out, e)
		}
	})
	return out, err
}

// StaleAfter returns the ends of the half-lives of the project's active entries, by their ids.
func StaleAfter(ctx context.Context, conn driver.Conn, project string) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	return out, eachAged(ctx, conn, project, time.Now().Add(day), func(e aged) {
		if life, ages := HalfLife(e.aging.stage, e.aging.of); ages {
			last, _ := e.aging.last()
			out[e.id] = last.Add(life)
		}
	})
}

// eachAged calls do for the active entries of the project that were last stated before the time, in the order of their ids.
func eachAged(ctx context.Context, conn driver.Conn, project string, before time.Time, do func(aged)) error {
	never := time.Unix(0, 0)
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var e aged
		var of, stage string
		var demoted bool
		e.scope.Project = project
		err := rows.Scan(&e.id, &e.title, &of, &stage, &e.scope.User, &e.scope.Agent, &e.aging.occurred, &e.aging.restated,
			&e.aging.confirmed, &demoted, &e.aging.demotedAt, &e.staged)
		if err != nil {
			return err
		}
		e.aging.of, e.aging.stage = schema.EntryType(of), schema.Stage(stage)
		for _, at := range []*time.Time{&e.aging.confirmed, &e.aging.demotedAt} {
			if !at.After(never) {
				*at = time.Time{}
			}
		}
		if !demoted {
			e.aging.demotedAt = time.Time{}
		}
		do(e)
		return nil
	}, `SELECT e.entry_id, e.title, e.entry_type, e.stage, e.user, e.agent, e.created_ts, e.restated, c.confirmed, c.demoted,
			c.fell, c.staged
		FROM (
			SELECT entry_id, title, entry_type, stage, status, user, agent, created_ts,
			       max(created_ts) OVER (PARTITION BY user, agent, if(original_id = '', entry_id, original_id)) AS restated
			FROM entries WHERE project = ? AND status IN ('active', 'contested')
		) AS e
		LEFT JOIN (
			SELECT entry_id, maxIf(created_at, kind = 'answer' AND status = 'yes') AS confirmed,
			       maxIf(demotes, kind = 'graduate_stage') AS demoted, maxIf(created_at, kind = 'graduate_stage') AS fell,
			       maxIf(version, kind = 'graduate_stage') AS staged
			FROM entry_changes_raw FINAL WHERE project = ? AND kind IN ('answer', 'graduate_stage') GROUP BY entry_id
		) AS c ON c.entry_id = e.entry_id
		WHERE e.status = 'active' AND e.stage IN ('candidate', 'verified', 'certified') AND e.restated < ?
		ORDER BY e.entry_id`, project, project, before)
	if err != nil {
		return fmt.Errorf("read the age of entries of project %q: %w", project, err)
	}
	return nil
}
