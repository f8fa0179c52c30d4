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
	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Activities are the steps of an erasure.
type Activities struct {
	log *eventlog.Store
	// conn is that of a worker. eraser has the rights to erase.
	conn, eraser driver.Conn
	temporal     client.Client
	namespace    string
	root         *tier.Root
	weaviate     *vector.Client
	// maxDeleting is how long Temporal may take to delete the executions that it was asked to delete: it deletes one that has just ended
	// only when its queues note how far they are, by default every half minute. pollDeleting is the longest pause between two looks.
	maxDeleting, pollDeleting time.Duration
	temps                     func() ([]string, error)
	keyFile                   string
	unsigned                  bool
}

// Stores are what an erasure erases from.
type Stores struct {
	Log *eventlog.Store
	// ClickHouse is the connection of a worker, and Eraser one with the rights of [eventlog.RoleEraser].
	ClickHouse, Eraser driver.Conn
	Temporal           client.Client
	Namespace          string
	// Root is where the files of the memories are.
	Root     *tier.Root
	Weaviate *vector.Client
	// KeyFile holds the key that signs erasures: see package grant. Unsigned accepts erasures that nobody signed.
	KeyFile  string
	Unsigned bool
	// Temps removes the temporary files of killed programs, and returns those that it can't remove. Default: none are looked for.
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

// run numbers the runs of an erasure.
func (in Input) run() int { return int(in.At.UnixMilli()) }

// Begun says how long it takes until all programs know the last event of the erasure.
type Begun struct {
	Wait time.Duration `json:"wait"`
	// ErasureID is that of the erasure that is continued: an earlier one of the same text that has not ended, or else the one of the
	// input.
	ErasureID string `json:"erasure_id,omitempty"`
}

// BeginErasure stores the tombstone. After [eventlog.Store.Drain] no program admits anything of what is erased.
func (a *Activities) BeginErasure(ctx context.Context, in Input) (Begun, error) {
	return boundary.Run(ctx, in, signed(a, a.begin))
}

func (a *Activities) begin(ctx context.Context, in Input) (Begun, error) {
	if err := in.Validate(); err != nil {
		return Begun{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	if err := a.notLifted(ctx, in); err != nil {
		return Begun{}, err
	}
	other := boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("erasure %q has erased something else: give another id, or none", in.ErasureID))
	first, _, err := begun(ctx, a.log, in.ErasureID)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
	case err != nil:
		return Begun{}, err
	case first.Kind != in.Kind() || first.Scope != in.Hash(first.Salt):
		return Begun{}, other
	}
	secret, err := a.secretOf(ctx, in)
	if err != nil {
		return Begun{}, err
	}
	if secret.scope != in.SecretHash(secret.key) {
		return Begun{}, other
	}
	in.ErasureID = secret.erasureID
	salt := newSalt()
	p := schema.ErasureBegunPayload{
		ErasureID: in.ErasureID, Kind: in.Kind(), By: in.By, Because: in.Because, Salt: salt, Scope: in.Hash(salt),
	}
	stored, err := appendTo(ctx, a.log, schema.AuditStream(), p, in.By, in.key(schema.ErasureBegun, 0), in.At)
	if err != nil {
		return Begun{}, err
	}
	// Another attempt may have been first.
	first, err = schema.Decode[schema.ErasureBegunPayload](stored)
	if err == nil && (first.Kind != in.Kind() || first.Scope != in.Hash(first.Salt)) {
		err = other
	}
	return Begun{ErasureID: in.ErasureID}, err
}

// plan returns the changes of the erasure, and calls erased as [Make] does.
func (a *Activities) plan(ctx context.Context, in Input, erased func(text string)) (*Plan, error) {
	if err := eventlog.NewEraser(a.eraser, in.ErasureID).Settle(ctx); err != nil {
		return nil, err
	}
	return Make(ctx, a.log, a.conn, in.ErasureID, in.ErasureScope, erased)
}

// LockStreams takes in what people have edited in the files of the memories, keeps the streams that are to be changed from taking
// events, and stores the fingerprints by which the erased texts are looked for later.
func (a *Activities) LockStreams(ctx context.Context, in Input) (Begun, error) {
	return boundary.Run(ctx, in, signed(a, a.lock))
}

func (a *Activities) lock(ctx context.Context, in Input) (Begun, error) {
	secret, err := a.secretOf(ctx, in)
	if err != nil {
		return Begun{}, err
	}
	prints := newPrints(secret.key)
	plan, err := a.plan(ctx, in, prints.add)
	if err != nil {
		return Begun{}, err
	}
	if in.Kind() != schema.EraseUser {
		edited := false
		for _, m := range plan.Memories {
			more, err := a.syncFiles(ctx, in, m)
			if err != nil {
				return Begun{}, err
			}
			edited = edited || more
		}
		if edited {
			if plan, err = a.plan(ctx, in, prints.add); err != nil {
				return Begun{}, err
			}
		}
	}
	if err := a.addPrints(ctx, secret, prints); err != nil {
		return Begun{}, err
	}
	wait, err := a.keepOut(ctx, in, plan)
	return Begun{Wait: wait}, err
}

// addPrints stores the fingerprints, with those of an earlier attempt, which may have found more.
func (a *Activities) addPrints(ctx context.Context, secret secret, prints *prints) error {
	prints.read(secret.prints)
	all := prints.bytes()
	if bytes.Equal(all, secret.prints) {
		return nil
	}
	secret.prints, secret.sampled = all, secret.sampled || prints.sampled
	return a.remember(ctx, secret)
}

// near returns the streams that are changed, and those in which it may be named. Queues and the writers of vectors are not among them:
// what they write is of no table that changes.
func (p *Plan) near() []string {
	streams := slices.DeleteFunc(append(p.Changed(), p.Near...), func(stream string) bool {
		return !slices.ContainsFunc([]string{schema.MemoryPrefix, schema.ProjectPrefix, schema.GraduatePrefix, schema.SessionPrefix},
			func(prefix string) bool { return strings.HasPrefix(stream, prefix) })
	})
	slices.Sort(streams)
	return slices.Compact(streams)
}

// keepOut has the streams of the plan take no events, with those that the erasure keeps out already. It returns how long to wait until
// all programs know of that and of the tombstone.
func (a *Activities) keepOut(ctx context.Context, in Input, plan *Plan) (wait time.Duration, err error) {
	stone, begunAt, err := begun(ctx, a.log, in.ErasureID)
	if err != nil {
		return 0, err
	}
	locks, err := locksOf(ctx, a.log, in.ErasureID)
	if err != nil {
		return 0, err
	}
	known, missing := begunAt, len(locks.since) > 0 && time.Since(locks.at) > eventlog.MaxLock/2 // The next program may see them end.
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
		if err := appendAudit(ctx, a.log, p, in.By, in.key(schema.ErasureLocked, int(locks.seq)), in.At); err != nil {
			return 0, err
		}
	}
	return max(0, a.log.Drain()-time.Since(known)), nil
}

