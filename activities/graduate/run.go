package graduate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/table"
	"axiommind/schema"
)

// RunGraduationCommand runs a person's command, all of it or nothing. Only the project's workflow may call it. A command
// that is sent again changes nothing and has the same result.
func (a *Activities) RunGraduationCommand(ctx context.Context, c Command) (CommandResult, error) {
	return boundary.Run(ctx, c, a.run)
}

func (a *Activities) run(ctx context.Context, c Command) (CommandResult, error) {
	if err := c.Validate(); err != nil {
		return CommandResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	stream := schema.GraduateStream(c.Project)
	done, err := a.doneBefore(ctx, c)
	if err != nil {
		return CommandResult{}, err
	}
	if len(done) > 0 {
		return told(done, 0), a.project(ctx, stream)
	}
	var payloads []any
	err = a.steady(ctx, stream, func() error {
		payloads, err = a.planCommand(ctx, c)
		return err
	})
	if err != nil {
		return CommandResult{}, err
	}
	events := make([]schema.Event, len(payloads))
	for i, payload := range payloads {
		events[i], err = schema.NewEvent(payload, schema.Event{
			TS: c.At.UTC().Truncate(time.Microsecond), Actor: c.Actor, Project: c.Project,
			DedupeKey: schema.GraduateOfCommandKey(c.Project, c.RequestID, i),
		})
		if err != nil {
			return CommandResult{}, err
		}
	}
	appended, err := a.log.Append(ctx, stream, events)
	if err != nil {
		return CommandResult{}, err
	}
	return told(payloads, appended.New), a.project(ctx, stream)
}

// doneBefore returns the payloads of the command's events in the log: all of them or none.
func (a *Activities) doneBefore(ctx context.Context, c Command) ([]any, error) {
	const page = 64
	var out []any
	for {
		ids := make([]string, page)
		for i := range ids {
			ids[i] = schema.EventID(schema.GraduateOfCommandKey(c.Project, c.RequestID, len(out)+i))
		}
		found, err := a.log.GetMany(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			event, ok := found[id]
			if !ok {
				return out, nil
			}
			payload, err := schema.DecodePayload(event)
			if err != nil {
				return nil, err
			}
			out = append(out, payload)
		}
	}
}

// maxChanges bounds the changes in a result.
const maxChanges = 100

// told says what the command's events did.
func told(payloads []any, fresh int) CommandResult {
	result := CommandResult{Events: fresh}
	at := map[string]int{}
	var changes []CommandChange
	say := func(id, what string) {
		if i, known := at[id]; known {
			changes[i].What = what
			return
		}
		at[id] = len(changes)
		changes = append(changes, CommandChange{ID: id, What: what})
	}
	for _, payload := range payloads {
		switch p := payload.(type) {
		case schema.EntryConfirmedPayload:
			say(p.EntryID, fmt.Sprintf("confirmed by %s", p.By))
		case schema.EntryGraduatedPayload:
			say(p.EntryID, fmt.Sprintf("%s, was %s: %s", p.To, p.From, p.Reasons[0]))
		case schema.EntryRetiredPayload:
			if p.SupersededBy != "" {
				say(p.EntryID, fmt.Sprintf("superseded by %q", p.SupersededBy))
				continue
			}
			say(p.EntryID, fmt.Sprintf("%s by %s: %s", p.Status, p.By, p.Because))
		case schema.EntryRestoredPayload:
			say(p.EntryID, fmt.Sprintf("restored by %s", p.By))
		case schema.ConflictResolvedPayload:
			what := "resolved: both are right"
			if p.Kept != "" {
				what = fmt.Sprintf("resolved: %q is right", p.Kept)
			} else if p.By == resolvedByGraduation {
				what = "resolved: neither is believed any longer"
			}
			say(p.ConflictID, what)
		case schema.DecisionRecordedPayload:
			say(p.DecisionID, "recorded, resting on "+count(len(p.Evidence), "entry", "entries"))
		}
	}
	shown := min(len(changes), maxChanges)
	result.Changes, result.MoreChanges = changes[:shown], len(changes)-shown
	return result
}

// refusedf returns the error of a command that does not fit what is known of the entries.
func refusedf(format string, args ...any) error {
	return boundary.Invalid(schema.ErrorGraduationRefused, fmt.Errorf(format, args...))
}

// planCommand returns the payloads of the command's events.
func (a *Activities) planCommand(ctx context.Context, c Command) ([]any, error) {
	if c.Op == OpResolve {
		return a.planResolve(ctx, c)
	}
	w, list, err := a.named(ctx, c.Project, c.EntryIDs)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case OpConfirm:
		return a.planConfirm(ctx, c, list)
	case OpRetire:
		return a.planRetire(ctx, c, w, list)
	case OpRestore:
		return planRestore(c, list)
	default:
		return planDecide(c, list)
	}
}

