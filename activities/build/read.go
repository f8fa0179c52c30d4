package build

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
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
	// ErrorType is one of the schema's Error constants, and Class its class. Both are empty unless the build failed.
	ErrorType string              `json:"error_type,omitempty"`
	Class     schema.FailureClass `json:"class,omitempty"`
	Source    schema.Source       `json:"source"`
	Counts    schema.BuildCounts  `json:"counts"`
	Usage     schema.Usage        `json:"usage"`
}

// Detail is a build with its steps and problems.
type Detail struct {
	Run
	// Resumed is the build that this one went on with, and Unread why it could not read its source again.
	Resumed *schema.ResumedBuild `json:"resumed,omitempty"`
	Unread  string               `json:"unread,omitempty"`
	// Redacted counts the texts removed from the messages before they were stored, by rule.
	Redacted map[string]int `json:"redacted,omitempty"`
	// Hint is the remedy for a failure. Retry is the command that retries the build, and NoRetry the reason why no retry
	// would help. See [Detail.Advise].
	Hint     string              `json:"hint,omitempty"`
	Retry    string              `json:"retry,omitempty"`
	NoRetry  string              `json:"no_retry,omitempty"`
	Metrics  []schema.StepMetric `json:"metrics"`
	Problems []Problem           `json:"problems"`
}

// Advise sets the remedy for the build. It can tell an interrupted build from a running one if running is not nil.
func (d *Detail) Advise(ctx context.Context, conn driver.Conn, running Running) error {
	selection := Selection{Conn: conn, Running: running, By: schema.RetryBuildsInput{Builds: []string{d.BuildID}}, At: time.Now()}
	for c, err := range selection.Each(ctx, "") {
		if err != nil {
			return err
		}
		d.Run, d.NoRetry = c.Run, c.LeftAlone
	}
	if d.ErrorType != "" {
		d.Hint = Hint(d.ErrorType)
	}
	if d.NoRetry == "" {
		d.Retry = Command("builds", "retry", d.BuildID)
	}
	return nil
}

// Filter selects the builds to list. Without All, the project and the user are required; other empty fields do not filter.
type Filter struct {
	Project, User, Agent, SessionID string
	// All lists the builds of all projects and users, or of the named ones. It is for upkeep.
	All bool
	// Status may be [StatusInterrupted]. Failed builds include interrupted ones.
	Status schema.BuildStatus
	// Class selects failed builds by their remedy, and Since those that started then or later.
	Class schema.FailureClass
	Since time.Time
	// Running distinguishes interrupted builds from running ones. Without it, all of them count as running.
	Running Running
	// Limit is the maximum number of builds, after skipping the latest Offset builds.
	Limit, Offset int

	// interrupted are the ids of the interrupted builds.
	interrupted []string
}

const whereIDs = "as builds list prints it"

// List returns the builds, the latest first.
func List(ctx context.Context, conn driver.Conn, f Filter) ([]Run, error) {
	interrupted, err := f.findInterrupted(ctx, conn)
	if err != nil {
		return nil, err
	}
	where, args, err := f.where()
	if err != nil {
		return nil, err
	}
	// The wide columns are read of the page alone.
	runs, err := readRuns(ctx, conn, fmt.Sprintf(`build_id IN (SELECT build_id FROM build_runs WHERE %s
		ORDER BY started_at DESC, build_id LIMIT %d OFFSET %d) ORDER BY started_at DESC, build_id`,
		strings.Join(where, " AND "), f.Limit, f.Offset), args...)
	if err != nil || f.Running == nil {
		return runs, err
	}
	if !f.filtersInterrupted() {
		return runs, MarkInterrupted(ctx, conn, f.Running, runs)
	}
	for i, r := range runs {
		if gone, ok := interrupted[r.BuildID]; ok && r.Status == schema.BuildRunning {
			runs[i] = gone
		}
	}
	return runs, nil
}

// filtersInterrupted reports whether the filter takes interrupted builds and not running ones, or the other way round.
func (f Filter) filtersInterrupted() bool {
	return f.Running != nil && (f.Class != "" || slices.Contains([]schema.BuildStatus{schema.BuildRunning, schema.BuildFailed, StatusInterrupted}, f.Status))
}

