package fact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/schema"
)

// EntryStatus is the status of a fact's entry.
type EntryStatus struct {
	Stage  schema.Stage  `json:"stage"`
	Status schema.Status `json:"status"`
	// EndedAt is when graduation ended the entry, zero if it did not; EndedBy and EndedBecause say by whom and why.
	EndedAt      time.Time `json:"ended_at,omitzero"`
	EndedBecause string    `json:"ended_because,omitempty"`
	EndedBy      string    `json:"ended_by,omitempty"`
	SupersededBy string    `json:"superseded_by,omitempty"`
}

// Ended reports whether the fact is no longer believed. That a newer extractor does not state it is no reason: the facts
// of a session stay when it is read again.
func (s *EntryStatus) Ended() bool { return s != nil && s.EndedBy != "" }

// Contested reports whether another statement contradicts the fact and neither is decided to be right.
func (s *EntryStatus) Contested() bool { return s != nil && s.Status == schema.StatusContested }

func entryStatusOf(row entry.Row) *EntryStatus {
	return &EntryStatus{
		Stage: row.Stage, Status: row.Status, EndedAt: row.EndedAt, EndedBecause: row.EndedBecause, EndedBy: row.EndedBy,
		SupersededBy: row.SupersededBy,
	}
}

// Judge sets the standing of the facts' entries. A fact whose own entry has ended gets the standing of another entry that
// says the same and is believed.
func (t *Tables) Judge(ctx context.Context, user, agent string, facts []Fact) error {
	return t.judge(ctx, user, agent, facts, "")
}

// JudgeIn is [Tables.Judge] within a project: statements of other projects do not count.
func (t *Tables) JudgeIn(ctx context.Context, user, agent, project string, facts []Fact) error {
	if err := clickhouse.Required("project", project); err != nil {
		return fmt.Errorf("judge facts: %w", err)
	}
	return t.judge(ctx, user, agent, facts, " AND project = ?", project)
}

// judge considers the statements that meet the condition, which may be empty.
func (t *Tables) judge(ctx context.Context, user, agent string, facts []Fact, condition string, args ...any) error {
	var ids []string
	for _, f := range facts {
		if f.EntryID != "" {
			ids = append(ids, f.EntryID)
		}
	}
	rows, err := t.entryRows(ctx, user, agent, ids)
	if err != nil {
		return err
	}
	var gone []string
	for i, f := range facts {
		if row, ok := rows[f.EntryID]; ok {
			facts[i].Entry = entryStatusOf(row)
			if facts[i].Entry.Ended() {
				gone = append(gone, f.ID)
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	again, err := t.restated(ctx, user, agent, gone, condition, args...)
	if err != nil {
		return err
	}
	for i, f := range facts {
		if s := again[f.ID]; s != nil {
			facts[i].Entry = s
		}
	}
	return nil
}

func (t *Tables) entryRows(ctx context.Context, user, agent string, ids []string) (map[string]entry.Row, error) {
	rows, err := entry.NewReader(t.conn).ByID(ctx, entry.OfMemory(user, agent).IDs(ids), entry.Lifecycle)
	if err != nil {
		return nil, fmt.Errorf("read how the entries of facts stand: %w", err)
	}
	return rows, nil
}

// restated returns, by the ids of facts, the standing of a believed entry that says the same as the fact: one that is not
// contested, if there is one.
func (t *Tables) restated(
	ctx context.Context, user, agent string, factIDs []string, condition string, args ...any,
) (map[string]*EntryStatus, error) {
	says := map[string]string{}
	var ids []string
	err := t.read(ctx, user, func(rows driver.Rows) error {
		var factID, id string
		err := rows.Scan(&factID, &id)
		says[id], ids = factID, append(ids, id)
		return err
	}, `SELECT DISTINCT duplicate_of, entry_id FROM facts_skipped_raw
		WHERE user = ? AND agent = ? AND duplicate_of IN ? AND entry_id != ''`+condition+` ORDER BY entry_id`,
		slices.Concat([]any{user, agent, clickhouse.Set(factIDs)}, args)...)
	if err != nil {
		return nil, fmt.Errorf("read the entries that restate facts: %w", err)
	}
	rows, err := t.entryRows(ctx, user, agent, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]*EntryStatus{}
	for _, id := range ids {
		row, ok := rows[id]
		if s := entryStatusOf(row); ok && !s.Ended() && (out[says[id]] == nil || out[says[id]].Contested()) {
			out[says[id]] = s
		}
	}
	return out, nil
}

// Believed returns the facts that are believed, the contested ones included, as far as they were judged.
func Believed(facts []Fact) []Fact {
	out := make([]Fact, 0, len(facts))
	for _, f := range facts {
		if !f.Entry.Ended() {
			out = append(out, f)
		}
	}
	return out
}
