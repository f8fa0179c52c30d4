package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/schema"
)

// Errors of commands that callers branch on.
var (
	ErrNotFound = errors.New("no such task")
	ErrCommand  = errors.New("invalid command")
	// ErrRefused is wrapped when a command would break a rule of tasks; what was refused is
	// recorded in the log.
	ErrRefused = errors.New("refused")
)

// Command is what a person asks of one task, condition or artifact. Its fields may be combined;
// they take effect in the order they stand in.
type Command struct {
	Project string `json:"project"`
	// RequestID names the act: the same command sent again changes nothing.
	RequestID string    `json:"request_id"`
	Actor     string    `json:"actor"`
	At        time.Time `json:"at"`
	Reason    string    `json:"reason,omitempty"`

	// TaskID is a task's id or canonical key.
	TaskID   string              `json:"task_id,omitempty"`
	Title    string              `json:"title,omitempty"`
	Priority schema.TaskPriority `json:"priority,omitempty"`
	// Unblock takes away blockers, by id, key or text. A task that loses its last blocker is in
	// progress, unless Status says otherwise.
	Unblock []string `json:"unblock,omitempty"`
	// Block adds blockers and makes the task blocked.
	Block  []string          `json:"block,omitempty"`
	Status schema.TaskStatus `json:"status,omitempty"`
	// MergeInto is the id or key of the task that TaskID becomes part of.
	MergeInto string `json:"merge_into,omitempty"`

	// ConditionID is the id or text of a condition that turned out to be ResolveTo: the id, key,
	// title or address of another entity.
	ConditionID string `json:"condition_id,omitempty"`
	ResolveTo   string `json:"resolve_to,omitempty"`
	// CloseArtifact is the id, key or address of an artifact that is done with.
	CloseArtifact string `json:"close_artifact,omitempty"`
}

// Validate returns what is wrong with the command, wrapped in [ErrCommand].
func (c Command) Validate() error {
	var wrong string
	onTask := c.Title != "" || c.Priority != "" || c.Status != "" || c.MergeInto != "" || len(c.Block)+len(c.Unblock) > 0
	switch {
	case strings.TrimSpace(c.Project) == "":
		wrong = "project is missing"
	case c.RequestID == "":
		wrong = "request id is missing"
	case c.Actor == "":
		wrong = "actor is missing"
	case c.At.IsZero():
		wrong = "time is missing"
	case c.Priority != "" && !knownPriority(c.Priority):
		wrong = fmt.Sprintf("priority %q is none of low, medium, high, critical", c.Priority)
	case c.Status != "" && !knownStatus(c.Status):
		wrong = fmt.Sprintf("status %q is none of pending, in_progress, blocked, done, cancelled", c.Status)
	case onTask && c.TaskID == "":
		wrong = "task is missing"
	case !onTask && c.ConditionID == "" && c.CloseArtifact == "":
		wrong = "nothing is asked for"
	case (c.ConditionID == "") != (c.ResolveTo == ""):
		wrong = "a condition and what it resolves to go together"
	case len(c.Block) > 0 && c.Status != "" && c.Status != schema.TaskBlocked:
		wrong = fmt.Sprintf("a task with blockers cannot be %q", c.Status)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrCommand, wrong)
}

// PlanCommand returns the events that do what the command asks. The index must be up to date with
// the project's stream. An error that wraps [ErrRefused] comes with the events that record it.
func PlanCommand(ctx context.Context, index Index, vectors TitleSearcher, c Command) (Planned, error) {
	if err := c.Validate(); err != nil {
		return Planned{}, err
	}
	p := &planner{
		world: newWorld(c.Project, index, vectors), actor: c.Actor,
		act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}, actID: "command/" + c.RequestID, at: instant(c.At),
	}
	err := p.command(ctx, c)
	if err != nil && !errors.Is(err, ErrRefused) {
		return Planned{}, err
	}
	return Planned{Events: p.world.planned}, err
}

func (p *planner) command(ctx context.Context, c Command) error {
	if c.TaskID != "" {
		if err := p.commandTask(ctx, c); err != nil {
			return err
		}
	}
	if c.ConditionID != "" {
		if err := p.commandResolve(ctx, c.ConditionID, c.ResolveTo); err != nil {
			return err
		}
	}
	if c.CloseArtifact == "" {
		return nil
	}
	artifact, err := p.entityOf(ctx, schema.EntityArtifact, c.CloseArtifact)
	if err != nil {
		return err
	}
	return p.closeArtifact(ctx, artifact)
}

