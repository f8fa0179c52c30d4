package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/task"
	"axiommind/schema"
)

func (a *app) taskShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show TASK", Short: "show a task, its blockers and its history with evidence",
	}
	f := cmd.Flags()
	o := &taskFlags{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withQueries(ctx, o, func(q *task.Queries, s task.Selection) error {
			detail, err := q.GetTaskDetail(ctx, s, args[0])
			if err != nil {
				return err
			}
			return a.print(detail, func(w io.Writer) error { return printTask(w, detail) })
		})
	})
}

// printTask writes a task with its blockers and history.
func printTask(w io.Writer, d task.Detail) error {
	var b strings.Builder
	t := d.Task
	say(&b, "%s\n\ntask      %s\nkey       %s\nstatus    %s, %s priority\nstage     %s\nsince     %s, changed %s\n",
		t.Title, t.ID, t.CanonicalKey, statusText(t), t.Priority, t.Stage, when(t.CreatedAt), when(t.UpdatedAt))
	for _, alias := range t.Aliases {
		say(&b, "also      %s\n", alias.CanonicalKey)
	}
	if t.ResolvesTo != nil {
		say(&b, "merged    into %s\n", t.ResolvesTo.ID)
	}
	for _, v := range d.Blockers {
		say(&b, "waits for %s\n", blockerText(v, 100))
	}
	for _, v := range d.Suggestions {
		say(&b, "perhaps   %s\n", blockerText(v, 100))
	}
	b.WriteString("\nhistory\n")
	for _, h := range d.History {
		say(&b, "  %s  %s\n", when(h.Event.TS), eventText(h.Event))
		switch {
		case h.Act.EntryID != "":
			for _, e := range h.Evidence {
				say(&b, "      %s\n", evidenceLine(cmp.Or(h.EvidenceSessionID, h.Event.SessionID), e))
			}
		case h.Act.Reason != "":
			say(&b, "      by %s: %s\n", h.Event.Actor, h.Act.Reason)
		default:
			say(&b, "      by %s\n", h.Event.Actor)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *app) taskSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set TASK", Short: "change a task",
		Example: "starter task set 0a1b2c3d --status done --reason 'merged on Friday'\n" +
			"starter task set 0a1b2c3d --block PROJ-7 --block 'the legal review'",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the task")
	f.StringVar((*string)(&c.Status), "status", "", "pending, in_progress, blocked, done or cancelled")
	f.StringVar((*string)(&c.Priority), "priority", "", "low, medium, high or critical")
	f.StringVar(&c.Title, "title", "", "new title; the old one still leads to the task")
	f.StringArrayVar(&c.Block, "block", nil, "blocker to add: an address, an issue, a task or any text (may be repeated)")
	f.StringArrayVar(&c.Unblock, "unblock", nil, "blocker to remove (may be repeated)")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	a.complete(cmd, "status", fixed(schema.TaskStatuses()...))
	a.complete(cmd, "priority", fixed(schema.TaskPriorities()...))
	blockers := entityIDs(schema.EntityTask, schema.EntityCondition, schema.EntityArtifact)
	a.complete(cmd, "block", blockers)
	a.complete(cmd, "unblock", blockers)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		err := cmp.Or(oneOfOrNone("status", c.Status, schema.TaskStatuses()), oneOfOrNone("priority", c.Priority, schema.TaskPriorities()))
		if err != nil {
			return err
		}
		c.TaskID = args[0]
		return a.changeTask(ctx, c)
	})
}

func (a *app) taskMergeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "merge TASK INTO", Short: "make a task part of another one",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the tasks")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		c.TaskID, c.MergeInto = args[0], args[1]
		return a.changeTask(ctx, c)
	})
}

func (a *app) conditionResolveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve CONDITION TARGET", Short: "resolve a condition to a task or an artifact",
		Example: "starter condition resolve 0a1b2c3d PROJ-7",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the condition")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		c.ConditionID, c.ResolveTo = args[0], args[1]
		return a.changeTask(ctx, c)
	})
}

