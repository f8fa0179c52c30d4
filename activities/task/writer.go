package task

import (
	"context"
	"fmt"
	"strings"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Log is the part of the event log that the writer uses.
type Log interface {
	ledger.Log
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
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

// add counts stored events.
func (r *Result) add(stored ledger.Stored) error {
	r.Events += stored.New()
	for _, e := range stored.Events {
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
	return nil
}

// resolution is the room of sessions' task notes. The entries of a batch were read when it is decided.
func (w *Writer) resolution() ledger.Room[Batch, *overlay, Result] {
	return ledger.Room[Batch, *overlay, Result]{
		Projectors: []projection.Projector{w.projector}, Project: w.project, Count: (*Result).add,
		Load: func(ctx context.Context, batches []Batch) (*overlay, error) {
			return load(ctx, w.index, w.rules, batches)
		},
		Decide: func(ctx context.Context, v *overlay, b Batch) (ledger.Decision[Result], error) {
			return decide(ctx, v, w.rules, b)
		},
	}
}

// project projects the planned events.
func (w *Writer) project(ctx context.Context, stream string, at schema.StreamHead, v *overlay) error {
	if len(v.planned) == 0 {
		return nil // Steady has projected all others.
	}
	return w.log.ProjectEach(ctx, stream, []projection.Projector{w.projectorOf(at, v)})
}

// projectorOf returns the projector of the planned events, whose entities need not be read again.
func (w *Writer) projectorOf(at schema.StreamHead, v *overlay) *Projector {
	if !at.Known {
		return w.projector
	}
	return w.projector.after(projectState{v.project, at.Seq, v.before})
}

// commandState is the state that a command is decided on.
type commandState struct {
	*overlay
	// done are the events of an earlier call: all of them or none.
	done []schema.Event
}

// Do runs the command. A command that is sent several times takes effect once. An error that wraps [ErrRefused] has the
// reason for the refusal, which is also in the log.
func (w *Writer) Do(ctx context.Context, c Command) (Result, error) {
	if err := c.Validate(); err != nil {
		return Result{}, err
	}
	return ledger.One(ctx, w.log, ledger.Room[Command, commandState, Result]{
		Projectors: []projection.Projector{w.projector}, Count: (*Result).add, Atomic: true,
		Project: func(ctx context.Context, stream string, at schema.StreamHead, s commandState) error {
			return w.project(ctx, stream, at, s.overlay)
		},
		Load: func(ctx context.Context, _ []Command) (s commandState, err error) {
			s.overlay = newOverlay(c.Project, w.index, w.rules.Vectors)
			s.done, err = eventlog.Numbered(ctx, w.log, func(n int) string { return schema.TaskOfCommandKey(c.Project, c.RequestID, n) })
			return s, err
		},
		Decide: func(ctx context.Context, s commandState, c Command) (d ledger.Decision[Result], err error) {
			if len(s.done) == 0 {
				if d.Events, d.Refused, err = decideCommand(ctx, s.overlay, w.rules, c); err == nil && d.Refused == nil {
					err = d.Result.setChanges(d.Events)
				}
				return d, err
			}
			if err = d.Result.setChanges(s.done); err == nil && len(d.Result.Changes) == 0 {
				d.Refused, err = refusedBefore(s.done)
			}
			return d, err
		},
	}, schema.StreamHead{}, c)
}

// refusedBefore returns the recorded refusal of a command that changed nothing, if there is one.
func refusedBefore(done []schema.Event) (refused, err error) {
	for _, e := range done {
		o, err := readEvent(e)
		if err != nil {
			return nil, err
		}
		if p, ok := o.payload.(schema.TaskTransitionRejectedPayload); ok {
			return fmt.Errorf("%w: %s", ErrRefused, strings.ReplaceAll(p.Rejection, "_", " ")), nil
		}
	}
	return nil, nil
}
