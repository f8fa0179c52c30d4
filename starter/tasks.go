package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/eventlog"
	"axiommind/activities/task"
	"axiommind/schema"
)

// taskFlags select a project and a point in time.
type taskFlags struct{ project, asOf string }

// taskList contains the flags of a list of tasks or conditions.
type taskList struct {
	taskFlags
	page
}

func (o *taskList) add(f *pflag.FlagSet) {
	o.taskFlags.add(f)
	o.page.add(f, defaultPage, maxPage, "the last changed first")
}

// query runs fn with the selection of the page.
func (o *taskList) query(ctx context.Context, a *app, fn func(*task.Queries, task.Selection) error) error {
	if err := o.check(); err != nil {
		return err
	}
	return a.withQueries(ctx, &o.taskFlags, func(q *task.Queries, s task.Selection) error {
		s.Limit, s.Offset = o.ask(), o.offset
		return fn(q, s)
	})
}

func (o *taskFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.project, "project", "default", "project of the tasks")
	f.StringVar(&o.asOf, "as-of", "", "as it was then, like 2006-01-02 (the end of the day) or 2006-01-02T15:04:05Z")
}

func (o *taskFlags) selection() (task.Selection, error) {
	at, err := parseAsOf(o.asOf)
	return task.Selection{Project: o.project, AsOf: at}, err
}

// parseAsOf parses the value of --as-of. A day means its end, and an empty value the zero time.
func parseAsOf(value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	at, err := parseTime("as-of", value)
	if err == nil && len(value) == len(time.DateOnly) {
		at = at.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return at, err
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
	if errors.Is(err, task.ErrCommand) || errors.Is(err, task.ErrNotFound) || errors.Is(err, task.ErrAmbiguous) {
		return badUsage(err)
	}
	return err
}

// namedTasks returns the whole ids of the given tasks, which are named as for task show.
func (a *app) namedTasks(ctx context.Context, project string, given []string) ([]string, error) {
	if len(given) == 0 {
		return nil, nil
	}
	ids := make([]string, len(given))
	return ids, a.withQueries(ctx, &taskFlags{project: project}, func(q *task.Queries, s task.Selection) error {
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

func (a *app) blockedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "blocked", Short: "list blocked tasks and their blockers",
	}
	f := cmd.Flags()
	o := &taskList{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		return o.query(ctx, a, func(q *task.Queries, s task.Selection) error {
			views, err := q.ListBlockedTasks(ctx, s)
			if err != nil {
				return err
			}
			return list(a, &o.page, views, "nothing is blocked in "+o.place(), printBlocked)
		})
	})
}

// place describes the selection for a message about an empty result.
func (o *taskFlags) place() string {
	var b strings.Builder
	say(&b, "project %s", o.project)
	if o.asOf != "" {
		say(&b, " as of %s", o.asOf)
	}
	return b.String()
}

func printBlocked(w io.Writer, views []task.View) error {
	var b strings.Builder
	for _, v := range views {
		say(&b, "%s  %s%s\n", short(v.Task.ID), oneLine(v.Task.Title, 120), doneText(v.Task.DoneReport))
		for _, blocker := range v.Blockers {
			say(&b, "          waits for %s\n", blockerText(blocker, 100))
		}
		for _, suggestion := range v.Suggestions {
			say(&b, "          perhaps for %s\n", blockerText(suggestion, 100))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// blockerText describes a blocker and its final resolution, with short ids. Titles are cut to n characters.
func blockerText(v task.BlockerView, n int) string {
	text := fmt.Sprintf("%s (%s %s)", oneLine(v.Title, n), v.Type, short(v.ID))
	if v.Placeholder {
		text = fmt.Sprintf("something unknown (%s %s)", v.Type, short(v.ID))
	}
	if v.Effective.Hops > 0 {
		text += fmt.Sprintf(", that is %s (%s %s)", oneLine(v.Effective.Title, n), v.Effective.Type, short(v.Effective.ID))
	}
	if !v.Effective.Open {
		return text + ", which is done"
	}
	return text + doneText(v.Effective.DoneReport)
}

// statusText returns a task's status, and whether it is reported done.
func statusText(e task.Entity) string {
	return statusWords(string(e.TaskStatus)) + doneText(e.DoneReport)
}

func statusWords(status string) string { return strings.ReplaceAll(status, "_", " ") }

// doneText describes a done report. It is empty if there is none.
func doneText(r *task.DoneReport) string {
	if r == nil {
		return ""
	}
	if r.By != "" {
		return " · reported done on " + dayOf(r.At) + " by " + unbroken(r.By)
	}
	return " · reported done on " + dayOf(r.At) + ", " + evidenceStateOfAll(r.EvidenceAligned, r.EvidenceProven, r.Quote != "")
}

// dayOf formats the day of a time. A time that is only known to the day is midnight in UTC.
func dayOf(t time.Time) string {
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.UTC().Format(time.DateOnly)
	}
	return t.Local().Format(time.DateOnly)
}

func (a *app) tasksCommand() *cobra.Command {
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
	a.complete(cmd, "status", fixed(schema.TaskStatuses()...))
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		chosen := 0
		for _, set := range []bool{*status != "", *onlySuggested, *placeholder, *reported} {
			if set {
				chosen++
			}
		}
		if chosen > 1 {
			return usagef("give one of --status, --only-suggested, --placeholder and --reported-done")
		}
		if err := oneOfOrNone("status", schema.TaskStatus(*status), schema.TaskStatuses()); err != nil {
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
				return list(a, &o.page, views, none, printReported)
			}
			return list(a, &o.page, views, none, printTasks)
		})
	})
}

// printReported lists tasks that are reported done, with the quote of the report.
func printReported(w io.Writer, views []task.View) error {
	t := newTable(w, "task", "status", "title", "entry", "said")
	for _, v := range views {
		r := v.Task.DoneReport
		t.AppendRow([]any{short(v.Task.ID), statusText(v.Task), oneLine(v.Task.Title, 60), short(r.EntryID), oneLine(r.Quote, 60)})
	}
	t.Render()
	return nil
}

func printTasks(w io.Writer, views []task.View) error {
	t := newTable(w, "task", "status", "stage", "priority", "title", "waits for")
	for _, v := range views {
		waits := make(manyLines, 0, len(v.Blockers)+len(v.Suggestions))
		for _, b := range v.Blockers {
			waits = append(waits, blockerText(b, 40))
		}
		for _, s := range v.Suggestions {
			waits = append(waits, "perhaps "+blockerText(s, 40))
		}
		t.AppendRow([]any{short(v.Task.ID), statusText(v.Task), v.Task.Stage, v.Task.Priority, oneLine(v.Task.Title, 70), waits})
	}
	t.Render()
	return nil
}

func (a *app) conditionsResolvedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolved", Short: "list resolved conditions and their targets",
	}
	f := cmd.Flags()
	o := &taskList{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		return o.query(ctx, a, func(q *task.Queries, s task.Selection) error {
			conditions, err := q.ListResolvedConditions(ctx, s)
			if err != nil {
				return err
			}
			return list(a, &o.page, conditions, "no condition is resolved in "+o.place(), printConditions)
		})
	})
}

func printConditions(w io.Writer, conditions []task.ResolvedCondition) error {
	t := newTable(w, "condition", "text", "turned out to be")
	for _, c := range conditions {
		t.AppendRow([]any{short(c.Condition.ID), oneLine(c.Condition.Title, 70), fmt.Sprintf("%s (%s %s)",
			oneLine(c.Target.Title, 70), c.Target.Type, short(c.Target.ID))})
	}
	t.Render()
	return nil
}
