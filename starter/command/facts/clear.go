package facts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func clearCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "clear", Short: "delete all facts and the profile of a user",
		Example: "starter facts clear --user ann\n" +
			"starter facts clear --user ann --yes",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpClear, "the memory")
	yes := f.Bool("yes", false, "do not ask")
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := x.take(); err != nil {
			return err
		}
		if !*yes {
			if err := confirmClear(ctx, a, &x.Owner); err != nil {
				return err
			}
		}
		result, err := tell(ctx, a, x.command)
		if err != nil {
			return err
		}
		return a.Print(result, func(b *strings.Builder) {
			fmt.Fprintf(b, "forgotten of %s: %s and %s of the profile\n"+
				"content already read from sessions is not remembered again\n",
				command.Unbroken(x.String()), command.Plural(result.Deleted, "fact", "facts"), command.Plural(result.Sections, "section", "sections"))
		})
	})
}

// confirmClear asks the person at the terminal to type the user's name.
func confirmClear(ctx context.Context, a *command.App, o *command.Owner) error {
	if !command.IsTerminal(a.In) {
		return command.Usagef("facts clear forgets all facts and the profile of %s for good: standard input is not a terminal, so say --yes",
			o)
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	m, err := fact.NewTables(conn).Load(ctx, fact.Needs{User: o.User, Agent: o.Agent, Profile: true})
	if err != nil {
		return err
	}
	sections := command.Count(slices.Collect(maps.Values(m.Sections)), func(s fact.Section) bool { return s.Summary != "" })
	return command.Ask(a.In, a.ErrOut, fmt.Sprintf("This forgets %s and %s of the profile of %s. Type the user's name, %s, to go on: ",
		command.Plural(m.Active, "fact", "facts"), command.Plural(sections, "section", "sections"), command.Unbroken(o.String()), command.Unbroken(o.User)), o.User)
}
