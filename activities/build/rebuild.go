package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Rebuilds rebuilds projections into shadow tables and swaps them in.
type Rebuilds struct {
	conn             driver.Conn
	log              *projection.Store
	embeddingVersion string
}

// NewRebuilds returns the activities of rebuilds. The embedding version is the worker's.
func NewRebuilds(conn driver.Conn, log *projection.Store, embeddingVersion string) (*Rebuilds, error) {
	if conn == nil || log == nil || embeddingVersion == "" {
		return nil, errors.New("rebuild activities: no connection, no event log or no embedder")
	}
	return &Rebuilds{conn, log, embeddingVersion}, nil
}

// keepScratch is how long the tables of a rebuild stay that was terminated, and so did not drop them.
const keepScratch = time.Hour

// PrepareInput names the projections to rebuild: by their names or the part before the slash, or all. ID is the id of
// the rebuild, in digits.
type PrepareInput struct {
	ID    string   `json:"id"`
	Names []string `json:"names,omitempty"`
}

// PlannedProjection is a projection to rebuild, with the number of its events.
type PlannedProjection struct {
	Name   string `json:"name"`
	Events int    `json:"events"`
}

// RebuildPlan is the plan of a rebuild.
type RebuildPlan struct {
	Projections []PlannedProjection `json:"projections"`
	// Restored are the tables and views that were not there, and are now, empty.
	Restored []string `json:"restored,omitempty"`
}

// PrepareRebuild makes the shadow tables and the missing tables, and returns the plan. It drops the leftovers of
// terminated rebuilds.
func (a *Rebuilds) PrepareRebuild(ctx context.Context, in PrepareInput) (RebuildPlan, error) {
	return boundary.Run(ctx, in, a.prepare)
}

func (a *Rebuilds) prepare(ctx context.Context, in PrepareInput) (plan RebuildPlan, err error) {
	if err := a.check(ctx, in.Names); err != nil {
		return plan, err
	}
	if plan.Restored, err = clickhouse.RestoreTables(ctx, a.conn); err != nil {
		return plan, err
	}
	all, err := StoredProjections(ctx, a.conn, a.log, a.embeddingVersion)
	if err != nil {
		return plan, err
	}
	chosen, absent := Named(all, in.Names)
	if absent != "" {
		return plan, noProjection(absent, all)
	}
	chosen = projection.RebuildSet(all, chosen)
	sh, err := a.log.BeginShadow(ctx, in.ID, chosen...)
	if err != nil {
		return plan, err
	}
	defer func() { _ = sh.Close() }()
	if _, err := clickhouse.DropScratches(ctx, a.conn, clickhouse.PurposeRebuild, keepScratch); err != nil {
		return plan, err
	}
	standings, err := a.log.ProjectionStatuses(ctx, chosen...)
	if err != nil {
		return plan, err
	}
	for _, s := range standings {
		plan.Projections = append(plan.Projections, PlannedProjection{s.Name, int(s.Events)})
	}
	return plan, nil
}

// check refuses unknown names, and names without a projection whose missing table would come back empty.
func (a *Rebuilds) check(ctx context.Context, names []string) error {
	families := make([]string, len(names))
	for i, name := range names {
		families[i] = name
		if strings.HasPrefix(name, vector.OutboxPrefix) { // Which versions there are only the database knows.
			families[i] = strings.TrimSuffix(vector.OutboxPrefix, "/")
		}
	}
	configured := Projections(a.conn, a.embeddingVersion)
	if _, absent := Named(configured, families); absent != "" {
		return noProjection(absent, configured)
	}
	if _, err := clickhouse.Migrate(ctx, a.conn); err != nil {
		return err
	}
	missing, err := clickhouse.MissingTables(ctx, a.conn)
	if err != nil {
		return err
	}
	if table, projection := LeftOut(configured, missing, names); table != "" {
		return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
			"table %q of projection %q is not there: name that projection too, or none to rebuild all", table, projection))
	}
	return nil
}

func noProjection(name string, all []projection.Projector) error {
	known := make([]string, len(all))
	for i, p := range all {
		known[i] = p.Name()
	}
	return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("there is no projection %q; there are: %s", name, strings.Join(known, ", ")))
}

