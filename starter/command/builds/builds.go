// Package builds has the commands that show, compare, retry and replay builds.
package builds

import (
	"context"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		a.Parent("builds", "list, show, compare, retry and replay builds: each run over a session that found something to do",
			listCommand(a), showCommand(a), stepsCommand(a), daysCommand(a), batchesCommand(a), retryCommand(a), replayCommand(a),
			diffCommand(a)),
		backfillCommand(a),
	}
}

// summary makes the command print the summaries that summarize returns for the time since --since. The noun names the things
// that are summed up.
func summary[T any](a *command.App, cmd *cobra.Command, since, noun string, summarize func(context.Context, driver.Conn, time.Time) ([]T, error),
	printed func(*strings.Builder, []T),
) *cobra.Command {
	from := cmd.Flags().String("since", since, noun+" that started since: 7d, 12h, 2026-11-01 or a time")
	a.Answers(cmd, []T{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		at, err := command.ParseSince(*from, time.Now())
		if err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		rows, err := summarize(ctx, conn, at)
		if err != nil {
			return err
		}
		return a.Print(append([]T{}, rows...), func(b *strings.Builder) { printed(b, rows) })
	})
}
