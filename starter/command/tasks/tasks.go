package tasks

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
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
type taskFlags struct {
	project, asOf string
	at            time.Time
}

func (o *taskFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.project, "project", "default", "project of the tasks")
	f.StringVar(&o.asOf, "as-of", "", "state at that time, like 2006-01-02 (the end of the day) or 2006-01-02T15:04:05Z")
}

func (o *taskFlags) check() (err error) {
	o.at, err = command.ParseAsOf(o.asOf)
	return err
}

// listing lists tasks or conditions of the project at that time.
func listing[T any](o *taskFlags, print func(*strings.Builder, []T),
	read func(context.Context, *task.Queries, task.Selection) (rows []T, none string, err error),
) command.Listing[T] {
	return command.Listing[T]{
		Order: "the last changed first", Check: o.check, Print: print,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]T, string, error) {
			return read(ctx, queries(conn), task.Selection{Project: o.project, AsOf: o.at, Limit: p.Ask(), Offset: p.Offset})
		},
	}
}

func queries(conn driver.Conn) *task.Queries {
	return task.NewQueries(projection.New(conn, eventlog.Options{}), conn)
}

// NamedTasks returns the whole ids of the given tasks, which are named as for task show.
func NamedTasks(ctx context.Context, a *command.App, project string, given []string) ([]string, error) {
	if len(given) == 0 {
		return nil, nil
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(given))
	for i, name := range given {
		detail, err := queries(conn).GetTaskDetail(ctx, task.Selection{Project: project}, name)
		if err != nil {
			return nil, err
		}
		ids[i] = detail.Task.ID
	}
	return ids, nil
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
	o := &taskFlags{}
	o.add(f)
	status := f.String("status", "", "pending, in_progress, blocked, done or cancelled")
	onlySuggested := f.Bool("only-suggested", false, "tasks whose blockers are only suggested")
	placeholder := f.Bool("placeholder", false, "tasks blocked by something unknown")
	reported := f.Bool("reported-done", false, "tasks that are reported done, for task confirm")
	a.Complete(cmd, "status", command.Fixed(schema.TaskStatuses()...))
	l := listing(o, nil, func(ctx context.Context, q *task.Queries, s task.Selection) (views []task.View, none string, err error) {
		none = "no tasks in " + o.place()
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
		return views, none, err
	})
	l.Check = func() error {
		if command.Count([]bool{*status != "", *onlySuggested, *placeholder, *reported}, func(set bool) bool { return set }) > 1 {
			return command.Usagef("give one of --status, --only-suggested, --placeholder and --reported-done")
		}
		return cmp.Or(command.OneOfOrNone("status", schema.TaskStatus(*status), schema.TaskStatuses()), o.check())
	}
	l.Print = func(b *strings.Builder, views []task.View) {
		if *reported {
			printReported(b, views)
		} else {
			printTasks(b, views)
		}
	}
	return l.Command(a, cmd)
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
