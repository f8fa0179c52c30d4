package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// withTiers runs fn with the tables of tiers. An unknown version is a usage error.
func (a *app) withTiers(ctx context.Context, fn func(*tier.Tables) error) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return mistaken(fn(tier.NewTables(conn)))
}

func mistaken(err error) error {
	if errors.Is(err, tier.ErrVersionNotFound) {
		return badUsage(err)
	}
	return err
}

// orNull returns v for the JSON output, or nil if there is no value.
func orNull(v any, there bool) any {
	if !there {
		return nil
	}
	return v
}

// noCore is the text for a core memory without any version.
func noCore(o *owner) string {
	return "nothing is remembered in core memory of " + unbroken(o.String())
}

// number parses the number of a version or a dream.
func number(what, text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, usagef("%s %q: want a whole number from %d on", what, text, least)
	}
	return n, nil
}

func (a *app) memoryShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "print core memory: MEMORY.md, and where each item comes from",
		Example: "starter memory show --user ann > prompt.md\n" +
			"starter memory show --version 3 --sources",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	version := f.Int("version", 0, "version to print, as memory history lists it (default: the current one)")
	sources := f.Bool("sources", false, "list the items instead, each with its source")
	a.complete(cmd, "version", versionNumbers)
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if f.Changed("version") && *version < 1 {
			return usagef("--version %d: want 1 or more", *version)
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		core, err := readCore(ctx, tier.NewTables(conn), o, *version)
		if err != nil {
			return err
		}
		if core.Version == 0 {
			_, _ = fmt.Fprintln(a.errOut, noCore(o))
		}
		if *sources {
			found, err := findSources(ctx, conn, o, core.Items)
			if err != nil {
				return err
			}
			shown := struct {
				tier.Core
				Origins map[string]source `json:"origins"`
			}{core, found}
			return a.print(orNull(shown, core.Version > 0), func(w io.Writer) error { return printSources(w, core.Items, found) })
		}
		return a.print(orNull(core, core.Version > 0), func(w io.Writer) error {
			_, err := io.WriteString(w, endLine(core.Text))
			return err
		})
	})
}

// readCore reads a version of core memory, the current one if the version is 0.
func readCore(ctx context.Context, t *tier.Tables, o *owner, version int) (tier.Core, error) {
	if version == 0 {
		return t.Current(ctx, o.user, o.agent)
	}
	core, err := t.Version(ctx, o.user, o.agent, version)
	return core, mistaken(err)
}

// endLine adds a line break to a text that lacks one, unless it is empty.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func (a *app) memoryHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "list the versions of core memory",
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
			versions, err := t.History(ctx, o.user, o.agent, p.ask(), p.offset)
			if err != nil {
				return err
			}
			return list(a, p, versions, noCore(o), printHistory)
		})
	})
}

func printHistory(w io.Writer, versions []tier.VersionLine) error {
	t := newTable(w, "version", "when", "origin", "items", "change", "by", "reason")
	t.SetColumnConfigs(rightAligned(4, 5))
	for _, v := range versions {
		change := fmt.Sprintf("+%d −%d", v.Added, v.Removed)
		t.AppendRow([]any{v.Version, when(v.At), originText(v), v.Items, change, oneLine(v.Actor, 40), oneLine(v.Reason, 80)})
	}
	t.Render()
	return nil
}

// originText describes the origin of a version.
func originText(v tier.VersionLine) string {
	switch v.Origin {
	case schema.OriginDream:
		if v.Date == "" {
			return fmt.Sprintf("dream %d", v.Dream)
		}
		return fmt.Sprintf("dream %d of %s", v.Dream, v.Date)
	case schema.OriginRestore:
		return fmt.Sprintf("restore of %d", v.Restored)
	case schema.OriginEdit:
	}
	return string(v.Origin)
}

// droppedBy is an item that a version dropped.
type droppedBy struct {
	Version int `json:"version"`
	schema.DroppedItem
}

// comparison is the difference between two versions of core memory.
type comparison struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Diff string `json:"diff"`
	// Dropped are the items that the versions after From, up to To, dropped.
	Dropped []droppedBy `json:"dropped"`
}

func (a *app) memoryDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff [FROM] [TO]", Short: "show the changes of a version of core memory, with the reasons for drops",
		Example: "starter memory diff\n" +
			"starter memory diff 3 7",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		var given []int
		for i, arg := range args {
			n, err := number("version", arg, i) // The difference from version 0 is the whole text.
			if err != nil {
				return err
			}
			given = append(given, n)
		}
		return a.withTiers(ctx, func(t *tier.Tables) error {
			c, err := compareVersions(ctx, t, o, given)
			if err != nil {
				return err
			}
			if c.Diff == "" {
				a.noDifference(o, c)
			}
			return a.print(c, func(w io.Writer) error { return printComparison(w, c) })
		})
	})
}

