package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog/poll"
	"axiommind/schema"
)

// Eraser deletes events, and puts others in the place of some. Its connection needs the rights of [clickhouse.RoleEraser]: a
// [Store] can do nothing of the kind.
//
// An erasure first records the rows to delete in a table of its own and stores their replacements. It then deletes the
// rows by one mutation that reads the table. ClickHouse resumes a mutation after a restart of the server. So at any
// moment a position has the old event, the new one, or both, and an interrupted erasure starts over as if it had not
// begun.
type Eraser struct {
	conn driver.Conn
	// id is the id of the erasure.
	id string
}

// NewEraser returns an Eraser for the erasure with the id.
func NewEraser(conn driver.Conn, erasureID string) *Eraser { return &Eraser{conn, erasureID} }

// Replacement puts a new event in the place of an old one. The new event keeps the stream, the position and the time of
// recording. With an empty type it is an [schema.EventErasedPayload], which readers skip, and the old one's dedupe key
// is free again.
type Replacement struct{ Old, New schema.Event }

// erasedTables are the tables of the log that name streams.
var erasedTables = []string{"events_raw", "projection_offsets_raw"}

const (
	// pollMutation and pollParts are the longest pauses between two looks for mutations and for old parts.
	pollMutation = 200 * time.Millisecond
	pollParts    = 500 * time.Millisecond
	// erasedEvents and erasedBytes bound the replacements that are sent at once.
	erasedEvents = 2000
	erasedBytes  = 16 << 20
)

