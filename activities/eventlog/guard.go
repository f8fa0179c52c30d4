package eventlog

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"axiommind/schema"
)

// ErasedError refuses to store erased content again.
type ErasedError struct {
	ErasureID string
	Kind      schema.ErasureKind
	At        time.Time
}

func (e *ErasedError) Error() string {
	return fmt.Sprintf("this %s was forgotten on %s, and is not stored again; to admit it: starter forget lift %.8s",
		e.Kind, e.At.Format(time.DateOnly), e.ErasureID)
}

// FailureType is the type of the error at an activity's boundary.
func (e *ErasedError) FailureType() string { return schema.ErrorErased }

// Retryable is false: a person has to lift the tombstone.
func (e *ErasedError) Retryable() bool { return false }

// ErasingError makes a writer wait: an erasure is at work on its stream.
type ErasingError struct{ ErasureID string }

func (e *ErasingError) Error() string {
	return fmt.Sprintf("erasure %.8s is at work on the stream, which takes no events until that has ended: see starter forget list", e.ErasureID)
}

// FailureType is the type of the error at an activity's boundary.
func (e *ErasingError) FailureType() string { return schema.ErrorErasing }

// Retryable is true: an erasure ends.
func (e *ErasingError) Retryable() bool { return true }

// erased caches the store's knowledge of erasures. It is at most as old as a lease, so an erasure that waits for
// [Options.Lease] and a quarter after its tombstone can rely on every program knowing the tombstone.
type erased struct {
	mu sync.Mutex
	at time.Time
	// seq is the head of the audit stream, as far as it was read.
	seq        uint64
	tombstones []tombstone
}

// tombstone keeps erased content out of the log.
type tombstone struct {
	schema.ErasureBegunPayload
	at time.Time
	// locked contains the hashes of the streams that take no events for a while.
	locked   map[string]bool
	lockedAt time.Time
	lifted   bool
}

// MaxLock is how long an erasure may keep a stream from taking events, and how long a terminated one does.
const MaxLock = 12 * time.Hour

// erasureTypes are the events of the audit stream by which tombstones change.
var erasureTypes = []string{
	schema.ErasureBegun, schema.ErasureLocked, schema.ErasureApplied, schema.ErasureFinished, schema.ErasureLifted,
}

// askForErasures asks the server for the end of the audit stream, and reads its new events.
func (s *Store) askForErasures(ctx context.Context) error {
	now := time.Now()
	end, err := s.End(ctx, schema.AuditStream())
	if err != nil {
		return err
	}
	return s.LearnErasures(ctx, end, now)
}

// LearnErasures reads the new events of the audit stream, as of the time, if it has grown to the position. It then
// drops all cached streams, because they may contain erased content.
func (s *Store) LearnErasures(ctx context.Context, head uint64, now time.Time) error {
	s.erased.mu.Lock()
	defer s.erased.mu.Unlock()
	if head == s.erased.seq {
		s.erased.at = now
		return nil
	}
	stones, err := s.readTombstones(ctx, head)
	if err != nil {
		return fmt.Errorf("read the tombstones of erasures: %w", err)
	}
	s.erased.tombstones, s.erased.seq, s.erased.at = stones, head, now
	s.tails.clear()
	return nil
}

func (s *Store) readTombstones(ctx context.Context, head uint64) ([]tombstone, error) {
	var stones []tombstone
	find := func(id string) *tombstone {
		for i := range stones {
			if stones[i].ErasureID == id {
				return &stones[i]
			}
		}
		return &tombstone{}
	}
	sel := selection{stream: schema.AuditStream(), types: erasureTypes, upTo: head}
	for after := (position{stream: sel.stream}); ; {
		p, err := s.page(ctx, sel, after)
		if err != nil {
			return nil, err
		}
		for _, e := range p.events {
			payload, err := schema.DecodePayload(e)
			if err != nil {
				return nil, err
			}
			switch x := payload.(type) {
			case schema.ErasureBegunPayload:
				stones = append(stones, tombstone{ErasureBegunPayload: x, at: e.TS, locked: map[string]bool{}})
			case schema.ErasureLockedPayload:
				stone := find(x.ErasureID)
				stone.locked, stone.lockedAt = map[string]bool{}, e.RecordedAt
				for _, stream := range x.Streams {
					stone.locked[stream] = true
				}
			case schema.ErasureFinishedPayload:
				if x.Failed == "" { // A failed erasure has recorded itself whether it leaves its locks.
					find(x.ErasureID).locked = map[string]bool{}
				}
			case schema.ErasureLiftedPayload:
				find(x.ErasureID).lifted = true
			}
		}
		if !p.more {
			return stones, nil
		}
		after = p.last
	}
}

