package retrieve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// act is a change of an entry's status by an event. The tables hold only the last act.
type act struct {
	at     time.Time
	status schema.Status
	// other is the successor of the entry, or the other side of the conflict.
	other       string
	because, by string
	// conflict is empty for all but detections and resolutions. first is set if it was not detected before.
	conflict string
	first    bool
}

// history is the list of acts on an entry, in the order of the log.
type history struct {
	graduation []act
	// session are the changes of its status by builds of its session, after it was recorded with the status made.
	session       []act
	recorded      time.Time
	initialStatus schema.Status
}

var (
	graduationActs = []string{schema.EntryRetired, schema.EntryRestored, schema.ConflictDetected, schema.ConflictResolved}
	sessionActs    = []string{schema.EntryStatusSet}
)

// remember reads the histories of the rows that are not known yet.
func (r *search) remember(ctx context.Context, rows map[string]entry.Row) error {
	known := r.relations.histories
	var ids []string
	streams := map[string]bool{}
	for id, row := range rows {
		if known[id] == nil && row.User == r.query.User && row.ID != "" {
			known[id] = &history{}
			ids = append(ids, id)
			streams[row.Session().Stream()] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	asked := map[string]bool{}
	for _, id := range ids {
		asked[id] = true
	}
	err := r.acts(ctx, []string{schema.GraduateStream(r.query.Project)}, graduationActs, ids, func(e schema.Event) error {
		return addGraduation(known, asked, e)
	})
	if err == nil {
		err = r.acts(ctx, slices.Sorted(maps.Keys(streams)), sessionActs, ids, func(e schema.Event) error {
			p, err := schema.Decode[schema.EntryStatusSetPayload](e)
			if h := known[p.EntryID]; err == nil && asked[p.EntryID] {
				h.session = append(h.session, act{at: e.TS, status: p.Status, other: p.SupersededBy})
			}
			return err
		})
	}
	if err == nil {
		err = r.recordings(ctx, ids, rows)
	}
	if err != nil {
		return fmt.Errorf("read the histories of entries: %w", err)
	}
	return nil
}

// acts passes on the events of the types in the streams that name one of the entries, in the order of each stream. A
// payload is read only if its event has one of the types.
func (r *search) acts(ctx context.Context, streams, types, ids []string, each func(schema.Event) error) error {
	set := clickhouse.Set(ids)
	return r.events(ctx, streams, types, `(JSONExtractString(payload_json, 'entry_id') IN ?
		OR JSONExtractString(payload_json, 'older_id') IN ? OR JSONExtractString(payload_json, 'newer_id') IN ?)`,
		[]any{set, set, set}, each)
}

func (r *search) events(ctx context.Context, streams, types []string, where string, args []any, each func(schema.Event) error) error {
	return clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error {
		var e schema.Event
		if err := rows.Scan(&e.ID, &e.Type, &e.TS, &e.Payload); err != nil {
			return err
		}
		return each(e)
	}, `SELECT event_id, event_type, ts, payload_json FROM events_raw FINAL PREWHERE stream IN ? AND event_type IN ?
		WHERE `+where+` AND `+eventlog.Shown+`
		ORDER BY stream, seq`,
		append([]any{clickhouse.Set(streams), clickhouse.Set(types)}, args...)...)
}

// recordings reads when and with which status those entries were recorded that a build of their session changed.
func (r *search) recordings(ctx context.Context, ids []string, rows map[string]entry.Row) error {
	var keys []string
	streams := map[string]bool{}
	for _, id := range ids {
		if len(r.relations.histories[id].session) > 0 {
			keys = append(keys, schema.EntryMaterializedKey(id))
			streams[rows[id].Session().Stream()] = true
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return r.events(ctx, slices.Sorted(maps.Keys(streams)), []string{schema.EntryMaterialized}, "dedupe_key IN ?",
		[]any{clickhouse.Set(keys)}, func(e schema.Event) error {
			p, err := schema.Decode[schema.EntryMaterializedPayload](e)
			if h := r.relations.histories[p.ID]; err == nil && h != nil {
				h.recorded, h.initialStatus = e.TS, p.Status
			}
			return err
		})
}

// addGraduation adds the acts of an event of graduation to the histories of the entries asked for.
func addGraduation(known map[string]*history, asked map[string]bool, e schema.Event) error {
	add := func(id string, a act) {
		if !asked[id] {
			return
		}
		a.at = e.TS
		h := known[id]
		a.first = a.conflict != "" && !slices.ContainsFunc(h.graduation, func(b act) bool { return b.conflict == a.conflict })
		h.graduation = append(h.graduation, a)
	}
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return err
	}
	switch p := payload.(type) {
	case schema.EntryRetiredPayload:
		add(p.EntryID, act{status: p.Status, other: p.SupersededBy, because: p.Because, by: p.By})
	case schema.EntryRestoredPayload:
		add(p.EntryID, act{status: schema.StatusActive})
	case schema.ConflictDetectedPayload:
		add(p.OlderID, act{status: schema.StatusContested, conflict: p.ConflictID, other: p.NewerID})
		add(p.NewerID, act{status: schema.StatusContested, conflict: p.ConflictID, other: p.OlderID})
	case schema.ConflictResolvedPayload:
		add(p.OlderID, act{status: schema.StatusActive, conflict: p.ConflictID, other: p.NewerID})
		add(p.NewerID, act{status: schema.StatusActive, conflict: p.ConflictID, other: p.OlderID})
	}
	return nil
}

// since returns the time from which on the act counts. A correction and the first detection of a conflict count from
// the time of the message in which graduation found them. All other acts count from their own time.
func (r *search) since(row entry.Row, a act) time.Time {
	other, known := r.relations.rows[a.other]
	said := other.OccurredAt
	switch {
	case !known || other.ID == "":
		return a.at
	case a.first && a.status == schema.StatusContested:
		if said.Before(row.OccurredAt) {
			said = row.OccurredAt
		}
	case a.by != schema.RetiredByCorrection || !said.After(row.OccurredAt):
		return a.at
	}
	if said.Before(a.at) {
		return said
	}
	return a.at
}

// belief is the state of an entry at a time.
type belief struct {
	// ended is the act that ended it, nil while it is believed. next is the act that will end it.
	ended, next *act
	// contesting are the other sides of the conflicts that were open, by conflict.
	contesting map[string]string
}

// believed folds the acts on the entry up to the time. If the entry was recorded only later, the status that its
// session gives it now applies.
func (r *search) believed(row entry.Row, at time.Time) belief {
	b := belief{contesting: map[string]string{}}
	h := r.relations.histories[row.ID]
	if h == nil {
		h = &history{}
	}
	var next *act
	ends := func(a act, since time.Time) {
		a.at = since
		if since.After(at) && ended(a.status) && (next == nil || since.Before(next.at)) {
			next = &a
		}
	}
	var now *act // The last act of graduation, whenever it was.
	for _, a := range h.graduation {
		since := r.since(row, a)
		switch {
		case a.conflict == "":
			now = &a
			ends(a, since)
			if since.After(at) {
				continue
			}
			b.ended = nil
			if ended(a.status) {
				a.at = since
				b.ended = &a
			}
		case since.After(at):
		case a.status == schema.StatusContested:
			b.contesting[a.conflict] = a.other
		default:
			delete(b.contesting, a.conflict)
		}
	}
	if b.ended == nil {
		b.ended = h.ofSession(row, at, now, ends)
	}
	if b.ended == nil {
		b.next = next
	}
	return b
}

// ofSession returns the act by which a build of its session ended the entry, or nil.
func (h *history) ofSession(row entry.Row, at time.Time, now *act, ends func(act, time.Time)) *act {
	if len(h.session) == 0 {
		// The row has the status of the recording unless graduation ended the entry.
		if ended(row.Status) && (now == nil || !ended(now.status)) {
			return &act{status: row.Status, other: row.SupersededBy, at: row.EndedAt}
		}
		return nil
	}
	last := act{status: h.initialStatus}
	for _, a := range h.session {
		if a.at.After(at) && !at.Before(h.recorded) {
			ends(a, a.at)
			continue
		}
		last = a
	}
	if ended(last.status) {
		return &last
	}
	return nil
}
