package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"axiommind/schema"
)

// ActorResolver is the actor of events that follow from a session's entries.
const ActorResolver = "task_resolver"

// Batch is a list of consecutive entries of one session, in the order of their events.
type Batch struct {
	Project   string         `json:"project"`
	SessionID string         `json:"session_id"`
	BuildID   string         `json:"build_id,omitempty"`
	Entries   []schema.Entry `json:"entries"`
}

// Skipped is an entry without a valid title, which produces no event.
type Skipped struct {
	EntryID string `json:"entry_id"`
	Reason  string `json:"reason"`
}

// Planned is the plan for batches or a command.
type Planned struct {
	// Events are the events to append to the project's stream, in this order.
	Events []schema.Event
	// Ends has, by batch, the number of events up to the end of its own. Skipped has, by batch, the skipped entries.
	// They are reported again with every batch that contains them.
	Ends    []int
	Skipped [][]Skipped
	// before has the entities as the index returned them.
	before map[string]Entity
}

// of returns the part of the list, which is in the order of Events, that belongs to the batch at the index.
func of[T any](p Planned, list []T, batch int) []T {
	start := 0
	if batch > 0 {
		start = p.Ends[batch-1]
	}
	return list[start:p.Ends[batch]]
}

// BatchError is the error of a batch that cannot be planned.
type BatchError struct {
	// Index is the index of the batch.
	Index int
	Err   error
}

// Error implements error.
func (e *BatchError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *BatchError) Unwrap() error { return e.Err }

// DoneReports is the policy for reports of done that may not close their task: the first mention of the task, a report
// for a pending task, or another report while one is unconfirmed.
type DoneReports string

// Values of DoneReports. KeepReports, the default, leaves the confirmation to a person. CloseProven closes the task if
// the report's evidence is proven.
const (
	KeepReports DoneReports = "keep"
	CloseProven DoneReports = "close"
)

// Rules configures how tasks are resolved. The zero value uses the defaults.
type Rules struct {
	// Vectors finds tasks by the meaning of their titles. Default: none.
	Vectors TitleSearcher
	// DoneReports is the policy for reports of done. Default KeepReports.
	DoneReports DoneReports
}

// planner turns acts into events, one after the other.
type planner struct {
	overlay *overlay
	rules   Rules
	session string
	build   string
	actor   string
	// act and at belong to the current entry or command.
	act schema.Act
	at  time.Time
	// changes counts the events of a command.
	changes int
	// ended are the entities that the act closed or resolved.
	ended []string
}

// Plan returns the events that follow from the batches, which belong to one project. They are the same as if each batch
// had been projected before the next one was planned. The index must be up to date with the project's stream. Entries
// that were observed before, and entries that are not task notes, produce no events. An error that is about one batch
// is a [BatchError].
func Plan(ctx context.Context, index Index, rules Rules, batches []Batch) (Planned, error) {
	if len(batches) == 0 {
		return Planned{}, nil
	}
	project := batches[0].Project
	if strings.TrimSpace(project) == "" {
		return Planned{}, fmt.Errorf("%w: project is missing", ErrCommand)
	}
	v := newOverlay(project, index, rules.Vectors)
	var notes []schema.Entry
	for _, batch := range batches {
		notes = append(notes, notesOf(batch.Entries)...)
	}
	if err := v.prefetch(ctx, notes); err != nil {
		return Planned{}, err
	}
	out := Planned{before: v.before}
	for i, batch := range batches {
		p := &planner{overlay: v, rules: rules, session: batch.SessionID, build: batch.BuildID, actor: ActorResolver}
		skipped, err := p.resolve(ctx, notesOf(batch.Entries))
		if err != nil {
			return Planned{}, &BatchError{i, fmt.Errorf("resolve tasks of session %q: %w", batch.SessionID, err)}
		}
		out.Skipped, out.Ends = append(out.Skipped, skipped), append(out.Ends, len(v.planned))
	}
	out.Events = v.planned
	return out, nil
}

// resolve resolves the entries that no event refers to yet.
func (p *planner) resolve(ctx context.Context, entries []schema.Entry) ([]Skipped, error) {
	var skipped []Skipped
	for _, e := range entries {
		if p.overlay.observed[e.ID] {
			continue
		}
		p.act, p.at = schema.Act{EntryID: e.ID}, instant(e.OccurredAt)
		err := p.resolveEntry(ctx, e)
		if errors.Is(err, ErrKey) {
			skipped = append(skipped, Skipped{EntryID: e.ID, Reason: err.Error()})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("resolve entry %q: %w", e.ID, err)
		}
		p.overlay.observed[e.ID] = true
	}
	return skipped, nil
}

// notesOf returns the task notes, each once.
func notesOf(entries []schema.Entry) []schema.Entry {
	var notes []schema.Entry
	known := map[string]bool{}
	for _, e := range entries {
		if e.Type == schema.EntryTaskNote && e.Task != nil && !known[e.ID] {
			known[e.ID] = true
			notes = append(notes, e)
		}
	}
	return notes
}

// instant returns the time with the precision of the tables.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
