package tier

import (
	"context"
	"encoding/json"
	"fmt"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Projector writes the tables of tiers. Every row is a function of one event, so the rows do not depend on how the events
// are split into pages.
type Projector struct{ conn clickhouse.Conn }

// NewProjector returns the projector over the tables of a migrated database.
func NewProjector(conn clickhouse.Conn) *Projector { return &Projector{conn} }

// Name implements projection.Projector.
func (p *Projector) Name() string { return "tiers" }

// Version implements projection.Projector.
func (p *Projector) Version() uint32 { return 1 }

// Types implements projection.Projector.
func (p *Projector) Types() []string { return schema.EventTypesOf[schema.TierChange]() }

// StreamPrefix implements projection.Projector.
func (p *Projector) StreamPrefix() string { return schema.MemoryPrefix }

// Tables implements projection.Projector.
func (p *Projector) Tables() []projection.Table {
	return []projection.Table{{Name: "records_raw"}, {Name: "core_versions_raw"}, {Name: "dreams_raw"}}
}

const recordColumns = `records_raw (user, agent, kind, date, seq, event_id, ts, actor, edited, text, text_sha256, text_bytes,
	read_sha256, reason, clock, project, session_id, build_id, first_message, last_message, summarizer, left_out_json)`

const versionColumns = `core_versions_raw (user, agent, version, seq, event_id, ts, actor, request_id, parent, origin, reason,
	text, read_sha256, items_json, diff, dropped_json, dream, restored)`

const finishedColumns = `dreams_raw (user, agent, ordinal, seq, event_id, ts, date, status, reason, parent, version, diary,
	days, day_hashes, gathered, model, responses, carried, left_out, dropped_json, usage_json)`

// Apply implements projection.Projector.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	var rows tierRows
	for _, e := range events {
		if err := rows.add(e); err != nil {
			return err
		}
	}
	if err := clickhouse.Insert(ctx, p.conn, recordColumns, rows.records); err != nil {
		return err
	}
	if err := clickhouse.Insert(ctx, p.conn, versionColumns, rows.versions); err != nil {
		return err
	}
	return clickhouse.Insert(ctx, p.conn, finishedColumns, rows.dreams)
}

// tierRows are the rows of a list of events.
type tierRows struct{ records, versions, dreams [][]any }

func (r *tierRows) add(e schema.Event) error {
	user, agent, err := schema.ParseMemoryStream(e.Stream)
	if err != nil {
		return err
	}
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return err
	}
	m := memoryEvent{e, user, agent}
	switch x := payload.(type) {
	case schema.ContextFlushedPayload:
		r.records = append(r.records, m.flush(x))
	case schema.RecordEditedPayload:
		r.records = append(r.records, m.whole(x.Kind, x.Date, x.Text, true, x.Read))
	case schema.CoreCommittedPayload:
		r.versions = append(r.versions, m.version(x))
	case schema.DreamFinishedPayload:
		r.dreams = append(r.dreams, m.dream(x))
		if x.Diary != "" {
			r.records = append(r.records, m.whole(schema.RecordDiary, x.Date, x.Diary, false, ""))
		}
	default:
		return fmt.Errorf("project event %q: a %T changes no tier", e.ID, payload)
	}
	return nil
}

// memoryEvent is an event of a memory's stream.
type memoryEvent struct {
	schema.Event
	user, agent string
}

func (m memoryEvent) flush(p schema.ContextFlushedPayload) []any {
	return []any{
		m.user, m.agent, string(schema.RecordDaily), p.Date, m.Seq, m.ID, m.TS, m.Actor, false,
		p.Text, schema.HashText(p.Text), uint64(len(p.Text)), "", string(p.Reason), p.Clock,
		p.Project, p.SessionID, p.BuildID, int64(p.First), int64(p.Last), p.Summarizer, encodeList(p.LeftOut),
	}
}

func (m memoryEvent) whole(kind schema.RecordKind, date, text string, edited bool, read string) []any {
	return []any{
		m.user, m.agent, string(kind), date, m.Seq, m.ID, m.TS, m.Actor, edited,
		text, schema.HashText(text), uint64(len(text)), read, "", "", "", "", "", int64(0), int64(0), "", "[]",
	}
}

func (m memoryEvent) version(p schema.CoreCommittedPayload) []any {
	return []any{
		m.user, m.agent, uint32(p.Version), m.Seq, m.ID, m.TS, m.Actor, p.RequestID, uint32(p.Parent), string(p.Origin), p.Reason,
		p.Text, p.Read, encodeList(p.Items), p.Diff, encodeList(p.Dropped), uint32(p.Dream), uint32(p.Restored),
	}
}

func (m memoryEvent) dream(p schema.DreamFinishedPayload) []any {
	days, hashes := make([]string, len(p.Days)), make([]string, len(p.Days))
	for i, d := range p.Days {
		days[i], hashes[i] = d.Date, d.Hash
	}
	return []any{
		m.user, m.agent, uint32(p.Ordinal), m.Seq, m.ID, m.TS, p.Date, string(p.Status), p.Reason, uint32(p.Parent),
		uint32(p.Version), p.Diary, days, hashes, p.Gathered, p.Model, append([]string{}, p.Responses...), uint32(p.Carried),
		uint32(p.LeftOut), encodeList(p.Dropped), encode(p.Usage),
	}
}

// encodeList returns a list as JSON, [] for none.
func encodeList[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	return encode(list)
}

// encode returns a part of a payload as JSON. It was decoded from JSON, so it can't fail.
func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
