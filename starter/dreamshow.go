package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/schema"
)

// shownDream is a dream with the size of its version of core memory.
type shownDream struct {
	tier.Dream
	// Items counts the items of the dream's version, and Added those that its parent lacks.
	Items int `json:"items"`
	Added int `json:"added"`
}

func (a *app) dreamShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [DREAM]", Short: "show a dream: its input, additions, drops and diary",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		ordinal := 0
		if len(args) > 0 {
			var err error
			if ordinal, err = number("dream", args[0], 1); err != nil {
				return err
			}
		}
		return a.withTiers(ctx, func(t *tier.Tables) error {
			d, err := readDream(ctx, t, o, ordinal)
			switch {
			case err != nil:
				return err
			case d.Ordinal == 0 && ordinal > 0:
				return usagef("there is no dream %d of %s: dream list shows them all", ordinal, unbroken(o.String()))
			case d.Ordinal == 0:
				_, _ = fmt.Fprintln(a.errOut, noDream(o))
			}
			return a.print(orNull(d, d.Ordinal > 0), func(w io.Writer) error { return printDream(w, o, d) })
		})
	})
}

func noDream(o *owner) string { return "no dream of " + unbroken(o.String()) + " has ended" }

// readDream reads a dream, the last one if the ordinal is 0. If the dream created a version, its dropped items are included.
func readDream(ctx context.Context, t *tier.Tables, o *owner, ordinal int) (shownDream, error) {
	var d shownDream
	var err error
	if ordinal > 0 {
		d.Dream, err = t.Dream(ctx, o.user, o.agent, ordinal)
	} else {
		var last []tier.Dream
		if last, err = t.Dreams(ctx, o.user, o.agent, 1, 0); len(last) > 0 {
			d.Dream = last[0]
		}
	}
	if err != nil || d.Version == 0 {
		return d, err
	}
	versions, err := t.Between(ctx, o.user, o.agent, d.Parent, d.Version)
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

func printDream(w io.Writer, o *owner, d shownDream) error {
	if d.Ordinal == 0 {
		return nil
	}
	var b strings.Builder
	say(&b, "dream    %d of %s, for %s\nended    %s\nstatus   %s\n", d.Ordinal, o, d.Date, when(d.At), dreamOutcome(d.Dream))
	if d.Reason != "" {
		say(&b, "reason   %s\n", d.Reason)
	}
	say(&b, "read     %s\n", daysText(d.Days))
	if d.Version > 0 {
		say(&b, "items    %d, %d added\n", d.Items, d.Added)
	}
	if d.Carried > 0 {
		say(&b, "carried  %s, left out by the answer without a reason that counts\n", plural(d.Carried, "item", "items"))
	}
	say(&b, "model    %s, %s, %d tokens in, %d out", d.Model, plural(d.Usage.Calls, "call", "calls"), d.Usage.InputTokens, d.Usage.OutputTokens)
	if d.Usage.CostUSD > 0 {
		say(&b, ", $%.4f", d.Usage.CostUSD)
	}
	b.WriteString("\n")
	for _, from := range []string{schema.FromMemory, schema.FromAnswer} {
		var items []schema.DroppedItem
		for _, item := range d.Dropped {
			if item.From == from {
				items = append(items, item)
			}
		}
		sayDropped(&b, from, items)
	}
	if d.Diary != "" {
		b.WriteString("\ndiary\n")
		block(&b, "  │ ", d.Diary)
	}
	_, err := io.WriteString(w, b.String())
	return err
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
	return plural(len(days), "day", "days") + ": " + strings.Join(names, ", ")
}

func (a *app) dreamListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list dreams, including refused ones",
	}
	f := cmd.Flags()
	o, p := &owner{}, &page{}
	o.add(f)
	p.add(f, defaultPage, maxPage, "the newest first")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		return a.withTiers(ctx, func(t *tier.Tables) error {
			dreams, err := t.Dreams(ctx, o.user, o.agent, p.ask(), p.offset)
			if err != nil {
				return err
			}
			return list(a, p, dreams, noDream(o), printDreams)
		})
	})
}

func printDreams(w io.Writer, dreams []tier.Dream) error {
	t := newTable(w, "dream", "date", "ended", "status", "version", "days", "carried", "reason")
	t.SetColumnConfigs(rightAligned(5, 7))
	for _, d := range dreams {
		version := "-"
		if d.Version > 0 {
			version = fmt.Sprint(d.Version)
		}
		t.AppendRow([]any{d.Ordinal, d.Date, when(d.At), d.Status, version, len(d.Days), d.Carried, oneLine(d.Reason, 80)})
	}
	t.Render()
	return nil
}
