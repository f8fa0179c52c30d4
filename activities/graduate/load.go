package graduate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate/pair"
	"axiommind/schema"
)

// loader reads snapshots. It requires that the projections of the graduation stream are up to date.
type loader struct {
	log     *eventlog.Store
	conn    clickhouse.Conn
	entries *entry.Reader
	// nearestLimit is usually maxNearest.
	nearestLimit int
}

// maxPassSessions bounds the sessions of a pass.
const maxPassSessions = 50

// begin returns a snapshot with the next pending sessions, and reports whether there are more.
func (l loader) begin(ctx context.Context, project string, at time.Time, head uint64) (s *snapshot, more bool, err error) {
	s = &snapshot{
		project: project, at: at, head: head, entries: map[string]*statement{}, near: map[string][]string{},
		conflicts: map[string]conflictState{}, decided: map[string]bool{}, messages: map[messageKey]schema.Message{},
	}
	if s.sessions, err = l.pending(ctx, project); err != nil {
		return s, false, err
	}
	if more = len(s.sessions) > maxPassSessions; more {
		s.sessions = s.sessions[:maxPassSessions]
	}
	return s, more, nil
}

// pending returns the sessions of the project that have changed since graduation considered them, at most one more than
// a pass takes. Changes are new rows of entries, changes of their standing in the graduation stream, and a newer
// version of the policy or of the comparison.
func (l loader) pending(ctx context.Context, project string) ([]pendingSession, error) {
	var out []pendingSession
	err := query(ctx, l.conn, project, clickhouse.Rows(&out, func(rows driver.Rows, s *pendingSession) error {
		if err := rows.Scan(&s.stream, &s.seq, &s.build); err != nil {
			return err
		}
		key, err := schema.ParseSessionStream(s.stream)
		s.SessionKey = key
		return err
	}), `SELECT s.stream, s.last, if(s.last > g.seq, s.build, '') FROM (
			SELECT stream, max(version) AS last, argMax(build_id, version) AS build FROM (
				SELECT stream, version, build_id FROM entries_raw WHERE project = ?
				UNION ALL
				SELECT stream, version, build_id FROM entry_changes_raw
				WHERE project = ? AND kind IN ('evidence', 'status', 'stage') AND startsWith(stream, ?)
			) GROUP BY stream
		) AS s
		LEFT JOIN (SELECT stream, seq, policy, rule, version FROM graduated_sessions_raw FINAL WHERE project = ?) AS g ON g.stream = s.stream
		LEFT JOIN (
			SELECT e.stream AS stream, max(c.version) AS changed FROM entries_raw AS e
			INNER JOIN (
				SELECT entry_id, version FROM entry_changes_raw
				WHERE project = ? AND stream = ? AND kind IN ('graduate_status', 'conflict', 'answer')
			) AS c ON c.entry_id = e.entry_id
			WHERE e.project = ? GROUP BY e.stream
		) AS c ON c.stream = s.stream
		WHERE g.version = 0 OR s.last > g.seq OR c.changed > g.version OR g.policy < ? OR g.rule < ?
		ORDER BY s.stream LIMIT ?`,
		project, project, schema.SessionPrefix, project, project, schema.GraduateStream(project), project,
		uint32(PolicyVersion), uint32(pair.Version), maxPassSessions+1)
	if err != nil {
		return nil, fmt.Errorf("read the sessions that await graduation in project %q: %w", project, err)
	}
	return out, nil
}

// focus returns the ids of the entries that the sessions created or changed.
func (l loader) focus(ctx context.Context, w *snapshot) ([]string, error) {
	streams := make([]string, len(w.sessions))
	for i, s := range w.sessions {
		streams[i] = s.stream
	}
	return l.ids(ctx, `SELECT DISTINCT entry_id FROM entries_raw WHERE project = ? AND stream IN ?
		UNION DISTINCT
		SELECT DISTINCT entry_id FROM entry_changes_raw WHERE project = ? AND stream IN ?`,
		w.project, clickhouse.Set(streams), w.project, clickhouse.Set(streams))
}

func (l loader) ids(ctx context.Context, sql string, args ...any) ([]string, error) {
	var out []string
	err := clickhouse.Query(ctx, l.conn, clickhouse.Column(&out), sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read ids of entries: %w", err)
	}
	slices.Sort(out)
	return out, nil
}

