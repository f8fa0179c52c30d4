package eventlog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// HideCopies looks for events that are stored at two places, hides all but the first recorded one from readers, and
// returns how many places it has hidden. Appends hide the copies that they make themselves. Others exist only if the
// server lost its tokens and the writer died at the same moment. HideCopies reads the ids of all events: 0.1 s per
// million.
func (s *Store) HideCopies(ctx context.Context) (int, error) {
	found, err := s.displaced(ctx, "SELECT stream, seq, event_id FROM events_displaced")
	hidden := 0
	if err == nil {
		hidden, err = s.hide(ctx, found)
	}
	if err != nil {
		err = fmt.Errorf("hide copies of events: %w", err)
	}
	return hidden, err
}

// maxHidden is how many places a statement hides.
const maxHidden = 200

// hideCopies hides the copies of the events, and returns the ids of those that have any.
func (s *Store) hideCopies(ctx context.Context, ids []string) ([]string, error) {
	first, err := s.places(ctx, ids)
	if err != nil {
		return nil, err
	}
	all, err := s.displaced(ctx, `SELECT stream, seq, event_id FROM events_raw WHERE event_id IN ?
		GROUP BY stream, seq, event_id HAVING max(precedence) != ?`, clickhouse.Set(ids), uint64(hidingPrecedence))
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
	_, err = s.hide(ctx, copies)
	return copied, err
}

func (s *Store) displaced(ctx context.Context, sql string, args ...any) ([]position, error) {
	var out []position
	err := s.db.QueryAll(ctx, clickhouse.Rows(&out, func(rows driver.Rows, p *position) error { return rows.Scan(&p.stream, &p.seq, &p.id) }), sql, args...)
	return out, err
}

// hide writes a row without text at each place, with the precedence that hides it, and returns how many places it has
// hidden. Readers that do without FINAL see the event's type, project and time in it. A text would come back if its
// erasure ran at the same time.
func (s *Store) hide(ctx context.Context, copies []position) (int, error) {
	hidden := 0
	for chunk := range slices.Chunk(copies, maxHidden) {
		if err := s.hideSome(ctx, chunk); err != nil {
			return hidden, err
		}
		hidden += len(chunk)
	}
	return hidden, nil
}

func (s *Store) hideSome(ctx context.Context, copies []position) error {
	ctx, cancel := s.db.Request(ctx, clickhouse.Settings{"async_insert": 0, "insert_deduplicate": 0, "max_query_size": 16 << 20, "max_threads": 1})
	defer cancel()
	args := append(make([]any, 0, 2+3*len(copies)), uint64(hidingPrecedence), schema.HashText(""))
	for _, p := range copies {
		args = append(args, p.stream, p.seq, p.id)
	}
	return s.db.Conn.Exec(ctx, `INSERT INTO events_raw SELECT * REPLACE (toUInt64(?) AS precedence, ? AS checksum, '' AS payload_json,
			toUInt32(0) AS payload_bytes, '' AS payload_redacted, '' AS heading, '' AS message_index)
		FROM events_raw FINAL WHERE (stream, seq, event_id) IN (`+strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(copies)), ", ")+`)`, args...)
}