// noDifference explains why there is no diff. It prints to stderr, because stdout is a diff.
func (a *app) noDifference(o *owner, c comparison) {
	if c.To == 0 {
		_, _ = fmt.Fprintln(a.errOut, noCore(o))
		return
	}
	_, _ = fmt.Fprintf(a.errOut, "versions %d and %d have the same text\n", c.From, c.To)
}

// compareVersions compares the given versions. The second is the current one by default, and the first its parent.
func compareVersions(ctx context.Context, t *tier.Tables, o *owner, given []int) (comparison, error) {
	c := comparison{Dropped: []droppedBy{}}
	if len(given) < 2 {
		current, err := t.Current(ctx, o.user, o.agent)
		if err != nil || len(given) == 0 && current.Version == 0 {
			return c, err
		}
		c.From, c.To = current.Parent, current.Version
	} else {
		c.To = given[1]
	}
	if len(given) > 0 {
		c.From = given[0]
	}
	versions, err := t.Between(ctx, o.user, o.agent, min(c.From, c.To), max(c.From, c.To))
	if err != nil {
		return c, err
	}
	texts := map[int]string{0: ""}
	for _, v := range versions {
		texts[v.Version] = v.Text
		for _, d := range v.Dropped {
			if v.Version > c.From {
				c.Dropped = append(c.Dropped, droppedBy{v.Version, d})
			}
		}
	}
	for _, version := range []int{c.From, c.To} {
		if _, there := texts[version]; !there {
			_, err := t.Version(ctx, o.user, o.agent, version)
			return c, err
		}
	}
	if last := len(versions) - 1; c.From < c.To && versions[last].Parent == c.From {
		c.Diff = versions[last].Diff
		return c, nil
	}
	c.Diff = tier.Diff(texts[c.From], texts[c.To], tier.VersionName(c.From), tier.VersionName(c.To))
	return c, nil
}

func printComparison(w io.Writer, c comparison) error {
	var b strings.Builder
	b.WriteString(endLine(c.Diff))
	several := slices.ContainsFunc(c.Dropped, func(d droppedBy) bool { return d.Version != c.To })
	for _, from := range []string{schema.FromMemory, schema.FromAnswer} {
		items := slices.DeleteFunc(slices.Clone(c.Dropped), func(d droppedBy) bool { return d.From != from })
		dropped := make([]schema.DroppedItem, len(items))
		for i, d := range items {
			if dropped[i] = d.DroppedItem; several {
				dropped[i].Detail = strings.TrimPrefix(fmt.Sprintf("%s (version %d)", d.Detail, d.Version), " ")
			}
		}
		sayDropped(&b, from, dropped)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sayDropped lists dropped items with their reasons. All are from the memory or all are from an answer.
func sayDropped(b *strings.Builder, from string, items []schema.DroppedItem) {
	if len(items) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	what := map[string]string{schema.FromMemory: "no longer in memory", schema.FromAnswer: "not taken from the answer"}[from]
	say(b, "%s, %s:\n", plural(len(items), "item", "items"), what)
	for _, item := range items {
		text := item.Text
		if item.Reason == schema.DroppedHeading {
			text = tier.HeadingLine(text)
		}
		block(b, "  │ ", text)
		say(b, "    %s", item.Reason)
		if item.Detail != "" {
			say(b, ": %s", item.Detail)
		}
		if item.By != "" {
			say(b, "; see “%s”", oneLine(item.By, 120))
		}
		b.WriteString("\n")
	}
}

func (a *app) memoryRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore VERSION", Short: "make an earlier version of core memory the current one",
		Example: "starter memory restore 3 --reason 'the dream of Friday merged too much'",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	reason := f.String("reason", "", "why, for the history")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		version, err := number("version", args[0], 1)
		if err != nil {
			return err
		}
		c := tier.RestoreCommand{
			User: o.user, Agent: o.agent, RequestID: uuid.NewString(), Actor: actor(), At: time.Now().UTC(), Reason: *reason, Version: version,
		}
		var result tier.RestoreResult
		update := boundary.Update{Name: schema.UpdateRestore, ID: c.RequestID, Arg: c}
		if err := a.send(ctx, update, &result, schema.ErrorVersionNotFound); err != nil {
			return err
		}
		return a.print(result, func(w io.Writer) error { return printRestored(w, version, result) })
	})
}

func printRestored(w io.Writer, version int, r tier.RestoreResult) error {
	if r.Unchanged {
		_, err := fmt.Fprintf(w, "nothing to restore: the current version %d has the content of version %d\n", r.Version, version)
		return err
	}
	_, err := fmt.Fprintf(w, "version %d has the content of version %d: %s, %d added, %d dropped\n",
		r.Version, version, plural(r.Items, "item", "items"), r.Added, r.Dropped)
	return err
}
