// Package facts has the commands of facts and profiles.
package facts

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		command.With(listCommand(a), command.Repeated(listCommand(a), "list"), showCommand(a), addCommand(a), updateCommand(a),
			deleteCommand(a), historyCommand(a), exportCommand(a), importCommand(a), clearCommand(a)),
		a.Parent("profile", "show and change the profile of a user: "+strings.Join(schema.ProfileSections(), ", "),
			profileShowCommand(a), profileSetCommand(a), profileClearCommand(a)),
	}
}

// readFacts runs fn with the tables of facts, and adds the state of their entries to the result.
func readFacts(ctx context.Context, conn driver.Conn, o *command.Owner, fn func(*fact.Tables) ([]fact.Fact, error)) ([]fact.Fact, error) {
	tables := fact.NewTables(conn)
	facts, err := fn(tables)
	if err == nil {
		err = tables.Judge(ctx, o.User, o.Agent, facts)
	}
	return facts, err
}
