package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// taskFlags select a project and a point in time.
type taskFlags struct{ project, asOf string }

// taskList contains the flags of a list of tasks or conditions.
type taskList struct {
	taskFlags
	command.Page
}

func (o *taskList) add(f *pflag.FlagSet) {
	o.taskFlags.add(f)
	o.Add(f, command.DefaultPage, command.MaxPage, "the last changed first")
}

// query runs fn with the selection of the page.
func (o *taskList) query(ctx context.Context, a *command.App, fn func(*task.Queries, task.Selection) error) error {
	if err := o.Check(); err != nil {
		return err
	}
	return withQueries(ctx, a, &o.taskFlags, func(q *task.Queries, s task.Selection) error {
		s.Limit, s.Offset = o.Ask(), o.Offset
		return fn(q, s)
	})
}

func (o *taskFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.project, "project", "default", "project of the tasks")
	f.StringVar(&o.asOf, "as-of", "", "state at that time, like 2006-01-02 (the end of the day) or 2006-01-02T15:04:05Z")
}

func (o *taskFlags) selection() (task.Selection, error) {
	at, err := command.ParseAsOf(o.asOf)
	return task.Selection{Project: o.project, AsOf: at}, err
}

// withQueries runs fn with the queries over the project's tasks.
func withQueries(ctx context.Context, a *command.App, o *taskFlags, fn func(*task.Queries, task.Selection) error) error {
	selection, err := o.selection()
	if err != nil {
		return err
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	err = fn(task.NewQueries(projection.New(conn, eventlog.Options{}), conn), selection)
	if errors.Is(err, task.ErrCommand) || errors.Is(err, task.ErrNotFound) || errors.Is(err, task.ErrAmbiguous) {
		return command.BadUsage(err)
	}
	return err
}

// NamedTasks returns the whole ids of the given tasks, which are named as for task show.
func NamedTasks(ctx context.Context, a *command.App, project string, given []string) ([]string, error) {
	if len(given) == 0 {
		return nil, nil
	}
	ids := make([]string, len(given))
	return ids, withQueries(ctx, a, &taskFlags{project: project}, func(q *task.Queries, s task.Selection) error {
		for i, name := range given {
			detail, err := q.GetTaskDetail(ctx, s, name)
			if err != nil {
				return err
			}
			ids[i] = detail.Task.ID
		}
		return nil
	})
}

// place describes the selection for a message about an empty result.
func (o *taskFlags) place() string {
	var b strings.Builder
	command.Say(&b, "project %s", o.project)
	if o.asOf != "" {
		command.Say(&b, " as of %s", o.asOf)
	}
	return b.String()
}

// BlockerText describes a blocker and its final resolution, with short ids. Titles are cut to n characters.
func BlockerText(v task.BlockerView, n int) string {
	text := fmt.Sprintf("%s (%s %s)", command.OneLine(v.Title, n), v.Type, command.ShortID(v.ID))
	if v.Placeholder {
		text = fmt.Sprintf("something unknown (%s %s)", v.Type, command.ShortID(v.ID))
	}
	if v.Effective.Hops > 0 {
		text += fmt.Sprintf(", that is %s (%s %s)", command.OneLine(v.Effective.Title, n), v.Effective.Type, command.ShortID(v.Effective.ID))
	}
	if !v.Effective.Open {
		return text + ", which is done"
	}
	return text + DoneText(v.Effective.DoneReport)
}

// StatusText returns a task's status, and whether it is reported done.
func StatusText(e task.Entity) string {
	return statusWords(string(e.TaskStatus)) + DoneText(e.DoneReport)
}

func statusWords(status string) string { return strings.ReplaceAll(status, "_", " ") }

// DoneText describes a done report. It is empty if there is none.
func DoneText(r *task.DoneReport) string {
	if r == nil {
		return ""
	}
	if r.By != "" {
		return " · reported done on " + show.DayOf(r.At) + " by " + command.Unbroken(r.By)
	}
	return " · reported done on " + show.DayOf(r.At) + ", " + show.EvidenceStateOfAll(r.EvidenceAligned, r.EvidenceProven, r.Quote != "")
}

func tasksCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tasks", Short: "list tasks",
		Example: "starter tasks --status blocked\n" +
			"starter tasks --as-of 2026-11-01",
	}
	f := cmd.Flags()
	o := &taskList{}
	o.add(f)
	status := f.String("status", "", "pending, in_progress, blocked, done or cancelled")
	onlySuggested := f.Bool("only-suggested", false, "tasks whose blockers are only suggested")
	placeholder := f.Bool("placeholder", false, "tasks blocked by something unknown")
	reported := f.Bool("reported-done", false, "tasks that are reported done, for task confirm")
	a.Complete(cmd, "status", command.Fixed(schema.TaskStatuses()...))
	a.Answers(cmd, []task.View{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		chosen := 0
		for _, set := range []bool{*status != "", *onlySuggested, *placeholder, *reported} {
			if set {
				chosen++
			}
		}
		if chosen > 1 {
			return command.Usagef("give one of --status, --only-suggested, --placeholder and --reported-done")
		}
		if err := command.OneOfOrNone("status", schema.TaskStatus(*status), schema.TaskStatuses()); err != nil {
			return err
		}
		return o.query(ctx, a, func(q *task.Queries, s task.Selection) error {
			var views []task.View
			var err error
			none := "no tasks in " + o.place()
			switch {
			case *onlySuggested:
				none = "no task whose blockers are only suggested in " + o.place()
				views, err = q.ListTasksWithOnlySuggestedBlockers(ctx, s)
			case *placeholder:
				none = "no task blocked by something unknown in " + o.place()
				views, err = q.ListTasksWithUnknownPlaceholderBlocker(ctx, s)
			case *reported:
				none = "no open task is reported done in " + o.place()
				views, err = q.ListTasksReportedDone(ctx, s)
			default:
				if *status != "" {
					none = "no task with status " + *status + " in " + o.place()
				}
				views, err = q.ListTasks(ctx, s, schema.TaskStatus(*status))
			}
			if err != nil {
				return err
			}
			if *reported {
				return command.List(a, cmd, &o.Page, views, none, printReported)
			}
			return command.List(a, cmd, &o.Page, views, none, printTasks)
		})
	})
}

// printReported lists tasks that are reported done, with the quote of the report.
func printReported(b *strings.Builder, views []task.View) {
	command.Table(b, "task, status, title, entry, said", views, func(v task.View) []any {
		r := v.Task.DoneReport
		return []any{command.ShortID(v.Task.ID), StatusText(v.Task), command.OneLine(v.Task.Title, 60), command.ShortID(r.EntryID), command.Excerpt(r.Quote, v.Task.Title, 60)}
	})
}

func printTasks(b *strings.Builder, views []task.View) {
	command.Table(b, "task, status, stage, priority, title, waits for", views, func(v task.View) []any {
		waits := make(command.ManyLines, 0, len(v.Blockers)+len(v.Suggestions))
		for _, b := range v.Blockers {
			waits = append(waits, BlockerText(b, 40))
		}
		for _, s := range v.Suggestions {
			waits = append(waits, "perhaps "+BlockerText(s, 40))
		}
		return []any{command.ShortID(v.Task.ID), StatusText(v.Task), v.Task.Stage, v.Task.Priority, command.OneLine(v.Task.Title, 70), waits}
	})
}
