package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/schema"
)

func (a *app) buildsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list the latest builds",
		Example: "starter builds list --status failed\n" +
			"starter builds list --class passing --since 7d",
	}
	f := cmd.Flags()
	var filter build.Filter
	f.StringVar(&filter.Project, "project", "", "builds of one project (default: all)")
	f.StringVar(&filter.User, "user", "", "builds of one user (default: all)")
	f.StringVar(&filter.Agent, "agent", "", "builds of one agent (default: all)")
	f.StringVar(&filter.SessionID, "session", "", "builds of one session")
	f.StringVar((*string)(&filter.Status), "status", "", "running, success, partial, empty, failed (with the interrupted ones) or interrupted")
	f.StringVar((*string)(&filter.Class), "class", "", "failed builds by remedy: passing, setup, input or ours")
	since := f.String("since", "", "builds that started since: 7d, 12h, 2026-11-01 or a time")
	var p page
	p.add(f, defaultPage, maxPage, "the latest first")
	a.complete(cmd, "status", fixed(build.Statuses()...))
	a.complete(cmd, "class", fixed(schema.FailureClasses()...))
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := cmp.Or(p.check(), oneOfOrNone("status", filter.Status, build.Statuses()),
			oneOfOrNone("class", filter.Class, schema.FailureClasses())); err != nil {
			return err
		}
		if filter.Class != "" && filter.Status != "" && filter.Status != schema.BuildFailed && filter.Status != build.StatusInterrupted {
			return usagef("--class selects among failed builds: leave out --status %s", filter.Status)
		}
		var err error
		if filter.Since, err = parseSince(*since, time.Now()); err != nil {
			return err
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if filter.SessionID, err = findAnySession(ctx, conn, schema.SessionKey{
			Scope: schema.Scope{Project: filter.Project, User: filter.User, Agent: filter.Agent}, SessionID: filter.SessionID,
		}); err != nil {
			return err
		}
		filter.All, filter.Limit, filter.Offset = true, p.ask(), p.offset
		filter.Running = func(ctx context.Context, ids []string) (map[string]bool, error) { return a.running(ctx, ids) }
		if filter.Status == build.StatusInterrupted {
			filter.Running = func(ctx context.Context, ids []string) (map[string]bool, error) { return a.surelyRunning(ctx, ids) }
		}
		runs, err := build.List(ctx, conn, filter)
		if err != nil {
			return err
		}
		return list(a, &p, runs, noBuilds(filter), printBuilds)
	})
}

// noBuilds is the text for an empty list. It repeats the filter.
func noBuilds(f build.Filter) string {
	var b strings.Builder
	since := ""
	if !f.Since.IsZero() {
		since = when(f.Since)
	}
	for _, part := range []struct{ name, value string }{
		{" of session", f.SessionID}, {" in project", f.Project}, {" for user", f.User}, {" by agent", f.Agent}, {" with status", string(f.Status)},
		{" that failed with class", string(f.Class)}, {" since", since},
	} {
		if part.value != "" {
			say(&b, "%s %s", part.name, part.value)
		}
	}
	if b.Len() == 0 {
		return "no builds yet; process a transcript with: starter process FILE"
	}
	return "no build" + b.String()
}

func printBuilds(w io.Writer, runs []build.Run) error {
	t := newTable(w, "build", "session", "project", "status", "started", "took", "entries", "failed at", "class")
	for _, r := range runs {
		t.AppendRow([]any{
			short(r.BuildID), shownSession(r.SessionID), oneLine(r.Project, 40), r.Status, when(r.StartedAt), took(r),
			r.Counts.Entries, r.FailedStep, r.Class,
		})
	}
	t.Render()
	return nil
}

func took(r build.Run) string {
	if r.FinishedAt == nil {
		return "-"
	}
	return fmt.Sprintf("%.1fs", r.FinishedAt.Sub(r.StartedAt).Seconds())
}
