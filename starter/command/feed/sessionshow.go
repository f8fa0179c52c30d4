package feed

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

func sessionShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "show the size of a session, and a summary of it so far",
	}
	f := cmd.Flags()
	var key schema.SessionKey
	command.ScopeFlags(f, "of the session", &key.Project, &key.User, &key.Agent)
	a.Answers(cmd, tier.RunningSession{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		key.SessionID = args[0]
		if err := key.Validate(); err != nil {
			return command.BadUsage(err)
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		if key.SessionID, err = command.FindSession(ctx, conn, key); err != nil {
			return err
		}
		shown, err := tier.ReadRunning(ctx, conn, eventlog.New(conn, eventlog.Options{}), key)
		if err != nil {
			return err
		}
		if shown.Messages == 0 && shown.PendingTranscripts == 0 {
			return command.Missingf("there is no session %q of project %q, user %q and agent %q", key.SessionID, key.Project, key.User, key.Agent)
		}
		return a.Print(shown, func(b *strings.Builder) { printRunning(b, shown) })
	})
}

func printRunning(b *strings.Builder, r tier.RunningSession) {
	command.Say(b, "session %s of project %s, %s\n", r.SessionID, r.Project, (&command.Owner{User: r.User, Agent: r.Agent}).String())
	command.Say(b, "%s; %d of them in the daily record\n", show.SizeOf(r.Total), r.Flushed)
	if r.Pending > 0 {
		command.Say(b, "%s in the queue\n", command.Plural(r.Pending, "message waits", "messages wait"))
	}
	if r.PendingTranscripts > 0 {
		command.Say(b, "%s in the queue, and is not counted yet\n", command.Plural(r.PendingTranscripts, "transcript waits", "transcripts wait"))
	}
	b.WriteString("summary so far\n")
	command.Block(b, "  │ ", cmp.Or(r.Summary, "(nothing to record)"))
}
