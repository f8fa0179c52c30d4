package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// fill loads the evidence of those claims that are entries, the other sessions with the same statement, their successors and
// the sides of their conflicts.
func (r *search) fill(ctx context.Context, claims []*claim) error {
	var ids, titles, originals []string
	byWording, byOriginal := map[wording]*claim{}, map[string]*claim{}
	shown := map[string]*claim{}
	for _, c := range claims {
		if c.Kind != KindEntry || c.filled {
			continue
		}
		shown[c.ID], c.filled = c, true
		ids = append(ids, c.ID, c.SupersededBy)
		for _, other := range c.ContestedBy {
			ids = append(ids, other.EntryID)
		}
		for _, m := range c.members {
			if w := wordingOf(m.Entry); byWording[w] == nil {
				titles, byWording[w] = append(titles, m.Title), c
			}
			if o := m.original(); byOriginal[o] == nil {
				originals, byOriginal[o] = append(originals, o), c
			}
		}
	}
	// The original says it, too.
	ids = append(ids, originals...)
	byID, err := r.entries.ByID(ctx, entry.OfUser(r.query.Project, r.query.User).AnyOf(ids, titles, originals), entry.Whole)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	rows := slices.SortedFunc(maps.Values(byID), func(a, b entry.Row) int { // The newest first.
		return cmp.Or(b.OccurredAt.Compare(a.OccurredAt), cmp.Compare(a.ID, b.ID))
	})
	maps.Copy(r.relations.rows, byID)
	if !r.query.AsOf.IsZero() {
		if err := r.relate(ctx, byID); err != nil {
			return err
		}
	}
	said := map[*claim]map[schema.SessionKey]bool{}
	for _, c := range shown {
		said[c] = map[schema.SessionKey]bool{c.Session(): true}
	}
	for _, row := range rows {
		row = r.asOf(row)
		if c := shown[row.ID]; c != nil {
			c.show(row)
			c.SupersededByTitle = r.relations.rows[row.SupersededBy].Title
			for i, other := range c.ContestedBy {
				c.ContestedBy[i].Title = r.relations.rows[other.EntryID].Title
			}
			c.Sessions = append([]Statement{statementOf(row)}, c.Sessions...)
			continue
		}
		c := byOriginal[Hit{Entry: row.Entry, OriginalID: row.OriginalID}.original()]
		if c == nil {
			c = byWording[wordingOf(row.Entry)]
		}
		if c == nil || !r.query.admits(row.Entry) || said[c][row.Session()] {
			continue
		}
		said[c][row.Session()] = true
		if len(said[c]) <= maxSessions {
			c.Sessions = append(c.Sessions, statementOf(row))
		} else {
			c.MoreSessions++
		}
	}
	return nil
}

// show copies the entry's row to the hit.
func (h *Hit) show(row entry.Row) {
	h.Entry, h.SupersededBy, h.BuildID, h.EvidenceSessionID = row.Entry, row.SupersededBy, row.BuildID, row.EvidenceSessionID
	h.EndedAt, h.EndedBecause, h.EndedBy = row.EndedAt, row.EndedBecause, row.EndedBy
	h.OriginalID, h.Conflicts, h.ContestedBy = row.OriginalID, row.Conflicts, nil
	for _, other := range row.ContestedBy {
		h.ContestedBy = append(h.ContestedBy, Mention{EntryID: other})
	}
}

func statementOf(row entry.Row) Statement {
	return Statement{
		SessionID: row.SessionID, Agent: row.Agent, EntryID: row.ID, Title: row.Title, Type: row.Type, Stage: row.Stage, Status: row.Status,
		SupersededBy: row.SupersededBy, OccurredAt: row.OccurredAt, BuildID: row.BuildID,
		EvidenceAligned: row.EvidenceAligned, EvidenceProven: row.EvidenceProven, Evidence: row.Evidence,
		EvidenceSessionID: row.EvidenceSessionID,
	}
}