// tombstones returns the tombstones in force, not older than half of a lease.
func (s *Store) tombstones(ctx context.Context) ([]tombstone, error) {
	young := func() ([]tombstone, bool) {
		s.erased.mu.Lock()
		defer s.erased.mu.Unlock()
		return s.erased.tombstones, time.Since(s.erased.at) < s.opts.Lease/2
	}
	if stones, ok := young(); ok {
		return stones, nil
	}
	unlock, err := s.locks.Lock(ctx, "erasures")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if stones, ok := young(); ok {
		return stones, nil
	}
	if err := s.opts.AskForErasures(ctx); err != nil {
		return nil, err
	}
	stones, _ := young()
	return stones, nil
}

// Erasures returns the position in the audit stream up to which the store knows of erasures, not older than half of a
// lease. If it grows during some work, what was read before may repeat erased text.
func (s *Store) Erasures(ctx context.Context) (uint64, error) {
	if _, err := s.tombstones(ctx); err != nil {
		return 0, fmt.Errorf("ask for erasures: %w", err)
	}
	s.erased.mu.Lock()
	defer s.erased.mu.Unlock()
	return s.erased.seq, nil
}

// Admits returns an [ErasedError] if the session, its user or its project was forgotten. Others are admitted. Use it to
// check before there is anything to store: an append is refused in any case.
func (s *Store) Admits(ctx context.Context, key schema.SessionKey) error {
	return s.admit(ctx, key.Stream(), nil)
}

// AdmitsTo returns an [ErasingError] while an erasure changes the stream, and an [ErasedError] if the stream, or one of
// the events, was erased. Use it before copying rows to another store: tables differ from the log until the erasure has
// ended.
func (s *Store) AdmitsTo(ctx context.Context, stream string, events ...schema.Event) error {
	return s.admit(ctx, stream, events)
}

// admit returns an error if the stream, or one of the events, belongs to erased content, or if an erasure is changing
// the stream.
func (s *Store) admit(ctx context.Context, stream string, events []schema.Event) error {
	if strings.HasPrefix(stream, schema.ErasurePrefix) {
		return nil
	}
	stones, err := s.tombstones(ctx)
	if err != nil || len(stones) == 0 {
		return err
	}
	named := scopesOf(stream, events)
	for _, stone := range stones {
		if !stone.lifted && stone.Scope != "" {
			for _, scope := range named {
				if scope.Kind() == stone.Kind && scope.Hash(stone.Salt) == stone.Scope {
					return &ErasedError{stone.ErasureID, stone.Kind, stone.at}
				}
			}
		}
		if len(stone.locked) > 0 && time.Since(stone.lockedAt) < MaxLock && stone.locked[StreamHash(stone.Salt, stream)] {
			return &ErasingError{stone.ErasureID}
		}
	}
	return nil
}

// StreamHash is how an [schema.ErasureLockedPayload] names the stream.
func StreamHash(salt, stream string) string { return schema.SaltedHash(salt, "stream", stream) }

// scopesOf returns the sessions, users and projects that the stream and the events are of, as scopes of erasures.
func scopesOf(stream string, events []schema.Event) []schema.ErasureScope {
	var out []schema.ErasureScope
	seen := map[schema.ErasureScope]bool{}
	add := func(s schema.ErasureScope) {
		if s != (schema.ErasureScope{}) && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	key, err := schema.ParseSessionStream(stream)
	if err != nil {
		key, _, err = schema.ParseContextStream(stream)
	}
	if err == nil {
		add(schema.ErasureScope{Project: key.Project, User: key.User, Agent: key.Agent, SessionID: key.SessionID})
		add(schema.ErasureScope{User: key.User})
		add(schema.ErasureScope{Project: key.Project})
		return out
	}
	for _, parse := range []func(string) (string, error){schema.ParseProjectStream, schema.ParseGraduateStream, schema.ParseUsageStream} {
		if project, err := parse(stream); err == nil {
			add(schema.ErasureScope{Project: project})
			return out
		}
	}
	user, agent, err := schema.ParseMemoryStream(stream)
	if err != nil {
		user, agent, err = schema.ParseQueueStream(stream)
	}
	if err != nil {
		return nil
	}
	add(schema.ErasureScope{User: user})
	for _, e := range events {
		if e.Project == "" {
			continue
		}
		add(schema.ErasureScope{Project: e.Project})
		if e.SessionID != "" {
			add(schema.ErasureScope{Project: e.Project, User: user, Agent: agent, SessionID: e.SessionID})
		}
	}
	return out
}
