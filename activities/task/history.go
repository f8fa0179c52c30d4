package task

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// history returns the events that the entity was folded from, in order.
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
	entries, err := q.tables.entries(ctx, s.Project, entryIDs)
	if err != nil {
		return nil, fmt.Errorf("read evidence of %q: %w", id, err)
	}
	for i := range out {
		if e, ok := entries[out[i].Act.EntryID]; ok {
			out[i].EntryTitle, out[i].EvidenceSessionID = e.Title, e.SessionID
			out[i].EvidenceAligned, out[i].EvidenceProven, out[i].Evidence = e.EvidenceAligned, e.EvidenceProven, e.Evidence
		}
	}
	return out, nil
}

func (t *Tables) eventIDs(ctx context.Context, s Selection, id string) ([]string, error) {
	sql := `SELECT event_id FROM entity_events WHERE project = ? AND entity_id = ?`
	args := []any{s.Project, id}
	if !s.AsOf.IsZero() {
		// A string keeps the microseconds, which binding a time cuts off.
		sql += ` AND ts <= toDateTime64(?, 6, 'UTC')`
		args = append(args, s.AsOf.UTC().Format("2006-01-02 15:04:05.000000"))
	}
	return t.ids(ctx, sql+" ORDER BY seq", args...)
}

// entries returns by id what the entries say and prove, with the session that their evidence is of.
func (t *Tables) entries(ctx context.Context, project string, ids []string) (map[string]schema.Entry, error) {
	out := make(map[string]schema.Entry, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	return out, table.Query(ctx, t.conn, func(rows driver.Rows) error {
		var e schema.Entry
		var evidence string
		if err := rows.Scan(&e.ID, &e.Title, &e.EvidenceAligned, &e.EvidenceProven, &evidence, &e.SessionID); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(evidence), &e.Evidence); err != nil {
			return fmt.Errorf("read evidence of entry %q: %w", e.ID, err)
		}
		out[e.ID] = e
		return nil
	}, `SELECT entry_id, title, evidence_aligned, evidence_proven, evidence_json, evidence_session_id FROM entries
		WHERE project = ? AND entry_id IN ?`, project, table.Set(ids))
}
