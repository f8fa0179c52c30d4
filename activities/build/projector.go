package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Projector writes the rows of build_runs: one for each event, which the table merges into one for each build.
type Projector struct{ conn driver.Conn }

// NewProjector returns a projector that writes through the connection.
func NewProjector(conn driver.Conn) *Projector { return &Projector{conn: conn} }

// Name returns the key of the projector's offsets.
func (*Projector) Name() string { return "builds" }

// Types returns the types of the events that start and end builds.
func (*Projector) Types() []string { return []string{schema.BuildStarted, schema.BuildFinished} }

// StreamPrefix returns the prefix of session streams.
func (*Projector) StreamPrefix() string { return schema.SessionPrefix }

// Apply writes one row for each event.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	rows := make([][]any, len(events))
	for i, event := range events {
		row, err := rowOf(event)
		if err != nil {
			return err
		}
		rows[i] = row.values()
	}
	return clickhouse.Insert(ctx, p.conn, `build_runs_raw (build_id, session_id, ordinal, project, user, agent,
		started_at, finished_at, extractor_model, extractor_prompt_hash, embedder_model, embedding_version,
		idris_version, schema_version, status, failed_step, error, error_type, source_json, counts_json, usage_json, metrics_json)`, rows)
}

// row is the part of a build's row that one event contains.
type row struct {
	started    schema.BuildStartedPayload
	finished   schema.BuildFinishedPayload
	startedAt  time.Time
	finishedAt *time.Time

	source, counts, usage, metrics string
}

// unknown is the time of the start in a row for the end. It is before every start.
var unknown = time.Unix(0, 0).UTC()

func rowOf(event schema.Event) (row, error) {
	r := row{startedAt: unknown}
	var err error
	if event.Type == schema.BuildStarted {
		if r.started, err = schema.Decode[schema.BuildStartedPayload](event); err != nil {
			return row{}, err
		}
		r.startedAt = event.TS
		return r, encode(event, &r.source, r.started.Source)
	}
	finished, err := decodeFinished(event)
	if err != nil {
		return row{}, err
	}
	r.finished, r.finishedAt = *finished, &event.TS
	r.started.BuildID, r.started.SessionID, r.started.Project = finished.BuildID, finished.SessionID, event.Project
	return r, errors.Join(encode(event, &r.counts, finished.Counts), encode(event, &r.usage, finished.Usage),
		encode(event, &r.metrics, finished.Metrics))
}

func encode(event schema.Event, into *string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode build %q: %w", event.BuildID, err)
	}
	*into = string(raw)
	return nil
}

func (r row) values() []any {
	s, spec, finished := r.started, r.started.Spec, r.finished
	return []any{
		s.BuildID, s.SessionID, uint32(s.Ordinal), s.Project, s.User, s.Agent, r.startedAt, r.finishedAt,
		modelOf(spec.Extractor), spec.Extractor.PromptHash, spec.EmbedderModel, spec.EmbeddingVersion,
		spec.IdrisVersion, spec.SchemaVersion, string(finished.Status), finished.FailedStep, finished.Error, finished.ErrorType,
		r.source, r.counts, r.usage, r.metrics,
	}
}

func modelOf(x schema.Extractor) string {
	if x.Model == "" {
		return ""
	}
	return x.Provider + "/" + x.Model
}

// Version is increased whenever the content of the rows changes.
func (*Projector) Version() uint32 { return 3 }

// Tables returns the table of builds.
func (*Projector) Tables() []projection.Table {
	return []projection.Table{{Name: "build_runs_raw"}}
}
