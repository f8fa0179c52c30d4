package entry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// Projector writes the rows of entries.
type Projector struct{ conn driver.Conn }

// NewProjector returns the projector over the connection.
func NewProjector(conn driver.Conn) *Projector { return &Projector{conn: conn} }

// Name is that of the projector's offsets.
func (*Projector) Name() string { return "entries" }

// Types are those of the events that make entries.
func (*Projector) Types() []string { return []string{schema.EntryMaterialized} }

// StreamPrefix is that of the streams the events stand in.
func (*Projector) StreamPrefix() string { return schema.SessionPrefix }

// Apply writes one row for each event.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	rows := make([][]any, len(events))
	for i, event := range events {
		var e schema.Entry
		if err := json.Unmarshal(event.Payload, &e); err != nil {
			return fmt.Errorf("decode event %q: %w", event.ID, err)
		}
		content, err := json.Marshal(contentOf(e))
		if err != nil {
			return fmt.Errorf("encode entry %q: %w", e.ID, err)
		}
		evidence, err := json.Marshal(e.Evidence)
		if err != nil {
			return fmt.Errorf("encode entry %q: %w", e.ID, err)
		}
		rows[i] = []any{
			e.ID, e.OccurredAt, string(e.Type), e.Title, string(content), string(e.Stage),
			string(e.Status), "", event.BuildID, string(evidence), e.EvidenceAligned, e.CanonicalKey,
			e.Project, e.User, e.Agent, e.SessionID, event.Stream, event.ID, event.TS, event.Seq,
		}
	}
	return table.Insert(ctx, p.conn, `entries_raw (entry_id, created_ts, entry_type, title,
		content_json, stage, status, superseded_by, build_id, evidence_json, evidence_aligned, canonical_key,
		project, user, agent, session_id, stream, event_id, created_at, version)`, rows)
}

// Reset drops every row.
func (p *Projector) Reset(ctx context.Context) error {
	return table.Empty(ctx, p.conn, "entries_raw")
}

// content is what of an entry has no column of its own.
type content struct {
	Content    string                `json:"content,omitempty"`
	Category   string                `json:"category,omitempty"`
	Confidence *float64              `json:"confidence,omitempty"`
	Task       *schema.ExtractedTask `json:"task,omitempty"`
}

func contentOf(e schema.Entry) content {
	return content{Content: e.Content, Category: e.Category, Confidence: e.Confidence, Task: e.Task}
}
