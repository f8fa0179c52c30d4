package dreams

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
)

// ShownDream is a dream with the size of its version of core memory.
type ShownDream struct {
	tier.Dream
	// Items counts the items of the dream's version, and Added those that its parent lacks.
	Items int `json:"items"`
	Added int `json:"added"`
}

func dreamShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [DREAM]", Short: "show a dream: its input, additions, drops and diary",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	a.Answers(cmd, ShownDream{})
	return a.Online(cmd, func(ctx context.Context, args []string) (err error) {
		ordinal := 0
		if len(args) > 0 {
			if ordinal, err = number("dream", args[0], 1); err != nil {
				return err
			}
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		d, err := readDream(ctx, tier.NewTables(conn), o, ordinal)
		switch {
		case err != nil:
			return err
		case d.Ordinal == 0 && ordinal > 0:
			return command.Missingf("there is no dream %d of %s: dream list shows them all", ordinal, command.Unbroken(o.String()))
		case d.Ordinal == 0:
			_, _ = fmt.Fprintln(a.ErrOut, noDream(o))
		}
		return a.Print(command.OrNull(d, d.Ordinal > 0), func(b *strings.Builder) { printDream(b, o, d) })
	})
}

func noDream(o *command.Owner) string {
	return "no dream of " + command.Unbroken(o.String()) + " has ended"
}

// readDream reads a dream, the last one if the ordinal is 0. If the dream created a version, its dropped items are included.
func readDream(ctx context.Context, t *tier.Tables, o *command.Owner, ordinal int) (ShownDream, error) {
	var d ShownDream
	var err error
	if ordinal > 0 {
		d.Dream, err = t.Dream(ctx, o.User, o.Agent, ordinal)
	} else {
		var last []tier.Dream
		if last, err = t.Dreams(ctx, o.User, o.Agent, 1, 0); len(last) > 0 {
			d.Dream = last[0]
		}
	}
	if err != nil || d.Version == 0 {
		return d, err
	}
	versions, err := t.Between(ctx, o.User, o.Agent, d.Parent, d.Version)
	held := map[string]bool{}
	for _, v := range versions {
		if v.Version != d.Version {
			for _, item := range v.Items {
				held[item.Text] = true
			}
			continue
		}
		d.Items, d.Dropped = len(v.Items), v.Dropped
		for _, item := range v.Items {
			if !held[item.Text] {
				d.Added++
			}
		}
	}
	return d, err
}

func printDream(b *strings.Builder, o *command.Owner, d ShownDream) {
	if d.Ordinal == 0 {
		return
	}
	command.Say(b, "dream    %d of %s, for %s\nended    %s\nstatus   %s\n", d.Ordinal, o, d.Date, command.When(d.At), dreamOutcome(d.Dream))
	if d.Reason != "" {
		command.Say(b, "reason   %s\n", d.Reason)
	}
	command.Say(b, "read     %s\n", daysText(d.Days))
	if d.Version > 0 {
		command.Say(b, "items    %d, %d added\n", d.Items, d.Added)
	}
	if d.Carried > 0 {
		command.Say(b, "carried  %s, left out by the answer without a reason that counts\n", command.Plural(d.Carried, "item", "items"))
	}
	if d.LeftOut > 0 {
		command.Say(b, "no room  for %s of the days beside those that weigh more\n", command.Plural(d.LeftOut, "statement", "statements"))
	}
	command.Say(b, "model    %s, %s, %d tokens in, %d out", d.Model, command.Plural(d.Usage.Calls, "call", "calls"), d.Usage.InputTokens, d.Usage.OutputTokens)
	if d.Usage.CostUSD > 0 {
		command.Say(b, ", $%.4f", d.Usage.CostUSD)
	}
	b.WriteString("\n")
	sayDropped(b, d.Dropped)
	if d.Diary != "" {
		b.WriteString("\ndiary\n")
		command.Block(b, "  │ ", d.Diary)
	}
}

// dreamOutcome describes how the dream ended.
func dreamOutcome(d tier.Dream) string {
	switch {
	case d.Version > 0 && d.Parent > 0:
		return fmt.Sprintf("%s: version %d follows version %d", d.Status, d.Version, d.Parent)
	case d.Version > 0:
		return fmt.Sprintf("%s: version %d is the first", d.Status, d.Version)
	case d.Parent > 0:
		return fmt.Sprintf("%s: version %d stays", d.Status, d.Parent)
	}
	return string(d.Status)
}

// maxDays bounds the days that are listed.
const maxDays = 7

func daysText(days []schema.Day) string {
	if len(days) == 0 {
		return "nothing"
	}
	names := make([]string, 0, maxDays+1)
	for _, d := range days[:min(maxDays, len(days))] {
		names = append(names, d.Date)
	}
	if more := len(days) - maxDays; more > 0 {
		names = append(names, fmt.Sprintf("and %d more, down to %s", more, days[len(days)-1].Date))
	}
	return command.Plural(len(days), "day", "days") + ": " + strings.Join(names, ", ")
}
