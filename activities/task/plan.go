package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"axiommind/activities/ledger"
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

// load reads the state of the project that the notes of the batches need. The index is up to date with its stream.
func load(ctx context.Context, index Index, rules Rules, batches []Batch) (*overlay, error) {
	project := batches[0].Project
	if strings.TrimSpace(project) == "" {
		return nil, fmt.Errorf("%w: project is missing", ErrCommand)
	}
	v := newOverlay(project, index, rules.Vectors)
	var notes []schema.Entry
	for _, batch := range batches {
		notes = append(notes, notesOf(batch.Entries)...)
	}
	return v, v.prefetch(ctx, notes)
}

// decide returns the events that follow from the batch. Entries that were observed before, and entries that are not
// task notes, produce none.
func decide(ctx context.Context, v *overlay, rules Rules, batch Batch) (d ledger.Decision[Result], err error) {
	p := &planner{overlay: v, rules: rules, session: batch.SessionID, build: batch.BuildID, actor: ActorResolver}
	from := len(v.planned)
	skipped, err := p.resolve(ctx, notesOf(batch.Entries))
	if err != nil {
		return d, fmt.Errorf("resolve tasks of session %q: %w", batch.SessionID, err)
	}
	for _, e := range batch.Entries {
		if e.Type == schema.EntryTaskNote && e.Task != nil {
			d.Result.Entries++
		}
	}
	d.Events = v.planned[from:len(v.planned):len(v.planned)]
	shown := min(len(skipped), maxSkipped)
	d.Result.Skipped, d.Result.MoreSkipped = skipped[:shown], len(skipped)-shown
	return d, nil
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
