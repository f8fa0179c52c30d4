package dreams

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/starter/command"
)

func dreamListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list dreams, including refused ones",
	}
	f := cmd.Flags()
	o, p := &command.Owner{}, &command.Page{}
	o.Add(f)
	p.Add(f, command.DefaultPage, command.MaxPage, "the newest first")
	a.Answers(cmd, []tier.Dream{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		return withTiers(ctx, a, func(t *tier.Tables) error {
			dreams, err := t.Dreams(ctx, o.User, o.Agent, p.Ask(), p.Offset)
			if err != nil {
				return err
			}
			return command.List(a, cmd, p, dreams, noDream(o), printDreams)
		})
	})
}

func printDreams(b *strings.Builder, dreams []tier.Dream) {
	command.Table(b, "dream, date, ended, status, >version, >days, >carried, reason", dreams, func(d tier.Dream) []any {
		version := "-"
		if d.Version > 0 {
			version = fmt.Sprint(d.Version)
		}
		return []any{d.Ordinal, d.Date, command.When(d.At), d.Status, version, len(d.Days), d.Carried, command.OneLine(d.Reason, 80)}
	})
}
