package retrieve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// maxSuccessions bounds the length of a followed chain of successors.
const maxSuccessions = 8

// relations are the entries that others refer to: their successors, and the other sides of their conflicts.
type relations struct {
	rows map[string]entry.Row
	// histories are read for queries about an earlier time alone. An entry that was asked for has an item.
	histories map[string]*history
}

// relate reads the entries that the rows refer to and that are not known yet. That is none as long as no row is
// contested or superseded. Entries of other users are not read.
func (r *search) relate(ctx context.Context, rows map[string]entry.Row) error {
	known := &r.relations
	for id, row := range rows {
		if row.User == r.query.User {
			known.rows[id] = row
		}
	}
	if !r.query.AsOf.IsZero() {
		if err := r.remember(ctx, rows); err != nil {
			return err
		}
	}
	for range maxSuccessions {
		var missing []string
		want := func(id string) {
			if _, ok := known.rows[id]; !ok && id != "" {
				missing = append(missing, id)
				known.rows[id] = entry.Row{}
			}
		}
		for id, row := range rows {
			want(row.SupersededBy)
			for _, other := range row.ContestedBy {
				want(other)
			}
			if h := known.histories[id]; h != nil {
				for _, a := range slices.Concat(h.graduation, h.session) {
					want(a.other)
				}
			}
		}
		if len(missing) == 0 {
			return nil
		}
		var err error
		rows, err = r.entries.ByID(ctx, entry.OfUser(r.query.Project, r.query.User).IDs(missing), entry.Lifecycle)
		if err != nil {
			return fmt.Errorf("read the entries that replace or contest others: %w", err)
		}
		maps.Copy(known.rows, rows)
	}
	return nil
}

// asOf returns the row with its status at the time that the query is about.
func (r *search) asOf(row entry.Row) entry.Row {
	at := r.query.AsOf
	if at.IsZero() {
		row.EndedAt = r.until(row)
		return row
	}
	b := r.believed(row, at)
	row.Conflicts, row.ContestedBy = len(b.contesting), slices.Sorted(maps.Values(b.contesting))
	row.Status = schema.StatusActive
	if row.Conflicts > 0 {
		row.Status = schema.StatusContested
	}
	end := b.next
	if b.ended != nil {
		end, row.Status = b.ended, b.ended.status
	}
	row.SupersededBy, row.EndedAt, row.EndedBecause, row.EndedBy = "", time.Time{}, "", ""
	if end != nil {
		row.SupersededBy, row.EndedAt, row.EndedBecause, row.EndedBy = end.other, end.at, end.because, end.by
	}
	return row
}

// until returns when the entry ceased to be believed: when a correction was said, even if graduation found it later.
func (r *search) until(row entry.Row) time.Time {
	if row.EndedBy != schema.RetiredByCorrection {
		return row.EndedAt
	}
	return r.since(row, act{at: row.EndedAt, other: row.SupersededBy, by: row.EndedBy})
}
