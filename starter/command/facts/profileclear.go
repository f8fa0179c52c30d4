package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func profileClearCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "clear SECTION…", Short: "remove sections of the profile",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpSection, "the section")
	a.Answers(cmd, []fact.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := x.take(); err != nil {
			return err
		}
		for _, name := range args {
			if err := oneOfSections(name); err != nil {
				return err
			}
		}
		if x.command.ExpectVersion > 0 && len(args) > 1 {
			return command.Usagef("--expect-version is the version of one section: name one")
		}
		names := slices.Compact(slices.Sorted(slices.Values(args)))
		results, err := tellEach(ctx, a, x.command, names, func(c *fact.Command, name string) { c.Section, c.Content = name, new(string) }, "section", "removed")
		if err != nil {
			return err
		}
		return a.Print(results, func(b *strings.Builder) {
			fmt.Fprintf(b, "removed from the profile: %s\n", strings.Join(args, ", "))
		})
	})
}
