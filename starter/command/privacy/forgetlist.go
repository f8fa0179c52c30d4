package privacy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/schema"
	"axiommind/starter/command"
)

func forgetListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list erasures: kind, requester, time and outcome",
	}
	return command.Listing[schema.Erasure]{
		Order: "the latest first", Print: printErasures,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]schema.Erasure, string, error) {
			all, err := erase.List(ctx, eventlog.New(conn, eventlog.Options{}))
			return command.After(p, all), "nothing was ever forgotten", err
		},
	}.Command(a, cmd)
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
