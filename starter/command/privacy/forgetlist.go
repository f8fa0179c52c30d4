package privacy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command"
)

func forgetListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list erasures: kind, requester, time and outcome",
	}
	f := cmd.Flags()
	p := &command.Page{}
	p.Add(f, command.DefaultPage, command.MaxPage, "the latest first")
	a.Answers(cmd, []schema.Erasure{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		all, err := erase.List(ctx, projection.New(conn, eventlog.Options{}).Store)
		if err != nil {
			return err
		}
		all = all[min(p.Offset, len(all)):]
		return command.List(a, cmd, p, all[:min(p.Ask(), len(all))], "nothing was ever forgotten", printErasures)
	})
}

func printErasures(b *strings.Builder, all []schema.Erasure) {
	for _, e := range all {
		command.Say(b, "%s  %s  %s by %s: %s\n", command.ShortID(e.ID), command.When(e.BegunAt), e.Kind, e.By, erasureState(e))
		if e.Because != "" {
			command.Say(b, "          %s\n", command.OneLine(e.Because, 200))
		}
	}
}

// erasureState describes the state or the result of an erasure in one line.
func erasureState(e schema.Erasure) string {
	var state string
	switch c := e.Finished.Counts; {
	case e.FinishedAt.IsZero() && e.AppliedAt.IsZero():
		state = "begun, and the log is not erased yet"
	case e.FinishedAt.IsZero():
		state = "erased from the log, and not from everything else yet"
	case e.Finished.Failed != "":
		state = e.Finished.Failed
	default:
		state = fmt.Sprintf("%s, %s, %s; done in %s", command.Plural(c.Sessions, "session", "sessions"), command.Plural(c.Messages, "message", "messages"),
			command.Plural(c.Deleted, "event", "events"), e.FinishedAt.Sub(e.BegunAt).Round(time.Second))
		if e.Finished.Left > 0 {
			state += "; " + command.Plural(e.Finished.Left, "place", "places") + " held something of it"
		}
	}
	if !e.LiftedAt.IsZero() {
		state += "; lifted " + command.When(e.LiftedAt) + " by " + e.LiftedBy
	}
	return state
}
