package projection

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Digest summarizes the rows of a table that a projector wrote: every column that a view shows, of every row, in any
// order. Two tables with the same digest have the same rows.
type Digest = schema.TableDigest

// RowHash is the key of a table's row and the hash of the row.
type RowHash struct {
	Key  string
	Hash uint64
}

// Digest computes the digest of the table's rows. The server does the work, in constant memory.
func (s *Store) Digest(ctx context.Context, t Table) (Digest, error) {
	var d Digest
	sql, args := t.rows()
	err := s.db.Conn.QueryRow(ctx, `SELECT count(), sum(sipHash64(row)), groupBitXor(cityHash64(row)) FROM (`+sql+`)`, args...).
		Scan(&d.Rows, &d.Sum, &d.Xor)
	if err != nil {
		return Digest{}, fmt.Errorf("hash table %q: %w", t.Name, err)
	}
	return d, nil
}

// rows returns a select of each row as text and of its key, and the arguments.
func (t Table) rows() (string, []any) {
	columns := "*"
	if len(t.Varying) > 0 {
		columns = "* EXCEPT (" + strings.Join(t.Varying, ", ") + ")"
	}
	where, args := []string{"1"}, []any{}
	if t.Hidden != "" {
		where = append(where, "NOT ("+t.Hidden+")")
	}
	if t.Column != "" {
		where, args = append(where, t.Column+" = ?"), append(args, t.Value)
	}
	return "SELECT *, toString(tuple(" + columns + ")) AS row FROM " + t.Name + " FINAL WHERE " + strings.Join(where, " AND "), args
}

// spill lets the server use its disk to sort many keys.
var spill = clickhouse.Settings{"max_bytes_before_external_sort": 256 << 20}

// RowHashes yields the hashes of the table's rows, ordered by their keys as text.
func (s *Store) RowHashes(ctx context.Context, t Table) iter.Seq2[RowHash, error] {
	return func(yield func(RowHash, error) bool) {
		err := s.rowHashes(ctx, t, func(r RowHash) bool { return yield(r, nil) })
		if err != nil {
			yield(RowHash{}, fmt.Errorf("read table %q: %w", t.Name, err))
		}
	}
}

func (s *Store) rowHashes(ctx context.Context, t Table, each func(RowHash) bool) error {
	key, err := clickhouse.SortingKey(ctx, s.db.Conn, t.Name)
	if err != nil {
		return err
	}
	sql, args := t.rows()
	rows, err := s.db.Conn.Query(clickhouse.With(ctx, spill),
		`SELECT toString(tuple(`+key+`)) AS key, sipHash64(row) FROM (`+sql+`) ORDER BY key`, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r RowHash
		if err := rows.Scan(&r.Key, &r.Hash); err != nil {
			return err
		}
		if !each(r) {
			return nil
		}
	}
	return rows.Err()
}

// Status is the state of a projection compared with the log.
type Status struct {
	Name string
	// Stored is the version of the code that wrote the rows, or 0 if nothing was projected yet. Program is the
	// version in this program.
	Stored, Program uint32
	// Rebuilding is true while a rebuild puts new tables in place, which others wait for.
	Rebuilding bool
	// Behind counts the streams with events that the projection does not show yet. Streams and Events count
	// everything that the projection is made from.
	Behind, Streams, Events uint64
}

// Stale reports whether another version of the code wrote the rows.
func (s Status) Stale() bool { return s.Stored != 0 && s.Stored != s.Program }

// ProjectionStatuses compares the projections with the log. It takes two queries, however many projections there are. The
// second one reads the columns stream, seq and type of all events.
func (s *Store) ProjectionStatuses(ctx context.Context, projectors ...Projector) ([]Status, error) {
	if err := s.SaveOffsets(ctx); err != nil {
		return nil, err
	}
	out := make([]Status, len(projectors))
	at := map[string]*Status{}
	names, prefixes, types := make([]string, len(out)), make([]string, len(out)), make([][]string, len(out))
	among, ones := make([]string, len(out)), make([]string, len(out))
	for i, p := range projectors {
		out[i] = Status{Name: p.Name(), Program: p.Version()}
		at[p.Name()] = &out[i]
		names[i], prefixes[i], types[i] = p.Name(), p.StreamPrefix(), p.Types()
		if partial, ok := p.(Partial); ok {
			among[i], ones[i] = partial.OneOf()
		}
	}
	err := s.db.Query(ctx, func(rows driver.Rows) error {
		var name string
		var version uint32
		var ready uint64
		err := rows.Scan(&name, &version, &ready)
		if standing, ok := at[name]; ok {
			standing.Stored, standing.Rebuilding = version, ready == 0
		}
		return err
	}, `SELECT projector_name, argMax(version, (generation, last_seq)), argMax(last_seq, (generation, last_seq))
		FROM projection_offsets_raw WHERE stream = '' GROUP BY projector_name`)
	if err != nil {
		return nil, fmt.Errorf("read generations: %w", err)
	}
	err = s.db.QueryAll(ctx, func(rows driver.Rows) error {
		var name string
		var behind, streams, events uint64
		err := rows.Scan(&name, &behind, &streams, &events)
		if standing, ok := at[name]; ok {
			standing.Behind, standing.Streams, standing.Events = behind, streams, events
		}
		return err
	}, `SELECT name, countIf(w.last > o.last_seq), count(), sum(w.events)
		FROM (
			SELECT name, stream, max(last) AS last, sum(events) AS events
			FROM (SELECT stream, event_type, max(seq) AS last, count() AS events FROM events_raw GROUP BY stream, event_type)
			ARRAY JOIN ? AS name, ? AS prefix, ? AS types, ? AS among, ? AS one
			WHERE startsWith(stream, prefix) AND (empty(types) OR has(types, event_type))
				AND (one = '' OR stream = one OR NOT startsWith(stream, among))
			GROUP BY name, stream
		) AS w
		LEFT JOIN projection_offsets AS o ON o.projector_name = w.name AND o.stream = w.stream
		GROUP BY name`, names, prefixes, types, among, ones)
	if err != nil {
		return nil, fmt.Errorf("compare projections with the log: %w", err)
	}
	return out, nil
}

// ProjectorNames returns the names of all projectors that ever ran, in order.
func (s *Store) ProjectorNames(ctx context.Context) ([]string, error) {
	var out []string
	err := s.db.Query(ctx, clickhouse.Rows(&out, func(rows driver.Rows, name *string) error { return rows.Scan(name) }),
		`SELECT DISTINCT projector_name FROM projection_offsets_raw`)
	if err != nil {
		return nil, fmt.Errorf("list projectors: %w", err)
	}
	slices.Sort(out)
	return out, nil
}
