package mcpserver

import (
	"context"

	"axiommind/activities/eventlog"
	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/tasks"
)

func (s *mcpServer) tasks(ctx context.Context, _ call, in tasksArguments) (string, error) {
	if err := command.OneOfOrNone("status", schema.TaskStatus(in.Status), schema.TaskStatuses()); err != nil {
		return "", err
	}
	return s.list(ctx, "No task is known in this project.", func(q *task.Queries, sel task.Selection) ([]task.View, error) {
		return q.ListTasks(ctx, sel, schema.TaskStatus(in.Status))
	})
}

func (s *mcpServer) blocked(ctx context.Context, _ call, _ noArguments) (string, error) {
	return s.list(ctx, "Nothing is blocked in this project.", func(q *task.Queries, sel task.Selection) ([]task.View, error) {
		return q.ListBlockedTasks(ctx, sel)
	})
}

// list lists tasks with their blockers and suggested blockers.
func (s *mcpServer) list(ctx context.Context, none string, read func(*task.Queries, task.Selection) ([]task.View, error)) (string, error) {
	conn, err := s.clickHouse.get(ctx)
	if err != nil {
		return "", err
	}
	views, err := read(task.NewQueries(eventlog.New(conn, eventlog.Options{}), conn), task.Selection{Project: s.o.Project, Limit: s.o.Limit + 1})
	if err != nil {
		return "", err
	}
	if len(views) == 0 {
		return none, nil
	}
	p, err := s.Sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	for _, v := range views[:min(len(views), s.o.Limit)] {
		p.Add("%s %s: %s", command.ShortID(v.Task.ID), tasks.StatusText(v.Task), p.Short(v.Task.Title, titleTokens))
		for _, b := range v.Blockers {
			p.Add("  waits for %s", p.Short(tasks.BlockerText(b, 100), titleTokens))
		}
		for _, b := range v.Suggestions {
			p.Add("  perhaps for %s", p.Short(tasks.BlockerText(b, 100), titleTokens))
		}
	}
	if p.full || len(views) > s.o.Limit {
		return p.End("There are more: starter tasks lists all."), nil
	}
	return p.End(""), nil
}
