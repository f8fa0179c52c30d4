package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	temporal "go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/table"
	"axiommind/schema"
)

func (a *app) queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "queue", Short: "show the backlog of a queue, and the outcome of its last session",
		Example: "starter queue\n" +
			"starter queue --user ann --agent coder",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		c, err := a.temporal(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		state, runs, err := readQueue(ctx, c, o)
		if err != nil {
			return err
		}
		return a.print(orNull(state, runs), func(w io.Writer) error { return printQueue(w, o, state, runs) })
	})
}

// queueID returns the id of the queue workflow of the user and agent.
func (o *owner) queueID() string { return schema.WorkflowID(schema.QueueStream(o.user, o.agent)) }

// readQueue queries the state of a queue. A queue that is not running has none.
func readQueue(ctx context.Context, c temporal.Client, o *owner) (state schema.QueueState, runs bool, err error) {
	if err := table.Required("user", o.user); err != nil {
		return state, false, fmt.Errorf("ask a queue: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, o.queueID(), "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return state, false, nil
	case err != nil:
		return state, false, fmt.Errorf("look for the queue of %s: %w", unbroken(o.String()), err)
	case d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return state, false, nil
	}
	value, err := c.QueryWorkflow(ctx, o.queueID(), "", schema.QueryState)
	if err == nil {
		err = value.Get(&state)
	}
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || away(err) {
			err = fmt.Errorf("%w; is a worker running, with memory switched on? starter doctor says", err)
		}
		return state, true, fmt.Errorf("ask the queue of %s: %w", unbroken(o.String()), err)
	}
	return state, true, nil
}

func printQueue(w io.Writer, o *owner, s schema.QueueState, runs bool) error {
	var b strings.Builder
	whose := "the queue of " + unbroken(o.String())
	switch {
	case !runs:
		say(&b, "%s does not run: nothing was enqueued lately. It starts with the next session.\n", whose)
	case s.Threads == 0 && len(s.Running) == 0:
		say(&b, "nothing waits in %s\n", whose)
	case s.Threads > 0:
		next := "as soon as its session has ended"
		if !s.NextAt.IsZero() {
			next = "by " + when(s.NextAt)
		}
		say(&b, "%s in %s, processed %s\n", plural(s.Threads, "session waits", "sessions wait"), whose, next)
		t := newTable(&b, "session", "project", "parts", "since", "last", "at the latest", "remarks")
		t.SetColumnConfigs(rightAligned(3, 3))
		for _, p := range s.Pending {
			t.AppendRow([]any{shownSession(p.Thread), oneLine(p.Project, sessionCell), p.Contexts, when(p.FirstAt), when(p.LastAt), when(p.Due), remarksOf(p)})
		}
		t.Render()
		if more := s.Threads - len(s.Pending); more > 0 && len(s.Pending) > 0 {
			say(&b, "and %d more\n", more)
		}
	}
	for _, r := range s.Running {
		say(&b, "processing session %s of project %s\n", shownSession(r.Thread), r.Project)
	}
	for _, again := range s.Again {
		say(&b, "session %s of project %s failed, and is tried again at %s (%s so far)\n", shownSession(again.Thread), again.Project,
			when(again.At), plural(again.Attempts, "try", "tries"))
	}
	if l := s.Last; l != nil {
		say(&b, "last: %s\n", resultText(*l))
	}
	if s.Full {
		say(&b, "it is full: sessions that do not wait there yet are refused, except with --now and corrections\n")
	}
	if s.Refused > 0 {
		say(&b, "%s refused: give them again when some of the others are processed\n", plural(s.Refused, "part of a session was", "parts of sessions were"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// remarksOf lists the special properties of a pending session.
func remarksOf(t schema.QueuedThread) string {
	var says []string
	for _, each := range []struct {
		is   bool
		says string
	}{{t.Now, "at once"}, {t.Correction, "a correction"}, {t.Reinforcement, "a confirmation"}, {t.Statement != nil, "a statement"}} {
		if each.is {
			says = append(says, each.says)
		}
	}
	return strings.Join(says, ", ")
}

// resultText describes the result of a session.
func resultText(r schema.QueueResult) string {
	text := fmt.Sprintf("session %s of project %s: %s at %s", shownSession(r.Thread), unbroken(r.Project), r.Status, when(r.At))
	if r.BuildID != "" {
		text += ", build " + short(r.BuildID)
	}
	if r.Error != "" {
		text += ": " + oneLine(plainWords(r.Error), maxErrorLine)
	}
	return text
}

func (a *app) queueFlushCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "flush", Short: "process the backlog of a queue now",
		Example: "starter queue flush\n" +
			"starter queue flush --user ann --session today --no-wait",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	var in schema.FlushInput
	f.StringVar(&in.Project, "project", "", "process only the backlog of this project (default: all)")
	f.StringVar(&in.Thread, "session", "", "process only this session, of --project, which is then by default \"default\"")
	noWait := f.Bool("no-wait", false, "do not wait until it is done")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		in.User, in.Agent = o.user, o.agent
		if in.Thread != "" {
			in.Project = cmp.Or(in.Project, "default")
		}
		if err := in.Validate(); err != nil {
			return badUsage(err)
		}
		if a.cfg.NoQueue {
			return a.print(schema.FlushResult{}, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, "memory is switched off (no-queue): nothing is processed, and the backlog is kept")
				return err
			})
		}
		if *noWait {
			return a.beginFlush(ctx, o, in)
		}
		return a.flush(ctx, o, in)
	})
}

