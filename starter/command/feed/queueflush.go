package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	temporal "go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

func queueFlushCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "flush", Short: "process the backlog of a queue now",
		Example: "starter queue flush\n" +
			"starter queue flush --user ann --session today --no-wait",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	var in schema.FlushInput
	f.StringVar(&in.Project, "project", "", "process only the backlog of this project (default: all)")
	f.StringVar(&in.Thread, "session", "", "process only this session of --project (then default \"default\")")
	noWait := f.Bool("no-wait", false, "do not wait until it is done")
	a.Answers(cmd, progress.WorkflowLink{}, schema.FlushResult{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		in.User, in.Agent = o.User, o.Agent
		if in.Thread != "" {
			in.Project = cmp.Or(in.Project, "default")
		}
		if err := in.Validate(); err != nil {
			return command.BadUsage(err)
		}
		if a.Cfg.NoQueue {
			return a.Print(schema.FlushResult{}, func(b *strings.Builder) {
				fmt.Fprintln(b, "memory is switched off (no-queue): nothing is processed, and the backlog is kept")
			})
		}
		if *noWait {
			return beginFlush(ctx, a, o, in)
		}
		return flush(ctx, a, o, in)
	})
}

// flush starts processing the queue's backlog and waits until it is done.
func flush(ctx context.Context, a *command.App, o *command.Owner, in schema.FlushInput) error {
	c, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	bar := progress.New(a, 0, "")
	ask := func(ctx context.Context) (string, bool) { return flushing(ctx, c, o) }
	stop := bar.Follow(ctx, queueID(o), 4*progress.WatchEvery, ask, func(ctx context.Context) {
		if text, is := ask(ctx); is {
			bar.Describe(text)
		}
	})
	waits := time.AfterFunc(command.AnswerPatience, func() {
		ctx, cancel := context.WithTimeout(ctx, command.AnswerPatience)
		defer cancel()
		if _, _, err := readQueue(ctx, c, o); err != nil {
			bar.PrintOnce("no answer yet; is a worker running, with memory switched on? starter doctor says")
		}
	})
	var result schema.FlushResult
	err = boundary.Update{Name: schema.UpdateFlush, ID: uuid.NewString(), Arg: in}.Send(ctx, c, &result)
	waits.Stop()
	stop()
	bar.Finish()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped waiting: %w; the queue goes on", ctx.Err())
	case err != nil:
		return fmt.Errorf("flush the queue of %s: %w", command.Unbroken(o.String()), err)
	}
	if result.Failed == nil {
		result.Failed = []schema.QueueResult{}
	}
	if err := a.Print(result, func(b *strings.Builder) { printFlushed(b, o, result) }); err != nil {
		return err
	}
	if n := len(result.Failed); n > 0 {
		return fmt.Errorf("%d of %s failed; see starter builds list --status failed", n, command.Plural(max(result.Processed, n), "session", "sessions"))
	}
	return nil
}

// flushing describes the backlog and the running sessions of the queue.
func flushing(ctx context.Context, c temporal.Client, o *command.Owner) (string, bool) {
	s, runs, err := readQueue(ctx, c, o)
	if err != nil || !runs {
		return "", false
	}
	text := command.Plural(s.Threads, "session waits", "sessions wait")
	for _, r := range s.Running {
		text += " · " + command.OneLine(r.Thread, 24)
	}
	return text, true
}

// printFlushed prints the number of processed sessions and the failed ones. Processed includes failures.
func printFlushed(b *strings.Builder, o *command.Owner, r schema.FlushResult) {
	if r.Processed == 0 && len(r.Failed) == 0 {
		command.Say(b, "nothing waited in the queue of %s\n", o.String())
	} else {
		command.Say(b, "processed %s\n", command.Plural(r.Processed, "session", "sessions"))
	}
	for _, f := range r.Failed {
		command.Say(b, "%s\n", resultText(f))
	}
}

// beginFlush starts processing the queue's backlog without waiting for it.
func beginFlush(ctx context.Context, a *command.App, o *command.Owner, in schema.FlushInput) error {
	c, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, command.AnswerPatience)
	defer cancel()
	w := boundary.WriterOf(in.Writer())
	_, err = c.UpdateWithStartWorkflow(ctx, temporal.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(temporal.StartWorkflowOptions{
			ID: w.ID, TaskQueue: w.Queue, StaticSummary: w.Summary,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, w.Type, w.Input),
		UpdateOptions: temporal.UpdateWorkflowOptions{
			UpdateID: uuid.NewString(), UpdateName: schema.UpdateFlush, Args: []any{in}, WaitForStage: temporal.WorkflowUpdateStageAccepted,
		},
	})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w; is a worker running, with memory switched on? starter doctor says", err)
		}
		return fmt.Errorf("flush the queue of %s: %w", command.Unbroken(o.String()), err)
	}
	started := progress.LinkTo(a, w.ID)
	return a.Print(started, func(b *strings.Builder) {
		fmt.Fprintf(b, "%s is processed now; see it with: starter queue\n", "the queue of "+command.Unbroken(o.String()))
	})
}
