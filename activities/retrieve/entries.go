package retrieve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

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
		var entryType, stage, status string
		if err := rows.Scan(&e.ID, &entryType, &stage, &status, &e.User, &e.Agent, &e.SessionID, &e.OccurredAt); err != nil {
			return err
		}
		e.Type, e.Stage, e.Status = schema.EntryType(entryType), schema.Stage(stage), schema.Status(status)
		out[e.ID] = e
		return nil
	}, `SELECT entry_id, entry_type, stage, status, user, agent, session_id, created_ts
		FROM entries WHERE project = ? AND entry_id IN ?`, project, ids)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	return out, nil
}

// fill loads text and evidence of the hits.
func (s *Searcher) fill(ctx context.Context, project string, hits []Hit) error {
	if len(hits) == 0 {
		return nil
	}
	ids, places := make([]string, len(hits)), make(map[string]int, len(hits))
	for i, h := range hits {
		ids[i], places[h.ID] = h.ID, i
	}
	err := table.Query(ctx, s.conn, func(rows driver.Rows) error {
		var id, content, evidence string
		var h Hit
		if err := rows.Scan(&id, &h.Title, &content, &evidence, &h.EvidenceAligned, &h.CanonicalKey,
			&h.SupersededBy, &h.BuildID); err != nil {
			return err
		}
		i, ok := places[id]
		if !ok {
			return nil
		}
		into := &hits[i]
		if err := errors.Join(json.Unmarshal([]byte(content), &into.Entry),
			json.Unmarshal([]byte(evidence), &into.Evidence)); err != nil {
			return fmt.Errorf("decode entry %q: %w", id, err)
		}
		into.Title, into.EvidenceAligned, into.CanonicalKey = h.Title, h.EvidenceAligned, h.CanonicalKey
		into.SupersededBy, into.BuildID = h.SupersededBy, h.BuildID
		return nil
	}, `SELECT entry_id, title, content_json, evidence_json, evidence_aligned,
		canonical_key, superseded_by, build_id FROM entries WHERE project = ? AND entry_id IN ?`, project, ids)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	return nil
}
