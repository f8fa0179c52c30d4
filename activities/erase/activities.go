package erase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Activities are the steps of an erasure.
type Activities struct {
	log *projection.Store
	// conn is the connection of a worker. eraser has the rights to erase.
	conn, eraser driver.Conn
	temporal     client.Client
	namespace    string
	root         *tier.Root
	weaviate     *vector.Client
	// maxDeleting is the time limit for Temporal to delete executions. It deletes one that has just ended only at the
	// next checkpoint of its queues, by default every half minute. pollDeleting is the longest pause between two
	// checks.
	maxDeleting, pollDeleting time.Duration
	temps                     func() ([]string, error)
	keyFile                   string
	unsigned                  bool
}

// Stores are the stores that an erasure erases from.
type Stores struct {
	Log *projection.Store
	// ClickHouse is the connection of a worker, and Eraser one with the rights of [clickhouse.RoleEraser].
	ClickHouse, Eraser driver.Conn
	Temporal           client.Client
	Namespace          string
	// Root is the directory of the files of the memories.
	Root     *tier.Root
	Weaviate *vector.Client
	// KeyFile contains the key that signs erasures: see package grant. Unsigned accepts unsigned erasures.
	KeyFile  string
	Unsigned bool
	// Temps removes the temporary files of killed programs, and returns those that it can't remove. If it is nil, none
	// are removed.
	Temps func() ([]string, error)
}

// NewActivities returns the activities of this package.
func NewActivities(s Stores) (*Activities, error) {
	if s.Log == nil || s.ClickHouse == nil || s.Eraser == nil || s.Temporal == nil || s.Namespace == "" || s.Root == nil || s.Weaviate == nil {
		return nil, errors.New("erasure: a store is missing")
	}
	return &Activities{s.Log, s.ClickHouse, s.Eraser, s.Temporal, s.Namespace, s.Root, s.Weaviate, 3 * time.Minute, 3 * time.Second, s.Temps, s.KeyFile, s.Unsigned}, nil
}

// Input names an erasure.
type Input struct {
	schema.ForgetInput
	ErasureID string `json:"erasure_id"`
	// At is when the workflow began.
	At time.Time `json:"at"`
}

func (in Input) key(act string, n int) string { return schema.ErasureKey(in.ErasureID, act, n) }

// run returns a number for the run of an erasure.
func (in Input) run() int { return int(in.At.UnixMilli()) }

// BeginResult is the result of the first steps of an erasure. Wait is how long it takes until all programs know its last
// event.
type BeginResult struct {
	Wait time.Duration `json:"wait"`
	// ErasureID is the id of the erasure: of an unfinished one of the same text, which is continued, or else that of
	// the input.
	ErasureID string `json:"erasure_id,omitempty"`
}

// BeginErasure stores the tombstone. After [projection.Store.Drain] no program admits erased content.
func (a *Activities) BeginErasure(ctx context.Context, in Input) (BeginResult, error) {
	return boundary.Run(ctx, in, signed(a, a.begin))
}

func (a *Activities) begin(ctx context.Context, in Input) (BeginResult, error) {
	if err := in.Validate(); err != nil {
		return BeginResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	if err := a.notLifted(ctx, in); err != nil {
		return BeginResult{}, err
	}
	other := boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("erasure %q has erased something else: give another id, or none", in.ErasureID))
	first, _, err := tombstoneOf(ctx, a.log.Store, in.ErasureID)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
	case err != nil:
		return BeginResult{}, err
	case first.Kind != in.Kind() || first.Scope != in.Hash(first.Salt):
		return BeginResult{}, other
	}
	secret, err := a.secretOf(ctx, in)
	if err != nil {
		return BeginResult{}, err
	}
	if secret.scope != in.SecretHash(secret.key) {
		return BeginResult{}, other
	}
	in.ErasureID = secret.erasureID
	salt := newSalt()
	p := schema.ErasureBegunPayload{
		ErasureID: in.ErasureID, Kind: in.Kind(), By: in.By, Because: in.Because, Salt: salt, Scope: in.Hash(salt),
	}
	stored, err := appendTo(ctx, a.log.Store, schema.AuditStream(), p, in.By, in.key(schema.ErasureBegun, 0), in.At)
	if err != nil {
		return BeginResult{}, err
	}
	// Another attempt may have been first.
	first, err = schema.Decode[schema.ErasureBegunPayload](stored)
	if err == nil && (first.Kind != in.Kind() || first.Scope != in.Hash(first.Salt)) {
		err = other
	}
	return BeginResult{ErasureID: in.ErasureID}, err
}

