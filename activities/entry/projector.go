package entry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Projector writes the rows of entries and of their later changes.
type Projector struct{ conn driver.Conn }

// NewProjector returns the projector over the connection.
func NewProjector(conn driver.Conn) *Projector { return &Projector{conn: conn} }

// Name is the name of the projector's offsets.
func (*Projector) Name() string { return "entries" }

// Types are the types of the events that make or change entries.
func (*Projector) Types() []string {
	return []string{
		schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet, schema.EntriesPromoted,
		schema.EntryGraduated, schema.EntryConfirmed, schema.EntryDoubted, schema.EntryLinked, schema.EntryRetired,
		schema.EntryRestored, schema.ConflictDetected, schema.ConflictResolved,
	}
}

// StreamPrefix is empty for all streams: an entry is made in its session's stream, and graduates in its project's.
func (*Projector) StreamPrefix() string { return "" }

// Apply writes a row for each entry that an event makes, and for each that it says something of.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	var entries, changes [][]any
	for _, event := range events {
		if event.Type == schema.EntryMaterialized {
			row, err := entryRow(event)
			if err != nil {
				return err
			}
			entries = append(entries, row)
			continue
		}
		said, err := changesOf(event)
		if err != nil {
			return err
		}
		for _, c := range said {
			changes = append(changes, c.row(event))
		}
	}
	err := clickhouse.Insert(ctx, p.conn, `entries_raw (entry_id, created_ts, entry_type, title,
		content_json, stage, status, build_id, evidence_json, evidence_aligned, evidence_proven,
		evidence_rule, canonical_key,
		project, user, agent, session_id, stream, event_id, created_at, version)`, entries)
	if err != nil {
		return err
	}
	return clickhouse.Insert(ctx, p.conn, `entry_changes_raw (`+changeColumns+`)`, changes)
}

func entryRow(event schema.Event) ([]any, error) {
	e, err := schema.Decode[schema.EntryMaterializedPayload](event)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(contentOf(e.Entry))
	if err != nil {
		return nil, fmt.Errorf("encode entry %q: %w", e.ID, err)
	}
	evidence, err := json.Marshal(e.Evidence)
	if err != nil {
		return nil, fmt.Errorf("encode entry %q: %w", e.ID, err)
	}
	return []any{
		e.ID, e.OccurredAt, string(e.Type), e.Title, string(content), string(e.Stage),
		string(e.Status), event.BuildID, string(evidence), e.EvidenceAligned, e.EvidenceProven,
		uint32(e.EvidenceRule), e.CanonicalKey,
		e.Project, e.User, e.Agent, e.SessionID, event.Stream, event.ID, event.TS, event.Seq,
	}, nil
}

// Version counts the changes in the content of the rows.
func (*Projector) Version() uint32 { return 5 }

// Tables are the tables of entries and of their changes.
func (*Projector) Tables() []projection.Table {
	return []projection.Table{{Name: "entries_raw"}, {Name: "entry_changes_raw"}}
}

// content is the part of an entry that has no column of its own.
type content struct {
	Content    string                `json:"content,omitempty"`
	Category   string                `json:"category,omitempty"`
	Confidence *float64              `json:"confidence,omitempty"`
	Task       *schema.ExtractedTask `json:"task,omitempty"`
	Corrects   string                `json:"corrects,omitempty"`
	// Section and SourceError are as in [schema.ExtractedEntry].
	Section     string `json:"section,omitempty"`
	SourceError string `json:"source_error,omitempty"`
}

func contentOf(e schema.Entry) content {
	return content{
		Content: e.Content, Category: e.Category, Confidence: e.Confidence, Task: e.Task, Corrects: e.Corrects,
		Section: e.Section, SourceError: e.SourceError,
	}
}
