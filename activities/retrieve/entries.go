package retrieve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"axiommind/schema"
)

// heads returns what of the project's entries a candidate is judged by, by id.
func (s *Searcher) heads(ctx context.Context, project string, ids []string) (map[string]schema.Entry, error) {
	out := make(map[string]schema.Entry, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := s.conn.Query(ctx, `SELECT entry_id, entry_type, stage, status, user, agent, session_id, created_ts
		FROM entries WHERE project = ? AND entry_id IN ?`, project, ids)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		e := schema.Entry{Scope: schema.Scope{Project: project}}
		var entryType, stage, status string
		if err := rows.Scan(&e.ID, &entryType, &stage, &status, &e.User, &e.Agent, &e.SessionID, &e.OccurredAt); err != nil {
			return nil, fmt.Errorf("read candidates: %w", err)
		}
		e.Type, e.Stage, e.Status = schema.EntryType(entryType), schema.Stage(stage), schema.Status(status)
		out[e.ID] = e
	}
	if err := rows.Err(); err != nil {
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
	rows, err := s.conn.Query(ctx, `SELECT entry_id, title, content_json, evidence_json, evidence_aligned,
		canonical_key, superseded_by, build_id FROM entries WHERE project = ? AND entry_id IN ?`, project, ids)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, content, evidence string
		var h Hit
		if err := rows.Scan(&id, &h.Title, &content, &evidence, &h.EvidenceAligned, &h.CanonicalKey,
			&h.SupersededBy, &h.BuildID); err != nil {
			return fmt.Errorf("read hits: %w", err)
		}
		i, ok := places[id]
		if !ok {
			continue
		}
		into := &hits[i]
		if err := errors.Join(json.Unmarshal([]byte(content), &into.Entry),
			json.Unmarshal([]byte(evidence), &into.Evidence)); err != nil {
			return fmt.Errorf("decode entry %q: %w", id, err)
		}
		into.Title, into.EvidenceAligned, into.CanonicalKey = h.Title, h.EvidenceAligned, h.CanonicalKey
		into.SupersededBy, into.BuildID = h.SupersededBy, h.BuildID
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	return nil
}
