package privacy

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command"
)

func forgetLiftCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "lift ERASURE", Short: "admit erased content again",
		Example: "starter forget lift 0a1b2c3d --because 'ann is back'",
	}
	f := cmd.Flags()
	p := schema.ErasureLiftedPayload{}
	f.StringVar(&p.By, "by", a.Actor(), "who wants it, for the audit trail")
	f.StringVar(&p.Because, "because", "", "why, for the audit trail")
	cmd.ValidArgsFunction = a.Arguments(erasureIDs)
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		log := projection.New(conn, eventlog.Options{})
		found, err := erase.Find(ctx, log.Store, strings.TrimSuffix(args[0], "…"))
		if err != nil {
			return command.BadUsage(err)
		}
		if found.Kind == schema.EraseQuery {
			return command.Usagef("erasure %s was of a text, which it keeps out of nothing: there is nothing to lift", command.ShortID(found.ID))
		}
		p.ErasureID = found.ID
		if err := erase.Lift(ctx, log.Store, p); err != nil {
			return err
		}
		return a.Print(p, func(b *strings.Builder) {
			fmt.Fprintf(b, "the content of erasure %s is admitted again; nothing comes back by itself\n",
				command.ShortID(found.ID))
		})
	})
}

// erasureIDs completes the ids of erasures.
func erasureIDs(ctx context.Context, r command.Request) []command.Suggestion {
	conn, err := r.App.ClickHouse(ctx)
	if err != nil {
		return nil
	}
	all, err := erase.List(ctx, eventlog.New(conn, eventlog.Options{}))
	if err != nil {
		return nil
	}
	var out []command.Suggestion
	for _, e := range all {
		out = append(out, command.Suggestion{Value: e.ID, Description: fmt.Sprintf("%s of %s", e.Kind, command.When(e.BegunAt))})
	}
	return out
}
