package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"axiommind/activities/eventlog"
	"axiommind/activities/task"
	"axiommind/schema"
)

// taskFlags say of which project, and as of when.
type taskFlags struct{ project, asOf string }

func (o *taskFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.project, "project", "default", "project of the tasks")
	f.StringVar(&o.asOf, "as-of", "", "as it was then, like 2006-01-02 (the end of the day) or 2006-01-02T15:04:05Z")
}

func (o *taskFlags) selection() (task.Selection, error) {
	s := task.Selection{Project: o.project}
	if o.asOf == "" {
		return s, nil
	}
	if day, err := time.Parse(time.DateOnly, o.asOf); err == nil {
		s.AsOf = day.AddDate(0, 0, 1).Add(-time.Microsecond)
		return s, nil
	}
	at, err := time.Parse(time.RFC3339, o.asOf)
	if err != nil {
		return s, usagef("--as-of %q: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z", o.asOf)
	}
	s.AsOf = at
	return s, nil
}

// withQueries runs fn with the queries over the project's tasks.
func (a *app) withQueries(ctx context.Context, o *taskFlags, fn func(*task.Queries, task.Selection) error) error {
	selection, err := o.selection()
	if err != nil {
		return err
	}
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	err = fn(task.NewQueries(eventlog.New(conn, eventlog.Options{}), conn), selection)
	if errors.Is(err, task.ErrCommand) || errors.Is(err, task.ErrNotFound) {
		return usageError{err}
	}
	return err
}

func (a *app) blockedCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &taskFlags{}
	o.add(f)
	return func(ctx context.Context, _ []string) error {
		return a.withQueries(ctx, o, func(q *task.Queries, s task.Selection) error {
			views, err := q.ListBlockedTasks(ctx, s)
			if err != nil {
				return err
			}
			return a.print(views, func(w io.Writer) error { return printBlocked(w, s.Project, views) })
		})
	}
}

func printBlocked(w io.Writer, project string, views []task.View) error {
	var b strings.Builder
	if len(views) == 0 {
		fmt.Fprintf(&b, "nothing is blocked in project %s\n", project)
	}
	for _, v := range views {
		fmt.Fprintf(&b, "%s  %s\n", v.Task.ID[:8], oneLine(v.Task.Title, 120))
		for _, blocker := range v.Blockers {
			fmt.Fprintf(&b, "          waits for %s\n", blockerText(blocker))
		}
		for _, suggestion := range v.Suggestions {
			fmt.Fprintf(&b, "          perhaps for %s\n", blockerText(suggestion))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func blockerText(v task.BlockerView) string {
	if v.Placeholder {
		return "something unknown"
	}
	text := fmt.Sprintf("%s (%s)", oneLine(v.Title, 100), v.Type)
	if v.Effective.Hops > 0 {
		text += fmt.Sprintf(", that is %s (%s)", oneLine(v.Effective.Title, 100), v.Effective.Type)
	}
	if !v.Effective.Open {
		text += ", which is done"
	}
	return text
}

func (a *app) tasksCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &taskFlags{}
	o.add(f)
	status := f.String("status", "", "pending, in_progress, blocked, done or cancelled")
	onlySuggested := f.Bool("only-suggested", false, "tasks whose blockers are only suggested")
	placeholder := f.Bool("placeholder", false, "tasks blocked by something unknown")
	limit := f.Int("limit", task.DefaultLimit, "how many, the last changed first")
	return func(ctx context.Context, _ []string) error {
		chosen := 0
		for _, set := range []bool{*status != "", *onlySuggested, *placeholder} {
			if set {
				chosen++
			}
		}
		switch {
		case chosen > 1:
			return usagef("give one of --status, --only-suggested and --placeholder")
		case *limit < 1:
			return usagef("--limit %d: want at least 1", *limit)
		}
		return a.withQueries(ctx, o, func(q *task.Queries, s task.Selection) error {
			s.Limit = *limit
			var views []task.View
			var err error
			switch {
			case *onlySuggested:
				views, err = q.ListTasksWithOnlySuggestedBlockers(ctx, s)
			case *placeholder:
				views, err = q.ListTasksWithUnknownPlaceholderBlocker(ctx, s)
			default:
				views, err = q.ListTasks(ctx, s, schema.TaskStatus(*status))
			}
			if err != nil {
				return err
			}
			return a.print(views, func(w io.Writer) error { return printTasks(w, s.Project, views) })
		})
	}
}

func printTasks(w io.Writer, project string, views []task.View) error {
	if len(views) == 0 {
		_, err := fmt.Fprintf(w, "no such task in project %s\n", project)
		return err
	}
	t := newTable(w, "task", "status", "priority", "title", "waits for")
	for _, v := range views {
		waits := make([]string, 0, len(v.Blockers)+len(v.Suggestions))
		for _, b := range v.Blockers {
			waits = append(waits, oneLine(blockerText(b), 60))
		}
		for _, s := range v.Suggestions {
			waits = append(waits, "perhaps "+oneLine(blockerText(s), 60))
		}
		t.AppendRow([]any{v.Task.ID[:8], v.Task.TaskStatus, v.Task.Priority, oneLine(v.Task.Title, 70), strings.Join(waits, "\n")})
	}
	t.Render()
	return nil
}

func (a *app) conditionsResolvedCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &taskFlags{}
	o.add(f)
	return func(ctx context.Context, _ []string) error {
		return a.withQueries(ctx, o, func(q *task.Queries, s task.Selection) error {
			conditions, err := q.ListResolvedConditions(ctx, s)
			if err != nil {
				return err
			}
			return a.print(conditions, func(w io.Writer) error {
				if len(conditions) == 0 {
					_, err := fmt.Fprintf(w, "no condition is resolved in project %s\n", s.Project)
					return err
				}
				t := newTable(w, "condition", "text", "turned out to be")
				for _, c := range conditions {
					t.AppendRow([]any{c.Condition.ID[:8], oneLine(c.Condition.Title, 70), fmt.Sprintf("%s (%s %s)",
						oneLine(c.Target.Title, 70), c.Target.Type, c.Target.ID[:8])})
				}
				t.Render()
				return nil
			})
		})
	}
}