// flush starts processing the queue's backlog and waits until it is done.
func (a *app) flush(ctx context.Context, o *owner, in schema.FlushInput) error {
	c, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	bar := a.newProgress(0, "")
	ask := func(ctx context.Context) (string, bool) { return flushing(ctx, c, o) }
	stop := bar.follow(ctx, o.queueID(), 4*watchEvery, ask, func(ctx context.Context) {
		if text, is := ask(ctx); is {
			bar.describe(text)
		}
	})
	waits := time.AfterFunc(answerPatience, func() {
		ctx, cancel := context.WithTimeout(ctx, answerPatience)
		defer cancel()
		if _, _, err := readQueue(ctx, c, o); err != nil {
			bar.printOnce("no answer yet; is a worker running, with memory switched on? starter doctor says")
		}
	})
	var result schema.FlushResult
	err = boundary.Update{Name: schema.UpdateFlush, ID: uuid.NewString(), Arg: in}.Send(ctx, c, &result)
	waits.Stop()
	stop()
	bar.finish()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped waiting: %w; the queue goes on", ctx.Err())
	case err != nil:
		return fmt.Errorf("flush the queue of %s: %w", unbroken(o.String()), err)
	}
	if result.Failed == nil {
		result.Failed = []schema.QueueResult{}
	}
	if err := a.print(result, func(w io.Writer) error { return printFlushed(w, o, result) }); err != nil {
		return err
	}
	if n := len(result.Failed); n > 0 {
		return fmt.Errorf("%d of %s failed; see starter builds list --status failed", n, plural(max(result.Processed, n), "session", "sessions"))
	}
	return nil
}

// flushing describes the backlog and the running sessions of the queue.
func flushing(ctx context.Context, c temporal.Client, o *owner) (string, bool) {
	s, runs, err := readQueue(ctx, c, o)
	if err != nil || !runs {
		return "", false
	}
	text := plural(s.Threads, "session waits", "sessions wait")
	for _, r := range s.Running {
		text += " · " + oneLine(r.Thread, 24)
	}
	return text, true
}

// printFlushed prints the number of processed sessions and the failed ones. Processed includes failures.
func printFlushed(w io.Writer, o *owner, r schema.FlushResult) error {
	var b strings.Builder
	if r.Processed == 0 && len(r.Failed) == 0 {
		say(&b, "nothing waited in the queue of %s\n", o.String())
	} else {
		say(&b, "processed %s\n", plural(r.Processed, "session", "sessions"))
	}
	for _, f := range r.Failed {
		say(&b, "%s\n", resultText(f))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// beginFlush starts processing the queue's backlog without waiting for it.
func (a *app) beginFlush(ctx context.Context, o *owner, in schema.FlushInput) error {
	c, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
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
		return fmt.Errorf("flush the queue of %s: %w", unbroken(o.String()), err)
	}
	started := a.linkTo(w.ID)
	return a.print(started, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s is processed now; see it with: starter queue\n", "the queue of "+unbroken(o.String()))
		return err
	})
}
