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
		var results []fact.Result
		for _, name := range slices.Compact(slices.Sorted(slices.Values(args))) {
			x.command.Section, x.command.Content = name, new(string)
			result, err := tell(ctx, a, x.command)
			if err != nil && len(results) > 0 {
				return fmt.Errorf("%w; %s before it were removed", err, command.Plural(len(results), "section", "sections"))
			}
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return a.Print(results, func(b *strings.Builder) {
			fmt.Fprintf(b, "removed from the profile: %s\n", strings.Join(args, ", "))
		})
	})
}
