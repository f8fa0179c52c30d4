// Package fact remembers facts about a user for each agent. It turns the statements of sessions and the commands of
// people into events, the events into facts, and the facts into text for a prompt.
package fact

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Log is the part of the event log that this package writes through.
type Log interface {
	AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
	Project(ctx context.Context, p projection.Projector, stream string) (projection.Progress, error)
	Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error
	Since(ctx context.Context, stream string, after uint64, types []string) (events []schema.Event, last uint64, known bool, err error)
}

// Writer writes facts to memory streams. For each stream only one caller at a time may use it: the workflow whose id
// is the stream's name.
type Writer struct {
	log       Log
	projector *Projector
	tables    *Tables
	opts      Options
}

// NewWriter returns a writer, or an error if the options are invalid.
func NewWriter(log Log, conn clickhouse.Conn, opts Options) (*Writer, error) {
	opts, err := opts.withDefaults()
	switch {
	case err != nil:
		return nil, err
	case opts.MergeOverlap > 0 && opts.Embedder == nil:
		return nil, errors.New("fact options: an embedder is needed to merge facts")
	}
	return &Writer{log: log, projector: NewProjector(conn), tables: NewTables(conn), opts: opts}, nil
}

// Result is the outcome of a batch or a command.
type Result struct {
	// Events counts the new events in the log. It is 0 if everything was done before.
	Events int `json:"events"`
	// Entries counts the facts given.
	Entries int `json:"entries"`
	Created int `json:"created"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
	Evicted int `json:"evicted"`
	// Merged counts the facts that were merged into older ones.
	Merged int `json:"merged,omitempty"`
	// Sections counts the sections of the profile that were set or removed.
	Sections int `json:"sections,omitempty"`
	// Skipped counts the facts that were not stored, by reason: one of the Skipped constants of package schema.
	Skipped map[string]int `json:"skipped,omitempty"`
	// FactID is the fact that the command created, updated or deleted, also if an earlier call did so.
	FactID string `json:"fact_id,omitempty"`
	// LastSeq is the position of the last new event, or 0 if there is none.
	LastSeq uint64 `json:"last_seq"`
}

// add counts the events as stored in the log. Those from the position on count as new.
func (r *Result) add(events []schema.Event, from uint64) error {
	for _, e := range events {
		if e.Seq >= from {
			r.Events++
		}
		r.LastSeq = max(r.LastSeq, e.Seq)
		o, err := readEvent(e)
		if err != nil {
			return err
		}
		switch p := o.payload.(type) {
		case schema.FactCreatedPayload:
			r.Created++
		case schema.FactUpdatedPayload:
			r.Updated++
		case schema.FactDeletedPayload:
			r.Deleted++
		case schema.FactEvictedPayload:
			r.Evicted++
		case schema.FactMergedPayload:
			r.Merged++
		case schema.ProfileUpdatedPayload:
			r.Sections++
		case schema.FactSkippedPayload:
			if r.Skipped == nil {
				r.Skipped = map[string]int{}
			}
			r.Skipped[p.Skipped]++
		}
	}
	return nil
}

// firstNew returns the position of the first new event. New events come after all others.
func firstNew(appended eventlog.Appended) uint64 {
	seqs := make([]uint64, len(appended.Events))
	for i, e := range appended.Events {
		seqs[i] = e.Seq
	}
	slices.Sort(seqs)
	if appended.New == 0 {
		return math.MaxUint64
	}
	return seqs[len(seqs)-appended.New]
}

// chunk is the most entries that are planned at once. Their events are one block of the log.
const chunk = 2000

// piece is a part of the batch with the index: at most chunk facts, which are planned at once.
type piece struct {
	Batch
	index int
}

// Append appends the events for the facts in the batches, which are all of one memory. The events are the same as if the
// batches were appended one after the other, and the outcomes are in the order of the batches. A batch with a fact of
// another scope fails without stopping the others. An error that Append itself returns does not name its batch, and some
// events may be stored by then: call Append again with the same batches, and it does the rest. [Writer.Project] must follow.
func (w *Writer) Append(ctx context.Context, batches []Batch) ([]boundary.Outcome[Result], error) {
	out := make([]boundary.Outcome[Result], len(batches))
	var pieces []piece
	for i, batch := range batches {
		facts, err := batch.facts()
		if err == nil && (batch.User != batches[0].User || batch.Agent != batches[0].Agent) {
			err = fmt.Errorf("%w: session %q is of user %q, agent %q, not of %q, %q",
				ErrScope, batch.SessionID, batch.User, batch.Agent, batches[0].User, batches[0].Agent)
		}
		if out[i], err = boundary.Of(ctx, Result{Entries: len(facts)}, err); err != nil {
			return nil, err
		}
		if out[i].Failed != nil {
			continue
		}
		if len(facts) == 0 && len(batch.Removals) > 0 {
			batch.Entries = nil
			pieces = append(pieces, piece{batch, i})
		}
		for part := range slices.Chunk(facts, chunk) {
			batch.Entries = part
			pieces = append(pieces, piece{batch, i})
			batch.Removals = nil // They come before the first part.
		}
	}
	for len(pieces) > 0 {
		n, entries := 1, len(pieces[0].Entries)
		for n < len(pieces) && entries+len(pieces[n].Entries) <= chunk {
			entries += len(pieces[n].Entries)
			n++
		}
		if err := w.store(ctx, pieces[:n], out); err != nil {
			if n == 1 {
				err = fmt.Errorf("update facts from session %q: %w", pieces[0].SessionID, err)
			}
			return nil, err
		}
		pieces = pieces[n:]
	}
	return out, nil
}

// store appends the events of all pieces at once.
func (w *Writer) store(ctx context.Context, pieces []piece, out []boundary.Outcome[Result]) error {
	stream := schema.MemoryStream(pieces[0].User, pieces[0].Agent)
	planned, err := w.plan(ctx, stream, pieces)
	if err != nil {
		return err
	}
	appended, err := w.log.AppendAll(ctx, stream, slices.Concat(planned...))
	if err != nil {
		return err
	}
	from, stored := firstNew(appended), appended.Events
	for i, p := range pieces {
		if err := out[p.index].Result.add(stored[:len(planned[i])], from); err != nil {
			return err
		}
		stored = stored[len(planned[i]):]
	}
	return nil
}

func (w *Writer) plan(ctx context.Context, stream string, pieces []piece) ([][]schema.Event, error) {
	needs := w.needs(pieces[0].User, pieces[0].Agent)
	batches := make([]Batch, len(pieces))
	var entries []schema.Entry
	var proposals []proposal
	for i, p := range pieces {
		batches[i] = p.Batch
		for _, r := range p.Removals {
			needs.IDs = append(needs.IDs, r.FactID)
		}
		for _, e := range p.Entries {
			x := (&planner{}).proposalOf(e)
			needs.Contents = append(needs.Contents, x.content)
			needs.IDs = append(needs.IDs, factIDs(x.key)...)
			needs.Entries = append(needs.Entries, e.ID)
			needs.Profile = needs.Profile || x.section != ""
			entries, proposals = append(entries, e), append(proposals, x)
		}
	}
	m, err := w.recall(ctx, stream, needs)
	if err != nil {
		return nil, err
	}
	if m.Read, err = w.readAt(ctx, m, entries); err != nil {
		return nil, err
	}
	if m.near, err = newSimilarityIndex(ctx, w.opts, m.Facts, proposals); err != nil {
		return nil, err
	}
	return planAll(m, batches, w.opts)
}

// needs returns the needs that all plans share.
func (w *Writer) needs(user, agent string) Needs {
	n := Needs{User: user, Agent: agent, All: w.opts.all()}
	if w.opts.Eviction == schema.EvictHybrid {
		n.Uses = time.Now().UTC()
	}
	return n
}

// clocksDiffer is the most that the clocks of messages and commands may differ.
const clocksDiffer = 24 * time.Hour

// readAt returns, by the entries' ids, when their sessions were read: the start of the build that ingested the message.
// It asks the log only about messages from before everything was forgotten, or shortly after, which are rare.
func (w *Writer) readAt(ctx context.Context, m Memory, entries []schema.Entry) (map[string]time.Time, error) {
	messages := map[string]string{}
	for _, e := range entries {
		if !m.Done[e.ID] && !m.Cleared.IsZero() && e.OccurredAt.Before(m.Cleared.Add(clocksDiffer)) && len(e.Evidence) > 0 && e.Evidence[0].EventID != "" {
			messages[e.ID] = e.Evidence[0].EventID
		}
	}
	if len(messages) == 0 {
		return nil, nil
	}
	ingested, err := w.log.GetMany(ctx, unique(maps.Values(messages)))
	if err != nil {
		return nil, fmt.Errorf("read when sessions were read: %w", err)
	}
	started := map[string]string{}
	for entryID, id := range messages {
		if e, ok := ingested[id]; ok && e.BuildID != "" {
			started[entryID] = schema.EventID(schema.BuildStartedKey(e.BuildID))
		}
	}
	builds, err := w.log.GetMany(ctx, unique(maps.Values(started)))
	if err != nil {
		return nil, fmt.Errorf("read when builds began: %w", err)
	}
	out := map[string]time.Time{}
	for entryID, id := range started {
		out[entryID] = builds[id].TS
	}
	return out, nil
}

func unique(values iter.Seq[string]) []string { return slices.Compact(slices.Sorted(values)) }

// recall returns the memory for a plan with the needs. If the log remembers all events of the memory and no uses are
// needed, it folds them without a request. Otherwise it reads the tables.
func (w *Writer) recall(ctx context.Context, stream string, needs Needs) (m Memory, err error) {
	events, _, known, err := w.log.Since(ctx, stream, 0, w.projector.Types())
	if err != nil {
		return m, fmt.Errorf("read facts: %w", err)
	}
	if known && needs.Uses.IsZero() {
		return foldMemory(events)
	}
	err = w.log.Steady(ctx, w.projector, stream, func() (err error) {
		m, err = w.load(ctx, needs, len(needs.Entries))
		return err
	})
	return m, err
}

// load reads the needs of a plan of some proposals, each of which evicts at most one fact.
func (w *Writer) load(ctx context.Context, needs Needs, proposals int) (Memory, error) {
	for needs.Evictions = proposals; ; {
		m, err := w.tables.Load(ctx, needs)
		evictions := m.Active + proposals - w.opts.MaxFacts
		if err != nil || needs.All || evictions <= needs.Evictions {
			return m, err
		}
		// The memory has more facts than allowed: the maximum was lowered.
		needs.Evictions = evictions
	}
}

// Project brings the tables up to date with the stream.
func (w *Writer) Project(ctx context.Context, stream string) error {
	_, err := w.log.Project(ctx, w.projector, stream)
	return err
}

// Do runs the command. A command that is sent several times takes effect once and returns the same result. Errors are
// [InvalidError], [ErrFactNotFound], [ErrStale] and [ErrDuplicate]. ErrDuplicate is recorded in the log.
func (w *Writer) Do(ctx context.Context, c Command) (Result, error) {
	var result Result
	if err := c.Validate(); err != nil {
		return result, err
	}
	stream := schema.MemoryStream(c.User, c.Agent)
	keys := commandKeys(c)
	done, err := w.log.GetMany(ctx, keys)
	if err != nil {
		return result, err
	}
	var memory Memory
	err = w.log.Steady(ctx, w.projector, stream, func() (err error) {
		if len(done) < len(keys) {
			memory, err = w.load(ctx, w.needsOf(c), max(1, len(c.Items)))
		}
		return err
	})
	if err != nil {
		return result, err
	}
	var events []schema.Event
	var refused error
	if len(done) < len(keys) {
		memory.Done = map[string]bool{}
		for id := range done {
			memory.Done[id] = true
		}
		if len(done) > 0 {
			c.ExpectVersion = 0 // It held when the first items were imported.
		}
		if events, refused = PlanCommand(memory, c, w.opts); len(events) == 0 {
			return result, refused
		}
	}
	appended, err := w.log.AppendAll(ctx, stream, events)
	if err == nil && len(events) > 0 {
		err = w.Project(ctx, stream)
	}
	if err != nil {
		return result, err
	}
	return result, result.conclude(c, done, appended)
}

// commandKeys returns the ids of the events that record the outcome of the command: one, or one for each imported item.
func commandKeys(c Command) []string {
	if c.Op != OpImport {
		return []string{schema.EventID(schema.FactOfCommandKey(c.User, c.Agent, c.RequestID))}
	}
	ids := make([]string, len(c.Items))
	for n := range c.Items {
		ids[n] = schema.EventID(importKey(c, n))
	}
	return ids
}

// needsOf returns the needs of a plan of the command.
func (w *Writer) needsOf(c Command) Needs {
	n := w.needs(c.User, c.Agent)
	n.All = n.All || c.Op == OpClear
	n.Profile = c.Op == OpSection || c.Op == OpClear
	n.Version = c.ExpectVersion > 0
	if c.FactID != "" {
		n.IDs = append(n.IDs, c.FactID)
	}
	if c.Content != nil {
		n.Contents = append(n.Contents, *c.Content)
	}
	n.IDs = append(n.IDs, factIDs(schema.FactOfCommandKey(c.User, c.Agent, c.RequestID))...)
	for i, item := range c.Items {
		n.Contents = append(n.Contents, item.Content)
		n.IDs = append(n.IDs, factIDs(importKey(c, i))...)
		n.Profile = n.Profile || item.Section != ""
	}
	return n
}

// conclude sets the result from the events that record the outcome of the command, including those of an earlier call.
func (r *Result) conclude(c Command, done map[string]schema.Event, appended eventlog.Appended) error {
	if err := r.add(appended.Events, firstNew(appended)); err != nil {
		return err
	}
	if c.Op == OpImport {
		return r.add(slices.Collect(maps.Values(done)), math.MaxUint64)
	}
	last := len(appended.Events) - 1
	for _, e := range done {
		return r.outcome(e)
	}
	return r.outcome(appended.Events[last])
}

// outcome sets the fact of the command from the event that records its outcome, and returns the error if it was refused.
func (r *Result) outcome(e schema.Event) error {
	o, err := readEvent(e)
	if err != nil {
		return err
	}
	r.FactID = o.payload.Fact()
	return refusal(e)
}
