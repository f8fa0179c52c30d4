package recall

import (
	"context"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
)

// needsText returns an error if the required text of a flag is empty.
func needsText(flag, text string) error {
	if strings.TrimSpace(text) == "" {
		return command.Usagef("--%s is empty: give a reason, which the history keeps", flag)
	}
	return nil
}

// Rule sends the command as [SendRule] does, in the name of the caller, and prints the result for each item.
func Rule(ctx context.Context, a *command.App, c graduate.Command) error {
	c.Actor = a.Actor()
	result, err := SendRule(ctx, a, c)
	if err != nil {
		return err
	}
	return a.Print(result, func(b *strings.Builder) { PrintRuled(b, result) })
}

// SendRule sends the command of its actor to the graduation of its project, and waits until it is done.
func SendRule(ctx context.Context, a *command.App, c graduate.Command) (result graduate.CommandResult, err error) {
	c.RequestID, c.At = a.NewID(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return result, command.BadUsage(err)
	}
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	err = a.Send(ctx, update, &result, schema.ErrorGraduationRefused, schema.ErrorEntryNotFound)
	return result, err
}

// PrintRuled writes the changes of a command.
func PrintRuled(b *strings.Builder, r graduate.CommandResult) {
	for _, c := range r.Changes {
		command.Say(b, "%s: %s\n", command.ShortID(c.ID), command.ShortIDs(c.Text))
	}
	switch {
	case r.MoreChanges > 0:
		command.Say(b, "and %s more\n", command.Plural(r.MoreChanges, "change", "changes"))
	case len(r.Changes) == 0:
		b.WriteString("nothing to change\n")
	}
}
