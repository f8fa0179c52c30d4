package entry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/activities/table"
	"axiommind/schema"
)

// Projector writes the rows of entries, of their evidence and of their status.
type Projector struct{ conn driver.Conn }

// NewProjector returns the projector over the connection.
func NewProjector(conn driver.Conn) *Projector { return &Projector{conn: conn} }

// Name is that of the projector's offsets.
func (*Projector) Name() string { return "entries" }

// Types are those of the events that make entries, judge their evidence and set their status.
func (*Projector) Types() []string {
	return []string{schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet}
}

// StreamPrefix is that of the streams the events stand in.
func (*Projector) StreamPrefix() string { return schema.SessionPrefix }

// Apply writes one row for each event.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	var entries, changes [][]any
	for _, event := range events {
		var row []any
		var err error
		switch event.Type {
		case schema.EntryEvidenceSet:
			row, err = judgementRow(event)
			changes = append(changes, row)
		case schema.EntryStatusSet:
			row, err = statusRow(event)
			changes = append(changes, row)
		default:
			row, err = entryRow(event)
			entries = append(entries, row)
		}
		if err != nil {
			return err
		}
	}
	err := table.Insert(ctx, p.conn, `entries_raw (entry_id, created_ts, entry_type, title,
		content_json, stage, status, build_id, evidence_json, evidence_aligned, evidence_proven,
		evidence_rule, canonical_key,
		project, user, agent, session_id, stream, event_id, created_at, version)`, entries)
	if err != nil {
		return err
	}
	return table.Insert(ctx, p.conn, `entry_changes_raw (project, entry_id, extracted_event_id, extracted_index, own,
		evidence_json, evidence_aligned, evidence_proven, evidence_rule, status, superseded_by,
		user, agent, session_id, stream, event_id, created_at, version)`, changes)
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

// judgementRow takes whose the evidence is from the stream alone, which no payload can gainsay.
func judgementRow(event schema.Event) ([]any, error) {
	p, err := schema.Decode[schema.EntryEvidenceSetPayload](event)
	if err != nil {
		return nil, err
	}
	session, err := schema.ParseSessionStream(event.Stream)
	if err != nil {
		return nil, fmt.Errorf("read event %q: %w", event.ID, err)
	}
	evidence, err := json.Marshal(p.Evidence)
	if err != nil {
		return nil, fmt.Errorf("encode evidence of entry %q: %w", p.EntryID, err)
	}
	return []any{
		session.Project, p.EntryID, p.ExtractedEventID, uint32(p.Index), p.Own,
		string(evidence), p.EvidenceAligned, p.EvidenceProven, uint32(p.Rule), "", "",
		session.User, session.Agent, session.SessionID, event.Stream, event.ID, event.TS, event.Seq,
	}, nil
}

// statusRow has no origin. It, too, takes whose the entry is from the stream alone.
func statusRow(event schema.Event) ([]any, error) {
	p, err := schema.Decode[schema.EntryStatusSetPayload](event)
	if err != nil {
		return nil, err
	}
	session, err := schema.ParseSessionStream(event.Stream)
	if err != nil {
		return nil, fmt.Errorf("read event %q: %w", event.ID, err)
	}
	return []any{
		session.Project, p.EntryID, "", uint32(0), false, "", false, false, uint32(0), string(p.Status), p.SupersededBy,
		session.User, session.Agent, session.SessionID, event.Stream, event.ID, event.TS, event.Seq,
	}, nil
}

// Version counts the changes of what the rows say.
func (*Projector) Version() uint32 { return 2 }

// Tables are those of the entries and of what was said of them since.
func (*Projector) Tables() []eventlog.Table {
	return []eventlog.Table{{Name: "entries_raw"}, {Name: "entry_changes_raw"}}
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
