package entry

import (
	"context"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ReadLogged returns the session's active entries in the log that keep accepts, in order, with their current evidence
// in the session's own stream.
func ReadLogged(ctx context.Context, log *eventlog.Store, session schema.SessionKey, keep func(schema.Entry) bool) ([]schema.Entry, error) {
	l := newLedger()
	options := eventlog.StreamOptions{Types: []string{schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet}}
	for event, err := range log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read entries of session %q: %w", session.SessionID, err)
		}
		if _, err := l.add(event); err != nil {
			return nil, err
		}
	}
	var entries []schema.Entry
	for _, h := range l.own() {
		if e := h.current(); e.Status == schema.StatusActive && keep(e) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Fold folds the events of a session's stream into the state of the session's entries.
type Fold struct{ ledger *ledger }

// NewFold returns a fold of no events.
func NewFold() *Fold { return &Fold{newLedger()} }

// FoldedTypes returns the types of the events that a [Fold] takes in. It ignores others.
func FoldedTypes() []string {
	return []string{schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet, schema.EntriesPromoted}
}

// Add takes in the next event of the stream.
func (f *Fold) Add(event schema.Event) error {
	_, err := f.ledger.add(event)
	return err
}

// Folded is an entry as the stream of its session has it.
type Folded struct {
	// Entry has the stage that the view entries would show if nothing else had a say.
	schema.Entry
	// Promotions counts those in the stream.
	Promotions int
	// Changed is the position of the last event that says something of the entry's evidence or status.
	Changed uint64
}

// Active returns the session's active entries, in the order in which they were made.
func (f *Fold) Active() []Folded {
	var out []Folded
	for _, h := range f.ledger.own() {
		e := h.current()
		if e.Status != schema.StatusActive {
			continue
		}
		e.Stage = h.stageOf(e)
		out = append(out, Folded{Entry: e, Promotions: h.promotions, Changed: h.last})
	}
	return out
}

// stageOf returns the current stage of the entry. A promotion lasts as long as the evidence does.
func (h *entryRecord) stageOf(now schema.Entry) schema.Stage {
	stage := now.Stage
	if now.EvidenceAligned && h.stage.Rank() > stage.Rank() {
		stage = h.stage
	}
	if !now.EvidenceProven && stage.Rank() > schema.StageCandidate.Rank() {
		stage = schema.StageCandidate
	}
	return stage
}