// findInterrupted finds the interrupted builds if the filter must know them.
func (f *Filter) findInterrupted(ctx context.Context, conn driver.Conn) (map[string]Run, error) {
	out := map[string]Run{}
	if !f.filtersInterrupted() {
		return out, nil
	}
	unended := *f
	unended.Status, unended.Class = schema.BuildRunning, ""
	where, args, err := unended.where()
	if err != nil {
		return nil, err
	}
	runs, err := readRuns(ctx, conn, strings.Join(where, " AND "), args...)
	if err != nil {
		return nil, err
	}
	if err := MarkInterrupted(ctx, conn, f.Running, runs); err != nil {
		return nil, err
	}
	for _, r := range runs {
		if r.Status == StatusInterrupted {
			out[r.BuildID], f.interrupted = r, append(f.interrupted, r.BuildID)
		}
	}
	return out, nil
}

// where returns the filter's conditions and their arguments.
func (f Filter) where() (conditions []string, args []any, err error) {
	if !f.All {
		if err := cmp.Or(clickhouse.Required("project", f.Project), clickhouse.Required("user", f.User)); err != nil {
			return nil, nil, fmt.Errorf("read builds: %w", err)
		}
	}
	conditions = []string{"1"}
	add := func(condition string, of ...any) {
		conditions, args = append(conditions, condition), append(args, of...)
	}
	for _, c := range []struct{ column, value string }{
		{"project", f.Project}, {"user", f.User}, {"agent", f.Agent}, {"session_id", f.SessionID},
	} {
		if c.value != "" {
			add(c.column+" = ?", c.value)
		}
	}
	if f.Status != "" {
		condition, of := f.whereStatus()
		add(condition, of...)
	}
	if !f.Since.IsZero() {
		add("started_at >= "+sqlTime, f.Since.UnixMicro())
	}
	if f.Class == "" {
		return conditions, args, nil
	}
	condition, types := ofClass(f.Class)
	if f.Class == schema.ClassOf(schema.ErrorInterrupted) {
		add("(status = ? AND "+condition+" OR "+isInterrupted+")", string(schema.BuildFailed), types, f.interrupted)
	} else {
		add("status = ? AND "+condition, string(schema.BuildFailed), types)
	}
	return conditions, args, nil
}

// whereAfter is where for the sessions after the cursor, which is a stream of a session, or empty for the first.
func (f Filter) whereAfter(cursor string) (conditions []string, args []any, err error) {
	conditions, args, err = f.where()
	if err != nil || cursor == "" {
		return conditions, args, err
	}
	key, err := schema.ParseSessionStream(cursor)
	if err != nil {
		return nil, nil, fmt.Errorf("cursor: %w", err)
	}
	return append(conditions, "(project, user, agent, session_id) > (?, ?, ?, ?)"),
		append(args, key.Project, key.User, key.Agent, key.SessionID), nil
}

// sqlTime is the time that is given in microseconds.
const sqlTime = "fromUnixTimestamp64Micro(?, 'UTC')"

const isInterrupted = "has(?, build_id)"

// whereStatus returns the condition for the filter's status, and its arguments.
func (f Filter) whereStatus() (condition string, args []any) {
	switch f.Status {
	case "":
		return "1", nil
	case schema.BuildFailed:
		return "(status = ? OR " + isInterrupted + ")", []any{string(f.Status), f.interrupted}
	case schema.BuildRunning:
		return "status = ? AND NOT " + isInterrupted, []any{string(f.Status), f.interrupted}
	case StatusInterrupted:
		return isInterrupted, []any{f.interrupted}
	}
	return "status = ?", []any{string(f.Status)}
}

// ofClass returns the condition for failures of the class, and its argument.
func ofClass(class schema.FailureClass) (condition string, types []string) {
	if class != schema.FailureBug {
		return "error_type IN ?", schema.FailureTypes(class)
	}
	for _, other := range schema.FailureClasses() {
		if other != class {
			types = append(types, schema.FailureTypes(other)...)
		}
	}
	return "error_type NOT IN ?", types
}

// Show returns the build with the id, or [ErrNotFound]. A prefix of the id will do. If several ids begin with it, the
// error is [clickhouse.ErrAmbiguous].
func Show(ctx context.Context, conn driver.Conn, id string) (Detail, error) {
	run, err := Find(ctx, conn, id)
	if err != nil {
		return Detail{}, err
	}
	return Describe(ctx, conn, run)
}

