package task

import (
	"context"
	"fmt"
	"time"

	"axiommind/activities/entry"
)

// history returns the events of the entity up to the time of the selection, in order.
func (q *Queries) history(ctx context.Context, s Selection, id string) ([]HistoryItem, error) {
	ids, err := q.tables.eventIDs(ctx, s, id)
	if err != nil {
		return nil, fmt.Errorf("read history of %q: %w", id, err)
	}
	events, err := q.log.GetMany(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read history of %q: %w", id, err)
	}
	out := make([]HistoryItem, 0, len(ids))
	var entryIDs []string
	for _, eventID := range ids {
		o, err := readEvent(events[eventID])
		if err != nil {
			return nil, err
		}
		item := HistoryItem{Event: events[eventID], Act: o.payload.Cause()}
		if item.Act.EntryID != "" {
			entryIDs = append(entryIDs, item.Act.EntryID)
		}
		out = append(out, item)
	}
	entries, err := entry.NewReader(q.tables.conn).ByID(ctx, entry.InProject(s.Project).IDs(entryIDs), entry.Whole)
	if err != nil {
		return nil, fmt.Errorf("read evidence of %q: %w", id, err)
	}
	for i := range out {
		if e, ok := entries[out[i].Act.EntryID]; ok {
			out[i].EntryTitle, out[i].EvidenceSessionID = e.Title, e.EvidenceSessionID
			out[i].EvidenceAligned, out[i].EvidenceProven, out[i].Evidence = e.EvidenceAligned, e.EvidenceProven, e.Evidence
		}
	}
	return out, nil
}

func (t *Tables) eventIDs(ctx context.Context, s Selection, id string) ([]string, error) {
	sql := `SELECT event_id FROM entity_events WHERE project = ? AND entity_id = ?`
	args := []any{id}
	if !s.AsOf.IsZero() {
		sql += ` AND ts <= ` + microseconds
		args = append(args, asMicroseconds(s.AsOf))
	}
	return t.ids(ctx, s.Project, sql+" ORDER BY seq", args...)
}

// microseconds takes a time from asMicroseconds. Times are passed as strings: binding a time.Time drops the microseconds.
const microseconds = `toDateTime64(?, 6, 'UTC')`

func asMicroseconds(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }
