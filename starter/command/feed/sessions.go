package feed

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

func sessionsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "list sessions, with their messages and tokens",
	}
	f := cmd.Flags()
	filter := build.Filter{All: true}
	command.FilterFlags(f, "sessions", &filter.Project, &filter.User, &filter.Agent)
	f.StringVar((*string)(&filter.Status), "status", "", "sessions whose last build is running, success, partial, empty, failed (or interrupted) or interrupted")
	a.Complete(cmd, "status", command.Fixed(build.Statuses()...))
	return command.Listing[build.SessionRow]{
		Order: "the last processed first", Print: printSessions,
		Check: func() error { return command.OneOfOrNone("status", filter.Status, build.Statuses()) },
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]build.SessionRow, string, error) {
			filter.Limit, filter.Offset, filter.Running = p.Ask(), p.Offset, progress.RunningFor(a, filter.Status)
			rows, err := build.Sessions(ctx, conn, eventlog.New(conn, eventlog.Options{}), filter)
			return rows, strings.Replace(command.NoBuilds(filter), "build", "session", 1), err
		},
	}.Command(a, cmd)
}

func printSessions(b *strings.Builder, rows []build.SessionRow) {
	command.Table(b, "session, project, user, agent, >messages, >tokens (est.), last processed, status", rows, func(r build.SessionRow) []any {
		return []any{
			command.ShownSession(r.SessionID), command.OneLine(r.Project, 40), command.OneLine(r.User, 40), command.OneLine(r.Agent, 40),
			r.Messages, r.Tokens, command.When(r.At), r.Status,
		}
	})
}
