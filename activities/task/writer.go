package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Log is the part of the event log that the writer uses.
type Log interface {
	Append(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
	Head(stream string) schema.StreamHead
	Project(ctx context.Context, p projection.Projector, stream string) (projection.Progress, error)
	Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error
}

// Writer writes project streams. For each project only one caller at a time may use it: the project's workflow.
type Writer struct {
	log       Log
	projector *Projector
	index     Index
	rules     Rules
}

// NewWriter returns a writer.
func NewWriter(log Log, conn clickhouse.Conn, rules Rules) *Writer {
	return &Writer{log: log, projector: NewProjector(conn), index: NewTables(conn), rules: rules}
}

// Result is the outcome of a batch or a command.
type Result struct {
	// Events counts the new events in the log. It is 0 if everything was done before.
	Events int `json:"events"`
	// Entries counts the given task notes. Skipped lists the first of those that produced no event, and MoreSkipped
	// counts the others.
	Entries     int       `json:"entries"`
	Skipped     []Skipped `json:"skipped,omitempty"`
	MoreSkipped int       `json:"more_skipped,omitempty"`
	// Created counts the new tasks, Changed the changes to tasks, and Rejected the refused changes.
	Created  int `json:"created"`
	Changed  int `json:"changed"`
	Rejected int `json:"rejected"`
	// LastSeq is the position of the last new event, or 0 if there is none.
	LastSeq uint64 `json:"last_seq"`
	// Changes are the changes that a command made, also if it is repeated. MoreChanges counts the changes left out.
	Changes     []Change `json:"changes,omitempty"`
	MoreChanges int      `json:"more_changes,omitempty"`
}

// maxSkipped bounds the number of skipped entries in a result. A batch has the results of many sessions.
const maxSkipped = 4

// setChanges fills Changes and MoreChanges from the events of a command.
func (r *Result) setChanges(events []schema.Event) error {
	changes, err := changesOf(events)
	shown := min(len(changes), maxChanges)
	r.Changes, r.MoreChanges = changes[:shown], len(changes)-shown
	return err
}

// add counts stored events. The fresh ones are new in the log.
func (r *Result) add(events []schema.Event, fresh map[string]bool) {
	for _, e := range events {
		r.LastSeq = max(r.LastSeq, e.Seq)
		if fresh[e.ID] {
			r.Events++
		}
		switch e.Type {
		case schema.TaskCreated:
			r.Created++
		case schema.TaskTransitionRejected:
			r.Rejected++
		case schema.TaskStatusChanged, schema.TaskPriorityChanged, schema.TaskTitleChanged,
			schema.TaskBlockersSet, schema.TaskMerged:
			r.Changed++
		}
	}
}

// skip adds skipped entries.
func (r *Result) skip(skipped []Skipped) {
	shown := min(len(skipped), maxSkipped-len(r.Skipped))
	r.Skipped = append(r.Skipped, skipped[:shown]...)
	r.MoreSkipped += len(skipped) - shown
}

// freshOf returns the ids of the events that the call stored: those at the end of the stream.
func freshOf(appended eventlog.Appended) map[string]bool {
	last := slices.Clone(appended.Events)
	slices.SortFunc(last, func(a, b schema.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	fresh := map[string]bool{}
	for _, e := range last {
		if len(fresh) == appended.New {
			break
		}
		fresh[e.ID] = true
	}
	return fresh
}

// chunk is the number of entries to resolve at once. Their events are one block of the log.
const chunk = 500

// Apply resolves the task notes of the batches, which belong to one project, and appends the resulting events. After
// any error or crash it can be called again and does the remaining work. The projection is up to date when it returns.
// A batch that is refused permanently fails alone.
func (w *Writer) Apply(ctx context.Context, batches []Batch) ([]boundary.Outcome[Result], error) {
	out := make([]boundary.Outcome[Result], len(batches))
	if len(batches) == 0 {
		return out, nil
	}
	parts := chunks(batches)
	for i, batch := range batches {
		for _, e := range batch.Entries {
			if e.Type == schema.EntryTaskNote && e.Task != nil {
				out[i].Result.Entries++
			}
		}
	}
	if len(parts) == 0 {
		_, err := w.log.Project(ctx, w.projector, schema.ProjectStream(batches[0].Project))
		return out, err
	}
	for _, part := range parts {
		if err := w.applyPart(ctx, part, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// chunks splits the batches into parts with up to [chunk] notes. Each part contains all batches, most of them empty if
// there are several parts.
func chunks(batches []Batch) [][]Batch {
	var parts [][]Batch
	var part []Batch
	room := 0
	for i, batch := range batches {
		for notes := notesOf(batch.Entries); len(notes) > 0; {
			if room == 0 {
				part, room = slices.Clone(batches), chunk
				for k := range part {
					part[k].Entries = nil
				}
				parts = append(parts, part)
			}
			n := min(room, len(notes))
			part[i].Entries, notes, room = notes[:n], notes[n:], room-n
		}
	}
	return parts
}

// applyPart resolves a part of the batches. It leaves out batches that failed in an earlier part.
func (w *Writer) applyPart(ctx context.Context, part []Batch, out []boundary.Outcome[Result]) error {
	for i := range out {
		if out[i].Failed != nil {
			part[i].Entries = nil
		}
	}
	stream := schema.ProjectStream(part[0].Project)
	var planned Planned
	var refused []*boundary.Failed
	head := w.log.Head(stream) // Before Steady, which projects at least up to it.
	err := w.log.Steady(ctx, w.projector, stream, func() (err error) {
		planned, refused, err = w.plan(ctx, part)
		return err
	})
	if err != nil {
		return err
	}
	appended, err := w.commit(ctx, stream, head, planned)
	if err != nil {
		return err
	}
	fresh := freshOf(appended)
	for i := range out {
		if refused[i] != nil {
			out[i].Failed = refused[i]
			continue
		}
		out[i].Result.skip(planned.Skipped[i])
		if len(planned.Events) > 0 {
			out[i].Result.add(of(planned, appended.Events, i), fresh)
		}
	}
	return nil
}

// plan plans the batches, and returns why some of them are refused. When one is refused, it plans again without that
// batch.
func (w *Writer) plan(ctx context.Context, batches []Batch) (Planned, []*boundary.Failed, error) {
	batches = slices.Clone(batches)
	refused := make([]*boundary.Failed, len(batches))
	for {
		planned, err := Plan(ctx, w.index, w.rules, batches)
		var one *BatchError
		if !errors.As(err, &one) {
			return planned, refused, err
		}
		outcome, err := boundary.Of(ctx, Result{}, one)
		if err != nil {
			return Planned{}, nil, err
		}
		refused[one.Index], batches[one.Index].Entries = outcome.Failed, nil
	}
}

// commit appends the events, which were planned when all events up to the head were projected, and projects them.
func (w *Writer) commit(ctx context.Context, stream string, head schema.StreamHead, planned Planned) (eventlog.Appended, error) {
	if len(planned.Events) == 0 {
		return eventlog.Appended{}, nil
	}
	appended, err := w.log.Append(ctx, stream, planned.Events)
	if err != nil {
		return appended, err
	}
	projector := w.projector
	if head.Known {
		projector = projector.after(projectState{planned.Events[0].Project, head.Seq, planned.before})
	}
	_, err = w.log.Project(ctx, projector, stream)
	return appended, err
}

// Do runs the command. A command that is sent several times takes effect once. An error that wraps [ErrRefused] has the
// reason for the refusal, which is also in the log.
func (w *Writer) Do(ctx context.Context, c Command) (Result, error) {
	var result Result
	if err := c.Validate(); err != nil {
		return result, err
	}
	stream := schema.ProjectStream(c.Project)
	var done []schema.Event
	var planned Planned
	var refused error
	head := w.log.Head(stream)
	err := w.log.Steady(ctx, w.projector, stream, func() (err error) {
		if done, err = w.doneBefore(ctx, c); err == nil && len(done) == 0 {
			planned, refused = PlanCommand(ctx, w.index, w.rules, c)
		}
		return err
	})
	if err != nil {
		return result, err
	}
	if len(done) > 0 {
		if err := result.setChanges(done); err != nil || len(result.Changes) > 0 {
			return result, err
		}
		return result, refusedBefore(done)
	}
	appended, err := w.commit(ctx, stream, head, planned)
	if err != nil {
		return result, err
	}
	result.add(appended.Events, freshOf(appended))
	if refused != nil {
		return result, refused
	}
	return result, result.setChanges(planned.Events)
}

// refusedBefore returns the recorded refusal of a command that changed nothing, if there is one.
func refusedBefore(done []schema.Event) error {
	for _, e := range done {
		o, err := readEvent(e)
		if err != nil {
			return err
		}
		if p, ok := o.payload.(schema.TaskTransitionRejectedPayload); ok {
			return fmt.Errorf("%w: %s", ErrRefused, strings.ReplaceAll(p.Rejection, "_", " "))
		}
	}
	return nil
}

// doneBefore returns the command's events in the log: all of them or none.
func (w *Writer) doneBefore(ctx context.Context, c Command) ([]schema.Event, error) {
	return eventlog.Numbered(ctx, w.log, func(n int) string { return schema.TaskOfCommandKey(c.Project, c.RequestID, n) })
}