// plan returns the changes of the erasure, and calls erased as [Make] does.
func (a *Activities) plan(ctx context.Context, in Input, erased func(text string)) (*Plan, error) {
	if err := eventlog.NewEraser(a.eraser, in.ErasureID).WaitForMutations(ctx); err != nil {
		return nil, err
	}
	return Make(ctx, a.log.Store, a.conn, in.ErasureID, in.ErasureScope, erased)
}

// LockStreams records people's edits of the files of the memories, locks the streams that will change against new
// events, and stores the fingerprints for the later search.
func (a *Activities) LockStreams(ctx context.Context, in Input) (BeginResult, error) {
	return boundary.Run(ctx, in, signed(a, a.lock))
}

func (a *Activities) lock(ctx context.Context, in Input) (BeginResult, error) {
	secret, err := a.secretOf(ctx, in)
	if err != nil {
		return BeginResult{}, err
	}
	prints := newFingerprints(secret.key)
	plan, err := a.plan(ctx, in, prints.add)
	if err != nil {
		return BeginResult{}, err
	}
	if in.Kind() != schema.EraseUser {
		edited := false
		for _, m := range plan.Memories {
			more, err := a.syncFiles(ctx, in, m)
			if err != nil {
				return BeginResult{}, err
			}
			edited = edited || more
		}
		if edited {
			if plan, err = a.plan(ctx, in, prints.add); err != nil {
				return BeginResult{}, err
			}
		}
	}
	if err := a.addFingerprints(ctx, secret, prints); err != nil {
		return BeginResult{}, err
	}
	wait, err := a.lockStreams(ctx, in, plan)
	return BeginResult{Wait: wait}, err
}

// addFingerprints stores the fingerprints together with those of an earlier attempt, which may have found more.
func (a *Activities) addFingerprints(ctx context.Context, secret secret, prints *fingerprints) error {
	prints.read(secret.fingerprints)
	all := prints.bytes()
	if bytes.Equal(all, secret.fingerprints) {
		return nil
	}
	secret.fingerprints, secret.sampled = all, secret.sampled || prints.sampled
	return a.remember(ctx, secret)
}

// near returns the changed streams and those that may name erased content. Streams of queues and of vector writers are
// left out, because their events are not derived from tables that change.
func (p *Plan) near() []string {
	streams := slices.DeleteFunc(append(p.Changed(), p.Near...), func(stream string) bool {
		return !slices.ContainsFunc([]string{schema.MemoryPrefix, schema.ProjectPrefix, schema.GraduatePrefix, schema.SessionPrefix},
			func(prefix string) bool { return strings.HasPrefix(stream, prefix) })
	})
	slices.Sort(streams)
	return slices.Compact(streams)
}

// lockStreams locks the streams of the plan against new events and keeps the existing locks. It returns how long to wait
// until all programs know the locks and the tombstone.
func (a *Activities) lockStreams(ctx context.Context, in Input, plan *Plan) (wait time.Duration, err error) {
	stone, begunAt, err := tombstoneOf(ctx, a.log.Store, in.ErasureID)
	if err != nil {
		return 0, err
	}
	locks, err := locksOf(ctx, a.log.Store, in.ErasureID)
	if err != nil {
		return 0, err
	}
	known, missing := begunAt, len(locks.since) > 0 && time.Since(locks.at) > eventlog.MaxLock/2 // They may expire before the next renewal.
	for _, stream := range plan.near() {
		hash := eventlog.StreamHash(stone.Salt, stream)
		at, ok := locks.since[hash]
		if !ok {
			missing, locks.since[hash] = true, time.Time{}
		}
		if at.After(known) {
			known = at
		}
	}
	if missing {
		p := schema.ErasureLockedPayload{ErasureID: in.ErasureID, Streams: slices.Sorted(maps.Keys(locks.since))}
		known = time.Now()
		if err := appendAudit(ctx, a.log.Store, p, in.By, in.key(schema.ErasureLocked, int(locks.seq)), in.At); err != nil {
			return 0, err
		}
	}
	return max(0, a.log.Drain()-time.Since(known)), nil
}

// Erased is the result of [Activities.EraseLog].
type Erased struct {
	Counts schema.ErasureCounts `json:"counts"`
	// At is the time of the erasure, by ClickHouse's clock.
	At time.Time `json:"at"`
	// Wait is how long to wait before the next call. If it is set, nothing is erased yet, because not all programs know
	// the locks.
	Wait time.Duration `json:"wait,omitempty"`
}

