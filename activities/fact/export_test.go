package fact

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/ledger"
	"axiommind/schema"
)

// Plan plans one batch with the whole memory.
func Plan(m Memory, batch Batch, opts Options) ([]schema.Event, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if batch.Entries, err = batch.facts(); err != nil {
		return nil, err
	}
	d, err := newPlanner(m, opts).decide(batch)
	return d.Events, err
}

// planAll returns the events of each batch. The batches are planned at once.
func planAll(m Memory, batches []Batch, opts Options) (out [][]schema.Event, err error) {
	p := newPlanner(m, opts)
	for _, batch := range batches {
		d, err := p.decide(batch)
		if err != nil {
			return nil, err
		}
		out = append(out, d.Events)
	}
	return out, nil
}

// memoryOf is a memory of the facts and of no profile.
func memoryOf(facts []Fact) Memory {
	return Memory{Facts: facts, Active: len(Remembered(facts)), Now: day}
}

// Stated is a session with facts, as a request.
type Stated struct{ Batch }

func (s Stated) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: s.User, Agent: s.Agent}
}

func (Stated) Validate() error { return nil }

// Batch stores the facts of sessions.
func (w *Writer) Batch(ctx context.Context, in boundary.Batch[Stated]) (boundary.Outcomes[Result], error) {
	return ledger.Batch(ctx, w.log, w.Sessions(), in, func(_ context.Context, s Stated) (Batch, error) { return s.Batch, nil })
}

// Apply stores the facts of the batches.
func (w *Writer) Apply(ctx context.Context, batches []Batch) ([]boundary.Outcome[Result], error) {
	var in boundary.Batch[Stated]
	for _, b := range batches {
		in.Items = append(in.Items, Stated{b})
	}
	out, err := w.Batch(ctx, in)
	return out.Items, err
}

// ApplyOne applies one batch.
func (w *Writer) ApplyOne(ctx context.Context, batch Batch) (Result, error) {
	outcomes, err := w.Apply(ctx, []Batch{batch})
	if err != nil {
		return Result{}, err
	}
	return outcomes[0].Result, outcomes[0].Failed.Err()
}

// The property tests compare the projection with the fold of all events, without tables.

// Fold returns the fact after an event of its own.
func Fold(f Fact, event schema.Event) (Fact, error) {
	o, err := readEvent(event)
	if err != nil {
		return f, err
	}
	return f.after(o), nil
}

// Replay returns the facts that the events of one memory stream leave, including deleted and evicted ones, in the order
// of their creation. Events from after asOf are left out, a zero asOf leaves out none. A session that is imported late
// counts from when it took place.
func Replay(events iter.Seq2[schema.Event, error], asOf time.Time) ([]Fact, error) {
	facts := map[string]Fact{}
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		if !asOf.IsZero() && event.TS.After(asOf) {
			continue
		}
		o, err := readEvent(event)
		if err != nil {
			return nil, err
		}
		if id := o.payload.Fact(); id != "" {
			facts[id] = facts[id].after(o)
		}
	}
	return inOrder(facts), nil
}

func inOrder(facts map[string]Fact) []Fact {
	out := make([]Fact, 0, len(facts))
	for _, f := range facts {
		if f.Exists() {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Fact) int { return cmp.Compare(a.CreatedSeq, b.CreatedSeq) })
	return out
}

// FoldMemory is the memory that the events leave.
func FoldMemory(events []schema.Event) (Memory, error) { return foldMemory(events) }

// LoadPart reads a memory as if it was not small.
func (t *Tables) LoadPart(ctx context.Context, n Needs) (Memory, error) { return t.loadPart(ctx, n) }

// WholeFacts is the number of rows up to which a memory is read whole.
const WholeFacts = wholeFacts