func (p *planner) commandTask(ctx context.Context, c Command) error {
	task, err := p.entityOf(ctx, schema.EntityTask, c.TaskID)
	if err != nil {
		return err
	}
	id := task.ID
	if c.Title != "" {
		if err := p.retitle(ctx, task, c.Title); err != nil {
			return err
		}
	}
	if c.Priority != "" && c.Priority != task.Priority {
		err := p.emit(schema.TaskPriorityChanged, p.actID+"/priority", schema.TaskPriorityChangedPayload{
			Act: p.act, TaskID: id, From: task.Priority, To: c.Priority,
		})
		if err != nil {
			return err
		}
	}
	if err := p.commandBlockers(ctx, id, c); err != nil {
		return err
	}
	if c.Status != "" && c.Status != schema.TaskBlocked {
		if err := p.advance(id, commanded(p.task(id).TaskStatus, c.Status)); err != nil {
			return err
		}
	}
	if c.MergeInto == "" {
		return nil
	}
	return p.merge(ctx, id, c.MergeInto)
}

// commandBlockers sets the blockers there are after Unblock and Block.
func (p *planner) commandBlockers(ctx context.Context, id string, c Command) error {
	if len(c.Unblock)+len(c.Block) == 0 && c.Status != schema.TaskBlocked {
		return nil
	}
	task := p.task(id)
	kept, err := p.without(ctx, task, c.Unblock)
	if err != nil {
		return err
	}
	added, err := p.resolveBlockers(ctx, task, c.Block)
	if err != nil {
		return err
	}
	if len(added) == 0 && len(c.Block) > 0 {
		return fmt.Errorf("%w: task %q would wait for itself", ErrRefused, task.Title)
	}
	blockers := kept
	for _, b := range added {
		b.Confidence = 1 // A person said so.
		if !hasBlocker(blockers, b.ID) {
			blockers = append(blockers, b)
		}
	}
	if len(added) > 0 { // What is known needs no placeholder beside it.
		blockers = slices.DeleteFunc(blockers, func(b schema.Blocker) bool { return b.Placeholder })
	}
	wanted := task.TaskStatus == schema.TaskBlocked || len(c.Block) > 0 || c.Status == schema.TaskBlocked
	switch {
	case !wanted:
		return nil
	case len(blockers) == 0 && c.Status == schema.TaskBlocked:
		stand, err := p.placeholder(ctx, task)
		if err != nil {
			return err
		}
		blockers = append(blockers, stand)
	case len(blockers) == 0:
		if c.Status != "" {
			return nil // The change of status that follows clears them.
		}
		return p.advance(id, []schema.TaskStatus{schema.TaskInProgress})
	}
	steps := commanded(task.TaskStatus, schema.TaskBlocked)
	if len(steps) > 1 {
		if err := p.advance(id, steps[:len(steps)-1]); err != nil {
			return err
		}
		steps = steps[len(steps)-1:]
	}
	if err := p.replace(id, blockers); err != nil {
		return err
	}
	return p.advance(id, steps)
}

// without returns the task's blockers but for those that the texts name.
func (p *planner) without(ctx context.Context, task Entity, texts []string) ([]schema.Blocker, error) {
	drop := map[string]bool{}
	for _, text := range texts {
		id, err := p.blockerID(ctx, task, text)
		if err != nil {
			return nil, err
		}
		drop[id] = true
	}
	return slices.DeleteFunc(slices.Clone(task.Blockers), func(b schema.Blocker) bool { return drop[b.ID] }), nil
}

func (p *planner) blockerID(ctx context.Context, task Entity, text string) (string, error) {
	for _, b := range task.Blockers {
		if b.ID == text || Normalize(b.Text) == Normalize(text) {
			return b.ID, nil
		}
	}
	for _, entityType := range []schema.EntityType{schema.EntityTask, schema.EntityCondition, schema.EntityArtifact} {
		if e, err := p.entityOf(ctx, entityType, text); err == nil && task.blockedBy(e.ID) {
			return e.ID, nil
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			return "", err
		}
	}
	return "", fmt.Errorf("task %q is not blocked by %q: %w", task.Title, clip(text), ErrCommand)
}

