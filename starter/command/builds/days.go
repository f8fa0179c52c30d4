package builds

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
)

func daysCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "days", Short: "count builds, memories and their stages, tokens, costs and waits by day",
		Example: "starter builds days --since 30d --project demo",
	}
	f := cmd.Flags()
	filter := build.Filter{All: true}
	command.FilterFlags(f, "builds", &filter.Project, &filter.User, &filter.Agent)
	return summary(a, cmd, "30d", "builds", func(ctx context.Context, conn driver.Conn, since time.Time) ([]build.Day, error) {
		filter.Since = since
		return build.Days(ctx, conn, filter)
	}, printDays)
}

func printDays(b *strings.Builder, days []build.Day) {
	if len(days) == 0 {
		fmt.Fprintln(b, "nothing happened in this time")
		return
	}
	command.Table(b, "day, >success, >partial, >empty, >failed, >unfinished, >new entries, >verified, >certified, >tokens in, >tokens out, >cost, >median s, >longest wait s", days, func(d build.Day) []any {
		cost := "-"
		if d.Usage.CostUSD > 0 {
			cost = fmt.Sprintf("$%.4f", d.Usage.CostUSD)
		}
		return []any{d.Date, d.Success, d.Partial, d.Empty, d.Failed, d.Unfinished, d.NewEntries, d.Reached[schema.StageVerified], d.Reached[schema.StageCertified], d.Usage.InputTokens, d.Usage.OutputTokens,
			cost, fmt.Sprintf("%.1f", d.MedianSeconds), fmt.Sprintf("%.1f", d.MaxWait)}
	})
}