// surround loads the entries of the pending sessions, and all rows that the plan compares them with.
func (l loader) surround(ctx context.Context, w *snapshot) (err error) {
	if len(w.sessions) == 0 {
		return nil
	}
	if w.focus, err = l.focus(ctx, w); err != nil {
		return err
	}
	if err := l.read(ctx, w, w.focus); err != nil {
		return err
	}
	corrected, err := l.corrected(ctx, w)
	if err != nil {
		return err
	}
	related, err := l.related(ctx, w, append(slices.Clone(w.focus), corrected...))
	if err != nil {
		return err
	}
	// An entry in focus may change the original or the correction of its related entries.
	if _, err := l.related(ctx, w, related); err != nil {
		return err
	}
	if err := l.loadDecisionSessions(ctx, w); err != nil {
		return err
	}
	if err := l.readConflicts(ctx, w); err != nil {
		return err
	}
	if err := l.readDecided(ctx, w); err != nil {
		return err
	}
	if err := l.readMarks(ctx, w); err != nil {
		return err
	}
	return l.readMessages(ctx, w)
}

// page is the number of entries to read at once.
const page = 1000

// read loads the entries that are not loaded yet.
func (l loader) read(ctx context.Context, w *snapshot, ids []string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" || w.entries[id] != nil })
	slices.Sort(ids)
	for part := range slices.Chunk(slices.Compact(ids), page) {
		rows, err := l.entries.Read(ctx, entry.InProject(w.project).IDs(part), entry.Whole)
		if err != nil {
			return err
		}
		for _, row := range rows {
			row.OccurredAt = row.OccurredAt.UTC()
			w.entries[row.ID] = &statement{Row: row}
		}
	}
	return nil
}

// loadDecisionSessions loads the sessions of the decisions in focus, whose other entries may be their grounds.
func (l loader) loadDecisionSessions(ctx context.Context, w *snapshot) error {
	pending := map[string]bool{}
	for _, s := range w.sessions {
		pending[s.stream] = true
	}
	var streams []string
	for _, id := range w.focus {
		if s := w.entries[id]; s != nil && s.Type == schema.EntryDecision && !pending[s.Session().Stream()] {
			streams = append(streams, s.Session().Stream())
		}
	}
	if len(streams) == 0 {
		return nil
	}
	ids, err := l.ids(ctx, `SELECT DISTINCT entry_id FROM entries_raw WHERE project = ? AND stream IN ?`, w.project, clickhouse.Set(streams))
	if err != nil {
		return err
	}
	return l.read(ctx, w, ids)
}

// readConflicts loads the conflicts with a loaded entry as a side, and the other sides of the open ones.
func (l loader) readConflicts(ctx context.Context, w *snapshot) error {
	for part := range slices.Chunk(sortedKeys(w.entries), page) {
		if err := readConflicts(ctx, l.conn, w, "(older_id IN ? OR newer_id IN ?)", clickhouse.Set(part), clickhouse.Set(part)); err != nil {
			return err
		}
	}
	var sides []string
	for _, c := range w.conflicts {
		if c.open {
			sides = append(sides, c.older, c.newer)
		}
	}
	return l.read(ctx, w, sides)
}

// readConflicts loads the conflicts that meet the condition.
func readConflicts(ctx context.Context, conn clickhouse.Conn, w *snapshot, condition string, args ...any) error {
	err := clickhouse.Query(ctx, conn, clickhouse.Map(w.conflicts, func(rows driver.Rows, id *string, c *conflictState) error {
		var detected, resolved uint64
		err := rows.Scan(id, &c.older, &c.newer, &detected, &resolved, &c.kept, &c.by)
		c.open, c.last = detected > resolved, max(detected, resolved)
		return err
	}), `SELECT c.conflict_id, c.older_id, c.newer_id, c.version, r.version, r.kept, r.resolved_by
		FROM (SELECT * FROM conflicts_raw FINAL WHERE project = ? AND `+condition+`) AS c
		LEFT JOIN (SELECT * FROM conflict_resolutions_raw FINAL WHERE project = ?) AS r ON r.conflict_id = c.conflict_id`,
		append(append([]any{w.project}, args...), w.project)...)
	if err != nil {
		return fmt.Errorf("read conflicts: %w", err)
	}
	return nil
}

