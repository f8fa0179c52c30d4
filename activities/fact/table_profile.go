package fact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Version returns the version of the memory: the position of the last event that changed a fact or the profile, or 0 if
// there is none.
func (t *Tables) Version(ctx context.Context, user, agent string) (uint64, error) {
	m := Memory{}
	err := t.load(ctx, Needs{User: user, Agent: agent, Version: true}, &m, wholeSQL+" LIMIT 0", []any{user, agent}, func(Fact, int) {})
	if err != nil {
		return 0, fmt.Errorf("read the version of a memory: %w", err)
	}
	return m.Version, nil
}

// Profile returns the sections of the profile that are believed, each with the standing of its entry, in the order of
// [schema.ProfileSections].
func (t *Tables) Profile(ctx context.Context, user, agent string) ([]Section, error) {
	return t.profile(ctx, user, agent, "")
}

// ProfileIn is [Tables.Profile], limited to summaries from the project or from none.
func (t *Tables) ProfileIn(ctx context.Context, user, agent, project string) ([]Section, error) {
	if err := clickhouse.Required("project", project); err != nil {
		return nil, fmt.Errorf("read the profile: %w", err)
	}
	return t.profile(ctx, user, agent, " AND project IN ('', ?)", project)
}

// profile reads the sections that meet the condition, which may be empty.
func (t *Tables) profile(ctx context.Context, user, agent, condition string, args ...any) ([]Section, error) {
	var out []Section
	var ids []string
	err := t.read(ctx, user, func(rows driver.Rows) error {
		var s Section
		err := rows.Scan(&s.Name, &s.Summary, &s.Confidence, &s.Project, &s.Actor, &s.SessionID, &s.EntryID, &s.UpdatedAt, &s.Version)
		s.UpdatedAt = s.UpdatedAt.UTC()
		if out = append(out, s); s.EntryID != "" {
			ids = append(ids, s.EntryID)
		}
		return err
	}, `SELECT section, summary, confidence, project, actor, session_id, entry_id, ts, seq
		FROM profile_raw FINAL WHERE user = ? AND agent = ?`+condition+`
		ORDER BY ts DESC, seq DESC LIMIT ? BY section`, slices.Concat([]any{user, agent}, args, []any{maxSummaries})...)
	if err != nil {
		return nil, fmt.Errorf("read the profile: %w", err)
	}
	standing, err := t.entryRows(ctx, user, agent, ids)
	if err != nil {
		return nil, err
	}
	for i, s := range out {
		if row, ok := standing[s.EntryID]; ok {
			out[i].Entry = entryStatusOf(row)
		}
	}
	return CurrentProfile(out), nil
}

// maxSummaries is how many summaries of a section may have been retired before an older one is no longer looked for.
const maxSummaries = 64

// confirmed returns, by the ids of facts, when a session last said the same again, by the time at which it was said.
func (t *Tables) confirmed(ctx context.Context, user, agent string) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	err := t.read(ctx, user, clickhouse.Map(out, func(rows driver.Rows, id *string, at *time.Time) error {
		err := rows.Scan(id, at)
		*at = at.UTC()
		return err
	}), `SELECT duplicate_of, max(ts) FROM facts_skipped_raw WHERE user = ? AND agent = ? AND duplicate_of != '' AND entry_id != ''
		GROUP BY duplicate_of`, user, agent)
	if err != nil {
		return nil, fmt.Errorf("read when facts were last restated: %w", err)
	}
	return out, nil
}

// uses returns, by the ids of facts, when a session last said the same again, and how often a search returned them.
func (t *Tables) uses(ctx context.Context, n Needs, facts []Fact) (map[string]Use, error) {
	ofEntry := map[string]string{}
	var entries []string
	for _, f := range facts {
		if f.EntryID != "" && f.Status == Active {
			ofEntry[f.EntryID], entries = f.ID, append(entries, f.EntryID)
		}
	}
	out := map[string]Use{}
	confirmed, err := t.confirmed(ctx, n.User, n.Agent)
	for id, at := range confirmed {
		out[id] = Use{Confirmed: at}
	}
	if err != nil || len(entries) == 0 {
		return out, err
	}
	err = t.read(ctx, n.User, func(rows driver.Rows) error {
		var entryID string
		var heat float64
		err := rows.Scan(&entryID, &heat)
		u := out[ofEntry[entryID]]
		u.Heat = heat
		out[ofEntry[entryID]] = u
		return err
	}, `SELECT entry_id, sum(exp2(-greatest(0, dateDiff('second', ts, ?)) / ?))
		FROM usage_raw FINAL WHERE (project, entry_id) IN
			(SELECT project, entry_id FROM facts_raw WHERE user = ? AND agent = ? AND entry_id IN ?) AND means = ? GROUP BY entry_id`,
		n.Uses.UTC().Truncate(time.Second), heatHalfLife.Seconds(), n.User, n.Agent, in(entries), string(schema.RetrievedBySearch))
	return out, err
}
