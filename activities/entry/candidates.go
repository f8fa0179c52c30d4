package entry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// candidate is an unproven entry of another session that states the same as one that is proven.
type candidate struct {
	id     string
	phrase phrase
	// byAgent is true if an agent states it. Then the user's words alone may prove it.
	byAgent bool
}

// unproven returns the unproven entries of the session's project, user and agent, from other sessions, that state the
// same as one of the given entries. It runs no query if none are given, and one if no other session states the same,
// which is the common case. Only if some do does it read their later judgements.
func (r *Reader) unproven(ctx context.Context, session schema.SessionKey, proven []*entryRecord) ([]candidate, error) {
	wanted, keys := map[phrase]bool{}, []string{}
	for _, h := range proven {
		if p := phraseOf(&h.entry.Entry); !wanted[p] {
			wanted[p] = true
			keys = append(keys, p.key)
		}
	}
	s := OfAgent(session.Scope)
	found, err := r.stating(ctx, s.NotOfSession(session).stating(keys), wanted)
	if err == nil {
		err = r.judge(ctx, s.IDs(slices.Sorted(maps.Keys(found))), found)
	}
	if err != nil {
		return nil, fmt.Errorf("read unproven entries that state the same: %w", err)
	}
	var out []candidate
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if x := found[id]; !x.isProven() {
			out = append(out, candidate{id: id, phrase: x.phrase, byAgent: x.byAgent})
		}
	}
	return out, nil
}

// proofState is the stored state of an entry: its phrase, and whether it is proven.
type proofState struct {
	phrase phrase
	// originalProven reports whether its original evidence is proven, judged whether any evidence judged later is. ownJudged
	// reports whether its own evidence was judged later: that judgement then replaces the original one.
	originalProven, judged, ownJudged bool
	// byAgent is whether an agent states it.
	byAgent bool
}

// isProven equals the proof that the view entries shows. The view joins the tables, which takes longer than to read a
// few rows of each.
func (s proofState) isProven() bool { return s.judged || s.originalProven && !s.ownJudged }

// stating reads the selected entries that state one of the phrases, as they were made.
func (r *Reader) stating(ctx context.Context, s Selection, wanted map[phrase]bool) (map[string]proofState, error) {
	out := map[string]proofState{}
	if err := s.check(); err != nil || s.none {
		return out, err
	}
	where := s.where(key, stated)
	err := clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error {
		var id, entryType, title, contentJSON, evidenceJSON string
		var proven bool
		if err := rows.Scan(&id, &entryType, &title, &contentJSON, &evidenceJSON, &proven); err != nil {
			return err
		}
		var c content
		var pieces []schema.Evidence
		if err := errors.Join(json.Unmarshal([]byte(contentJSON), &c), json.Unmarshal([]byte(evidenceJSON), &pieces)); err != nil {
			return fmt.Errorf("decode entry %q: %w", id, err)
		}
		p := phraseOf(&schema.Entry{ID: id, Type: schema.EntryType(entryType), Title: title, Section: c.Section, Task: c.Task})
		if wanted[p] {
			out[id] = proofState{phrase: p, originalProven: proven, byAgent: schema.SaidByAgent(pieces) != ""}
		}
		return nil
	}, "SELECT entry_id, entry_type, title, content_json, evidence_json, evidence_proven FROM entries_raw"+where.sql(), where.args...)
	return out, err
}

// judge adds the later judgements of the evidence of the selected entries.
func (r *Reader) judge(ctx context.Context, s Selection, found map[string]proofState) error {
	if err := s.check(); err != nil || s.none {
		return err
	}
	where := s.where(key)
	where.add("kind = ?", []any{kindEvidence})
	return clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error {
		var id string
		var proven, own bool
		if err := rows.Scan(&id, &proven, &own); err != nil {
			return err
		}
		x := found[id]
		x.judged, x.ownJudged = x.judged || proven, x.ownJudged || own
		found[id] = x
		return nil
	}, "SELECT entry_id, evidence_proven, own FROM entry_changes_raw FINAL"+where.sql(), where.args...)
}
