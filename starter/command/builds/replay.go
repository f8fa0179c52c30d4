package builds

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/starter/command"
)

// maxFields bounds the fields of a difference that are shown.
const maxFields = 12

func replayCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay BUILD", Short: "repeat a build from its recorded answers, in a separate database, and show the differences",
		Example: "starter builds replay 04a5ad1b",
	}
	a.Answers(cmd, build.Replayed{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		replayed, err := build.Replay(ctx, conn, args[0])
		if errors.Is(err, build.ErrUnfinished) {
			return command.BadUsage(err)
		}
		if err != nil {
			return err
		}
		if err := a.Print(replayed, func(b *strings.Builder) { printReplay(b, replayed) }); err != nil {
			return err
		}
		if n := len(replayed.Differences); n > 0 {
			return fmt.Errorf("build %s: replayed, %s", command.ShortID(replayed.BuildID), command.Plural(n, "event or row differs", "events and rows differ"))
		}
		return nil
	})
}

func printReplay(b *strings.Builder, r build.Replayed) {
	command.Say(b, "build      %s (no. %d of session %s)\n", r.BuildID, r.Ordinal, r.SessionID)
	command.Say(b, "status     %s", r.Status)
	if r.FailedStep != "" {
		command.Say(b, " in %s: replayed up to there", r.FailedStep)
	}
	command.Say(b, "\nmade with  %s\n", r.ExtractorModel)
	command.Say(b, "read       %s of %s, no model asked\n", command.Plural(r.Answers, "recorded answer", "recorded answers"), command.Plural(r.Windows, "window", "windows"))
	command.Say(b, "compared   %s and %s of entries and of the build", command.Plural(r.Events, "event", "events"), command.Plural(r.Rows, "row", "rows"))
	if r.Replaced > 0 {
		command.Say(b, "; %s since replaced by later events", command.Plural(r.Replaced, "row was", "rows were"))
	}
	command.Say(b, "\nleft out   %s: they depend on more than the build\n", strings.Join(r.NotCompared, ", "))
	for _, note := range r.Notes {
		command.Say(b, "note       %s\n", note)
	}
	if len(r.Differences) == 0 {
		b.WriteString("differ     none\n")
	} else {
		command.Say(b, "differ     %d\n", len(r.Differences))
	}
	for _, d := range r.Differences[:min(len(r.Differences), command.MaxListed)] {
		command.Say(b, "\n%s %s: %s\n", d.In, command.OneLine(d.Key, 160), string(d.What))
		for _, f := range d.Fields[:min(len(d.Fields), maxFields)] {
			command.Say(b, "  %s\n    recorded  %s\n    replayed  %s\n", f.Field, command.OneLine(quotedOrNone(f.Recorded), 200), command.OneLine(quotedOrNone(f.Replayed), 200))
		}
		if more := len(d.Fields) - maxFields; more > 0 {
			command.Say(b, "  and %d more fields: --output json lists all\n", more)
		}
	}
	command.SayMore(b, "", len(r.Differences)-command.MaxListed)
}

func quotedOrNone(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return "“" + text + "”"
}
