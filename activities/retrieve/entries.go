package retrieve

import (
	"context"
	"fmt"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// fill loads the evidence of the hits, and the other sessions that state the same.
func (r *search) fill(ctx context.Context) error {
	hits := r.result.Hits
	if len(hits) == 0 {
		return nil
	}
	ids, titles, places := make([]string, len(hits)), make([]string, len(hits)), make(map[wording]int, len(hits))
	said := make([]map[schema.SessionKey]bool, len(hits))
	for i, h := range hits {
		ids[i], titles[i], places[wordingOf(h.Entry)] = h.ID, h.Title, i
		said[i] = map[schema.SessionKey]bool{h.Session(): true}
	}
	rows, err := r.entries.Read(ctx, entry.OfUser(r.query.Project, r.query.User).IDsOrTitles(ids, titles).NewestFirst(), entry.Whole)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	for _, row := range rows {
		i, ok := places[wordingOf(row.Entry)]
		if !ok || !r.query.admits(row.Entry) {
			continue
		}
		h := &hits[i]
		if row.ID == h.ID {
			h.Entry, h.SupersededBy, h.BuildID, h.EvidenceSessionID = row.Entry, row.SupersededBy, row.BuildID, row.EvidenceSessionID
			h.Sessions = append([]Saying{sayingOf(row)}, h.Sessions...)
			continue
		}
		if said[i][row.Session()] {
			continue
		}
		said[i][row.Session()] = true
		if len(said[i]) <= maxSessions {
			h.Sessions = append(h.Sessions, sayingOf(row))
		} else {
			h.MoreSessions++
		}
	}
	return nil
}

func sayingOf(row entry.Row) Saying {
	return Saying{
		SessionID: row.SessionID, Agent: row.Agent, EntryID: row.ID, Type: row.Type, Stage: row.Stage, Status: row.Status,
		SupersededBy: row.SupersededBy, OccurredAt: row.OccurredAt, BuildID: row.BuildID,
		EvidenceAligned: row.EvidenceAligned, EvidenceProven: row.EvidenceProven, Evidence: row.Evidence,
		EvidenceSessionID: row.EvidenceSessionID,
	}
}
