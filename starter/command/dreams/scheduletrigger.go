package dreams

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/starter/command"
)

// triggered is the result of trigger.
type triggered struct {
	ID         string `json:"id"`
	WorkflowID string `json:"workflow_id,omitempty"`
	// After is the workflow that must end before this run begins.
	After   string `json:"after,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

func scheduleTriggerCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "trigger [SCHEDULE]", Short: "run a schedule now",
	}
	f := cmd.Flags()
	wait := f.Bool("wait", false, "wait until the run has ended")
	a.Answers(cmd, triggered{})
	return onSchedule(a, cmd, func(ctx context.Context, c client.Client, s *Schedule) error { return trigger(ctx, a, c, s, *wait) })
}

// trigger runs the schedule now. If a run is active, the new one begins after it, because it may be needed for later
// sessions.
func trigger(ctx context.Context, a *command.App, c client.Client, s *Schedule, wait bool) error {
	options := client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE}
	if err := c.ScheduleClient().GetHandle(ctx, s.ID).Trigger(ctx, options); err != nil {
		return fmt.Errorf("trigger schedule %q: %w", s.ID, err)
	}
	t := triggered{ID: s.ID, After: s.running}
	if s.running != "" && !wait {
		return sayOf(a, t, "%s runs already, as workflow %s; it runs again when that has ended", s.ID, s.running)
	}
	if s.running != "" {
		_, _ = fmt.Fprintf(a.ErrOut, "waits for workflow %s\n", s.running)
		_ = c.GetWorkflow(ctx, s.running, "").Get(ctx, nil) // Its result is irrelevant.
	}
	run, err := s.begun(ctx, c)
	if err != nil {
		return err
	}
	t.WorkflowID = run.WorkflowID
	if !wait {
		return sayOf(a, t, "started workflow %s; see its progress: %s", t.WorkflowID, build.Command("schedule", "show", s.ID))
	}
	line, failed, err := runOutcome(ctx, c.GetWorkflow(ctx, run.WorkflowID, run.RunID), s.Workflow)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("stopped waiting: %w; workflow %s goes on", ctx.Err(), t.WorkflowID)
	}
	if err != nil {
		return fmt.Errorf("workflow %s: %s", t.WorkflowID, command.FailureText(err))
	}
	t.Outcome = line
	if err := sayOf(a, t, "%s", line); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s failed; see workflow %s", command.Plural(failed, "dream", "dreams"), t.WorkflowID)
	}
	return nil
}
