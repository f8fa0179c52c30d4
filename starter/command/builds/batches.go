package builds

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/batch"
	"axiommind/starter/command"
)

func batchesCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "batches", Short: "list imports, retries and backfills of many sessions, with their progress",
	}
	var p command.Page
	p.Add(cmd.Flags(), command.DefaultPage, command.MaxPage, "the latest first")
	a.Answers(cmd, []batch.Summary{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		list, err := batch.Summaries(ctx, conn, p.Ask(), p.Offset)
		if err != nil {
			return err
		}
		return command.List(a, cmd, &p, list, "no batch has run yet; import a directory with: starter process DIR", printBatches)
	})
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
