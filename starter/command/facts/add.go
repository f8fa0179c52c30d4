package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func addCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "add TEXT…", Short: "add a fact",
		Example: "starter facts add I prefer short answers --category preference --confidence 0.9\n" +
			"starter facts add The office is in Porto --user ann --project demo",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpCreate, "the memory")
	x.addFields()
	x.addProject()
	a.Answers(cmd, fact.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) (err error) {
		if err = x.take(); err != nil {
			return err
		}
		if x.command.Content, err = textOf(args); err != nil {
			return err
		}
		result, err := tell(ctx, a, x.command)
		if err != nil {
			return err
		}
		return a.Print(result, func(b *strings.Builder) {
			said := "remembered as " + result.FactID
			if result.Evicted > 0 {
				said += "; " + command.Plural(result.Evicted, "fact was", "facts were") + " evicted; see facts history"
			}
			fmt.Fprintln(b, said)
		})
	})
}
