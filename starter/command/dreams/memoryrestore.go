package dreams

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
)

func memoryRestoreCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore VERSION", Short: "make an earlier version of core memory the current one",
		Example: "starter memory restore 3 --reason 'the dream of Friday merged too much'",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	reason := f.String("reason", "", "why, for the history")
	a.Answers(cmd, tier.RestoreResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		version, err := number("version", args[0], 1)
		if err != nil {
			return err
		}
		c := tier.RestoreCommand{
			User: o.User, Agent: o.Agent, RequestID: a.NewID(), Actor: a.Actor(), At: time.Now().UTC(), Reason: *reason, Version: version,
		}
		var result tier.RestoreResult
		update := boundary.Update{Name: schema.UpdateRestore, ID: c.RequestID, Arg: c}
		if err := a.Send(ctx, update, &result, schema.ErrorVersionNotFound); err != nil {
			return err
		}
		return a.Print(result, func(b *strings.Builder) { printRestored(b, version, result) })
	})
}

func printRestored(b *strings.Builder, version int, r tier.RestoreResult) {
	if r.Unchanged {
		fmt.Fprintf(b, "nothing to restore: the current version %d has the content of version %d\n", r.Version, version)
		return
	}
	fmt.Fprintf(b, "version %d has the content of version %d: %s, %d added, %d dropped\n",
		r.Version, version, command.Plural(r.Items, "item", "items"), r.Added, r.Dropped)
}