func (a *app) artifactCloseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "close ARTIFACT", Short: "close an artifact",
		Example: "starter artifact close https://git.example.com/shop/pulls/7",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the artifact")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		c.CloseArtifact = args[0]
		return a.changeTask(ctx, c)
	})
}

func (a *app) taskConfirmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm [TASK…]", Short: "close tasks that are reported done",
		Example: "starter task confirm 0a1b2c3d 4e5f6071\n" +
			"starter task confirm --all",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the tasks")
	f.BoolVar(&c.ConfirmAll, "all", false, "every task that is reported done")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		c.Confirm = args
		if c.ConfirmAll == (len(args) > 0) {
			return usagef("give the tasks to confirm, or --all; tasks --reported-done lists them")
		}
		return a.changeTask(ctx, c)
	})
}

// changeTask sends the command to the project's writer and waits until it is done.
func (a *app) changeTask(ctx context.Context, c task.Command) error {
	c.RequestID, c.Actor, c.At = uuid.NewString(), actor(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return badUsage(err)
	}
	var result task.Result
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	if err := a.send(ctx, update, &result, schema.ErrorTaskNotFound); err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) error { return printChanges(w, result) })
}

// answerPatience is how long a command waits for an answer before it prints a notice.
const answerPatience = 10 * time.Second

// send sends the update to its writer and waits for the result. Invalid input, and failures of the types in mistake, are
// usage errors.
func (a *app) send(ctx context.Context, u boundary.Update, result any, mistake ...string) error {
	temporalClient, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	waits := time.AfterFunc(answerPatience, func() {
		_, _ = fmt.Fprintln(a.errOut, "no answer yet; is a worker running? starter doctor says")
	})
	err = u.Send(ctx, temporalClient, result)
	waits.Stop()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped waiting for an answer: it may still be done, as soon as a worker runs: %w", err)
	}
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		err = errors.New(application.Message())
		if slices.Contains([]string{schema.ErrorTaskNotFound, schema.ErrorEntryNotFound}, application.Type()) {
			err = missingError{err}
		}
		if slices.Contains(append(mistake, schema.ErrorInvalidInput), application.Type()) {
			return badUsage(err)
		}
	}
	return err
}

// printChanges lists the changes of a command, including those of tasks that waited for the changed one.
func printChanges(w io.Writer, r task.Result) error {
	var b strings.Builder
	for _, c := range r.Changes {
		say(&b, "%s: %s\n", short(c.ID), changeText(c))
	}
	switch {
	case r.MoreChanges > 0:
		say(&b, "and %s more\n", plural(r.MoreChanges, "change", "changes"))
	case len(r.Changes) == 0:
		b.WriteString("nothing to change\n")
	}
	if r.Changed >= task.MaxConfirm {
		b.WriteString("there may be more: give the command again\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changeText describes a change of a task.
func changeText(c task.Change) string {
	text := c.Kind
	switch c.Kind {
	case task.ChangedStatus:
		text = statusWords(c.From) + " -> " + statusWords(c.To)
	case task.ChangedPriority:
		text = fmt.Sprintf("priority %s -> %s", c.From, c.To)
	case task.ChangedTitle:
		text = fmt.Sprintf("title “%s” -> “%s”", oneLine(c.From, 60), oneLine(c.To, 60))
	case task.ChangedBlockers:
		text = "waits for nothing"
		if len(c.Blockers) > 0 {
			text = "waits for " + oneLine(strings.Join(c.Blockers, "; "), 120)
		}
	case task.ChangedSuggested:
		text = "perhaps waits for " + oneLine(strings.Join(c.Blockers, "; "), 120)
	case task.ChangedReported:
		text = "reported done"
	case task.ChangedMerged:
		text = "merged into " + short(c.To)
	case task.ChangedResolved:
		text = "turned out to be " + short(c.To)
	}
	if len(c.Lifted) > 0 {
		text += ", no longer waits for " + oneLine(strings.Join(c.Lifted, "; "), 120)
	}
	return text
}

// actor returns the name of the user for the histories of tasks and core memory.
func actor() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "cli"
	}
	return "cli:" + u.Username
}
