package fact

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Change is an event of a memory.
type Change struct {
	schema.Event
	// Before is the fact as it was before the event, nil if the event changes none or creates it. [Tables.BuildChanges]
	// returns it as it is now.
	Before *Fact `json:"before,omitempty"`
}

// HistoryQuery selects events of a memory. The user is required; other empty fields do not filter.
type HistoryQuery struct {
	User, Agent string
	// FactID selects the events that are about the fact: those that changed it, that were skipped because it says the
	// same, and what gave way to it.
	FactID string
	// Limit, if it is not 0, is the maximum number of events, after skipping the latest Offset events.
	Limit, Offset int
}

// Streamer reads the log: a [eventlog.Store].
type Streamer interface {
	Stream(ctx context.Context, stream string, opts eventlog.StreamOptions) iter.Seq2[schema.Event, error]
}

// ReadHistory returns what happened to the facts and the profile of a memory, the latest first. It reads the memory's whole
// stream, but holds only the facts and what it returns.
func ReadHistory(ctx context.Context, log Streamer, q HistoryQuery) ([]Change, error) {
	if err := requireUser(q.User); err != nil {
		return nil, fmt.Errorf("read the history of a memory: %w", err)
	}
	facts := map[string]Fact{}
	var out []Change
	most := q.Limit + q.Offset
	for e, err := range log.Stream(ctx, schema.MemoryStream(q.User, q.Agent), eventlog.StreamOptions{Types: EventTypes()}) {
		if err != nil {
			return nil, fmt.Errorf("read the history of a memory: %w", err)
		}
		o, err := readEvent(e)
		if err != nil {
			return nil, err
		}
		change := Change{Event: e}
		if id := o.payload.Fact(); id != "" {
			f := facts[id]
			if f.Exists() {
				change.Before = &f
			}
			facts[id] = f.after(o)
		}
		if q.takes(o) {
			out = append(out, change)
		}
		if q.Limit > 0 && len(out) >= 2*most {
			out = append(out[:0], out[len(out)-most:]...)
		}
	}
	slices.Reverse(out)
	out = out[min(q.Offset, len(out)):]
	if q.Limit > 0 {
		out = out[:min(q.Limit, len(out))]
	}
	return out, nil
}

// ReadAsOf returns the facts with the ids as they were at the time, by the events' own times. What did not exist is missing. It
// reads the memory's whole stream.
func ReadAsOf(ctx context.Context, log Streamer, user, agent string, ids []string, at time.Time) ([]Fact, error) {
	if err := requireUser(user); err != nil {
		return nil, fmt.Errorf("read a memory as of %s: %w", at.Format(time.RFC3339), err)
	}
	wanted := map[string]Fact{}
	for _, id := range ids {
		wanted[id] = Fact{}
	}
	for e, err := range log.Stream(ctx, schema.MemoryStream(user, agent), eventlog.StreamOptions{Types: EventTypes()}) {
		if err != nil {
			return nil, fmt.Errorf("read a memory as of %s: %w", at.Format(time.RFC3339), err)
		}
		if e.TS.After(at) {
			continue
		}
		o, err := readEvent(e)
		if err != nil {
			return nil, err
		}
		if f, ok := wanted[o.payload.Fact()]; ok {
			wanted[o.payload.Fact()] = f.after(o)
		}
	}
	var out []Fact
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if f := wanted[id]; f.Exists() {
			out = append(out, f)
		}
	}
	return out, nil
}

func (q HistoryQuery) takes(o occurrence) bool {
	if q.FactID == "" || o.payload.Fact() == q.FactID {
		return true
	}
	switch p := o.payload.(type) {
	case schema.FactEvictedPayload:
		return p.For == q.FactID
	case schema.FactSkippedPayload:
		return p.DuplicateOf == q.FactID
	}
	return false
}

// BuildChanges returns what a build did to the facts and the profile of a memory, in the order of the events. It reads no
// other events, however long the memory's history is.
func (t *Tables) BuildChanges(ctx context.Context, user, agent, buildID string) ([]Change, error) {
	var out []Change
	var ids []string
	err := t.read(ctx, user, func(rows driver.Rows) error {
		e := schema.Event{BuildID: buildID}
		var payload string
		if err := rows.Scan(&e.ID, &e.Seq, &e.Type, &e.TS, &e.Actor, &e.SessionID, &e.Project, &payload); err != nil {
			return err
		}
		e.Payload, e.TS = []byte(payload), e.TS.UTC()
		o, err := readEvent(e)
		if err != nil {
			return err
		}
		if id := o.payload.Fact(); id != "" && e.Type != schema.FactCreated {
			ids = append(ids, id)
		}
		out = append(out, Change{Event: e})
		return nil
	}, `SELECT event_id, seq, event_type, ts, actor, session_id, project, payload_json FROM events
		WHERE stream = ? AND build_id = ? AND event_type IN ? ORDER BY seq`, schema.MemoryStream(user, agent), buildID, EventTypes())
	if err != nil {
		return nil, fmt.Errorf("read what a build did to a memory: %w", err)
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
		if o, err := readEvent(c.Event); err == nil && c.Type != schema.FactCreated {
			out[i].Before = facts[o.payload.Fact()]
		}
	}
	return out, nil
}

// Sum counts the changes by what they did.
func Sum(changes []Change) (Result, error) {
	var r Result
	events := make([]schema.Event, len(changes))
	for i, c := range changes {
		events[i] = c.Event
	}
	return r, r.add(events, 0)
}
