package builds

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

func listCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list the latest builds",
		Example: "starter builds list --status failed\n" +
			"starter builds list --class passing --since 7d",
	}
	f := cmd.Flags()
	var filter build.Filter
	command.FilterFlags(f, "builds", &filter.Project, &filter.User, &filter.Agent)
	f.StringVar(&filter.SessionID, "session", "", "builds of one session")
	f.StringVar((*string)(&filter.Status), "status", "", "running, success, partial, empty, failed (with the interrupted ones) or interrupted")
	f.StringVar((*string)(&filter.Class), "class", "", "failed builds by remedy: passing, setup, input or ours")
	since := f.String("since", "", "builds that started since: 7d, 12h, 2026-11-01 or a time")
	a.Complete(cmd, "status", command.Fixed(build.Statuses()...))
	a.Complete(cmd, "class", command.Fixed(schema.FailureClasses()...))
	return command.Listing[build.Run]{
		Order: "the latest first", Print: printBuilds,
		Check: func() (err error) {
			if err := cmp.Or(command.OneOfOrNone("status", filter.Status, build.Statuses()), command.OneOfOrNone("class", filter.Class, schema.FailureClasses())); err != nil {
				return err
			}
			if filter.Class != "" && filter.Status != "" && filter.Status != schema.BuildFailed && filter.Status != build.StatusInterrupted {
				return command.Usagef("--class selects among failed builds: leave out --status %s", filter.Status)
			}
			filter.Since, err = command.ParseSince(*since, time.Now())
			return err
		},
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) (runs []build.Run, none string, err error) {
			if filter.SessionID, err = command.FindAnySession(ctx, conn, schema.SessionKey{
				Scope: schema.Scope{Project: filter.Project, User: filter.User, Agent: filter.Agent}, SessionID: filter.SessionID,
			}); err != nil {
				return nil, "", err
			}
			filter.All, filter.Limit, filter.Offset, filter.Running = true, p.Ask(), p.Offset, progress.RunningFor(a, filter.Status)
			runs, err = build.List(ctx, conn, filter)
			return runs, command.NoBuilds(filter), err
		},
	}.Command(a, cmd)
}

func printBuilds(b *strings.Builder, runs []build.Run) {
	command.Table(b, "build, session, project, status, started, took, entries, failed at, class", runs, func(r build.Run) []any {
		return []any{
			command.ShortID(r.BuildID), command.ShownSession(r.SessionID), command.OneLine(r.Project, 40), r.Status, command.When(r.StartedAt), took(r),
			r.Counts.Entries, r.FailedStep, r.Class,
		}
	})
}

func took(r build.Run) string {
	if r.FinishedAt == nil {
		return "-"
	}
	return fmt.Sprintf("%.1fs", r.FinishedAt.Sub(r.StartedAt).Seconds())
}
