// Package fact remembers facts about a user for each agent. It turns the statements of sessions and the commands of
// people into events, the events into facts, and the facts into text for a prompt.
package fact

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Log is the part of the event log that this package writes through.
type Log interface {
	ledger.Log
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
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

// count counts the events of a request.
func (r *Result) count(stored ledger.Stored) error {
	r.Events += stored.New()
	return r.add(stored.Events)
}

// add counts what the events say.
func (r *Result) add(events []schema.Event) error {
	for _, e := range events {
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

// State is a memory while sessions change it.
type State = planner

// Sessions is the room of the facts that sessions state.
func (w *Writer) Sessions() ledger.Room[Batch, *State, Result] {
	room := ledger.Room[Batch, *State, Result]{
		Projectors: []projection.Projector{w.projector}, Count: (*Result).count,
		Load: func(ctx context.Context, batches []Batch) (*State, error) {
			needs := w.needsOfSessions(batches)
			m, err := w.load(ctx, needs, len(needs.Entries))
			if err != nil {
				return nil, err
			}
			return w.begin(ctx, m, batches)
		},
		Decide: func(_ context.Context, p *State, b Batch) (ledger.Decision[Result], error) { return p.decide(b) },
	}
	if w.opts.Eviction != schema.EvictHybrid { // The uses of facts are in a table.
		room.Folds = w.projector.Types()
		room.Fold = func(ctx context.Context, batches []Batch, events []schema.Event) (*State, error) {
			m, err := foldMemory(events)
			if err != nil {
				return nil, err
			}
			return w.begin(ctx, m, batches)
		}
	}
	return room
}

// begin returns the state that the batches are decided on.
func (w *Writer) begin(ctx context.Context, m Memory, batches []Batch) (*State, error) {
	var entries []schema.Entry
	var proposals []proposal
	for _, b := range batches {
		for _, e := range b.Entries {
			entries, proposals = append(entries, e), append(proposals, (&planner{}).proposalOf(e))
		}
	}
	var err error
	if m.Read, err = w.readAt(ctx, m, entries); err != nil {
		return nil, err
	}
	if m.near, err = newSimilarityIndex(ctx, w.opts, m.Facts, proposals); err != nil {
		return nil, err
	}
	return newPlanner(m, w.opts), nil
}

// needsOfSessions returns the needs of a plan of the batches.
func (w *Writer) needsOfSessions(batches []Batch) Needs {
	needs := w.needs(batches[0].User, batches[0].Agent)
	for _, b := range batches {
		for _, r := range b.Removals {
			needs.IDs = append(needs.IDs, r.FactID)
		}
		for _, e := range b.Entries {
			x := (&planner{}).proposalOf(e)
			needs.Contents = append(needs.Contents, x.content)
			needs.IDs = append(needs.IDs, factIDs(x.key)...)
			needs.Entries = append(needs.Entries, e.ID)
			needs.Profile = needs.Profile || x.section != ""
		}
	}
	return needs
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

// commandState is the state that a command is decided on.
type commandState struct {
	Memory
	// recorded has the events of an earlier call that record the outcome, by id.
	recorded map[string]schema.Event
}

// Do runs the command. A command that is sent several times takes effect once and returns the same result. Errors are
// [InvalidError], [ErrFactNotFound], [ErrStale] and [ErrDuplicate]. ErrDuplicate is recorded in the log.
func (w *Writer) Do(ctx context.Context, c Command) (Result, error) {
	if err := c.Validate(); err != nil {
		return Result{}, err
	}
	return ledger.One(ctx, w.log, ledger.Room[Command, commandState, Result]{
		Projectors: []projection.Projector{w.projector}, Count: (*Result).count,
		Load: func(ctx context.Context, _ []Command) (s commandState, err error) {
			keys := commandKeys(c)
			if s.recorded, err = w.log.GetMany(ctx, keys); err == nil && len(s.recorded) < len(keys) {
				s.Memory, err = w.load(ctx, w.needsOf(c), max(1, len(c.Items)))
			}
			return s, err
		},
		Decide: func(_ context.Context, s commandState, c Command) (ledger.Decision[Result], error) {
			return w.decide(s, c)
		},
	}, schema.StreamHead{}, c)
}

// decide decides the command, or the items of an import that were not imported before.
func (w *Writer) decide(s commandState, c Command) (d ledger.Decision[Result], err error) {
	if len(s.recorded) < len(commandKeys(c)) {
		s.Done = map[string]bool{}
		for id := range s.recorded {
			s.Done[id] = true
		}
		if len(s.recorded) > 0 {
			c.ExpectVersion = 0 // It held when the first items were imported.
		}
		events, refused := PlanCommand(s.Memory, c, w.opts)
		if len(events) == 0 {
			return d, refused
		}
		d.Events = events
	}
	if c.Op == OpImport {
		return d, d.Result.add(slices.Collect(maps.Values(s.recorded)))
	}
	last := slices.AppendSeq(slices.Clip(d.Events), maps.Values(s.recorded)) // The last one records the outcome.
	d.Result.FactID, d.Refused, err = outcome(last[len(last)-1])
	return d, err
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

// outcome returns the fact of the command whose outcome the event records, or why it was refused.
func outcome(e schema.Event) (factID string, refused, err error) {
	o, err := readEvent(e)
	if err != nil {
		return "", nil, err
	}
	return o.payload.Fact(), refusal(e), nil
}
