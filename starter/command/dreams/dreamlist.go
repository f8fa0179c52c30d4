package dreams

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/starter/command"
)

func dreamListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list dreams, including refused ones",
	}
	o := &command.Owner{}
	o.Add(cmd.Flags())
	return command.Listing[tier.Dream]{
		Order: "the newest first", Print: printDreams,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]tier.Dream, string, error) {
			dreams, err := tier.NewTables(conn).Dreams(ctx, o.User, o.Agent, p.Ask(), p.Offset)
			return dreams, noDream(o), err
		},
	}.Command(a, cmd)
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
