package retrieve

import (
	"context"
	"fmt"
	"maps"
	"time"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// maxSuccessions bounds how far is followed what took the place of what.
const maxSuccessions = 8

// relations are the entries that others refer to: those that took their places, and those that contest them.
type relations struct {
	rows map[string]entry.Row
	// contesting holds the other sides of open conflicts, by entry. An entry that was asked for has an item.
	contesting map[string][]string
}

// relate reads what the rows refer to and is not known yet: nothing, as long as none is contested or superseded. Entries
// of other users are not read.
func (r *search) relate(ctx context.Context, rows map[string]entry.Row) error {
	known := &r.relations
	var contested []string
	for id, row := range rows {
		if row.User == r.query.User {
			known.rows[id] = row
		}
		if _, asked := known.contesting[id]; row.Conflicts > 0 && !asked {
			contested = append(contested, id)
			known.contesting[id] = nil
		}
	}
	found, err := r.entries.Contesting(ctx, r.query.Project, contested)
	if err != nil {
		return err
	}
	maps.Copy(known.contesting, found)
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
			for _, other := range known.contesting[id] {
				want(other)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		rows, err = r.entries.ByID(ctx, entry.OfUser(r.query.Project, r.query.User).IDs(missing), entry.Standing)
		if err != nil {
			return fmt.Errorf("read what took the place of entries or contests them: %w", err)
		}
		maps.Copy(known.rows, rows)
	}
	return nil
}

// standing returns the row with its status at the time that the query is about. What a newer build of its own session
// does not state was misread, and was never believed.
func (r *search) standing(row entry.Row) entry.Row {
	row.EndedAt = r.until(row)
	at := r.query.AsOf
	if at.IsZero() {
		return row
	}
	if row.EndedBy != "" && row.EndedAt.After(at) {
		row.Status = schema.StatusActive
	}
	if row.Conflicts > 0 {
		row.Conflicts = len(r.contesting(row.ID))
		switch {
		case ended(row.Status):
		case row.Conflicts > 0:
			row.Status = schema.StatusContested
		default:
			row.Status = schema.StatusActive
		}
	}
	return row
}

// until returns when the entry ceased to be believed: when a correction was said, even if graduation found it later.
func (r *search) until(row entry.Row) time.Time {
	said := r.relations.rows[row.SupersededBy].OccurredAt
	if row.EndedBy == schema.RetiredByCorrection && said.After(row.OccurredAt) && said.Before(row.EndedAt) {
		return said
	}
	return row.EndedAt
}

// contesting returns what contests the entry, at the time that the query is about.
func (r *search) contesting(id string) []Mention {
	var out []Mention
	for _, id := range r.relations.contesting[id] {
		other := r.relations.rows[id]
		if at := r.query.AsOf; at.IsZero() || !other.OccurredAt.After(at) {
			out = append(out, Mention{id, other.Title})
		}
	}
	return out
}
