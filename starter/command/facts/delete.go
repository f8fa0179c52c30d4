package facts

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func deleteCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete FACT…", Short: "delete facts",
		Example: "starter facts delete 0a1b2c3d --reason 'it was a joke'",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpDelete, "the fact")
	a.Answers(cmd, []fact.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := x.take(); err != nil {
			return err
		}
		if x.command.ExpectVersion > 0 && len(args) > 1 {
			return command.Usagef("--expect-version is the version of one fact: name one")
		}
		facts, err := remembered(ctx, a, &x.Owner, args)
		if err != nil {
			return err
		}
		results, err := tellEach(ctx, a, x.command, facts, func(c *fact.Command, f fact.Fact) { c.FactID = f.ID }, "fact", "deleted")
		if err != nil {
			return err
		}
		return a.Print(results, func(b *strings.Builder) {
			for _, f := range facts {
				command.Say(b, "%s is deleted: %s\n", f.ID, command.OneLine(f.Content, 80))
			}
		})
	})
}
