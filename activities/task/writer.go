package task

import (
	"context"
	"fmt"
	"strings"

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

// Writer writes project streams. For each project only one caller at a time may use it: the project's workflow.
type Writer struct {
	log       Log
	projector *Projector
	index     Index
	rules     Rules
}

// NewWriter returns a writer.
func NewWriter(log Log, conn table.Conn, rules Rules) *Writer {
	return &Writer{log: log, projector: NewProjector(conn), index: NewTables(conn), rules: rules}
}

// Result is the outcome of a batch or a command.
type Result struct {
	// Events counts the new events in the log. It is 0 if everything was done before.
	Events int `json:"events"`
	// Entries counts the task notes given. Skipped are those that no event could be made from.
	Entries int       `json:"entries"`
	Skipped []Skipped `json:"skipped,omitempty"`
	// Created counts the new tasks, Changed the changes to tasks, and Rejected the refused changes.
	Created  int `json:"created"`
	Changed  int `json:"changed"`
	Rejected int `json:"rejected"`
	// LastSeq is the position of the last new event, or 0 if there is none.
	LastSeq uint64 `json:"last_seq"`
	// Changes are the changes that a command made, also if it is sent again. MoreChanges counts those left out.
	Changes     []Change `json:"changes,omitempty"`
	MoreChanges int      `json:"more_changes,omitempty"`
}

// tell fills Changes from the events of a command.
func (r *Result) tell(events []schema.Event) error {
	changes, err := changesOf(events)
	shown := min(len(changes), maxChanges)
	r.Changes, r.MoreChanges = changes[:shown], len(changes)-shown
	return err
}

func (r *Result) add(appended eventlog.Appended) {
	r.Events += appended.New
	for _, e := range appended.Events {
		r.LastSeq = max(r.LastSeq, e.Seq)
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

// chunk is the number of entries that are resolved at once. Their events are one block of the log.
const chunk = 500

// Apply resolves the batch's task notes and appends the resulting events. If it is called again, after any error or
// crash, it does the remaining work. The projection is up to date when it returns.
func (w *Writer) Apply(ctx context.Context, batch Batch) (Result, error) {
	var result Result
	stream := schema.ProjectStream(batch.Project)
	notes := make([]schema.Entry, 0, len(batch.Entries))
	for _, e := range batch.Entries {
		if e.Type == schema.EntryTaskNote && e.Task != nil {
			notes = append(notes, e)
		}
	}
	result.Entries = len(notes)
	if len(notes) == 0 {
		_, err := w.log.Project(ctx, w.projector, stream)
		return result, err
	}
	for len(notes) > 0 {
		n := min(chunk, len(notes))
		part := batch
		part.Entries, notes = notes[:n], notes[n:]
		var planned Planned
		err := w.log.Steady(ctx, w.projector, stream, func() (err error) {
			planned, err = Plan(ctx, w.index, w.rules, part)
			return err
		})
		if err != nil {
			return result, fmt.Errorf("resolve tasks of session %q: %w", batch.SessionID, err)
		}
		result.Skipped = append(result.Skipped, planned.Skipped...)
		if err := w.commit(ctx, stream, planned.Events, &result); err != nil {
			return result, err
		}
	}
	return result, nil
}

func (w *Writer) commit(ctx context.Context, stream string, events []schema.Event, result *Result) error {
	if len(events) == 0 {
		return nil
	}
	appended, err := w.log.Append(ctx, stream, events)
	if err != nil {
		return err
	}
	result.add(appended)
	_, err = w.log.Project(ctx, w.projector, stream)
	return err
}

// Do runs the command. A command that is sent several times takes effect once. If the error wraps [ErrRefused], it
// says why the command was refused, and the refusal is in the log.
func (w *Writer) Do(ctx context.Context, c Command) (Result, error) {
	var result Result
	if err := c.Validate(); err != nil {
		return result, err
	}
	stream := schema.ProjectStream(c.Project)
	var done []schema.Event
	var planned Planned
	var refused error
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
		if err := result.tell(done); err != nil || len(result.Changes) > 0 {
			return result, err
		}
		return result, refusedBefore(done)
	}
	if err := w.commit(ctx, stream, planned.Events, &result); err != nil {
		return result, err
	}
	if refused != nil {
		return result, refused
	}
	return result, result.tell(planned.Events)
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
	const page = 64
	var out []schema.Event
	for {
		ids := make([]string, page)
		for i := range ids {
			ids[i] = schema.EventID(schema.TaskOfCommandKey(c.Project, c.RequestID, len(out)+i))
		}
		found, err := w.log.GetMany(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			event, ok := found[id]
			if !ok {
				return out, nil
			}
			out = append(out, event)
		}
	}
}
