package builds

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/batch"
	"axiommind/starter/command"
)

func batchesCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "batches", Short: "list imports, retries and backfills of many sessions, with their progress",
	}
	return command.Listing[batch.Summary]{
		Order: "the latest first", Print: printBatches,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]batch.Summary, string, error) {
			list, err := batch.Summaries(ctx, conn, p.Ask(), p.Offset)
			return list, "no batch has run yet; import a directory with: starter process DIR", err
		},
	}.Command(a, cmd)
}

func printBatches(b *strings.Builder, list []batch.Summary) {
	command.Table(b, "batch, begun, latest outcome, >sessions, >passed over, >ended, >failed, state", list, func(s batch.Summary) []any {
		state := "under way or stopped"
		if s.Done() {
			state = "done"
		}
		return []any{command.OneLine(s.Batch, 60), command.When(s.Began), command.When(s.Latest), s.Items, s.PassedOver, s.Ended, s.Failed, state}
	})
}
