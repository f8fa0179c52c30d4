package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/starter/command"
)

// changeTask sends the command to the project's writer and waits until it is done.
func changeTask(ctx context.Context, a *command.App, c task.Command) error {
	c.RequestID, c.Actor, c.At = a.NewID(), a.Actor(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return command.BadUsage(err)
	}
	var result task.Result
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	if err := a.Send(ctx, update, &result, schema.ErrorTaskNotFound); err != nil {
		return err
	}
	return a.Print(result, func(b *strings.Builder) { printChanges(b, result) })
}

// printChanges lists the changes of a command, including those of tasks that waited for the changed one.
func printChanges(b *strings.Builder, r task.Result) {
	for _, c := range r.Changes {
		command.Say(b, "%s: %s\n", command.ShortID(c.ID), ChangeText(c))
	}
	switch {
	case r.MoreChanges > 0:
		command.Say(b, "and %s more\n", command.Plural(r.MoreChanges, "change", "changes"))
	case len(r.Changes) == 0:
		b.WriteString("nothing to change\n")
	}
	if r.Changed >= task.MaxConfirm {
		b.WriteString("there may be more: give the command again\n")
	}
}

// ChangeText describes a change of a task.
func ChangeText(c task.Change) string {
	text := c.Kind
	switch c.Kind {
	case task.ChangedStatus:
		text = statusWords(c.From) + " -> " + statusWords(c.To)
	case task.ChangedPriority:
		text = fmt.Sprintf("priority %s -> %s", c.From, c.To)
	case task.ChangedTitle:
		text = fmt.Sprintf("title “%s” -> “%s”", command.OneLine(c.From, 60), command.OneLine(c.To, 60))
	case task.ChangedBlockers:
		text = "waits for nothing"
		if len(c.Blockers) > 0 {
			text = "waits for " + command.OneLine(strings.Join(c.Blockers, "; "), 120)
		}
	case task.ChangedSuggested:
		text = "perhaps waits for " + command.OneLine(strings.Join(c.Blockers, "; "), 120)
	case task.ChangedReported:
		text = "reported done"
	case task.ChangedMerged:
		text = "merged into " + command.ShortID(c.To)
	case task.ChangedResolved:
		text = "turned out to be " + command.ShortID(c.To)
	}
	if len(c.Lifted) > 0 {
		text += ", no longer waits for " + command.OneLine(strings.Join(c.Lifted, "; "), 120)
	}
	return text
}