// EraseLog erases from the log. Called again, it erases the leftovers. A program that did not know the tombstone yet
// may have written to streams that are not locked. These are then locked first.
func (a *Activities) EraseLog(ctx context.Context, in Input) (Erased, error) {
	return boundary.Run(ctx, in, signed(a, a.eraseLog))
}

func (a *Activities) eraseLog(ctx context.Context, in Input) (Erased, error) {
	secret, err := a.secretOf(ctx, in)
	if err != nil {
		return Erased{}, err
	}
	prints := newFingerprints(secret.key)
	plan, err := a.plan(ctx, in, prints.add)
	if err != nil {
		return Erased{}, err
	}
	if err := a.addFingerprints(ctx, secret, prints); err != nil {
		return Erased{}, err
	}
	if wait, err := a.lockStreams(ctx, in, plan); err != nil || wait > 0 {
		return Erased{Wait: wait}, err
	}
	counted := schema.ErasureAppliedPayload{ErasureID: in.ErasureID, Counts: plan.Counts}
	// The first attempt has counted everything. A later one finds only the rest.
	stored, err := appendTo(ctx, a.log.Store, schema.ErasureStream(in.ErasureID), counted, in.By, in.key("counted", 0), in.At)
	if err != nil {
		return Erased{}, err
	}
	if counted, err = schema.Decode[schema.ErasureAppliedPayload](stored); err != nil {
		return Erased{}, err
	}
	// They would only fail, or continue with the erased content that they have read.
	if err := a.endExecutions(ctx, in, plan.Memories); err != nil {
		return Erased{}, err
	}
	x := eventlog.NewEraser(a.eraser, in.ErasureID)
	if err := x.Replace(ctx, plan.Replacements); err != nil {
		return Erased{}, err
	}
	if err := x.Delete(ctx, plan.Streams); err != nil {
		return Erased{}, err
	}
	if err := x.Apply(ctx); err != nil {
		return Erased{}, err
	}
	// A killed replay left copies of events. A running one fails and can be run again.
	if _, err := clickhouse.DropScratches(ctx, a.conn, clickhouse.PurposeReplay, 0); err != nil {
		return Erased{}, err
	}
	at, err := x.Now(ctx)
	if err != nil {
		return Erased{}, err
	}
	return Erased{Counts: counted.Counts, At: at}, appendAudit(ctx, a.log.Store, counted, in.By, in.key(schema.ErasureApplied, 0), in.At)
}

// PurgeInput contains the times when an erasure deleted rows, by ClickHouse's clock.
type PurgeInput struct {
	Input
	Log   time.Time `json:"log"`
	Files time.Time `json:"files"`
}

// PurgeParts waits until ClickHouse has removed the parts that the erasure replaced from its disk.
func (a *Activities) PurgeParts(ctx context.Context, in PurgeInput) error {
	_, err := boundary.Run(ctx, in, signed(a, func(ctx context.Context, in PurgeInput) (none struct{}, err error) {
		x := eventlog.NewEraser(a.eraser, in.ErasureID)
		if err := x.Purge(ctx, in.Log); err != nil {
			return none, err
		}
		return none, x.PurgeTables(ctx, in.Files, filesTable)
	}))
	return err
}

// UnlockStreams unlocks the streams.
func (a *Activities) UnlockStreams(ctx context.Context, in Input) error {
	_, err := boundary.Run(ctx, in, signed(a, func(ctx context.Context, in Input) (none struct{}, err error) {
		p := schema.ErasureLockedPayload{ErasureID: in.ErasureID, Streams: []string{}}
		locks, err := locksOf(ctx, a.log.Store, in.ErasureID)
		if err != nil || len(locks.since) == 0 {
			return none, err
		}
		return none, appendAudit(ctx, a.log.Store, p, in.By, in.key(schema.ErasureLocked, int(locks.seq)), in.At)
	}))
	return err
}

// EndInput is the input of [Activities.EndErasure].
type EndInput struct {
	Input
	Finished schema.ErasureFinishedPayload `json:"finished"`
}

// EndErasure records the outcome of the erasure.
func (a *Activities) EndErasure(ctx context.Context, in EndInput) error {
	_, err := boundary.Run(ctx, in, signed(a, func(ctx context.Context, in EndInput) (none struct{}, err error) {
		// A failed erasure may be retried and have another outcome.
		return none, appendAudit(ctx, a.log.Store, in.Finished, in.By, in.key(schema.ErasureFinished, in.run()), time.Now())
	}))
	return err
}
