package dreams

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/starter/command"
)

func memoryHistoryCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "list the versions of core memory",
	}
	f := cmd.Flags()
	o, p := &command.Owner{}, &command.Page{}
	o.Add(f)
	p.Add(f, command.DefaultPage, command.MaxPage, "the newest first")
	a.Answers(cmd, []tier.VersionLine{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		return withTiers(ctx, a, func(t *tier.Tables) error {
			versions, err := t.History(ctx, o.User, o.Agent, p.Ask(), p.Offset)
			if err != nil {
				return err
			}
			return command.List(a, cmd, p, versions, noCore(o), printHistory)
		})
	})
}

func printHistory(b *strings.Builder, versions []tier.VersionLine) {
	command.Table(b, "version, when, origin, >items, >change, by, reason", versions, func(v tier.VersionLine) []any {
		change := fmt.Sprintf("+%d −%d", v.Added, v.Removed)
		return []any{v.Version, command.When(v.At), command.OriginText(v), v.Items, change, command.OneLine(v.Actor, 40), command.OneLine(v.Reason, 80)}
	})
}
