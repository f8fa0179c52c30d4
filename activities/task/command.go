package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	language "axiommind/activities/text"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Errors of commands that callers branch on.
var (
	ErrCommand = boundary.Invalid(schema.ErrorInvalidInput, errors.New("invalid command"))
	// ErrRefused is wrapped if a command would break a rule of tasks. The refusal is recorded in the log.
	ErrRefused = boundary.Invalid(schema.ErrorTaskRefused, errors.New("refused"))
)

// Command is a person's request for one task, condition or artifact. Its fields may be combined and take effect in
// the order in which they are declared.
type Command struct {
	Project string `json:"project"`
	// RequestID identifies the command. Sending the command again with the same RequestID changes nothing.
	RequestID string    `json:"request_id"`
	Actor     string    `json:"actor"`
	At        time.Time `json:"at"`
	Reason    string    `json:"reason,omitempty"`

	// TaskID is a task's id, a prefix of it, the task's canonical key or its title.
	TaskID   string              `json:"task_id,omitempty"`
	Title    string              `json:"title,omitempty"`
	Priority schema.TaskPriority `json:"priority,omitempty"`
	// Unblock removes blockers, given by id, key or text. If a blocked task loses its last blocker, it returns to the
	// status it had before, unless Status is set.
	Unblock []string `json:"unblock,omitempty"`
	// Block adds blockers and makes the task blocked.
	Block  []string          `json:"block,omitempty"`
	Status schema.TaskStatus `json:"status,omitempty"`
	// Reported records Block as suggestions and a Status of done as a report, which a person confirms. It is for
	// agents.
	Reported bool `json:"reported,omitempty"`
	// MergeInto names the task that TaskID is merged into.
	MergeInto string `json:"merge_into,omitempty"`

	// Confirm names tasks whose report of done to confirm. ConfirmAll confirms the first [MaxConfirm] of all tasks that
	// are reported done.
	Confirm    []string `json:"confirm,omitempty"`
	ConfirmAll bool     `json:"confirm_all,omitempty"`

	// ConditionID is the id or text of a condition. ResolveTo is the id, key, title or URL of the entity that it
	// resolves to.
	ConditionID string `json:"condition_id,omitempty"`
	ResolveTo   string `json:"resolve_to,omitempty"`
	// CloseArtifact is the id, key or URL of an artifact to close.
	CloseArtifact string `json:"close_artifact,omitempty"`
}

// Writer returns the input of the workflow that runs the command.
func (c Command) Writer() schema.WriterInput { return schema.ProjectTasksInput{Project: c.Project} }

// Redacted returns the command without secrets.
func (c Command) Redacted() boundary.Request {
	c.Unblock, c.Block, c.Confirm = slices.Clone(c.Unblock), slices.Clone(c.Block), slices.Clone(c.Confirm)
	redact.Strings(&c.Reason, &c.TaskID, &c.Title, &c.MergeInto, &c.ConditionID, &c.ResolveTo, &c.CloseArtifact)
	redact.Each(c.Unblock, c.Block, c.Confirm)
	return c
}

// Validate returns an error that wraps [ErrCommand] if the command is invalid.
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
	case c.ConfirmAll && len(c.Confirm) > 0:
		wrong = "tasks to confirm are named, or all of them are meant"
	case len(c.Confirm) > MaxConfirm:
		wrong = fmt.Sprintf("%d tasks to confirm, want at most %d", len(c.Confirm), MaxConfirm)
	case !onTask && c.ConditionID == "" && c.CloseArtifact == "" && len(c.Confirm) == 0 && !c.ConfirmAll:
		wrong = "nothing is asked for"
	case (c.ConditionID == "") != (c.ResolveTo == ""):
		wrong = "a condition and its resolution must be given together"
	case len(c.Block) > 0 && c.Status != "" && c.Status != schema.TaskBlocked:
		wrong = fmt.Sprintf("a task with blockers cannot be %q", c.Status)
	case c.Reported && (c.Status == schema.TaskDone) == (len(c.Block) > 0):
		wrong = "a report is either the status done or blockers"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrCommand, wrong)
}

// decideCommand returns the events that carry out the command, or that record why it is refused.
func decideCommand(ctx context.Context, v *overlay, rules Rules, c Command) (events []schema.Event, refused, err error) {
	p := &planner{
		overlay: v, rules: rules, actor: c.Actor, act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}, build: c.RequestID, at: instant(c.At),
	}
	err = p.command(ctx, c)
	if errors.Is(err, ErrRefused) {
		refused, err = err, nil
	}
	return v.planned, refused, err
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
	if c.CloseArtifact != "" {
		artifact, err := p.entityOf(ctx, c.CloseArtifact, schema.EntityArtifact)
		if err != nil {
			return err
		}
		if err := p.closeArtifact(ctx, artifact); err != nil {
			return err
		}
	}
	if err := p.confirm(ctx, c); err != nil {
		return err
	}
	return p.unblockWaiting(ctx)
}