// Erased is what was erased from the log.
type Erased struct {
	Counts schema.ErasureCounts `json:"counts"`
	// At is when that was, by ClickHouse's clock.
	At time.Time `json:"at"`
	// Wait is how long to wait before it is called again. Nothing is erased yet: not all programs know what takes no events.
	Wait time.Duration `json:"wait,omitempty"`
}

// EraseLog erases from the log. Called again, it erases what is left. What a program stored that did not know of the tombstone yet may be
// in other streams than those that were locked with it: then these are locked first.
func (a *Activities) EraseLog(ctx context.Context, in Input) (Erased, error) {
	return boundary.Run(ctx, in, signed(a, a.eraseLog))
}

func (a *Activities) eraseLog(ctx context.Context, in Input) (Erased, error) {
	secret, err := a.secretOf(ctx, in)
	if err != nil {
		return Erased{}, err
	}
	prints := newPrints(secret.key)
	plan, err := a.plan(ctx, in, prints.add)
	if err != nil {
		return Erased{}, err
	}
	if err := a.addPrints(ctx, secret, prints); err != nil {
		return Erased{}, err
	}
	if wait, err := a.keepOut(ctx, in, plan); err != nil || wait > 0 {
		return Erased{Wait: wait}, err
	}
	counted := schema.ErasureAppliedPayload{ErasureID: in.ErasureID, Counts: plan.Counts}
	// An attempt that broke off has counted all, and what is left to this one is less.
	stored, err := appendTo(ctx, a.log, schema.ErasureStream(in.ErasureID), counted, in.By, in.key("counted", 0), in.At)
	if err != nil {
		return Erased{}, err
	}
	if counted, err = schema.Decode[schema.ErasureAppliedPayload](stored); err != nil {
		return Erased{}, err
	}
	// They would only fail, or go on with what they have read.
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
	// A replay that was killed has left copies of events. One that is running fails, and can be run again.
	if _, err := eventlog.DropScratches(ctx, a.conn, eventlog.PurposeReplay, 0); err != nil {
		return Erased{}, err
	}
	at, err := x.Now(ctx)
	if err != nil {
		return Erased{}, err
	}
	return Erased{Counts: counted.Counts, At: at}, appendAudit(ctx, a.log, counted, in.By, in.key(schema.ErasureApplied, 0), in.At)
}

// PurgeInput says when an erasure has deleted rows, by ClickHouse's clock.
type PurgeInput struct {
	Input
	Log   time.Time `json:"log"`
	Files time.Time `json:"files"`
}

// PurgeParts waits until ClickHouse has removed from its disk the parts that the erasure has replaced.
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

// UnlockStreams lets the streams take events again.
func (a *Activities) UnlockStreams(ctx context.Context, in Input) error {
	_, err := boundary.Run(ctx, in, signed(a, func(ctx context.Context, in Input) (none struct{}, err error) {
		p := schema.ErasureLockedPayload{ErasureID: in.ErasureID, Streams: []string{}}
		locks, err := locksOf(ctx, a.log, in.ErasureID)
		if err != nil || len(locks.since) == 0 {
			return none, err
		}
		return none, appendAudit(ctx, a.log, p, in.By, in.key(schema.ErasureLocked, int(locks.seq)), in.At)
	}))
	return err
}

// EndInput says how an erasure has ended.
type EndInput struct {
	Input
	Finished schema.ErasureFinishedPayload `json:"finished"`
}

// EndErasure records how the erasure has ended.
func (a *Activities) EndErasure(ctx context.Context, in EndInput) error {
	_, err := boundary.Run(ctx, in, signed(a, func(ctx context.Context, in EndInput) (none struct{}, err error) {
		// What failed may be tried again, and end otherwise.
		return none, appendAudit(ctx, a.log, in.Finished, in.By, in.key(schema.ErasureFinished, in.run()), time.Now())
	}))
	return err
}
