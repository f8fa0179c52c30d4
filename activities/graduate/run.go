package graduate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/ledger"
	"axiommind/activities/task"
	"axiommind/schema"
)

// RunGraduationCommand runs a person's command atomically. Only the project's workflow may call it. A repeated command
// changes nothing and returns the same changes.
func (a *Activities) RunGraduationCommand(ctx context.Context, c Command) (CommandResult, error) {
	return boundary.Run(ctx, c, a.run)
}

func (a *Activities) run(ctx context.Context, c Command) (CommandResult, error) {
	if err := c.Validate(); err != nil {
		return CommandResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	c.At = c.At.UTC().Truncate(time.Microsecond)
	decide := a.decide
	if c.Op == OpPropose || c.Op == OpAccept || c.Op == OpReject {
		decide = a.decideProposal
	}
	return change(ctx, a, c, func(ctx context.Context) (d ledger.Decision[CommandResult], err error) {
		acts, result, err := decide(ctx, c)
		if err != nil {
			return d, err
		}
		return decided(acts, schema.Event{Actor: c.Actor, Project: c.Project, BuildID: c.RequestID}, result)
	}, func(r *CommandResult, stored ledger.Stored) error {
		r.Events = stored.New()
		return nil
	})
}

// decide returns the acts of a command that is not about a proposal, and the resulting changes. One that was run before
// has no acts.
func (a *Activities) decide(ctx context.Context, c Command) ([]act, CommandResult, error) {
	done, err := a.doneBefore(ctx, c)
	if err != nil || len(done) > 0 {
		return nil, commandResult(done), err
	}
	payloads, err := a.planCommand(ctx, c)
	return c.acts(payloads), commandResult(payloads), err
}

// acts returns the acts of the command with the payloads.
func (c Command) acts(payloads []any) []act {
	out := make([]act, len(payloads))
	for i, payload := range payloads {
		out[i] = act{payload: payload, key: schema.GraduateOfCommandKey(c.Project, c.RequestID, i), at: c.At}
	}
	return out
}

// doneBefore returns the payloads of the command's events in the log: all of them or none.
func (a *Activities) doneBefore(ctx context.Context, c Command) ([]any, error) {
	events, err := eventlog.Numbered(ctx, a.log, func(n int) string { return schema.GraduateOfCommandKey(c.Project, c.RequestID, n) })
	if err != nil {
		return nil, err
	}
	out := make([]any, len(events))
	for i, event := range events {
		if out[i], err = schema.DecodePayload(event); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxChanges bounds the changes in a result.
const maxChanges = 100

// commandResult returns the result of a command with the given event payloads.
func commandResult(payloads []any) CommandResult {
	var result CommandResult
	at := map[string]int{}
	var changes []CommandChange
	say := func(id, what string) {
		if i, known := at[id]; known {
			changes[i].Text = what
			return
		}
		at[id] = len(changes)
		changes = append(changes, CommandChange{ID: id, Text: what})
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
			say(p.EntryID, fmt.Sprintf("retired by %s: %s", p.By, p.Because))
		case schema.EntryRestoredPayload:
			say(p.EntryID, fmt.Sprintf("restored by %s", p.By))
		case schema.ConflictResolvedPayload:
			say(p.ConflictID, "resolved: "+outcome(p))
		case schema.DecisionRecordedPayload:
			say(p.DecisionID, "recorded, resting on "+count(len(p.Evidence), "ground", "grounds"))
		}
	}
	shown := min(len(changes), maxChanges)
	result.Changes, result.MoreChanges = changes[:shown], len(changes)-shown
	return result
}

// outcome describes how a conflict ended. If it ended because a side is no longer believed, the other side need not be
// right.
func outcome(p schema.ConflictResolvedPayload) string {
	switch {
	case p.By == ResolvedByGraduation:
		return p.Because
	case p.Kept != "":
		return fmt.Sprintf("%q is right", p.Kept)
	default:
		return "both are right"
	}
}

// refusedf returns the error of a command that does not fit the state of the entries.
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
		return a.planDecide(ctx, c, list)
	}
}

// named loads the entries with the ids, in the order of the ids and each once.
func (a *Activities) named(ctx context.Context, project string, ids []string) (*snapshot, []*statement, error) {
	w := &snapshot{project: project, entries: map[string]*statement{}, conflicts: map[string]conflictState{}, messages: map[messageKey]schema.Message{}}
	l := a.loader()
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
			missing = errors.Join(missing, noEntry(project, id))
		case !slices.Contains(list, s):
			list = append(list, s)
		}
	}
	if missing != nil {
		return nil, nil, boundary.Invalid(schema.ErrorEntryNotFound, missing)
	}
	return w, list, nil
}

// noEntry is the error for an id that names no entry.
func noEntry(project, id string) error {
	return fmt.Errorf("entry %q in project %q: %w: give a whole id, as search and facts print it", id, project, entry.ErrNotFound)
}

// ended reports whether the entry is no longer believed, because it was retired or superseded.
func ended(s *statement) bool {
	return s.Status == schema.StatusDeprecated || s.Status == schema.StatusSuperseded
}

