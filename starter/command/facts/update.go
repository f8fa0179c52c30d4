package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func updateCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "update FACT", Short: "change a fact",
		Example: "starter facts update 0a1b2c3d --content 'I prefer tea' --expect-version 12",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpUpdate, "the fact")
	x.addFields()
	content := f.String("content", "", "new text of the fact")
	a.Answers(cmd, fact.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) (err error) {
		if err = x.take(); err != nil {
			return err
		}
		c := &x.command
		if f.Changed("content") {
			if c.Content, err = textOf([]string{*content}); err != nil {
				return err
			}
		}
		if c.Content == nil && c.Category == nil && c.Confidence == nil && c.SourceError == nil {
			return command.Usagef("nothing to change: give --content, --category, --confidence or --source-error")
		}
		facts, err := remembered(ctx, a, &x.Owner, args)
		if err != nil {
			return err
		}
		c.FactID = facts[0].ID
		result, err := tell(ctx, a, *c)
		if err != nil {
			return err
		}
		return a.Print(result, func(b *strings.Builder) {
			fmt.Fprintf(b, "%s is changed, version %d\n", result.FactID, result.LastSeq)
		})
	})
}