// named loads the entries with the ids, in their order and each once.
func (a *Activities) named(ctx context.Context, project string, ids []string) (*world, []*statement, error) {
	w := &world{project: project, entries: map[string]*statement{}, conflicts: map[string]conflictState{}, messages: map[place]schema.Message{}}
	l := loader{a.log, a.conn, a.entries}
	if err := l.read(ctx, w, ids); err != nil {
		return nil, nil, err
	}
	if err := readMarks(ctx, a.conn, project, w.entries); err != nil {
		return nil, nil, err
	}
	var list []*statement
	var missing error
	for _, id := range ids {
		s := w.entries[id]
		switch {
		case s == nil:
			missing = errors.Join(missing, fmt.Errorf("entry %q in project %q: %w: give a whole id, as search and facts print it", id, project, entry.ErrNotFound))
		case !slices.Contains(list, s):
			list = append(list, s)
		}
	}
	if missing != nil {
		return nil, nil, boundary.Invalid(schema.ErrorEntryNotFound, missing)
	}
	return w, list, nil
}

// ended reports whether the entry is no longer believed because something took its place, or because somebody said so.
func ended(s *statement) bool {
	return s.Status == schema.StatusDeprecated || s.Status == schema.StatusSuperseded
}

func (a *Activities) planRetire(ctx context.Context, c Command, w *world, list []*statement) ([]any, error) {
	var out []any
	for _, s := range list {
		if ended(s) {
			return nil, refusedf("entry %q is %s already: leave it out", s.ID, s.Status)
		}
		out = append(out, schema.EntryRetiredPayload{
			Scope: s.Scope, EntryID: s.ID, Status: schema.StatusDeprecated, Because: c.Because, By: c.Actor,
		})
		s.Status = schema.StatusDeprecated
	}
	closed, err := a.closeConflicts(ctx, c, w)
	for _, one := range closed {
		out = append(out, one)
	}
	return out, err
}

// closeConflicts ends the open conflicts of which a side is no longer believed. The other side is right, if it is.
func (a *Activities) closeConflicts(ctx context.Context, c Command, w *world) ([]schema.ConflictResolvedPayload, error) {
	l := loader{a.log, a.conn, a.entries}
	if err := l.readConflicts(ctx, w); err != nil {
		return nil, err
	}
	p := &planner{world: w}
	p.settle()
	var out []schema.ConflictResolvedPayload
	for _, one := range p.acts {
		resolved := one.payload.(schema.ConflictResolvedPayload)
		if resolved.Kept != "" {
			resolved.By = c.Actor
		}
		out = append(out, resolved)
	}
	return out, nil
}

func planRestore(c Command, list []*statement) ([]any, error) {
	var out []any
	for _, s := range list {
		if s.ended.status != schema.StatusDeprecated && s.ended.status != schema.StatusSuperseded {
			if ended(s) {
				return nil, refusedf("entry %q is superseded by what its own session was found to state later, and nobody retired it: process the session again", s.ID)
			}
			return nil, refusedf("entry %q is %s: there is nothing to restore", s.ID, s.Status)
		}
		out = append(out, schema.EntryRestoredPayload{Scope: s.Scope, EntryID: s.ID, Because: c.Because, By: c.Actor})
	}
	return out, nil
}

