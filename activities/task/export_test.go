package task

import (
	"context"
	"slices"

	"axiommind/activities/boundary"
	"axiommind/activities/ledger"
	"axiommind/schema"
)

// Notes is a session with task notes, as a request. If Unreadable is set, it is refused.
type Notes struct {
	Batch
	Unreadable error
}

func (n Notes) Writer() schema.WriterInput { return schema.ProjectTasksInput{Project: n.Project} }

func (Notes) Validate() error { return nil }

// Batch resolves the notes of sessions.
func (w *Writer) Batch(ctx context.Context, in boundary.Batch[Notes]) (boundary.Outcomes[Result], error) {
	return ledger.Batch(ctx, w.log, w.resolution(), in, func(_ context.Context, n Notes) (Batch, error) { return n.Batch, n.Unreadable })
}

// Apply resolves the notes of batches of one project.
func (w *Writer) Apply(ctx context.Context, batches []Batch) ([]boundary.Outcome[Result], error) {
	var in boundary.Batch[Notes]
	for _, b := range batches {
		in.Items = append(in.Items, Notes{Batch: b})
	}
	out, err := w.Batch(ctx, in)
	return out.Items, err
}

// Planned are the events that follow from batches or a command, and of each batch.
type Planned struct {
	Events []schema.Event
	Of     [][]schema.Event
	// Skipped has, by batch, the skipped entries.
	Skipped [][]Skipped
}

// Plan plans the batches, as the writer does, without storing anything.
func Plan(ctx context.Context, index Index, rules Rules, batches []Batch) (out Planned, err error) {
	v, err := load(ctx, index, rules, batches)
	for i := 0; err == nil && i < len(batches); i++ {
		d, failed := decide(ctx, v, rules, batches[i])
		out.Events, out.Of, out.Skipped = slices.Concat(out.Events, d.Events), append(out.Of, d.Events), append(out.Skipped, d.Result.Skipped)
		err = failed
	}
	return out, err
}

// PlanCommand plans the command. The events record a refusal.
func PlanCommand(ctx context.Context, index Index, rules Rules, c Command) (Planned, error) {
	if err := c.Validate(); err != nil {
		return Planned{}, err
	}
	events, refused, err := decideCommand(ctx, newOverlay(c.Project, index, rules.Vectors), rules, c)
	if err == nil {
		err = refused
	}
	return Planned{Events: events}, err
}

// The reference for the projection in property tests: the fold of all events, without tables.

// Fold returns the entity with the id after the event.
func Fold(e Entity, id string, event schema.Event) (Entity, error) {
	o, err := readEvent(event)
	if err != nil {
		return e, err
	}
	return e.after(id, o), nil
}
