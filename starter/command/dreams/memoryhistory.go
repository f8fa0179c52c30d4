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

func memoryHistoryCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history", Short: "list the versions of core memory",
	}
	o := &command.Owner{}
	o.Add(cmd.Flags())
	return command.Listing[tier.VersionLine]{
		Order: "the newest first", Print: printHistory,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]tier.VersionLine, string, error) {
			versions, err := tier.NewTables(conn).History(ctx, o.User, o.Agent, p.Ask(), p.Offset)
			return versions, noCore(o), err
		},
	}.Command(a, cmd)
}

func printHistory(b *strings.Builder, versions []tier.VersionLine) {
	command.Table(b, "version, when, origin, >items, >change, by, reason", versions, func(v tier.VersionLine) []any {
		change := fmt.Sprintf("+%d −%d", v.Added, v.Removed)
		return []any{v.Version, command.When(v.At), command.OriginText(v), v.Items, change, command.OneLine(v.Actor, 40), command.OneLine(v.Reason, 80)}
	})
}
