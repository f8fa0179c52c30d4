package mcpserver

import (
	"context"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
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
	conn, err := s.app.ClickHouse(ctx)
	if err != nil {
		return "", err
	}
	views, err := read(task.NewQueries(projection.New(conn, eventlog.Options{}), conn), task.Selection{Project: s.o.Project, Limit: s.o.limit + 1})
	if err != nil {
		return "", err
	}
	if len(views) == 0 {
		return none, nil
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	for _, v := range views[:min(len(views), s.o.limit)] {
		p.add("%s %s: %s", command.ShortID(v.Task.ID), tasks.StatusText(v.Task), p.short(v.Task.Title, titleTokens))
		for _, b := range v.Blockers {
			p.add("  waits for %s", p.short(tasks.BlockerText(b, 100), titleTokens))
		}
		for _, b := range v.Suggestions {
			p.add("  perhaps for %s", p.short(tasks.BlockerText(b, 100), titleTokens))
		}
	}
	if p.full || len(views) > s.o.limit {
		return p.end("There are more: starter tasks lists all."), nil
	}
	return p.end(""), nil
}