// planDecide records a decision that rests on the entries. All of them were verified and believed when it was made.
func planDecide(c Command, list []*statement) ([]any, error) {
	scope := schema.Scope{Project: c.Project, User: c.User, Agent: c.Agent}
	payload := schema.DecisionRecordedPayload{
		Scope: scope, DecisionID: schema.DerivedID("decision", c.Project, c.RequestID), Action: c.Action, By: c.Actor, Confidence: c.Confidence,
	}
	for _, s := range list {
		switch {
		case s.Scope != scope:
			return nil, refusedf("entry %q is of user %q and agent %q, the decision of user %q and agent %q: a decision rests on what its own user and agent know",
				s.ID, s.User, s.Agent, c.User, c.Agent)
		case s.Status != schema.StatusActive:
			return nil, refusedf("entry %q is %s: a decision rests on active entries", s.ID, s.Status)
		case !reaches(s.Stage, schema.StageVerified):
			return nil, refusedf("entry %q is %s: a decision rests on verified or certified entries; confirm the entry first", s.ID, s.Stage)
		case s.OccurredAt.After(c.At):
			return nil, refusedf("entry %q was stated on %s, after the decision of %s: a decision rests on what was known before",
				s.ID, s.OccurredAt.UTC().Format(time.RFC3339), c.At.UTC().Format(time.RFC3339))
		}
		payload.Evidence = append(payload.Evidence, schema.DecisionEvidence{EntryID: s.ID, Stage: s.Stage, Role: schema.RoleGround})
	}
	return []any{payload}, nil
}

// planResolve ends the conflicts. The sides that are wrong are retired, which ends their other conflicts, too.
func (a *Activities) planResolve(ctx context.Context, c Command) ([]any, error) {
	found := &world{project: c.Project, conflicts: map[string]conflictState{}}
	if err := readConflicts(ctx, a.conn, found, "conflict_id IN ?", table.Set(c.ConflictIDs)); err != nil {
		return nil, err
	}
	var sides []string
	for _, id := range c.ConflictIDs {
		conflict, known := found.conflicts[id]
		switch {
		case !known:
			return nil, boundary.Invalid(schema.ErrorEntryNotFound,
				fmt.Errorf("conflict %q in project %q: %w: give a whole id, as conflicts prints it", id, c.Project, ErrNoConflict))
		case !conflict.open:
			return nil, refusedf("conflict %q was resolved before: restore an entry to have it compared anew", id)
		case c.Keep != "" && c.Keep != conflict.older && c.Keep != conflict.newer:
			return nil, refusedf("entry %q is no side of conflict %q, which is between %q and %q: keep one of these", c.Keep, id, conflict.older, conflict.newer)
		}
		sides = append(sides, conflict.older, conflict.newer)
	}
	w, _, err := a.named(ctx, c.Project, sides)
	if err != nil {
		return nil, err
	}
	var resolved, retired []any
	for i, id := range c.ConflictIDs {
		if slices.Index(c.ConflictIDs, id) != i {
			continue
		}
		conflict := found.conflicts[id]
		resolved = append(resolved, schema.ConflictResolvedPayload{
			Scope: w.entries[conflict.older].Scope, ConflictID: id, OlderID: conflict.older, NewerID: conflict.newer, Kept: c.Keep,
			Because: c.Because, By: c.Actor,
		})
		other := w.entries[conflict.older]
		if c.Keep == conflict.older {
			other = w.entries[conflict.newer]
		}
		if c.Keep == "" || ended(other) {
			continue
		}
		because := c.Because
		if because == "" {
			because = "a person found the other side of a conflict right"
		}
		retired = append(retired, schema.EntryRetiredPayload{
			Scope: other.Scope, EntryID: other.ID, Status: schema.StatusSuperseded, SupersededBy: c.Keep, Because: because, By: c.Actor,
		})
		other.Status = schema.StatusSuperseded
	}
	out := slices.Concat(resolved, retired)
	closed, err := a.closeConflicts(ctx, c, w)
	for _, one := range closed {
		if !slices.Contains(c.ConflictIDs, one.ConflictID) {
			out = append(out, one)
		}
	}
	return out, err
}