// projectors returns the named projectors over a connection.
func projectors(conn driver.Conn, names []string) ([]projection.Projector, error) {
	var versions []string
	for _, name := range names {
		if index, ok := strings.CutPrefix(name, vector.OutboxPrefix); ok {
			if version, _ := schema.SplitIndex(index); !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
	}
	var out []projection.Projector
	for _, p := range Projections(conn, versions...) {
		if slices.Contains(names, p.Name()) {
			out = append(out, p)
		}
	}
	if len(out) != len(names) {
		return nil, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("this worker lacks some of the projections %q: it runs other code than the one that began the rebuild", names))
	}
	return out, nil
}

// FillInput asks to make rows of a projection from the events after the place, for some time.
type FillInput struct {
	ID         string         `json:"id"`
	Projection string         `json:"projection"`
	After      eventlog.Place `json:"after,omitzero"`
	For        time.Duration  `json:"for"`
}

// FillResult is the progress of the rows.
type FillResult struct {
	After  eventlog.Place `json:"after"`
	Done   bool           `json:"done,omitempty"`
	Events int            `json:"events"`
}

// FillShadow fills the shadow tables of a projection.
func (a *Rebuilds) FillShadow(ctx context.Context, in FillInput) (FillResult, error) {
	return boundary.Run(ctx, in, a.fill)
}

func (a *Rebuilds) fill(ctx context.Context, in FillInput) (FillResult, error) {
	sh, err := a.log.OpenShadow(ctx, in.ID)
	if err != nil {
		return FillResult{}, err
	}
	defer func() { _ = sh.Close() }()
	ps, err := projectors(sh.Conn, []string{in.Projection})
	if err != nil {
		return FillResult{}, err
	}
	done, err := sh.Fill(ctx, ps[0], in.After, time.Now().Add(in.For), func(projection.Filled) {})
	return FillResult{done.Place, done.Done, done.Events}, err
}

// ShadowInput names a rebuild and its projections.
type ShadowInput struct {
	ID          string   `json:"id"`
	Projections []string `json:"projections"`
}

// CatchUpResult says how many events had come meanwhile.
type CatchUpResult struct {
	Events int `json:"events"`
}

// CatchUpShadow applies the events appended since the shadow was filled.
func (a *Rebuilds) CatchUpShadow(ctx context.Context, in ShadowInput) (CatchUpResult, error) {
	return boundary.Run(ctx, in, a.catchUp)
}

func (a *Rebuilds) catchUp(ctx context.Context, in ShadowInput) (out CatchUpResult, err error) {
	sh, err := a.log.OpenShadow(ctx, in.ID)
	if err != nil {
		return out, err
	}
	defer func() { _ = sh.Close() }()
	ps, err := projectors(sh.Conn, in.Projections)
	if err != nil {
		return out, err
	}
	for _, p := range ps {
		done, err := sh.CatchUp(ctx, p)
		if err != nil {
			return out, err
		}
		out.Events += done.Events
	}
	return out, nil
}

// SwitchInput asks to put the new tables in place, or, with DryRun, to leave those in use.
type SwitchInput struct {
	ShadowInput
	Compare bool `json:"compare,omitempty"`
	DryRun  bool `json:"dry_run,omitempty"`
}

// SwitchResult says how long writers waited.
type SwitchResult struct {
	Generation uint64        `json:"generation"`
	Waited     time.Duration `json:"waited"`
}

// SwitchShadow puts the new tables in place.
func (a *Rebuilds) SwitchShadow(ctx context.Context, in SwitchInput) (SwitchResult, error) {
	return boundary.Run(ctx, in, a.switchTables)
}

func (a *Rebuilds) switchTables(ctx context.Context, in SwitchInput) (SwitchResult, error) {
	sh, err := a.log.OpenShadow(ctx, in.ID)
	if err != nil {
		return SwitchResult{}, err
	}
	defer func() { _ = sh.Close() }()
	made, err := projectors(sh.Conn, in.Projections)
	if err != nil {
		return SwitchResult{}, err
	}
	inUse, err := projectors(a.conn, in.Projections)
	if err != nil {
		return SwitchResult{}, err
	}
	done, err := sh.Switch(ctx, projection.SwitchOptions{Compare: in.Compare, DryRun: in.DryRun}, made, inUse)
	return SwitchResult{done.Generation, done.Waited}, err
}

