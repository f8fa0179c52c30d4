package erase

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// List returns all erasures, the latest first.
func List(ctx context.Context, log *eventlog.Store) ([]schema.Erasure, error) {
	var all []schema.Erasure
	at := map[string]int{}
	for e, err := range log.Stream(ctx, schema.AuditStream(), eventlog.StreamOptions{}) {
		if err != nil {
			return nil, fmt.Errorf("list erasures: %w", err)
		}
		payload, err := schema.DecodePayload(e)
		if err != nil {
			return nil, err
		}
		if x, ok := payload.(schema.ErasureBegunPayload); ok {
			at[x.ErasureID] = len(all)
			all = append(all, schema.Erasure{ID: x.ErasureID, Kind: x.Kind, By: x.By, Because: x.Because, BegunAt: e.TS})
			continue
		}
		id := erasureOf(payload)
		i, ok := at[id]
		if !ok {
			continue
		}
		switch x := payload.(type) {
		case schema.ErasureAppliedPayload:
			all[i].AppliedAt = e.TS
		case schema.ErasureFinishedPayload:
			all[i].FinishedAt, all[i].Finished = e.TS, x
		case schema.ErasureLiftedPayload:
			all[i].LiftedAt, all[i].LiftedBy = e.TS, x.By
		}
	}
	slices.Reverse(all)
	return all, nil
}

func erasureOf(payload any) string {
	switch x := payload.(type) {
	case schema.ErasureLockedPayload:
		return x.ErasureID
	case schema.ErasureAppliedPayload:
		return x.ErasureID
	case schema.ErasureFinishedPayload:
		return x.ErasureID
	case schema.ErasureLiftedPayload:
		return x.ErasureID
	default:
		return ""
	}
}

// Find returns the erasure whose id begins with the prefix.
func Find(ctx context.Context, log *eventlog.Store, prefix string) (schema.Erasure, error) {
	all, err := List(ctx, log)
	if err != nil {
		return schema.Erasure{}, err
	}
	var found []schema.Erasure
	for _, e := range all {
		if strings.HasPrefix(e.ID, strings.ToLower(prefix)) {
			found = append(found, e)
		}
	}
	switch {
	case prefix == "" || len(found) == 0:
		return schema.Erasure{}, fmt.Errorf("there is no erasure %q: see starter forget list", prefix)
	case len(found) > 1:
		return schema.Erasure{}, fmt.Errorf("%d erasures begin with %q: give more of the id", len(found), prefix)
	}
	return found[0], nil
}

// Of returns the erasures of the scope that have a tombstone, the latest first. It includes those whose tombstone was
// lifted. A query has no tombstone.
func Of(ctx context.Context, log *eventlog.Store, scope schema.ErasureScope) ([]schema.Erasure, error) {
	all, err := List(ctx, log)
	if err != nil {
		return nil, err
	}
	var found []schema.Erasure
	for _, e := range all {
		stone, _, err := tombstoneOf(ctx, log, e.ID)
		if err != nil {
			return nil, err
		}
		if stone.Scope != "" && stone.Kind == scope.Kind() && stone.Scope == scope.Hash(stone.Salt) {
			found = append(found, e)
		}
	}
	return found, nil
}

// Lift lifts the tombstone of the erasure, so that its content can be stored again. It can be called again.
func Lift(ctx context.Context, log *eventlog.Store, p schema.ErasureLiftedPayload) error {
	return appendAudit(ctx, log, p, p.By, schema.ErasureKey(p.ErasureID, schema.ErasureLifted, 0), time.Now())
}

func appendAudit(ctx context.Context, log *eventlog.Store, payload any, by, key string, at time.Time) error {
	_, err := appendTo(ctx, log, schema.AuditStream(), payload, by, key, at)
	return err
}

// appendTo appends an event and returns the stored one.
func appendTo(ctx context.Context, log *eventlog.Store, stream string, payload any, by, key string, at time.Time) (schema.Event, error) {
	e, err := schema.NewEvent(payload, schema.Event{TS: at.UTC(), Actor: by, DedupeKey: key})
	if err != nil {
		return schema.Event{}, err
	}
	appended, err := log.Append(ctx, stream, []schema.Event{e})
	if err != nil {
		return schema.Event{}, err
	}
	return appended.Events[0], nil
}

// tombstoneOf returns the tombstone of an erasure and the time when it was recorded.
func tombstoneOf(ctx context.Context, log *eventlog.Store, erasureID string) (schema.ErasureBegunPayload, time.Time, error) {
	e, err := log.Get(ctx, schema.EventID(schema.ErasureKey(erasureID, schema.ErasureBegun, 0)))
	if err != nil {
		return schema.ErasureBegunPayload{}, time.Time{}, fmt.Errorf("read the tombstone of erasure %q: %w", erasureID, err)
	}
	p, err := schema.Decode[schema.ErasureBegunPayload](e)
	return p, e.RecordedAt, err
}

// locks are the streams that an erasure has locked against new events, by their hashes.
type locks struct {
	// since is the time when each stream was locked, and at the time of the last renewal. Locks are renewed before they
	// expire.
	since map[string]time.Time
	at    time.Time
	// ever are the streams that were locked in any run.
	ever map[string]bool
	// seq is the position of the last event that changed them.
	seq uint64
}

// locksOf returns the locks of the erasure.
func locksOf(ctx context.Context, log *eventlog.Store, erasureID string) (locks, error) {
	out := locks{since: map[string]time.Time{}, ever: map[string]bool{}}
	for e, err := range log.Stream(ctx, schema.AuditStream(), eventlog.StreamOptions{Types: []string{schema.ErasureLocked}}) {
		if err != nil {
			return out, err
		}
		p, err := schema.Decode[schema.ErasureLockedPayload](e)
		if err != nil {
			return out, err
		}
		if p.ErasureID != erasureID {
			continue
		}
		before := out.since
		out.since, out.at, out.seq = map[string]time.Time{}, e.RecordedAt, e.Seq
		for _, stream := range p.Streams {
			out.ever[stream] = true
			out.since[stream] = e.RecordedAt
			if at, ok := before[stream]; ok {
				out.since[stream] = at
			}
		}
	}
	return out, nil
}

// newSalt returns the salt of a tombstone.
func newSalt() string { return rand.Text() }
