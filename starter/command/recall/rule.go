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

// Rule sends the command to the graduation of its project, waits until it is done, and prints the result for each item.
func Rule(ctx context.Context, a *command.App, c graduate.Command) error {
	c.RequestID, c.Actor, c.At = a.NewID(), a.Actor(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return command.BadUsage(err)
	}
	var result graduate.CommandResult
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	if err := a.Send(ctx, update, &result, schema.ErrorGraduationRefused, schema.ErrorEntryNotFound); err != nil {
		return err
	}
	return a.Print(result, func(b *strings.Builder) { PrintRuled(b, result) })
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
