package retrieve

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/table"
	"axiommind/schema"
)

// heads returns what of the project's entries a candidate is judged by, by id.
func (s *Searcher) heads(ctx context.Context, project string, ids []string) (map[string]schema.Entry, error) {
	out := make(map[string]schema.Entry, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	err := table.Query(ctx, s.conn, func(rows driver.Rows) error {
		e := schema.Entry{Scope: schema.Scope{Project: project}}
		var entryType, stage, status, content string
		if err := rows.Scan(&e.ID, &e.Title, &content, &entryType, &stage, &status, &e.User, &e.Agent, &e.SessionID,
			&e.OccurredAt); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(content), &e); err != nil {
			return fmt.Errorf("decode entry %q: %w", e.ID, err)
		}
		e.Type, e.Stage, e.Status = schema.EntryType(entryType), schema.Stage(stage), schema.Status(status)
		out[e.ID] = e
		return nil
	}, `SELECT entry_id, title, content_json, entry_type, stage, status, user, agent, session_id, created_ts
		FROM entries WHERE project = ? AND entry_id IN ?`, project, ids)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	return out, nil
}

// fill loads evidence of the hits, and the other sessions that say the same.
func (r *search) fill(ctx context.Context) error {
	hits := r.result.Hits
	if len(hits) == 0 {
		return nil
	}
	ids, titles, places := make([]string, len(hits)), make([]string, len(hits)), make(map[text]int, len(hits))
	said := make([]map[schema.SessionKey]bool, len(hits))
	for i, h := range hits {
		ids[i], titles[i], places[textOf(h.Entry)] = h.ID, h.Title, i
		said[i] = map[schema.SessionKey]bool{h.Session(): true}
	}
	rows, err := entry.WithTitlesOf(ctx, r.conn, r.query.Project, r.query.User, ids, titles)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	for _, row := range rows {
		i, ok := places[textOf(row.Entry)]
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
