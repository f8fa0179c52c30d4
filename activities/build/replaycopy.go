package build

import (
	"context"
	"fmt"
	"slices"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// maxCopied is how many ids a query names.
const maxCopied = 1000

// logged are the events of the log without hidden copies.
const logged = "events_raw FINAL WHERE " + eventlog.Shown

// copyEvents copies the build's input into the scratch database. These are the events of its session before its first
// own one, the messages that it stored, the recorded answers, and the known entries of other sessions that it gave
// evidence. The server copies them.
func (r *replay) copyEvents(ctx context.Context) error {
	stream := r.started.Stream()
	into := "INSERT INTO " + clickhouse.Identifier(r.scratch.Database) + "."
	err := r.home.Exec(ctx, into+"events_raw SELECT * FROM "+logged+" AND stream = ? AND seq <= ?", stream, r.before)
	if err != nil {
		return fmt.Errorf("copy the session's events: %w", err)
	}
	if err := r.copyLater(ctx, into, stream); err != nil {
		return fmt.Errorf("copy the session's events: %w", err)
	}
	var answers []string
	for _, w := range r.windows {
		for _, key := range w.ResponseKeys {
			answers = append(answers, schema.EventID(schema.ModelRespondedKey(key)))
		}
	}
	slices.Sort(answers)
	for ids := range slices.Chunk(slices.Compact(answers), maxCopied) {
		if err := r.home.Exec(ctx, into+"events_raw SELECT * FROM "+logged+" AND event_id IN ?", clickhouse.Set(ids)); err != nil {
			return fmt.Errorf("copy the recorded answers: %w", err)
		}
	}
	others, err := r.others()
	if err != nil {
		return err
	}
	for ids := range slices.Chunk(others, maxCopied) {
		err := r.home.Exec(ctx, into+"entries_raw SELECT * FROM entries_raw FINAL WHERE project = ? AND entry_id IN ?",
			r.started.Project, clickhouse.Set(ids))
		if err != nil {
			return fmt.Errorf("copy entries of other sessions: %w", err)
		}
	}
	return nil
}

// copyLater copies the messages that the build stored after it had begun to extract: it was interrupted, and the
// session has grown meanwhile. They follow the events copied before.
func (r *replay) copyLater(ctx context.Context, into, stream string) error {
	next := r.before
	log := projection.New(r.home, eventlog.Options{})
	options := eventlog.StreamOptions{Types: []string{schema.SessionIngested}, After: r.before}
	for event, err := range log.Stream(ctx, stream, options) {
		switch {
		case err != nil:
			return err
		case event.Seq > r.ended.Seq:
			return nil
		case event.BuildID != r.started.BuildID:
			continue
		}
		next++
		err := r.home.Exec(ctx, into+"events_raw SELECT * REPLACE (toUInt64(?) AS seq) FROM "+logged+" AND stream = ? AND seq = ?",
			next, stream, event.Seq)
		if err != nil {
			return err
		}
	}
	return nil
}

// others returns the ids of the entries of other sessions that the build gave evidence. They were not proven then.
func (r *replay) others() ([]string, error) {
	var given, own []string
	for _, e := range r.events {
		if e.Type != schema.EntryEvidenceSet {
			continue
		}
		p, err := schema.Decode[schema.EntryEvidenceSetPayload](e)
		if err != nil {
			return nil, err
		}
		given = append(given, p.EntryID)
	}
	slices.Sort(given)
	given = slices.Compact(given)
	for _, e := range r.events {
		if e.Type != schema.EntryMaterialized {
			continue
		}
		p, err := schema.Decode[schema.EntryMaterializedPayload](e)
		if err != nil {
			return nil, err
		}
		own = append(own, p.ID)
	}
	return slices.DeleteFunc(given, func(id string) bool { return slices.Contains(own, id) }), nil
}
