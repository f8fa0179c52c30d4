package fact

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Change is an event of a memory.
type Change struct {
	schema.Event
	// Before is the fact as it was before the event, nil if the event changes none or creates it. [Tables.BuildChanges]
	// returns it as it is now.
	Before *Fact `json:"before,omitempty"`
	occurrence
}

// fact is the id of the fact that the event changes, or empty.
func (c Change) fact() string { return c.payload.Fact() }

// HistoryQuery selects events of a memory. The user is required; other empty fields do not filter.
type HistoryQuery struct {
	User, Agent string
	// FactID selects the events about the fact: those that changed it, duplicates that were skipped for it, and evictions
	// that made room for it.
	FactID string
	// Limit, if it is not 0, is the maximum number of events, after skipping the latest Offset events.
	Limit, Offset int
}

// History returns the changes of the facts and the profile of a memory, the latest first. It reads only these events of
// the memory's stream, and those of their facts.
func (t *Tables) History(ctx context.Context, q HistoryQuery) ([]Change, error) {
	fail := func(err error) ([]Change, error) { return nil, fmt.Errorf("read the history of a memory: %w", err) }
	where, args := "1", []any{}
	if q.FactID != "" {
		where = "? IN (JSONExtractString(payload_json, 'fact_id'), JSONExtractString(payload_json, 'for'), JSONExtractString(payload_json, 'duplicate_of'))"
		args = append(args, q.FactID)
	}
	changes, err := t.changes(ctx, q.User, q.Agent, where+" ORDER BY seq DESC LIMIT ? OFFSET ?", append(args, cmp.Or(q.Limit, math.MaxInt32), q.Offset)...)
	if err != nil {
		return fail(err)
	}
	at, ids := map[uint64]*Change{}, map[string]bool{}
	for i, c := range changes {
		if id := c.fact(); id != "" && c.Type != schema.FactCreated {
			at[c.Seq], ids[id] = &changes[i], true
		}
	}
	if len(ids) == 0 {
		return changes, nil
	}
	earlier, err := t.changes(ctx, q.User, q.Agent, "seq <= ? AND JSONExtractString(payload_json, 'fact_id') IN ? ORDER BY seq",
		changes[0].Seq, clickhouse.Set(slices.Sorted(maps.Keys(ids))))
	if err != nil {
		return fail(err)
	}
	facts := map[string]Fact{}
	for _, c := range earlier {
		id := c.fact()
		if id == "" {
			continue
		}
		f := facts[id]
		if of := at[c.Seq]; of != nil && f.Exists() {
			of.Before = &f
		}
		facts[id] = f.after(c.occurrence)
	}
	return changes, nil
}

// AsOf returns the facts with the ids as they were at the time, by the events' own times. It omits those not created yet.
func (t *Tables) AsOf(ctx context.Context, user, agent string, ids []string, at time.Time) ([]Fact, error) {
	changes, err := t.changes(ctx, user, agent, "ts <= fromUnixTimestamp64Micro(?) AND JSONExtractString(payload_json, 'fact_id') IN ? ORDER BY seq", at.UnixMicro(), clickhouse.Set(ids))
	if err != nil {
		return nil, fmt.Errorf("read a memory as of %s: %w", at.Format(time.RFC3339), err)
	}
	facts := map[string]Fact{}
	for _, c := range changes {
		if id := c.fact(); id != "" {
			facts[id] = facts[id].after(c.occurrence)
		}
	}
	var out []Fact
	for _, id := range slices.Sorted(maps.Keys(facts)) {
		if f := facts[id]; f.Exists() {
			out = append(out, f)
		}
	}
	return out, nil
}

// BuildChanges returns the changes of a build to the facts and the profile of a memory, in the order of the events. It
// reads no other events, however long the memory's history is.
func (t *Tables) BuildChanges(ctx context.Context, user, agent, buildID string) ([]Change, error) {
	// The positions are found first: with FINAL, the engine would read the payloads of the whole stream.
	out, err := t.changes(ctx, user, agent, "build_id = ? AND seq IN (SELECT seq FROM events_raw WHERE stream = ? AND build_id = ?) ORDER BY seq",
		buildID, schema.MemoryStream(user, agent), buildID)
	if err != nil {
		return nil, fmt.Errorf("read a build's changes to a memory: %w", err)
	}
	var ids []string
	for _, c := range out {
		if id := c.fact(); id != "" && c.Type != schema.FactCreated {
			ids = append(ids, id)
		}
	}
	now, err := t.Find(ctx, user, agent, ids)
	if err != nil {
		return nil, err
	}
	facts := map[string]*Fact{}
	for i, f := range now {
		facts[f.ID] = &now[i]
	}
	for i, c := range out {
		if c.Type != schema.FactCreated {
			out[i].Before = facts[c.fact()]
		}
	}
	return out, nil
}

// changes returns the events of a memory that the condition selects, in its order.
func (t *Tables) changes(ctx context.Context, user, agent, where string, args ...any) (out []Change, err error) {
	err = t.read(ctx, user, clickhouse.Rows(&out, func(rows driver.Rows, c *Change) (err error) {
		e := &c.Event
		if err := rows.Scan(&e.ID, &e.Seq, &e.Type, &e.TS, &e.RecordedAt, &e.Actor, &e.SessionID, &e.Project, &e.BuildID, &e.Payload); err != nil {
			return err
		}
		e.TS, e.RecordedAt = e.TS.UTC(), e.RecordedAt.UTC()
		c.occurrence, err = readEvent(*e)
		return err
	}), `SELECT event_id, seq, event_type, ts, recorded_at, actor, session_id, project, build_id, payload_json FROM events
		WHERE stream = ? AND event_type IN ? AND `+where, slices.Concat([]any{schema.MemoryStream(user, agent), clickhouse.Set(EventTypes())}, args)...)
	return out, err
}

// Sum counts the changes by kind.
func Sum(changes []Change) (Result, error) {
	r := Result{Events: len(changes)}
	events := make([]schema.Event, len(changes))
	for i, c := range changes {
		events[i] = c.Event
	}
	return r, r.add(events)
}
