package builds

import (
	"context"
	"fmt"
	"io"
	"time"

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
	since := f.String("since", "", "steps that started since: 7d, 12h, 2026-11-01 or a time")
	a.Answers(cmd, []build.StepSummary{})
	return a.Online(cmd, func(ctx context.Context, _ []string) (err error) {
		if filter.Since, err = command.ParseSince(*since, time.Now()); err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		steps, err := build.Steps(ctx, conn, filter)
		if err != nil {
			return err
		}
		return a.Print(steps, func(w io.Writer) error { return printStepSummaries(w, steps) })
	})
}

func printStepSummaries(w io.Writer, steps []build.StepSummary) error {
	if len(steps) == 0 {
		_, err := fmt.Fprintln(w, "no step has ended yet")
		return err
	}
	t := command.NewTable(w, "step", "runs", "failed", "median ms", "p95 ms", "total s", "last")
	for _, s := range steps {
		t.AppendRow([]any{
			s.Step, s.Runs, s.Failed, fmt.Sprintf("%.0f", s.MedianMS), fmt.Sprintf("%.0f", s.P95MS),
			fmt.Sprintf("%.1f", s.TotalMS/1e3), command.When(s.Last),
		})
	}
	t.Render()
	return nil
}