func (p *planner) retitle(ctx context.Context, task Entity, title string) error {
	key, err := KeyOfTask(p.world.project, title)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	other, taken, err := p.world.byKey(ctx, key)
	if err != nil {
		return err
	}
	if taken && other.ID != task.ID {
		return fmt.Errorf("%w: title %q is of task %q: merge them instead", ErrRefused, clip(title), other.ID)
	}
	if task.Title == clipTitle(title) {
		return nil
	}
	err = p.emit(schema.TaskTitleChanged, p.actID+"/title", schema.TaskTitleChangedPayload{
		Act: p.act, TaskID: task.ID, From: task.Title, To: clipTitle(title), CanonicalKey: key.String(),
	})
	if err != nil {
		return err
	}
	return p.resolveCondition(ctx, p.task(task.ID), key)
}

func (p *planner) merge(ctx context.Context, id, target string) error {
	into, err := p.entityOf(ctx, schema.EntityTask, target)
	if err != nil {
		return err
	}
	task := p.task(id)
	if into.ID == task.ID {
		return fmt.Errorf("%w: task %q is one with itself", ErrRefused, task.Title)
	}
	loops, err := p.world.reaches(ctx, into.ID, task.ID)
	if err != nil {
		return err
	}
	if loops {
		blocker := schema.Blocker{EntityRef: task.EntityRef, Text: task.Title, Since: p.at}
		if err := p.reject(into, "", schema.RejectedCycle, []schema.Blocker{blocker}); err != nil {
			return err
		}
		return fmt.Errorf("%w: task %q waits for %q: unblock it first", ErrRefused, into.Title, task.Title)
	}
	payload := schema.TaskMergedPayload{Act: p.act, TaskID: task.ID, Into: into.ID}
	for _, k := range task.Keys() {
		payload.Aliases = append(payload.Aliases, k.CanonicalKey)
	}
	return p.emit(schema.TaskMerged, p.actID+"/merged", payload)
}

func (p *planner) commandResolve(ctx context.Context, conditionText, targetText string) error {
	condition, err := p.entityOf(ctx, schema.EntityCondition, conditionText)
	if err != nil {
		return err
	}
	var target Entity
	for _, entityType := range []schema.EntityType{schema.EntityTask, schema.EntityArtifact, schema.EntityCondition} {
		target, err = p.entityOf(ctx, entityType, targetText)
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	if errors.Is(err, ErrNotFound) {
		// An artifact needs nobody to have named it before.
		key, keyErr := KeyOfArtifact(targetText)
		if keyErr != nil {
			return fmt.Errorf("%w: %w", ErrCommand, keyErr)
		}
		target, err = p.artifact(ctx, []Key{key}, targetText)
	}
	if err != nil {
		return err
	}
	loops, err := p.world.reaches(ctx, target.ID, condition.ID)
	if err != nil {
		return err
	}
	if loops {
		return fmt.Errorf("%w: %q waits for condition %q", ErrRefused, target.Title, condition.Title)
	}
	if condition.ResolvesTo != nil && condition.ResolvesTo.ID == target.ID {
		return nil
	}
	return p.resolveTo(condition, target.EntityRef, schema.ResolvedByCommand)
}

// entityOf returns the entity of the type that the text is the id, the key, the title or the
// address of.
func (p *planner) entityOf(ctx context.Context, entityType schema.EntityType, text string) (Entity, error) {
	text = strings.TrimSpace(text)
	if isID(text) {
		if e, ok, err := p.world.byID(ctx, strings.ToLower(text)); err != nil || ok && e.Type == entityType {
			return e, err
		}
	}
	for _, key := range keysNaming(p.world.project, entityType, text) {
		if e, ok, err := p.world.byKey(ctx, key); err != nil || ok {
			return e, err
		}
	}
	return Entity{}, fmt.Errorf("%s %q in project %q: %w", entityType, clip(text), p.world.project, ErrNotFound)
}

func keysNaming(project string, entityType schema.EntityType, text string) []Key {
	if key, err := ParseKey(text); err == nil && key.Type == entityType && (key.Project == project || key.Project == "") {
		return []Key{key}
	}
	if entityType == schema.EntityArtifact {
		if keys, ok := StrongArtifact(text); ok {
			return keys
		}
		key, err := KeyOfArtifact(text)
		if err != nil {
			return nil
		}
		return []Key{key}
	}
	key, err := titleKey(entityType, project, text)
	if err != nil {
		return nil
	}
	return []Key{key}
}
