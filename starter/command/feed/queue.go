package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	temporal "go.temporal.io/sdk/client"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
	"axiommind/starter/command"
)

func queueCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "queue", Short: "show the backlog of a queue, and the outcome of its last session",
		Example: "starter queue\n" +
			"starter queue --user ann --agent coder",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	a.Answers(cmd, schema.QueueState{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		c, err := a.Temporal(ctx)
		if err != nil {
			return err
		}
		state, runs, err := readQueue(ctx, c, o)
		if err != nil {
			return err
		}
		return a.Print(command.OrNull(state, runs), func(b *strings.Builder) { printQueue(b, o, state, runs) })
	})
}

// queueID returns the id of the queue workflow of the user and agent.
func queueID(o *command.Owner) string { return schema.WorkflowID(schema.QueueStream(o.User, o.Agent)) }

// readQueue queries the state of a queue. A queue that is not running has none.
func readQueue(ctx context.Context, c temporal.Client, o *command.Owner) (state schema.QueueState, runs bool, err error) {
	if err := clickhouse.Required("user", o.User); err != nil {
		return state, false, fmt.Errorf("ask a queue: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, command.AnswerPatience)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, queueID(o), "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return state, false, nil
	case err != nil:
		return state, false, fmt.Errorf("look for the queue of %s: %w", command.Unbroken(o.String()), err)
	case d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return state, false, nil
	}
	value, err := c.QueryWorkflow(ctx, queueID(o), "", schema.QueryState)
	if err == nil {
		err = value.Get(&state)
	}
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || command.Away(err) {
			err = fmt.Errorf("%w; is a worker running, with memory switched on? starter doctor says", err)
		}
		return state, true, fmt.Errorf("ask the queue of %s: %w", command.Unbroken(o.String()), err)
	}
	return state, true, nil
}

func printQueue(b *strings.Builder, o *command.Owner, s schema.QueueState, runs bool) {
	whose := "the queue of " + command.Unbroken(o.String())
	switch {
	case !runs:
		command.Say(b, "%s does not run: nothing was enqueued lately. It starts with the next session.\n", whose)
	case s.Threads == 0 && len(s.Running) == 0:
		command.Say(b, "nothing waits in %s\n", whose)
	case s.Threads > 0:
		next := "as soon as its session has ended"
		if !s.NextAt.IsZero() {
			next = "by " + command.When(s.NextAt)
		}
		command.Say(b, "%s in %s, processed %s\n", command.Plural(s.Threads, "session waits", "sessions wait"), whose, next)
		command.Table(b, "session, project, >parts, since, last, at the latest, remarks", s.Pending, func(p schema.QueuedThread) []any {
			return []any{command.ShownSession(p.Thread), command.OneLine(p.Project, command.SessionCell), p.Contexts, command.When(p.FirstAt), command.When(p.LastAt), command.When(p.Due), remarksOf(p)}
		})
		if more := s.Threads - len(s.Pending); more > 0 && len(s.Pending) > 0 {
			command.Say(b, "and %d more\n", more)
		}
	}
	for _, r := range s.Running {
		command.Say(b, "processing session %s of project %s\n", command.ShownSession(r.Thread), r.Project)
	}
	for _, again := range s.Again {
		command.Say(b, "session %s of project %s failed, and is tried again at %s (%s so far)\n", command.ShownSession(again.Thread), again.Project,
			command.When(again.At), command.Plural(again.Attempts, "try", "tries"))
	}
	if l := s.Last; l != nil {
		command.Say(b, "last: %s\n", resultText(*l))
	}
	if s.Full {
		command.Say(b, "it is full: sessions that do not wait there yet are refused, except with --now and corrections\n")
	}
	if s.Refused > 0 {
		command.Say(b, "%s refused: give them again when some of the others are processed\n", command.Plural(s.Refused, "part of a session was", "parts of sessions were"))
	}
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
	text := fmt.Sprintf("session %s of project %s: %s at %s", command.ShownSession(r.Thread), command.Unbroken(r.Project), r.Status, command.When(r.At))
	if r.BuildID != "" {
		text += ", build " + command.ShortID(r.BuildID)
	}
	if r.Error != "" {
		text += ": " + command.OneLine(command.PlainWords(r.Error), command.MaxErrorLine)
	}
	return text
}
