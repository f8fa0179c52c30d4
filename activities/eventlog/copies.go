package eventlog

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// The view events_displaced finds the places of hidden copies by reading all ids. The table event_copies contains the
// known ones, and readers leave them out.

// HideCopies looks for events that are stored at two places, hides all but the first recorded one from readers, and
// returns how many places it has hidden. Appends hide the copies that they make themselves. Others exist only if the
// server lost its tokens and the writer died at the same moment. HideCopies reads the ids of all events: 0.1 s per
// million.
func (s *Store) HideCopies(ctx context.Context) (int, error) {
	found, err := s.displaced(ctx, "SELECT stream, seq, event_id FROM events_displaced WHERE NOT "+isCopy)
	if err == nil {
		err = s.hide(ctx, found)
	}
	if err != nil {
		return 0, fmt.Errorf("hide copies of events: %w", err)
	}
	return len(found), nil
}

// hideCopies hides the copies of the events, and returns the ids of those that have any.
func (s *Store) hideCopies(ctx context.Context, ids []string) ([]string, error) {
	first, err := s.places(ctx, ids)
	if err != nil {
		return nil, err
	}
	all, err := s.displaced(ctx, "SELECT DISTINCT stream, seq, event_id FROM events_raw WHERE event_id IN ?", clickhouse.Set(ids))
	if err != nil {
		return nil, err
	}
	var copies []position
	var copied []string
	for _, p := range all {
		if f := first[p.id]; f.stream != p.stream || f.seq != p.seq {
			copies, copied = append(copies, p), append(copied, p.id)
		}
	}
	return copied, s.hide(ctx, copies)
}

func (s *Store) displaced(ctx context.Context, sql string, args ...any) ([]position, error) {
	var out []position
	err := s.db.QueryAll(ctx, clickhouse.Rows(&out, func(rows driver.Rows, p *position) error { return rows.Scan(&p.stream, &p.seq, &p.id) }), sql, args...)
	return out, err
}

func (s *Store) hide(ctx context.Context, copies []position) error {
	if len(copies) == 0 {
		return nil
	}
	ctx, cancel := s.db.Request(ctx, clickhouse.Settings{"async_insert": 0})
	defer cancel()
	return clickhouse.InsertBlock(ctx, s.db.Conn, `INSERT INTO event_copies (stream, seq, event_id)`, len(copies), func(b driver.Batch, i int) error {
		return b.Append(copies[i].stream, copies[i].seq, copies[i].id)
	})
}
