package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func profileSetCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set SECTION TEXT…", Short: "set a section of the profile",
		Example: "starter profile set work Builds the payment service with a team of four",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpSection, "the section")
	x.addConfidence(1)
	x.addProject()
	a.Answers(cmd, fact.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) (err error) {
		if err = x.take(); err != nil {
			return err
		}
		if err := oneOfSections(args[0]); err != nil {
			return err
		}
		x.command.Section = args[0]
		if x.command.Content, err = textOf(args[1:]); err != nil {
			return err
		}
		result, err := tell(ctx, a, x.command)
		if err != nil {
			return err
		}
		return a.Print(result, func(b *strings.Builder) {
			fmt.Fprintf(b, "the section %s is set, version %d\n", args[0], result.LastSeq)
		})
	})
}