func (l loader) readDecided(ctx context.Context, w *snapshot) error {
	var ids []string
	for _, id := range w.focus {
		if s := w.entries[id]; s != nil && s.Type == schema.EntryDecision {
			ids = append(ids, schema.DecisionID(id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := l.ids(ctx, "SELECT DISTINCT decision_id FROM decisions_raw WHERE project = ? AND decision_id IN ?", w.project, clickhouse.Set(ids))
	for _, id := range found {
		w.decided[id] = true
	}
	return err
}

// readMarks loads the acts of graduation on the loaded entries, and the stages that their sessions gave them.
func (l loader) readMarks(ctx context.Context, w *snapshot) error {
	return readMarks(ctx, l.conn, w.project, w.entries)
}

func readMarks(ctx context.Context, conn clickhouse.Conn, project string, entries map[string]*statement) error {
	for part := range slices.Chunk(sortedKeys(entries), page) {
		err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
			var id, kind string
			var m mark
			if err := rows.Scan(&id, &kind, (*string)(&m.status), (*string)(&m.stage), &m.demotes, &m.other, &m.by, &m.build, &m.at, &m.version); err != nil {
				return err
			}
			m.at = m.at.UTC()
			entries[id].take(kind, m)
			return nil
		}, `SELECT entry_id, kind, status, stage, demotes, other_id, by, build_id, created_at, version FROM entry_changes_raw FINAL
			WHERE project = ? AND entry_id IN ? AND kind IN ('stage', 'graduate_status', 'graduate_stage', 'link', 'answer')
			ORDER BY created_at, version`, project, clickhouse.Set(part))
		if err != nil {
			return fmt.Errorf("read graduation's changes to entries: %w", err)
		}
	}
	return nil
}

// take stores an act in the field for its kind of row.
func (s *statement) take(kind string, m mark) {
	switch kind {
	case "stage":
		s.sessionStage, s.checkedBy = m.stage, m.build
	case "graduate_status":
		s.ended = m
	case "graduate_stage":
		s.staged = m
	case "link":
		s.linked = m
	case "answer":
		if m.status != "yes" {
			return
		}
		s.confirmedAt = m.at
		if m.other == "" { // A person's answer, which no later answer of a model revokes.
			s.confirmedBy = m.by
		}
	}
}

// readMessages loads the messages that the plan reads: those of evidence that an entry gained after the check of its
// session, and those that may be a common source of two entries.
func (l loader) readMessages(ctx context.Context, w *snapshot) error {
	wanted, events, bySource := map[messageKey]bool{}, map[messageKey]string{}, map[string][]messageKey{}
	for _, s := range w.entries {
		for _, piece := range s.Evidence {
			at := placeOf(s, piece)
			if piece.EventID == "" {
				continue
			}
			events[at] = piece.EventID
			if s.gained() {
				wanted[at] = true
			}
			if !slices.Contains(bySource[piece.SourceHash], at) {
				bySource[piece.SourceHash] = append(bySource[piece.SourceHash], at)
			}
		}
	}
	for _, places := range bySource {
		for _, at := range places {
			if len(places) > 1 {
				wanted[at] = true
			}
		}
	}
	var ids []string
	for at := range wanted {
		ids = append(ids, events[at])
	}
	slices.Sort(ids)
	for part := range slices.Chunk(slices.Compact(ids), maxMessageEvents) {
		found, err := l.log.GetMany(ctx, part)
		if err != nil {
			return fmt.Errorf("read messages that evidence is in: %w", err)
		}
		for _, event := range found {
			payload, err := schema.DecodePayload(event)
			if err != nil {
				return err
			}
			ingested, ok := payload.(schema.SessionIngestedPayload)
			if !ok {
				return fmt.Errorf("event %q is %s: evidence is in %s", event.ID, event.Type, schema.SessionIngested)
			}
			for _, m := range ingested.Messages {
				if at := (messageKey{event.Stream, m.Index}); wanted[at] {
					w.messages[at] = m
				}
			}
		}
	}
	return nil
}

// maxMessageEvents bounds the events with messages that are in memory at once: each may have half a megabyte or more.
const maxMessageEvents = 100
