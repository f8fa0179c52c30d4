package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/activities/build"
	"axiommind/activities/table"
	"axiommind/schema"
)

func (a *app) buildsListCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	var filter build.Filter
	f.StringVar(&filter.Project, "project", "", "builds of one project (default: all)")
	f.StringVar(&filter.User, "user", "", "builds of one user (default: all)")
	f.StringVar(&filter.Agent, "agent", "", "builds of one agent (default: all)")
	f.StringVar(&filter.SessionID, "session", "", "builds of one session")
	f.StringVar((*string)(&filter.Status), "status", "", "running, success, partial, empty or failed")
	var p page
	p.add(f, defaultPage, maxPage, "the latest first")
	return func(ctx context.Context, _ []string) error {
		if err := cmp.Or(p.check(), oneOfOrNone("status", filter.Status, schema.BuildStatuses())); err != nil {
			return err
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if filter.SessionID, err = findSession(ctx, conn, schema.SessionKey{
			Scope: schema.Scope{Project: filter.Project, User: filter.User, Agent: filter.Agent}, SessionID: filter.SessionID,
		}); err != nil {
			return err
		}
		filter.Limit, filter.Offset = p.ask(), p.offset
		runs, err := build.List(ctx, conn, filter)
		if err != nil {
			return err
		}
		return list(a, &p, runs, noBuilds(filter), printBuilds)
	}
}

// noBuilds is printed for an empty list. It repeats the filter.
func noBuilds(f build.Filter) string {
	var b strings.Builder
	for _, part := range []struct{ name, value string }{
		{" of session", f.SessionID}, {" in project", f.Project}, {" for user", f.User}, {" by agent", f.Agent}, {" with status", string(f.Status)},
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
	t := newTable(w, "build", "session", "project", "status", "started", "took", "entries", "failed at")
	for _, r := range runs {
		t.AppendRow([]any{
			short(r.BuildID), shownSession(r.SessionID), oneLine(r.Project, 40), r.Status, when(r.StartedAt), took(r),
			r.Counts.Entries, r.FailedStep,
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

func (a *app) buildsShowCommand(*pflag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		detail, err := build.Show(ctx, conn, args[0])
		if errors.Is(err, build.ErrNotFound) || errors.Is(err, table.ErrAmbiguous) {
			return usageError{err}
		}
		if err != nil {
			return err
		}
		return a.print(detail, func(w io.Writer) error { return printBuild(w, detail) })
	}
}

func printBuild(w io.Writer, d build.Detail) error {
	c, r := d.Counts, d.Run
	var b strings.Builder
	say(&b, "build      %s (no. %d of session %s)\n", r.BuildID, r.Ordinal, r.SessionID)
	say(&b, "project    %s\nstatus     %s\n", r.Project, r.Status)
	if r.Status == schema.BuildFailed {
		say(&b, "failed at  %s: %s\n", r.FailedStep, r.Error)
	}
	say(&b, "source     %s\n", sourceText(r.Source))
	say(&b, "made with  %s, %s, idris2 %s\n", r.ExtractorModel, r.EmbeddingVersion, r.IdrisVersion)
	say(&b, "took       %s, from %s\n", took(r), when(r.StartedAt))
	say(&b, "messages   %d, %d of them new; %d lines mended or left out\n", c.Messages, c.NewMessages, c.SkippedLines)
	say(&b, "windows    %d, %d of them without a whole answer\n", c.Windows, c.Quarantined)
	say(&b, "entries    %d, %d of them new, %d with aligned evidence, %d of them proven; %d items rejected\n",
		c.Entries, c.NewEntries, c.AlignedEntries, c.ProvenEntries, c.Rejected)
	if c.GainedEntries > 0 {
		say(&b, "gained     %s better evidence, here or in other sessions\n", plural(c.GainedEntries, "entry has", "entries have"))
	}
	say(&b, "vectors    %d, %d failed\n", c.Indexed, c.IndexFailed)
	say(&b, "model      %d calls, %d tokens in, %d out", r.Usage.Calls, r.Usage.InputTokens, r.Usage.OutputTokens)
	if r.Usage.CostUSD > 0 {
		say(&b, ", $%.4f", r.Usage.CostUSD)
	}
	b.WriteString("\n\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	t := newTable(w, "step", "ms", "result")
	for _, m := range d.Metrics {
		result := "ok"
		if !m.Success {
			result = m.Error
		}
		t.AppendRow([]any{m.Step, fmt.Sprintf("%.0f", m.LatencyMS), oneLine(result, 100)})
	}
	t.Render()
	return printProblems(w, d)
}

// sourceText describes the source of a session: its address, format and size.
func sourceText(s schema.Source) string {
	size := "nothing of it was stored"
	if s.SHA256 != "" {
		size = fmt.Sprintf("%d bytes", s.Bytes)
	}
	if s.Format != "" && s.Format != schema.FormatInline {
		size = s.Format + ", " + size
	}
	return fmt.Sprintf("%s (%s)", s, size)
}

// printProblems lists each lost item with its reason. Items with the same remedy are followed by it once.
func printProblems(w io.Writer, d build.Detail) error {
	var b strings.Builder
	for i, p := range d.Problems {
		say(&b, "%s: %s\n", oneLine(p.Where, 120), oneLine(p.Reason, 200))
		if p.Retry != "" && (i+1 == len(d.Problems) || d.Problems[i+1].Retry != p.Retry) {
			say(&b, "  -> %s\n", p.Retry)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