// endedAs returns the user's word for the status of an entry that is no longer believed.
func endedAs(status schema.Status) string {
	if status == schema.StatusDeprecated {
		return "retired"
	}
	return string(status)
}

func (a *Activities) planRetire(ctx context.Context, c Command, w *snapshot, list []*statement) ([]any, error) {
	var out []any
	for _, s := range list {
		if ended(s) {
			return nil, refusedf("entry %q is %s already: leave it out", s.ID, endedAs(s.Status))
		}
		out = append(out, schema.EntryRetiredPayload{
			Scope: s.Scope, EntryID: s.ID, Status: schema.StatusDeprecated, Because: c.Because, By: c.Actor,
		})
		s.Status = schema.StatusDeprecated
	}
	closed, err := a.closeConflicts(ctx, w)
	for _, one := range closed {
		out = append(out, one)
	}
	return out, err
}

// closeConflicts resolves the open conflicts with a side that is no longer believed. That does not make the other side
// right.
func (a *Activities) closeConflicts(ctx context.Context, w *snapshot) ([]schema.ConflictResolvedPayload, error) {
	l := a.loader()
	if err := l.readConflicts(ctx, w); err != nil {
		return nil, err
	}
	p := &planner{snapshot: w}
	p.settle()
	var out []schema.ConflictResolvedPayload
	for _, one := range p.acts {
		out = append(out, one.payload.(schema.ConflictResolvedPayload))
	}
	return out, nil
}

func planRestore(c Command, list []*statement) ([]any, error) {
	var out []any
	for _, s := range list {
		if s.ended.status != schema.StatusDeprecated && s.ended.status != schema.StatusSuperseded {
			if ended(s) {
				return nil, refusedf("entry %q was superseded by a later build of its session, and no one retired it: process the session again", s.ID)
			}
			return nil, refusedf("entry %q is %s: there is nothing to restore", s.ID, s.Status)
		}
		out = append(out, schema.EntryRestoredPayload{Scope: s.Scope, EntryID: s.ID, Because: c.Because, By: c.Actor})
	}
	return out, nil
}

// planDecide records a decision that rests on the entries. All of them were verified and believed when it was made.
func (a *Activities) planDecide(ctx context.Context, c Command, list []*statement) ([]any, error) {
	// The ledger shows only grounds that it knows to be verified.
	if err := a.projectSessions(ctx, c.Project); err != nil {
		return nil, err
	}
	scope := schema.Scope{Project: c.Project, User: c.User, Agent: c.Agent}
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	ids = slices.Compact(slices.Sorted(slices.Values(append(ids, c.TaskIDs...))))
	id := schema.DerivedID(slices.Concat([]string{"decision", c.Project, c.User, c.Agent, c.Action}, ids)...)
	known, err := (loader{conn: a.conn}).ids(ctx, "SELECT DISTINCT decision_id FROM decisions_raw WHERE project = ? AND decision_id = ?", c.Project, id)
	if err != nil {
		return nil, err
	}
	if len(known) > 0 {
		return nil, refusedf("decision %q says that already, on the same grounds", id)
	}
	payload := schema.DecisionRecordedPayload{Scope: scope, DecisionID: id, Action: c.Action, By: c.Actor, Confidence: c.Confidence}
	for _, s := range list {
		switch {
		case s.Scope != scope:
			return nil, refusedf("entry %q is of user %q and agent %q, the decision of user %q and agent %q: a decision rests on entries of its own user and agent",
				s.ID, s.User, s.Agent, c.User, c.Agent)
		case s.Status != schema.StatusActive:
			return nil, refusedf("entry %q is %s: a decision rests on active entries", s.ID, s.Status)
		case !reaches(s.Stage, schema.StageVerified):
			return nil, refusedf("entry %q is %s: a decision rests on verified or certified entries; confirm the entry first", s.ID, s.Stage)
		case s.OccurredAt.After(c.At):
			return nil, refusedf("entry %q was stated on %s, after the decision of %s: a decision rests on earlier entries",
				s.ID, s.OccurredAt.UTC().Format(time.RFC3339), c.At.UTC().Format(time.RFC3339))
		}
		payload.Evidence = append(payload.Evidence, schema.DecisionEvidence{
			Kind: schema.GroundEntry, ID: s.ID, Stage: s.Stage, Role: schema.RoleGround,
		})
	}
	tasks, err := a.taskGrounds(ctx, c)
	payload.Evidence = append(payload.Evidence, tasks...)
	return []any{payload}, err
}