func (p *planner) commandTask(ctx context.Context, c Command) error {
	task, err := p.entityOf(ctx, c.TaskID, schema.EntityTask)
	if err != nil {
		return err
	}
	if c.Reported {
		return p.commandReport(ctx, task, c)
	}
	id := task.ID
	if c.Title != "" {
		if err := p.retitle(ctx, task, c.Title); err != nil {
			return err
		}
	}
	if c.Priority != "" && c.Priority != task.Priority {
		err := p.emit(p.changeKey("priority"), schema.TaskPriorityChangedPayload{
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

// commandReport records an agent's report of the task. It changes neither the status nor the blockers.
func (p *planner) commandReport(ctx context.Context, task Entity, c Command) error {
	if Closed(task.TaskStatus) {
		if c.Status == task.TaskStatus {
			return nil
		}
		return fmt.Errorf("%w: task %q is %s: a person reopens it", ErrRefused, clip(task.Title), task.TaskStatus)
	}
	if c.Status == schema.TaskDone {
		if task.DoneReport != nil {
			return nil
		}
		return p.emit(p.changeKey("done"), schema.TaskDoneReportedPayload{Act: p.act, TaskID: task.ID, By: c.Actor})
	}
	blockers, err := p.resolveBlockers(ctx, task, c.Block)
	if err != nil {
		return err
	}
	return p.suggest(task.ID, blockers)
}

// commandBlockers sets the blockers that remain after Unblock and Block.
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
		return fmt.Errorf("%w: task %q would wait for itself", ErrRefused, clip(task.Title))
	}
	blockers := kept
	for _, b := range added {
		b.Confidence = 1 // A person named it.
		if !hasBlocker(blockers, b.ID) {
			blockers = append(blockers, b)
		}
	}
	if len(added) > 0 { // Known blockers need no placeholder.
		blockers = slices.DeleteFunc(blockers, func(b schema.Blocker) bool { return b.Placeholder })
	}
	isBlocked := task.TaskStatus == schema.TaskBlocked
	switch {
	case len(blockers) == 0 && c.Status == schema.TaskBlocked:
		stand, err := p.placeholder(ctx, task)
		if err != nil {
			return err
		}
		blockers = append(blockers, stand)
	case len(blockers) == 0 && isBlocked && c.Status != "":
		return nil // The change of status that follows clears them.
	case len(blockers) == 0 && isBlocked:
		return p.unblock(task, task.Blockers)
	case !isBlocked && len(c.Block) == 0 && c.Status != schema.TaskBlocked:
		return p.replace(id, blockers)
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

// without returns the task's blockers without those that the texts name.
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
		if b.ID == text || language.SameTitle(b.Text, text) {
			return b.ID, nil
		}
	}
	for _, entityType := range everyType { // A condition and a task may have the same text.
		e, err := p.entityOf(ctx, text, entityType)
		switch {
		case err == nil && task.blockedBy(e.ID):
			return e.ID, nil
		case err != nil && !errors.Is(err, ErrNotFound):
			return "", err
		}
	}
	return "", fmt.Errorf("%w: task %q does not wait for %q: task show lists its blockers", ErrCommand, clip(task.Title), clip(text))
}

func (p *planner) retitle(ctx context.Context, task Entity, title string) error {
	key, err := KeyOfTask(p.overlay.project, title)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	other, taken, err := p.overlay.byKey(ctx, key)
	if err != nil {
		return err
	}
	if taken && other.ID != task.ID {
		return fmt.Errorf("%w: title %q is of task %q: merge them instead", ErrRefused, clip(title), other.ID)
	}
	if task.Title == clipTitle(title) {
		return nil
	}
	err = p.emit(p.changeKey("title"), schema.TaskTitleChangedPayload{
		Act: p.act, TaskID: task.ID, From: task.Title, To: clipTitle(title), CanonicalKey: key.String(),
	})
	if err != nil {
		return err
	}
	return p.resolveCondition(ctx, p.task(task.ID), title)
}

func (p *planner) merge(ctx context.Context, id, target string) error {
	into, err := p.entityOf(ctx, target, schema.EntityTask)
	if err != nil {
		return err
	}
	task := p.task(id)
	if into.ID == task.ID {
		return fmt.Errorf("%w: task %q is one with itself", ErrRefused, clip(task.Title))
	}
	loops, err := p.overlay.reaches(ctx, into.ID, task.ID)
	if err != nil {
		return err
	}
	if loops {
		blocker := schema.Blocker{EntityRef: task.EntityRef, Text: task.Title, Since: p.at}
		if err := p.reject(into, "", schema.RejectedCycle, []schema.Blocker{blocker}); err != nil {
			return err
		}
		return fmt.Errorf("%w: task %q waits for %q: unblock it first", ErrRefused, clip(into.Title), clip(task.Title))
	}
	payload := schema.TaskMergedPayload{Act: p.act, TaskID: task.ID, Into: into.ID}
	for _, k := range task.Keys() {
		payload.Aliases = append(payload.Aliases, k.CanonicalKey)
	}
	return p.emit(p.changeKey("merged"), payload)
}

func (p *planner) commandResolve(ctx context.Context, conditionText, targetText string) error {
	condition, err := p.entityOf(ctx, conditionText, schema.EntityCondition)
	if err != nil {
		return err
	}
	target, err := p.entityOf(ctx, targetText, schema.EntityTask, schema.EntityArtifact, schema.EntityCondition)
	if errors.Is(err, ErrNotFound) && !isID(strings.TrimSpace(targetText)) {
		// The artifact may be new.
		key, keyErr := KeyOfArtifact(targetText)
		if keyErr != nil {
			return fmt.Errorf("%w: %w", ErrCommand, keyErr)
		}
		target, err = p.artifact(ctx, []Key{key}, targetText)
	}
	if err != nil {
		return err
	}
	loops, err := p.overlay.reaches(ctx, target.ID, condition.ID)
	if err != nil {
		return err
	}
	if loops {
		return fmt.Errorf("%w: %q waits for condition %q", ErrRefused, clip(target.Title), clip(condition.Title))
	}
	if condition.ResolvesTo != nil && condition.ResolvesTo.ID == target.ID {
		return nil
	}
	return p.resolveTo(condition, target.EntityRef, schema.ResolvedByCommand)
}