// CompareInput names a projection whose new rows are compared with the old ones, or else counted.
type CompareInput struct {
	ID         string `json:"id"`
	Projection string `json:"projection"`
	Generation uint64 `json:"generation"`
	Compare    bool   `json:"compare,omitempty"`
	// Restored are tables that were not there before.
	Restored []string `json:"restored,omitempty"`
}

// CompareResult compares the tables of the projection.
type CompareResult struct {
	Tables []schema.RebuiltTable `json:"tables"`
}

// CompareShadow compares the new rows of a projection with the old ones.
func (a *Rebuilds) CompareShadow(ctx context.Context, in CompareInput) (CompareResult, error) {
	return boundary.Run(ctx, in, a.compare)
}

func (a *Rebuilds) compare(ctx context.Context, in CompareInput) (out CompareResult, err error) {
	ps, err := projectors(a.conn, []string{in.Projection})
	if err != nil {
		return out, err
	}
	if !in.Compare {
		for _, t := range ps[0].Tables() {
			n, err := a.log.Count(ctx, t)
			if err != nil {
				return out, err
			}
			out.Tables = append(out.Tables, schema.RebuiltTable{Name: t.Name, Rows: n})
		}
		return out, nil
	}
	sh, err := a.log.OpenShadow(ctx, in.ID)
	if err != nil {
		return out, err
	}
	defer func() { _ = sh.Close() }()
	for _, t := range ps[0].Tables() {
		compared, err := sh.Compare(ctx, t, in.Generation)
		if err != nil {
			return out, err
		}
		if slices.Contains(in.Restored, t.Name) {
			compared.Before, compared.Difference = nil, nil
		}
		out.Tables = append(out.Tables, compared)
	}
	return out, nil
}

// FinishRebuild drops the leftovers of the rebuild. An interrupted switch is called off or, if tables were exchanged
// already, finished. It can be called at any time, and ends the rebuild of tables.
func (a *Rebuilds) FinishRebuild(ctx context.Context, in ShadowInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in ShadowInput) (none struct{}, err error) {
		return none, a.finish(ctx, in)
	})
	return err
}

// RecordInput is a rebuild that ended, with its phases.
type RecordInput struct {
	ShadowInput
	Metrics []schema.StepMetric `json:"metrics"`
}

// RecordRebuild records how long the phases took.
func (a *Rebuilds) RecordRebuild(ctx context.Context, in RecordInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in RecordInput) (none struct{}, err error) {
		return none, a.record(ctx, in)
	})
	return err
}

// record appends the phases. The times are the workflow's, so that a retry records the same.
func (a *Rebuilds) record(ctx context.Context, in RecordInput) error {
	if len(in.Metrics) == 0 {
		return nil
	}
	payload := schema.RebuildFinishedPayload{RebuildID: in.ID, Projections: in.Projections, Metrics: in.Metrics}
	last := in.Metrics[len(in.Metrics)-1]
	ended := last.StartedAt.Add(time.Duration(last.LatencyMS * float64(time.Millisecond))).Truncate(time.Microsecond)
	event, err := schema.NewEvent(payload, schema.Event{TS: ended, Actor: "rebuild", BuildID: in.ID, DedupeKey: schema.RebuildFinishedKey(in.ID)})
	if err != nil {
		return err
	}
	_, err = a.log.Append(ctx, schema.RebuildStream(in.ID), []schema.Event{event})
	return err
}

func (a *Rebuilds) finish(ctx context.Context, in ShadowInput) error {
	inUse, err := projectors(a.conn, in.Projections)
	if err != nil {
		return err
	}
	if err := a.log.EndSwitch(ctx, in.ID, inUse...); err != nil {
		return err
	}
	sh, err := a.log.OpenShadow(ctx, in.ID)
	if errors.Is(err, projection.ErrShadowGone) { // Its preparation may have broken off.
		return clickhouse.DropScratch(ctx, a.conn, clickhouse.ScratchKey{Purpose: clickhouse.PurposeRebuild, ID: in.ID})
	}
	if err != nil {
		return err
	}
	return sh.Finish(ctx, inUse)
}
