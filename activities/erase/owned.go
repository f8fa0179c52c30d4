package erase

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Owned is the part of the log that belongs to a user or a project: the part that an erasure of the same scope deletes.
// Events that also name content of others are left out.
type Owned struct {
	// Streams belong to the scope as a whole, in the order of their names.
	Streams []string
	// Parts are streams that the scope shares with others, with the positions of its own events in order.
	Parts []OwnedPart
	// LeftOut counts the events that depend on the scope and also name content of others.
	LeftOut int
}

// OwnedPart lists the positions of a stream whose events belong to a scope.
type OwnedPart struct {
	Stream    string
	Positions []uint64
}

// All returns the streams of all users and projects. The rest are records of the installation.
func All(ctx context.Context, log *eventlog.Store) (own Owned, err error) {
	for _, prefix := range append(slices.Clone(shared), schema.SessionPrefix, schema.ContextPrefix, schema.ModelPrefix, schema.DreamPrefix) {
		for stream, err := range log.Streams(ctx, prefix) {
			if err != nil {
				return Owned{}, err
			}
			own.Streams = append(own.Streams, stream.Name)
		}
	}
	slices.Sort(own.Streams)
	return own, nil
}

// Own returns the part of the log that belongs to a user or a project.
func Own(ctx context.Context, log *eventlog.Store, conn driver.Conn, scope schema.ErasureScope) (Owned, error) {
	plan, err := Make(ctx, log, conn, "export", scope, nil)
	if err != nil {
		return Owned{}, err
	}
	x := ownership{log: log, plan: plan, whole: map[string]bool{}}
	for _, stream := range plan.Streams {
		ok, err := x.owns(ctx, stream)
		if err != nil {
			return Owned{}, err
		}
		if ok {
			x.whole[stream] = true
			x.Streams = append(x.Streams, stream)
		}
	}
	parts := map[string][]schema.Event{}
	for _, r := range plan.Replacements {
		switch {
		case !isShared(r.Old.Stream):
		case r.New.ID == r.Old.ID && r.New.Type != "": // It loses a part, and the rest belongs to others.
			x.LeftOut++
		default:
			parts[r.Old.Stream] = append(parts[r.Old.Stream], r.Old)
		}
	}
	for stream, events := range parts {
		if err := x.part(ctx, stream, events); err != nil {
			return Owned{}, err
		}
	}
	slices.SortFunc(x.Parts, func(a, b OwnedPart) int { return strings.Compare(a.Stream, b.Stream) })
	return x.Owned, nil
}

// shared are the prefixes of the streams that carry memory of several sessions.
var shared = []string{schema.MemoryPrefix, schema.ProjectPrefix, schema.GraduatePrefix, schema.UsagePrefix, schema.QueuePrefix}

func isShared(stream string) bool {
	return slices.ContainsFunc(shared, func(prefix string) bool { return strings.HasPrefix(stream, prefix) })
}

// ownership finds the part of the log that belongs to a scope.
type ownership struct {
	Owned
	log   *eventlog.Store
	plan  *Plan
	whole map[string]bool
}

// owns reports whether a stream that an erasure would delete belongs to the scope alone. The input of a dream, and a model's
// answer about it, contain all that the user's memory holds of several projects. An answer about pairs of entries contains
// the words of all users of a project.
func (x *ownership) owns(ctx context.Context, stream string) (bool, error) {
	ofUser := x.plan.Scope.Kind() == schema.EraseUser
	switch {
	case strings.HasPrefix(stream, schema.DreamPrefix):
		return ofUser, nil
	case !strings.HasPrefix(stream, schema.ModelPrefix):
		return true, nil
	}
	for e, err := range x.log.Stream(ctx, stream, eventlog.StreamOptions{}) {
		if err != nil {
			return false, err
		}
		own := e.Project == x.plan.Scope.Project
		if ofUser {
			own = e.Project == "" && e.SessionID == "" || slices.ContainsFunc(x.plan.Sessions, func(k schema.SessionKey) bool {
				return k.Project == e.Project && k.SessionID == e.SessionID
			})
		}
		if !own {
			return false, nil
		}
	}
	return true, nil
}

// part adds the events of a shared stream that name nothing of others.
func (x *ownership) part(ctx context.Context, stream string, events []schema.Event) error {
	own := map[uint64]bool{}
	for _, e := range events {
		own[e.Seq] = true
	}
	foreign, err := x.foreign(ctx, stream, events, own)
	if err != nil {
		return fmt.Errorf("read the declarations of %q: %w", stream, err)
	}
	for left := -1; left != len(own); {
		left = len(own)
		for _, e := range events {
			named := false
			schema.EachString(e.Payload, func(s string) { named = named || foreign[s] })
			if !named || !own[e.Seq] {
				continue
			}
			delete(own, e.Seq)
			x.LeftOut++
			if err := declaredBy(e, foreign); err != nil {
				return err
			}
		}
	}
	p := OwnedPart{Stream: stream}
	for _, e := range events {
		if own[e.Seq] {
			p.Positions = append(p.Positions, e.Seq)
		}
	}
	if len(p.Positions) > 0 {
		slices.Sort(p.Positions)
		x.Parts = append(x.Parts, p)
	}
	return nil
}

// foreign returns the ids that the stream's other events declare, and those of other users' entries that the events name.
func (x *ownership) foreign(ctx context.Context, stream string, events []schema.Event, own map[uint64]bool) (map[string]bool, error) {
	foreign, named := map[string]bool{}, map[string]string{}
	for _, e := range events {
		schema.EachString(e.Payload, func(s string) {
			if len(s) == len(e.ID) { // As long as an id.
				named[schema.EventID(schema.EntryMaterializedKey(s))] = s
			}
		})
	}
	ids := make([]string, 0, len(named))
	for id := range named {
		ids = append(ids, id)
	}
	entries, err := x.log.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	for id, e := range entries {
		if !x.whole[e.Stream] {
			foreign[named[id]] = true
		}
	}
	for e, err := range x.log.Stream(ctx, stream, eventlog.StreamOptions{}) {
		if err != nil {
			return nil, err
		}
		if !own[e.Seq] {
			if err := declaredBy(e, foreign); err != nil {
				return nil, err
			}
		}
	}
	return foreign, nil
}

// declaredBy adds the ids that the event declares.
func declaredBy(e schema.Event, into map[string]bool) error {
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return err
	}
	if id, _ := declares(payload); id != "" {
		into[id] = true
	}
	return nil
}
