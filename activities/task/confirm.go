package task

import (
	"context"
	"fmt"

	"axiommind/schema"
)

// MaxConfirm is the maximum number of tasks that one command confirms. Its events are one block of the log.
const MaxConfirm = 500

// confirm closes the tasks that are reported done. A closed task is left unchanged. If one of the tasks has no report
// of done, the command is invalid and nothing is closed.
func (p *planner) confirm(ctx context.Context, c Command) error {
	tasks, err := p.toConfirm(ctx, c)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if task.DoneReport == nil && !Closed(task.TaskStatus) {
			return fmt.Errorf("%w: task %q is not reported done: task set --status done closes it", ErrCommand, clip(task.Title))
		}
	}
	for _, task := range tasks {
		status := p.task(task.ID).TaskStatus // The same task may be named twice.
		if Closed(status) {
			continue
		}
		if err := p.advance(task.ID, commanded(status, schema.TaskDone)); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) toConfirm(ctx context.Context, c Command) ([]Entity, error) {
	var tasks []Entity
	if !c.ConfirmAll {
		for _, text := range c.Confirm {
			task, err := p.entityOf(ctx, text, schema.EntityTask)
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, task)
		}
		return tasks, nil
	}
	ids, err := p.overlay.index.ReportedDone(ctx, p.overlay.project, MaxConfirm)
	if err != nil {
		return nil, fmt.Errorf("find tasks that are reported done: %w", err)
	}
	found, err := p.overlay.load(ctx, ids)
	for _, id := range ids {
		if task, ok := found[id]; ok {
			tasks = append(tasks, task)
		}
	}
	return tasks, err
}
