// Package fact remembers facts about a user for each agent. It turns what sessions say, and what people ask for, into
// events, the events into facts, and the facts into text for a prompt.
package fact

import (
	"context"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/activities/table"
	"axiommind/schema"
)

// Log is the part of the event log that this package writes through.
type Log interface {
	Append(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
	Project(ctx context.Context, p eventlog.Projector, stream string) (eventlog.Progress, error)
	Steady(ctx context.Context, p eventlog.Projector, stream string, plan func() error) error
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
func NewWriter(log Log, conn table.Conn, opts Options) (*Writer, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
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
	// Skipped counts the facts that were not stored, by reason: one of the Skipped constants of package schema.
	Skipped map[string]int `json:"skipped,omitempty"`
	// FactID is the fact that the command created, updated or deleted, also if an earlier call did so.
	FactID string `json:"fact_id,omitempty"`
	// LastSeq is the position of the last new event, or 0 if there is none.
	LastSeq uint64 `json:"last_seq"`
}

func (r *Result) add(appended eventlog.Appended) error {
	r.Events += appended.New
	for _, e := range appended.Events {
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
		case schema.FactSkippedPayload:
			if r.Skipped == nil {
				r.Skipped = map[string]int{}
			}
			r.Skipped[p.Skipped]++
		}
	}
	return nil
}

// chunk is the number of entries that are planned at once. Their events are one block of the log.
const chunk = 2000

// Apply appends the events that follow from the facts among the batch's entries. If it is called again, after any
// error or crash, it does the remaining work. The projection is up to date when it returns.
func (w *Writer) Apply(ctx context.Context, batch Batch) (Result, error) {
	var result Result
	entries, err := batch.facts()
	if err != nil {
		return result, err
	}
	result.Entries = len(entries)
	stream := schema.MemoryStream(batch.User, batch.Agent)
	if len(entries) == 0 {
		_, err := w.log.Project(ctx, w.projector, stream)
		return result, err
	}
	for len(entries) > 0 {
		n := min(chunk, len(entries))
		part := batch
		part.Entries, entries = entries[:n], entries[n:]
		var events []schema.Event
		err := w.log.Steady(ctx, w.projector, stream, func() (err error) {
			events, err = w.plan(ctx, part)
			return err
		})
		if err != nil {
			return result, fmt.Errorf("update facts from session %q: %w", batch.SessionID, err)
		}
		if err := w.commit(ctx, stream, events, &result); err != nil {
			return result, err
		}
	}
	return result, nil
}

func (w *Writer) plan(ctx context.Context, batch Batch) ([]schema.Event, error) {
	eventIDs := make([]string, len(batch.Entries))
	for i, e := range batch.Entries {
		eventIDs[i] = schema.EventID(schema.FactOfEntryKey(e.User, e.Agent, e.ID))
	}
	events, err := w.log.GetMany(ctx, eventIDs)
	if err != nil {
		return nil, err
	}
	done := make(map[string]bool, len(events))
	var contents, ids []string
	for i, e := range batch.Entries {
		if _, ok := events[eventIDs[i]]; ok {
			done[e.ID] = true
			continue
		}
		x := (&planner{}).proposalOf(e)
		contents = append(contents, x.content)
		ids = append(ids, factIDs(x.key)...)
	}
	if len(contents) == 0 {
		return nil, nil
	}
	facts, err := w.tables.Load(ctx, batch.User, batch.Agent, contents, ids)
	if err != nil {
		return nil, err
	}
	return Plan(facts, done, batch, w.opts)
}

func (w *Writer) commit(ctx context.Context, stream string, events []schema.Event, result *Result) error {
	if len(events) == 0 {
		return nil
	}
	appended, err := w.log.Append(ctx, stream, events)
	if err != nil {
		return err
	}
	if err := result.add(appended); err != nil {
		return err
	}
	_, err = w.log.Project(ctx, w.projector, stream)
	return err
}

// Do runs the command. A command that is sent several times takes effect once and returns the same result. Errors are
// [InvalidError], [ErrFactNotFound] and [ErrDuplicate]. ErrDuplicate is recorded in the log.
func (w *Writer) Do(ctx context.Context, c Command) (Result, error) {
	var result Result
	if err := c.Validate(); err != nil {
		return result, err
	}
	stream := schema.MemoryStream(c.User, c.Agent)
	key := schema.FactOfCommandKey(c.User, c.Agent, c.RequestID)
	done, err := w.log.GetMany(ctx, []string{schema.EventID(key)})
	if err != nil {
		return result, err
	}
	var contents []string
	if c.Content != nil {
		contents = []string{*c.Content}
	}
	var facts []Fact
	err = w.log.Steady(ctx, w.projector, stream, func() (err error) {
		if len(done) == 0 {
			facts, err = w.tables.Load(ctx, c.User, c.Agent, contents, append(factIDs(key), c.FactID))
		}
		return err
	})
	if err != nil {
		return result, err
	}
	for _, e := range done {
		return result, result.conclude(e)
	}
	events, refused := PlanCommand(facts, c, w.opts)
	if len(events) == 0 {
		return result, refused
	}
	if err := w.commit(ctx, stream, events, &result); err != nil {
		return result, err
	}
	return result, result.conclude(events[len(events)-1])
}

// conclude sets the result from the event that records the outcome of a command.
func (r *Result) conclude(e schema.Event) error {
	o, err := readEvent(e)
	if err != nil {
		return err
	}
	r.FactID = o.payload.Fact()
	return refusal(e)
}
