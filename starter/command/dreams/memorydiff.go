package dreams

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
)

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

func memoryDiffCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff [FROM] [TO]", Short: "show the changes of a version of core memory, with the reasons for drops",
		Example: "starter memory diff\n" +
			"starter memory diff 3 7",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	a.Answers(cmd, comparison{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		var given []int
		for i, arg := range args {
			n, err := number("version", arg, i) // The difference from version 0 is the whole text.
			if err != nil {
				return err
			}
			given = append(given, n)
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		c, err := compareVersions(ctx, tier.NewTables(conn), o, given)
		if err != nil {
			return err
		}
		if c.Diff == "" {
			noDifference(a, o, c)
		}
		return a.Print(c, func(b *strings.Builder) { printComparison(b, c) })
	})
}

// noDifference explains why there is no diff. It prints to stderr, because stdout is a diff.
func noDifference(a *command.App, o *command.Owner, c comparison) {
	if c.To == 0 {
		_, _ = fmt.Fprintln(a.ErrOut, noCore(o))
		return
	}
	_, _ = fmt.Fprintf(a.ErrOut, "versions %d and %d have the same text\n", c.From, c.To)
}

// compareVersions compares the given versions. The second is the current one by default, and the first its parent.
func compareVersions(ctx context.Context, t *tier.Tables, o *command.Owner, given []int) (comparison, error) {
	c := comparison{Dropped: []droppedBy{}}
	if len(given) < 2 {
		current, err := t.Current(ctx, o.User, o.Agent)
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
	versions, err := t.Between(ctx, o.User, o.Agent, min(c.From, c.To), max(c.From, c.To))
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
			_, err := t.Version(ctx, o.User, o.Agent, version)
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

func printComparison(b *strings.Builder, c comparison) {
	b.WriteString(endLine(c.Diff))
	several := slices.ContainsFunc(c.Dropped, func(d droppedBy) bool { return d.Version != c.To })
	dropped := make([]schema.DroppedItem, len(c.Dropped))
	for i, d := range c.Dropped {
		if dropped[i] = d.DroppedItem; several {
			dropped[i].Detail = strings.TrimPrefix(fmt.Sprintf("%s (version %d)", d.Detail, d.Version), " ")
		}
	}
	sayDropped(b, dropped)
}
