package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// ErrNotFound is returned if no build has the id.
var ErrNotFound = errors.New("no such build")

// Run is a row of build_runs.
type Run struct {
	BuildID string `json:"build_id"`
	schema.SessionKey
	Ordinal             uint32             `json:"ordinal"`
	StartedAt           time.Time          `json:"started_at"`
	FinishedAt          *time.Time         `json:"finished_at,omitempty"`
	ExtractorModel      string             `json:"extractor_model"`
	ExtractorPromptHash string             `json:"extractor_prompt_hash"`
	EmbedderModel       string             `json:"embedder_model"`
	EmbeddingVersion    string             `json:"embedding_version"`
	IdrisVersion        string             `json:"idris_version"`
	SchemaVersion       string             `json:"schema_version"`
	Status              schema.BuildStatus `json:"status"`
	FailedStep          string             `json:"failed_step,omitempty"`
	Error               string             `json:"error,omitempty"`
	Source              schema.Source      `json:"source"`
	Counts              schema.BuildCounts `json:"counts"`
	Usage               schema.Usage       `json:"usage"`
}

// Detail is a build with its steps and problems.
type Detail struct {
	Run
	Metrics  []schema.StepMetric `json:"metrics"`
	Problems []Problem           `json:"problems"`
}

// Filter selects the builds to list. Empty fields do not filter.
type Filter struct {
	Project, User, Agent, SessionID string
	Status                          schema.BuildStatus
	// Limit is the maximum number of builds, after skipping the latest Offset builds.
	Limit, Offset int
}

const whereIDs = "as builds list prints it"

// List returns the builds, the latest first.
func List(ctx context.Context, conn driver.Conn, f Filter) ([]Run, error) {
	where, args := f.where()
	return readRuns(ctx, conn, fmt.Sprintf("%s ORDER BY started_at DESC, build_id LIMIT %d OFFSET %d",
		strings.Join(where, " AND "), f.Limit, f.Offset), args...)
}

// where returns the filter's conditions and their arguments.
func (f Filter) where() (conditions []string, args []any) {
	conditions = []string{"1"}
	for _, c := range []struct{ column, value string }{
		{"project", f.Project}, {"user", f.User}, {"agent", f.Agent}, {"session_id", f.SessionID}, {"status", string(f.Status)},
	} {
		if c.value != "" {
			conditions, args = append(conditions, c.column+" = ?"), append(args, c.value)
		}
	}
	return conditions, args
}

// Show returns the build with the id, or [ErrNotFound]. A prefix of the id will do. If several ids begin with it, the
// error is [table.ErrAmbiguous].
func Show(ctx context.Context, conn driver.Conn, id string) (Detail, error) {
	named := table.Prefix{What: "build", Given: id, NotFound: ErrNotFound}
	if !named.Long() {
		return Detail{}, named.Missing(whereIDs)
	}
	runs, err := readRuns(ctx, conn, "startsWith(build_id, ?) ORDER BY build_id LIMIT ?", named.Text(), table.MostPrefixed)
	if err != nil {
		return Detail{}, err
	}
	if len(runs) == 0 {
		return Detail{}, named.Missing(whereIDs)
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.BuildID
	}
	picked, err := named.Pick(ids)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Run: runs[slices.Index(ids, picked)]}
	if d.Metrics, err = readMetrics(ctx, conn, d.BuildID); err != nil {
		return Detail{}, err
	}
	d.Problems, err = readProblems(ctx, conn, d.Run)
	return d, err
}

func readRuns(ctx context.Context, conn driver.Conn, where string, args ...any) ([]Run, error) {
	out := []Run{}
	err := table.Query(ctx, conn, func(rows driver.Rows) error {
		var r Run
		var status, source, counts, usage string
		if err := rows.Scan(&r.BuildID, &r.SessionID, &r.Ordinal, &r.Project, &r.User, &r.Agent, &r.StartedAt, &r.FinishedAt,
			&r.ExtractorModel, &r.ExtractorPromptHash, &r.EmbedderModel, &r.EmbeddingVersion, &r.IdrisVersion,
			&r.SchemaVersion, &status, &r.FailedStep, &r.Error, &source, &counts, &usage); err != nil {
			return err
		}
		r.Status = schema.BuildStatus(status)
		if err := errors.Join(json.Unmarshal([]byte(source), &r.Source), json.Unmarshal([]byte(counts), &r.Counts),
			json.Unmarshal([]byte(usage), &r.Usage)); err != nil {
			return fmt.Errorf("decode build %q: %w", r.BuildID, err)
		}
		out = append(out, r)
		return nil
	}, `SELECT build_id, session_id, ordinal, project, user, agent, started_at, finished_at,
		extractor_model, extractor_prompt_hash, embedder_model, embedding_version, idris_version, schema_version,
		status, failed_step, error, source_json, counts_json, usage_json FROM build_runs WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read builds: %w", err)
	}
	return out, nil
}

// readMetrics returns the steps of the build in the order of their start.
func readMetrics(ctx context.Context, conn driver.Conn, buildID string) ([]schema.StepMetric, error) {
	out := []schema.StepMetric{}
	err := table.Query(ctx, conn, func(rows driver.Rows) error {
		var m schema.StepMetric
		if err := rows.Scan(&m.Step, &m.StartedAt, &m.LatencyMS, &m.Success, &m.Error); err != nil {
			return err
		}
		out = append(out, m)
		return nil
	}, `SELECT stage, ts, latency_ms, success, error FROM pipeline_metrics
		WHERE build_id = ? ORDER BY ts, id`, buildID)
	if err != nil {
		return nil, fmt.Errorf("read metrics of build %q: %w", buildID, err)
	}
	return out, nil
}
