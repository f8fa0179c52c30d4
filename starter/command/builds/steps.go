package builds

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/starter/command"
)

func stepsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "steps", Short: "show how long the steps of builds, dreams, graduation and rebuilds took",
	}
	f := cmd.Flags()
	var filter build.StepFilter
	f.StringVar(&filter.Project, "project", "", "steps of one project, without dreams and rebuilds (default: all)")
	return summary(a, cmd, "", "steps", func(ctx context.Context, conn driver.Conn, since time.Time) ([]build.StepSummary, error) {
		filter.Since = since
		return build.Steps(ctx, conn, filter)
	}, printStepSummaries)
}

func printStepSummaries(b *strings.Builder, steps []build.StepSummary) {
	if len(steps) == 0 {
		fmt.Fprintln(b, "no step has ended yet")
		return
	}
	command.Table(b, "step, runs, failed, median ms, p95 ms, total s, last", steps, func(s build.StepSummary) []any {
		return []any{
			s.Step, s.Runs, s.Failed, fmt.Sprintf("%.0f", s.MedianMS), fmt.Sprintf("%.0f", s.P95MS),
			fmt.Sprintf("%.1f", s.TotalMS/1e3), command.When(s.Last),
		}
	})
}