// Describe returns the build with its steps and problems.
func Describe(ctx context.Context, conn driver.Conn, run Run) (Detail, error) {
	d := Detail{Run: run}
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		d.Metrics, err = readMetrics(ctx, conn, run)
		return err
	})
	reads.Go(func() error { return d.readProblems(ctx, conn) })
	err := reads.Wait()
	return d, err
}

// Find returns the build with the id, or with the only id that begins so, as [Show] does.
func Find(ctx context.Context, conn driver.Conn, id string) (Run, error) {
	named := clickhouse.Prefix{What: "build", Given: id, NotFound: ErrNotFound}
	if !named.Long() {
		return Run{}, named.Missing(whereIDs)
	}
	runs, err := readRuns(ctx, conn, "startsWith(build_id, ?) ORDER BY build_id LIMIT ?", named.Text(), clickhouse.MostPrefixed)
	if err != nil {
		return Run{}, err
	}
	if len(runs) == 0 {
		return Run{}, named.Missing(whereIDs)
	}
	return clickhouse.Choose(named, runs, func(r Run) string { return r.BuildID })
}

func readRuns(ctx context.Context, conn driver.Conn, where string, args ...any) ([]Run, error) {
	out := []Run{}
	err := clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, r *Run) error {
		var status, source, counts, usage string
		if err := rows.Scan(&r.BuildID, &r.SessionID, &r.Ordinal, &r.Project, &r.User, &r.Agent, &r.StartedAt, &r.FinishedAt,
			&r.ExtractorModel, &r.ExtractorPromptHash, &r.EmbedderModel, &r.EmbeddingVersion, &r.IdrisVersion,
			&r.SchemaVersion, &status, &r.FailedStep, &r.Error, &r.ErrorType, &source, &counts, &usage); err != nil {
			return err
		}
		if r.Status = schema.BuildStatus(status); r.Status == schema.BuildFailed {
			r.Class = schema.ClassOf(r.ErrorType)
		}
		if err := errors.Join(json.Unmarshal([]byte(source), &r.Source), json.Unmarshal([]byte(counts), &r.Counts),
			json.Unmarshal([]byte(usage), &r.Usage)); err != nil {
			return fmt.Errorf("decode build %q: %w", r.BuildID, err)
		}
		return nil
	}), `SELECT build_id, session_id, ordinal, project, user, agent, started_at, finished_at,
		extractor_model, extractor_prompt_hash, embedder_model, embedding_version, idris_version, schema_version,
		status, failed_step, error, error_type, source_json, counts_json, usage_json FROM build_runs WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read builds: %w", err)
	}
	return out, nil
}

// readMetrics returns the steps of the build in the order of their start. They are those of pipeline_metrics, which would read
// the events of all builds for the last one.
func readMetrics(ctx context.Context, conn driver.Conn, r Run) ([]schema.StepMetric, error) {
	out := []schema.StepMetric{}
	err := clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, m *schema.StepMetric) error {
		return rows.Scan(&m.Step, &m.StartedAt, &m.LatencyMS, &m.Success, &m.Error)
	}), `SELECT stage, ts, latency_ms, success, error FROM (
			SELECT step.1 AS stage, parseDateTime64BestEffort(step.2, 6, 'UTC') AS ts, step.3 AS latency_ms, step.4 AS success, step.5 AS error
			FROM build_runs_raw FINAL ARRAY JOIN JSONExtract(metrics_json,
				'Array(Tuple(step String, started_at String, latency_ms Float64, success Bool, error String))') AS step
			WHERE build_id = ?
			UNION ALL
			SELECT if(JSONExtractString(payload_json, 'status') = 'failed', 'fail_build', 'close_build'), ts,
				greatest(0, dateDiff('microsecond', ts, recorded_at) / 1000), true, ''
			FROM events WHERE stream = ? AND event_type = ? AND build_id = ?
		) ORDER BY ts, stage`, r.BuildID, r.Stream(), schema.BuildFinished, r.BuildID)
	if err != nil {
		return nil, fmt.Errorf("read metrics of build %q: %w", r.BuildID, err)
	}
	return out, nil
}