// taskGrounds returns the tasks that a decision rests on. A verified entry states each of them.
func (a *Activities) taskGrounds(ctx context.Context, c Command) ([]schema.DecisionEvidence, error) {
	ids := slices.Compact(slices.Sorted(slices.Values(c.TaskIDs)))
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := task.NewQueries(a.log, a.conn).Tasks(ctx, task.Selection{Project: c.Project}, ids)
	if err != nil {
		return nil, err
	}
	out := make([]schema.DecisionEvidence, len(ids))
	for i, id := range ids {
		t, known := found[id]
		switch {
		case !known:
			return nil, boundary.Invalid(schema.ErrorTaskNotFound, fmt.Errorf("project %q has no task %q: give a whole id, as tasks prints it", c.Project, id))
		case t.Status != schema.StatusActive:
			return nil, refusedf("task %q is %s: a decision rests on active tasks", id, t.Status)
		case !reaches(t.Stage, schema.StageVerified):
			return nil, refusedf("task %q is %s: a decision rests on tasks that a verified memory states; confirm such a memory first", id, t.Stage)
		case t.CreatedAt.After(c.At):
			return nil, refusedf("task %q was created on %s, after the decision of %s: a decision rests on earlier tasks",
				id, t.CreatedAt.UTC().Format(time.RFC3339), c.At.UTC().Format(time.RFC3339))
		}
		out[i] = schema.DecisionEvidence{Kind: schema.GroundEntity, ID: id, Stage: t.Stage, Role: schema.RoleGround}
	}
	return out, nil
}

// planResolve resolves the conflicts. The wrong sides are superseded, which also ends their other conflicts.
func (a *Activities) planResolve(ctx context.Context, c Command) ([]any, error) {
	found := &snapshot{project: c.Project, conflicts: map[string]conflictState{}}
	if err := readConflicts(ctx, a.conn, found, "conflict_id IN ?", clickhouse.Set(c.ConflictIDs)); err != nil {
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
			return nil, refusedf("conflict %q was resolved before; starter conflicts show says how", id)
		case c.Keep != "" && c.Keep != conflict.older && c.Keep != conflict.newer:
			return nil, refusedf("entry %q is no side of conflict %q, which is between %q and %q: keep one of these", c.Keep, id, conflict.older, conflict.newer)
		}
		sides = append(sides, conflict.older, conflict.newer)
	}
	said, err := a.duplicatesOf(ctx, c.Project, sides)
	if err != nil {
		return nil, err
	}
	w, _, err := a.named(ctx, c.Project, sortedKeys(said))
	if err != nil {
		return nil, err
	}
	if err := a.loader().readConflicts(ctx, w); err != nil {
		return nil, err
	}
	// The choice between two statements applies to all entries that state them.
	asked := map[[2]string]bool{}
	between := func(k conflictState) [2]string {
		return [2]string{min(said[k.older], said[k.newer]), max(said[k.older], said[k.newer])}
	}
	for _, id := range c.ConflictIDs {
		asked[between(found.conflicts[id])] = true
	}
	var resolved, retired []any
	ids := map[string]bool{}
	for _, id := range sortedKeys(w.conflicts) {
		conflict := w.conflicts[id]
		older, newer := w.entries[conflict.older], w.entries[conflict.newer]
		if !conflict.open || said[conflict.older] == "" || said[conflict.newer] == "" || !asked[between(conflict)] {
			continue
		}
		ids[id] = true
		kept, other := "", (*statement)(nil)
		switch {
		case c.Keep == "":
		case said[older.ID] == said[c.Keep]:
			kept, other = older.ID, newer
		default:
			kept, other = newer.ID, older
		}
		resolved = append(resolved, schema.ConflictResolvedPayload{
			Scope: older.Scope, ConflictID: id, OlderID: older.ID, NewerID: newer.ID, Kept: kept, Because: c.Because, By: c.Actor,
		})
		if other == nil || ended(other) {
			continue
		}
		because := cmp.Or(c.Because, "a person found the other side of a conflict right")
		retired = append(retired, schema.EntryRetiredPayload{
			Scope: other.Scope, EntryID: other.ID, Status: schema.StatusSuperseded, SupersededBy: c.Keep, Because: because, By: c.Actor,
		})
		other.Status = schema.StatusSuperseded
	}
	out := slices.Concat(resolved, retired)
	closed, err := a.closeConflicts(ctx, w)
	for _, one := range closed {
		if !ids[one.ConflictID] {
			out = append(out, one)
		}
	}
	return out, err
}

// duplicatesOf returns the ids of the entries and of all that are linked to the same original, each with the id of the
// original.
func (a *Activities) duplicatesOf(ctx context.Context, project string, ids []string) (map[string]string, error) {
	roots := map[string]string{}
	add := func(condition string, of []string) error {
		return clickhouse.Query(ctx, a.conn, clickhouse.Map(roots, func(rows driver.Rows, id, original *string) error {
			err := rows.Scan(id, original)
			*original = cmp.Or(*original, *id)
			return err
		}), "SELECT entry_id, original_id FROM entries WHERE project = ? AND "+condition, project, clickhouse.Set(of))
	}
	if err := add("entry_id IN ?", ids); err != nil {
		return nil, fmt.Errorf("read the entries that say the same: %w", err)
	}
	if err := add("original_id IN ?", slices.Sorted(maps.Values(roots))); err != nil {
		return nil, fmt.Errorf("read the entries that say the same: %w", err)
	}
	for _, root := range slices.Collect(maps.Values(roots)) {
		roots[root] = root
	}
	return roots, nil
}
