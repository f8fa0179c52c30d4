package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/activities/table"
)

// maxFields bounds the fields of a difference that are shown.
const maxFields = 12

func (a *app) buildsReplayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay BUILD", Short: "repeat a build from its recorded answers, in a separate database, and show the differences",
		Example: "starter builds replay 04a5ad1b",
	}
	return a.online(cmd, func(ctx context.Context, args []string) error {
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		replayed, err := build.Replay(ctx, conn, args[0])
		if err != nil {
			return asUsage(err, build.ErrNotFound, table.ErrAmbiguous, build.ErrUnfinished)
		}
		if err := a.print(replayed, func(w io.Writer) error { return printReplay(w, replayed) }); err != nil {
			return err
		}
		if n := len(replayed.Differences); n > 0 {
			return fmt.Errorf("build %s: replayed, %s", short(replayed.BuildID), plural(n, "event or row differs", "events and rows differ"))
		}
		return nil
	})
}

// asUsage marks the error as a usage error if it is one of mistakes.
func asUsage(err error, mistakes ...error) error {
	for _, mistake := range mistakes {
		if errors.Is(err, mistake) {
			return badUsage(err)
		}
	}
	return err
}

func printReplay(w io.Writer, r build.Replayed) error {
	var b strings.Builder
	say(&b, "build      %s (no. %d of session %s)\n", r.BuildID, r.Ordinal, r.SessionID)
	say(&b, "status     %s", r.Status)
	if r.FailedStep != "" {
		say(&b, " in %s: replayed up to there", r.FailedStep)
	}
	say(&b, "\nmade with  %s\n", r.ExtractorModel)
	say(&b, "read       %s of %s, no model asked\n", plural(r.Answers, "recorded answer", "recorded answers"), plural(r.Windows, "window", "windows"))
	say(&b, "compared   %s and %s of entries and of the build", plural(r.Events, "event", "events"), plural(r.Rows, "row", "rows"))
	if r.Replaced > 0 {
		say(&b, "; %s since replaced by later events", plural(r.Replaced, "row was", "rows were"))
	}
	say(&b, "\nleft out   %s: they depend on more than the build\n", strings.Join(r.NotCompared, ", "))
	for _, note := range r.Notes {
		say(&b, "note       %s\n", note)
	}
	if len(r.Differences) == 0 {
		b.WriteString("differ     none\n")
	} else {
		say(&b, "differ     %d\n", len(r.Differences))
	}
	for _, d := range r.Differences[:min(len(r.Differences), maxListed)] {
		say(&b, "\n%s %s: %s\n", d.In, oneLine(d.Key, 160), string(d.What))
		for _, f := range d.Fields[:min(len(d.Fields), maxFields)] {
			say(&b, "  %s\n    recorded  %s\n    replayed  %s\n", f.Field, oneLine(quotedOrNone(f.Recorded), 200), oneLine(quotedOrNone(f.Replayed), 200))
		}
		if more := len(d.Fields) - maxFields; more > 0 {
			say(&b, "  and %d more fields: --output json lists all\n", more)
		}
	}
	if more := len(r.Differences) - maxListed; more > 0 {
		say(&b, "and %d more: --output json lists all\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func quotedOrNone(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return "“" + text + "”"
}
