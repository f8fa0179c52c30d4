package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Projector writes the tables of facts. Every row depends only on the fold of one fact's events, so the rows do not
// depend on how the events are split into pages.
type Projector struct {
	conn   clickhouse.Conn
	tables *Tables
}

// NewProjector returns the projector over the tables of a migrated database.
func NewProjector(conn clickhouse.Conn) *Projector { return &Projector{conn, NewTables(conn)} }

// Name implements projection.Projector.
func (p *Projector) Name() string { return "facts" }

// Types implements projection.Projector.
func (p *Projector) Types() []string { return EventTypes() }

// StreamPrefix implements projection.Projector.
func (p *Projector) StreamPrefix() string { return schema.MemoryPrefix }

// Version implements projection.Projector.
func (p *Projector) Version() uint32 { return 3 }

// Tables implements projection.Projector.
func (p *Projector) Tables() []projection.Table {
	return []projection.Table{{Name: "facts_raw"}, {Name: "facts_skipped_raw"}, {Name: "profile_raw"}, {Name: "memory_cleared_raw"}}
}

// Apply implements projection.Projector: it loads the facts that the events change, folds, and writes the changes.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	if len(events) == 0 {
		return nil
	}
	g, err := foldPage(events, func(user, agent string, ids []string) ([]Fact, error) {
		return p.tables.find(ctx, user, agent, ids)
	})
	if err != nil {
		return fmt.Errorf("fold %d events of %q: %w", len(events), events[0].Stream, err)
	}
	for _, rows := range []struct {
		columns string
		rows    [][]any
	}{
		{skippedColumns, g.skippedRows()}, {profileColumns, g.profileRows()}, {clearedColumns, g.clearedRows()}, {factColumns, g.factRows()},
	} {
		if err := clickhouse.Insert(ctx, p.conn, rows.columns, rows.rows); err != nil {
			return err
		}
	}
	return nil
}

// page holds the changes that a list of events of one stream makes.
type page struct {
	user, agent string
	// before and after hold the changed facts. Facts that did not exist are missing from before.
	before, after map[string]Fact
	// skipped are the proposals that were not stored, those included that were merged.
	skipped, profile, cleared []occurrence
}

func foldPage(events []schema.Event, load func(user, agent string, ids []string) ([]Fact, error)) (page, error) {
	g := page{before: map[string]Fact{}, after: map[string]Fact{}}
	var err error
	if g.user, g.agent, err = schema.ParseMemoryStream(events[0].Stream); err != nil {
		return g, err
	}
	occurrences := make([]occurrence, len(events))
	// A fact that begins in the page is not loaded: its row is a function of the page, and one of a later version stays.
	begun, touched := map[string]bool{}, map[string]bool{}
	for i, e := range events {
		if occurrences[i], err = readEvent(e); err != nil {
			return g, err
		}
		id, creates := occurrences[i].payload.Fact(), false
		switch occurrences[i].payload.(type) {
		case schema.FactCreatedPayload:
			creates = true
		case schema.FactSkippedPayload, schema.FactMergedPayload:
			g.skipped = append(g.skipped, occurrences[i])
		case schema.ProfileUpdatedPayload:
			g.profile = append(g.profile, occurrences[i])
		case schema.FactsClearedPayload:
			g.cleared = append(g.cleared, occurrences[i])
		}
		switch {
		case id == "":
		case creates && !touched[id]:
			begun[id] = true
		case !begun[id]:
			touched[id] = true
		}
	}
	known, err := load(g.user, g.agent, slices.Sorted(maps.Keys(touched)))
	if err != nil {
		return g, fmt.Errorf("load %d facts: %w", len(touched), err)
	}
	for _, f := range known {
		g.before[f.ID], g.after[f.ID] = f, f
	}
	for _, o := range occurrences {
		if id := o.payload.Fact(); id != "" {
			g.after[id] = g.after[id].after(o)
		}
	}
	return g, nil
}

const factColumns = `facts_raw (fact_id, user, agent, project, content, content_key, category, confidence,
	source_error, said_by, status, actor, session_id, entry_id, created_at, created_seq, updated_at, gone_at, gone_reason, version)`

func (g page) factRows() [][]any {
	var out [][]any
	for _, id := range slices.Sorted(maps.Keys(g.after)) {
		f := g.after[id]
		if !f.Exists() || f.Version == g.before[id].Version {
			continue
		}
		var goneAt *time.Time
		if !f.GoneAt.IsZero() {
			goneAt = &f.GoneAt
		}
		out = append(out, []any{
			f.ID, g.user, g.agent, f.Project, f.Content, Key(f.Content), f.Category, f.Confidence,
			f.SourceError, string(f.SaidBy), string(f.Status), f.Actor, f.SessionID, f.EntryID, f.CreatedAt, f.CreatedSeq,
			f.UpdatedAt, goneAt, f.GoneReason, f.Version,
		})
	}
	return out
}

const skippedColumns = `facts_skipped_raw (user, agent, seq, event_id, ts, project, session_id, entry_id, skipped,
	detail, content, category, confidence, duplicate_of, section, fact_id)`

// skippedMerged marks in facts_skipped_raw a proposal that was merged into a fact.
const skippedMerged = "merged"

func (g page) skippedRows() [][]any {
	out := make([][]any, len(g.skipped))
	for i, o := range g.skipped {
		p, ok := o.payload.(schema.FactSkippedPayload)
		if m, merged := o.payload.(schema.FactMergedPayload); merged && !ok {
			p = schema.FactSkippedPayload{
				Act: m.Act, Skipped: skippedMerged, Content: m.Content, Confidence: &m.Proposed, DuplicateOf: m.FactID,
				Detail: fmt.Sprintf("%s says nearly the same: %.2f of the words, similarity %.2f", m.FactID, m.Overlap, m.Similarity),
			}
		}
		e := o.event
		out[i] = []any{
			g.user, g.agent, e.Seq, e.ID, e.TS, e.Project, e.SessionID, p.EntryID, p.Skipped,
			p.Detail, p.Content, p.Category, p.Confidence, p.DuplicateOf, p.Section, p.FactID,
		}
	}
	return out
}

const profileColumns = `profile_raw (user, agent, section, seq, summary, confidence, project, actor, session_id, entry_id, ts, event_id)`

func (g page) profileRows() [][]any {
	out := make([][]any, len(g.profile))
	for i, o := range g.profile {
		e, p := o.event, o.payload.(schema.ProfileUpdatedPayload)
		out[i] = []any{
			g.user, g.agent, p.Section, e.Seq, p.Summary, p.Confidence, e.Project, e.Actor, e.SessionID, p.EntryID, e.TS, e.ID,
		}
	}
	return out
}

const clearedColumns = `memory_cleared_raw (user, agent, seq, ts, actor, reason, facts, sections, event_id)`

func (g page) clearedRows() [][]any {
	out := make([][]any, len(g.cleared))
	for i, o := range g.cleared {
		e, p := o.event, o.payload.(schema.FactsClearedPayload)
		out[i] = []any{g.user, g.agent, e.Seq, e.TS, e.Actor, p.Reason, uint64(p.Facts), uint64(p.Sections), e.ID}
	}
	return out
}