// WaitForMutations waits for the mutation of an interrupted erasure. Rows read earlier would change under the reader.
func (x *Eraser) WaitForMutations(ctx context.Context) error {
	for _, table := range erasedTables {
		if err := x.mutated(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// Replace records that the old events will be deleted, and stores the new ones.
func (x *Eraser) Replace(ctx context.Context, all []Replacement) error {
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < erasedEvents && (n == 0 || size < erasedBytes) {
			size += len(all[n].New.Payload)
			n++
		}
		if err := x.replace(ctx, all[:n]); err != nil {
			return fmt.Errorf("replace %d events: %w", n, err)
		}
		all = all[n:]
	}
	return nil
}

func (x *Eraser) replace(ctx context.Context, all []Replacement) error {
	notes, fresh, headings := make([]erasing, len(all)), make([]schema.Event, len(all)), map[string][2]string{}
	for i, r := range all {
		notes[i] = erasing{r.Old.Stream, r.Old.Seq, r.Old.ID, r.Old.Checksum}
		e := r.New
		if e.Type == "" {
			var err error
			e, err = schema.NewEvent(schema.EventErasedPayload{}, schema.Event{
				TS: r.Old.RecordedAt, Actor: "erasure", DedupeKey: schema.EventErasedKey(x.id, r.Old.Stream, r.Old.Seq),
			})
			if err != nil {
				return err
			}
		}
		e.Stream, e.PayloadRedacted, e.Sensitivity = r.Old.Stream, nil, ""
		if err := prepareEvent(i, &e); err != nil {
			return err
		}
		heading, index, err := headingColumns(e)
		if err != nil {
			return err
		}
		if heading != "" {
			headings[e.ID] = [2]string{heading, index}
		}
		// Of two rows with the same id that recorded first is shown.
		e.Seq, e.RecordedAt = r.Old.Seq, r.Old.RecordedAt.Add(-time.Microsecond)
		fresh[i] = e
	}
	if err := x.note(ctx, notes); err != nil {
		return err
	}
	return x.insert(ctx, insertEvents, columnsOf(fresh, headings)...)
}

// erasing is a row of erasing_raw.
type erasing struct {
	stream   string
	seq      uint64
	id, hash string
}

// Delete records that the streams will be deleted.
func (x *Eraser) Delete(ctx context.Context, streams []string) error {
	notes := make([]erasing, len(streams))
	for i, stream := range streams {
		notes[i] = erasing{stream: stream}
	}
	return x.note(ctx, notes)
}

func (x *Eraser) note(ctx context.Context, notes []erasing) error {
	for chunk := range slices.Chunk(notes, MaxBatchRows) {
		n := len(chunk)
		ids, streams, seqs, events, sums := make([]string, n), make([]string, n), make([]uint64, n), make([]string, n), make([]string, n)
		for i, e := range chunk {
			ids[i], streams[i], seqs[i], events[i], sums[i] = x.id, e.stream, e.seq, e.id, e.hash
		}
		if err := x.insert(ctx, `INSERT INTO erasing_raw (erasure_id, stream, seq, event_id, checksum)`, ids, streams, seqs, events, sums); err != nil {
			return fmt.Errorf("record the events to delete: %w", err)
		}
	}
	return nil
}

// insert inserts whole columns. It is no matter if rows are inserted twice.
func (x *Eraser) insert(ctx context.Context, sql string, columns ...any) error {
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	ctx = clickhouse.With(ctx, clickhouse.Settings{"async_insert": 0, "insert_deduplicate": 0})
	return clickhouse.InsertBlock(ctx, x.conn, sql, len(columns), func(b driver.Batch, i int) error { return b.Column(i).Append(columns[i]) })
}

// Apply deletes all recorded rows of the erasure, and then the records.
func (x *Eraser) Apply(ctx context.Context) error {
	noted := `erasing_raw WHERE erasure_id = ` + clickhouse.Literal(x.id) + ` AND `
	for _, table := range erasedTables {
		where := `stream IN (SELECT stream FROM ` + noted + `seq = 0)`
		if table == "events_raw" {
			where += ` OR (stream, seq, event_id, checksum) IN (SELECT stream, seq, event_id, checksum FROM ` + noted + `seq > 0)`
		}
		if err := x.synced(ctx, "erasing_raw"); err != nil {
			return err
		}
		if err := x.Exec(ctx, "ALTER TABLE "+table+" DELETE WHERE "+where); err != nil {
			return fmt.Errorf("delete from %s: %w", table, err)
		}
		if err := x.mutated(ctx, table); err != nil {
			return err
		}
	}
	return x.DeleteRows(ctx, "erasing_raw", "erasure_id = ?", x.id)
}

// DeleteRows deletes the rows of another table that the condition selects.
func (x *Eraser) DeleteRows(ctx context.Context, table, where string, args ...any) error {
	if err := x.Exec(ctx, "ALTER TABLE "+clickhouse.Identifier(table)+" DELETE WHERE "+where, args...); err != nil {
		return fmt.Errorf("delete from %s: %w", table, err)
	}
	return x.mutated(ctx, table)
}

// Exec runs a statement that a server does not take long for. The servers of a cluster may wait three minutes for each other.
func (x *Eraser) Exec(ctx context.Context, sql string, args ...any) error {
	limit := DefaultTimeout
	if clickhouse.ClusterOf(x.conn).Name != "" {
		limit *= 5
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx = clickhouse.With(ctx, clickhouse.Settings{"mutations_sync": 0})
	return x.conn.Exec(ctx, sql, args...)
}

// synced has each replica of a table catch up with the inserts and mutations so far. On a single server there is nothing
// to catch up with.
func (x *Eraser) synced(ctx context.Context, table string) error {
	if clickhouse.ClusterOf(x.conn).Name == "" {
		return nil
	}
	if err := x.Exec(ctx, "SYSTEM SYNC REPLICA "+clickhouse.Identifier(table)); err != nil {
		return fmt.Errorf("wait for the replicas of %s: %w", table, err)
	}
	return nil
}

// mutated waits until the servers have done all mutations of the table.
func (x *Eraser) mutated(ctx context.Context, table string) error {
	if err := x.synced(ctx, table); err != nil {
		return err
	}
	on := clickhouse.ClusterOf(x.conn)
	return poll.Until(ctx, pollMutation, func() (bool, error) {
		var left uint64
		var failed string
		err := x.row(ctx, []any{&left, &failed}, `SELECT count(), anyLast(latest_fail_reason) FROM `+on.System("mutations")+`
			WHERE database = `+on.CurrentDatabase()+` AND table = ? AND NOT is_done`, on.Local(table))
		switch {
		case err != nil:
			return false, fmt.Errorf("look at the mutations of %s: %w", table, err)
		case failed != "":
			return false, fmt.Errorf("delete from %s: the server says that it can't yet: %s", table, failed)
		}
		return left == 0, nil
	})
}

// Now returns the server's time.
func (x *Eraser) Now(ctx context.Context) (now time.Time, err error) {
	if err := x.row(ctx, []any{&now}, `SELECT now()`); err != nil {
		return now, fmt.Errorf("ask the server for its time: %w", err)
	}
	return now.UTC(), nil
}

// Purge waits until the server has removed from its disk all parts of the log's tables that it had replaced by the
// time, on the server's clock. The setting old_parts_lifetime of a table says how long it keeps them.
func (x *Eraser) Purge(ctx context.Context, at time.Time) error {
	return x.PurgeTables(ctx, at, append(slices.Clone(erasedTables), "erasing_raw")...)
}

// PurgeTables is [Eraser.Purge] for other tables.
func (x *Eraser) PurgeTables(ctx context.Context, at time.Time, tables ...string) error {
	on := clickhouse.ClusterOf(x.conn)
	tables = slices.Clone(tables)
	for i, table := range tables {
		tables[i] = on.Local(table)
	}
	return poll.Until(ctx, pollParts, func() (bool, error) {
		var left []string
		err := x.row(ctx, []any{&left}, `SELECT groupUniqArray(table) FROM `+on.System("parts")+`
			WHERE database = `+on.CurrentDatabase()+` AND has(?, table) AND NOT active AND remove_time <= fromUnixTimestamp(?)`, tables, at.Unix())
		if err != nil {
			return false, fmt.Errorf("look for the old parts of tables: %w", err)
		}
		// The server looks for old parts now and then, on an idle table after minutes, and whenever a partition is dropped:
		// also one that does not exist. No partition of ours has this id.
		// The cleanup of a replicated table has times of its own: it is waited for.
		for _, table := range left {
			if on.Name != "" {
				break
			}
			if err := x.Exec(ctx, "ALTER TABLE "+clickhouse.Identifier(table)+" DROP PARTITION ID 'none'"); err != nil {
				return false, fmt.Errorf("have old parts of %s removed: %w", table, err)
			}
		}
		return len(left) == 0, nil
	})
}

func (x *Eraser) row(ctx context.Context, into []any, sql string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	rows, err := x.conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return errors.Join(rows.Err(), errors.New("the server answers nothing"))
	}
	return rows.Scan(into...)
}
