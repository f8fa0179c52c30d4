package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/activities/table"
	"axiommind/schema"
)

// Projector writes the rows of build_runs and pipeline_metrics. A row is made from both events of its build. If they
// are in different batches, the start is read from the row that the first batch wrote.
type Projector struct{ conn driver.Conn }

// NewProjector returns a projector that writes through the connection.
func NewProjector(conn driver.Conn) *Projector { return &Projector{conn: conn} }

// Name returns the key of the projector's offsets.
func (*Projector) Name() string { return "builds" }

// Types returns the types of the events that start and end builds.
func (*Projector) Types() []string { return []string{schema.BuildStarted, schema.BuildFinished} }

// StreamPrefix returns the prefix of session streams.
func (*Projector) StreamPrefix() string { return schema.SessionPrefix }

type run struct {
	started  schema.BuildStartedPayload
	at       time.Time
	finished *schema.BuildFinishedPayload
	ended    time.Time
	version  uint64
}

// Apply writes one row for each build in the events, and one for each of its steps.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	var order []string
	runs := map[string]*run{}
	for _, event := range events {
		r := runs[event.BuildID]
		if r == nil {
			r = &run{}
			if event.Type == schema.BuildFinished {
				var err error
				if r, err = p.load(ctx, event.BuildID); err != nil {
					return err
				}
			}
			runs[event.BuildID] = r
			order = append(order, event.BuildID)
		}
		r.version = event.Seq
		var err error
		if event.Type == schema.BuildStarted {
			r.at = event.TS
			r.started, err = schema.Decode[schema.BuildStartedPayload](event)
		} else {
			r.ended = event.TS
			r.finished, err = decodeFinished(event)
		}
		if err != nil {
			return err
		}
	}
	list := make([]*run, len(order))
	for i, id := range order {
		list[i] = runs[id]
	}
	if err := p.writeRuns(ctx, list); err != nil {
		return err
	}
	return p.writeMetrics(ctx, list)
}

// load reads the start of a build from the row that an earlier batch wrote.
func (p *Projector) load(ctx context.Context, buildID string) (*run, error) {
	r := &run{}
	var source string
	var ordinal uint32
	row := p.conn.QueryRow(ctx, `SELECT session_id, ordinal, project, user, agent, started_at, extractor_model,
		extractor_prompt_hash, embedder_model, embedding_version, idris_version, schema_version, source_json
		FROM build_runs WHERE build_id = ?`, buildID)
	s := &r.started
	err := row.Scan(&s.SessionID, &ordinal, &s.Project, &s.User, &s.Agent, &r.at, &s.Spec.Extractor.Model, &s.Spec.Extractor.PromptHash,
		&s.Spec.EmbedderModel, &s.Spec.EmbeddingVersion, &s.Spec.IdrisVersion, &s.Spec.SchemaVersion, &source)
	if err == nil {
		err = json.Unmarshal([]byte(source), &s.Source)
	}
	if err != nil {
		return nil, fmt.Errorf("read build %q: %w", buildID, err)
	}
	s.BuildID, s.Ordinal = buildID, int(ordinal)
	s.Spec.Extractor.Provider, s.Spec.Extractor.Model, _ = strings.Cut(s.Spec.Extractor.Model, "/")
	return r, nil
}

func (p *Projector) writeRuns(ctx context.Context, runs []*run) error {
	rows := make([][]any, len(runs))
	for i, r := range runs {
		finished, end := schema.BuildFinishedPayload{Status: schema.BuildRunning}, (*time.Time)(nil)
		if r.finished != nil {
			finished, end = *r.finished, &r.ended
		}
		source, err1 := json.Marshal(r.started.Source)
		counts, err2 := json.Marshal(finished.Counts)
		usage, err3 := json.Marshal(finished.Usage)
		if err := errors.Join(err1, err2, err3); err != nil {
			return fmt.Errorf("encode build %q: %w", r.started.BuildID, err)
		}
		s, spec := r.started, r.started.Spec
		rows[i] = []any{
			s.BuildID, s.SessionID, uint32(s.Ordinal), s.Project, s.User, s.Agent, r.at, end,
			spec.Extractor.Provider + "/" + spec.Extractor.Model, spec.Extractor.PromptHash, spec.EmbedderModel, spec.EmbeddingVersion,
			spec.IdrisVersion, spec.SchemaVersion, string(finished.Status), finished.FailedStep, finished.Error,
			string(source), string(counts), string(usage), r.version,
		}
	}
	return table.Insert(ctx, p.conn, `build_runs_raw (build_id, session_id, ordinal, project, user, agent,
		started_at, finished_at, extractor_model, extractor_prompt_hash, embedder_model, embedding_version,
		idris_version, schema_version, status, failed_step, error, source_json, counts_json, usage_json, version)`, rows)
}

func (p *Projector) writeMetrics(ctx context.Context, runs []*run) error {
	var rows [][]any
	for _, r := range runs {
		if r.finished == nil {
			continue
		}
		for _, m := range r.finished.Metrics {
			rows = append(rows, []any{
				schema.DerivedID("metric", r.started.BuildID, m.Step), m.StartedAt, m.Step, m.LatencyMS,
				m.Success, m.Error, r.started.SessionID, r.started.BuildID,
			})
		}
	}
	return table.Insert(ctx, p.conn, `pipeline_metrics_raw (id, ts, stage, latency_ms, success, error, session_id, build_id)`, rows)
}

// Version is increased whenever the content of the rows changes.
func (*Projector) Version() uint32 { return 1 }

// Tables returns the tables of builds and of their steps.
func (*Projector) Tables() []eventlog.Table {
	return []eventlog.Table{{Name: "build_runs_raw"}, {Name: "pipeline_metrics_raw"}}
}
