package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/schema"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "list sessions, with their messages and tokens",
	}
	f := cmd.Flags()
	filter := build.Filter{All: true}
	f.StringVar(&filter.Project, "project", "", "sessions of one project (default: all)")
	f.StringVar(&filter.User, "user", "", "sessions of one user (default: all)")
	f.StringVar(&filter.Agent, "agent", "", "sessions of one agent (default: all)")
	var p page
	p.add(f, defaultPage, maxPage, "the last processed first")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		filter.Limit, filter.Offset = p.ask(), p.offset
		rows, err := build.Sessions(ctx, conn, eventlog.New(conn, eventlog.Options{}), filter)
		if err != nil {
			return err
		}
		return list(a, &p, rows, strings.Replace(noBuilds(filter), "build", "session", 1), printSessions)
	})
}

func printSessions(w io.Writer, rows []build.SessionRow) error {
	t := newTable(w, "session", "project", "user", "agent", "messages", "tokens (est.)", "last processed", "status")
	t.SetColumnConfigs(rightAligned(5, 6))
	for _, r := range rows {
		t.AppendRow([]any{
			shownSession(r.SessionID), oneLine(r.Project, 40), oneLine(r.User, 40), oneLine(r.Agent, 40),
			r.Messages, r.Tokens, when(r.At), r.Status,
		})
	}
	t.Render()
	return nil
}

func (a *app) sessionShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "show how long a session is by now, and a summary of it so far",
	}
	f := cmd.Flags()
	var key schema.SessionKey
	f.StringVar(&key.Project, "project", "default", "project of the session")
	f.StringVar(&key.User, "user", "default", "user of the session")
	f.StringVar(&key.Agent, "agent", "", "agent of the session")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		key.SessionID = args[0]
		if err := key.Validate(); err != nil {
			return badUsage(err)
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if key.SessionID, err = findSession(ctx, conn, key); err != nil {
			return err
		}
		shown, err := tier.ReadRunning(ctx, conn, eventlog.New(conn, eventlog.Options{}), key)
		if err != nil {
			return err
		}
		if shown.Messages == 0 && shown.PendingTranscripts == 0 {
			return usagef("there is no session %q of project %q, user %q and agent %q", key.SessionID, key.Project, key.User, key.Agent)
		}
		return a.print(shown, func(w io.Writer) error { return printRunning(w, shown) })
	})
}

// sizeOf is the size of a session in words.
func sizeOf(t eventlog.Total) string {
	return fmt.Sprintf("%s, about %s", plural(t.Messages, "message", "messages"), plural(t.Tokens, "token", "tokens"))
}

func printRunning(w io.Writer, r tier.RunningSession) error {
	var b strings.Builder
	say(&b, "session %s of project %s, %s\n", r.SessionID, r.Project, (&owner{r.User, r.Agent}).String())
	say(&b, "%s; %d of them in the daily record\n", sizeOf(r.Total), r.Flushed)
	if r.Pending > 0 {
		say(&b, "%s in the queue\n", plural(r.Pending, "message waits", "messages wait"))
	}
	if r.PendingTranscripts > 0 {
		say(&b, "%s in the queue, and is not counted yet\n", plural(r.PendingTranscripts, "transcript waits", "transcripts wait"))
	}
	b.WriteString("summary so far\n")
	block(&b, "  │ ", cmp.Or(r.Summary, "(nothing to record)"))
	_, err := io.WriteString(w, b.String())
	return err
}
