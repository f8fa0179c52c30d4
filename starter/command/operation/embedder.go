package operation

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/vector"
	"axiommind/starter/command"
	"axiommind/worker/service"
)

// embedderReport describes the embedder in use and the indexing progress of its successor.
type embedderReport struct {
	InUse *vector.IndexStatus `json:"in_use"`
	// Next is the embedder that will replace it, or nil.
	Next *vector.IndexStatus `json:"next"`
	// Old are the versions whose vectors are about to be deleted.
	Old []string `json:"old"`
	// Configured is the embedder of the program's own settings.
	Configured string `json:"configured"`
}

func embedderStatusCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "show the embedder of searches, and the progress of another one",
	}
	a.Answers(cmd, embedderReport{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, _ []string) error {
		report, err := embedders(ctx, a, conn, OwnEmbedder(ctx, a))
		if err != nil {
			return err
		}
		return a.Print(report, func(b *strings.Builder) { printEmbedders(b, report) })
	})
}

// OwnEmbedder returns the embedder of the program's own settings, or [vector.NoEmbedder]. Reads need it only if no embedder
// is in use.
func OwnEmbedder(ctx context.Context, a *command.App) vector.Embedder {
	own, err := llm.NewEmbedder(ctx, a.Cfg.Embedder)
	if err != nil {
		return vector.NoEmbedder(command.BadUsage(err))
	}
	return own
}

// embedders reads the report.
func embedders(ctx context.Context, a *command.App, conn driver.Conn, own vector.Embedder) (embedderReport, error) {
	report := embedderReport{Old: []string{}, Configured: own.Version()}
	if none, ok := own.(vector.WordsOnly); ok {
		report.Configured = "none: " + command.OneLine(none.Reason.Error(), 300)
	}
	indexes := Indexes(a, conn, nil, own)
	choice, err := indexes.Now(ctx)
	if err != nil || choice.Used == "" {
		return report, err
	}
	report.Old = append(report.Old, choice.Old...)
	for i, into := range []**vector.IndexStatus{&report.InUse, &report.Next}[:len(choice.Versions())] {
		status, err := indexes.Status(ctx, choice.Versions()[i])
		if err != nil {
			return report, err
		}
		*into = &status
	}
	return report, nil
}

// checkInUse reports the embedder that searches use, and whether this program has it.
func checkInUse(ctx context.Context, a *command.App, conn driver.Conn) command.Check {
	const name = "embedder in use"
	report, err := embedders(ctx, a, conn, OwnEmbedder(ctx, a))
	switch {
	case err != nil:
		return command.FailedCheck(name, err, "see the check of clickhouse")
	case report.InUse == nil:
		return command.Check{Name: name, OK: true, Note: "none yet"}
	}
	note := report.InUse.Version + ": " + progressText(*report.InUse)
	if report.Next != nil {
		note += "; being indexed: " + report.Next.Version + ": " + progressText(*report.Next)
	}
	if _, err := llm.EmbedderOf(ctx, a.Cfg.Embedder, report.InUse.Version); err != nil {
		return command.Check{Name: name, Note: note + "; not available here: " + command.Reason(err), Mend: "start a worker with these settings, which indexes everything with its own embedder; until then, words alone are searched for"}
	}
	return command.Check{Name: name, OK: true, Note: note}
}

// Indexes returns the indexes of the stores for reading.
func Indexes(a *command.App, conn driver.Conn, weaviate *vector.Client, own vector.Embedder) *vector.Indexes {
	return service.NewIndexes(&service.Stores{
		ClickHouse: conn, Log: projection.New(conn, eventlog.Options{}), Weaviate: weaviate, Embedder: own,
	}, a.Cfg)
}

func printEmbedders(b *strings.Builder, r embedderReport) {
	if r.InUse == nil {
		command.Say(b, "nothing is indexed yet: the first worker's embedder will be used\nhere           %s\n", r.Configured)
		return
	}
	command.Say(b, "in use         %s: %s\n", r.InUse.Version, progressText(*r.InUse))
	if r.Next != nil {
		command.Say(b, "being indexed  %s: %s\n", r.Next.Version, progressText(*r.Next))
	}
	for _, version := range r.Old {
		command.Say(b, "old            %s: its vectors are deleted in a minute, by a worker with the embedder in use\n", version)
	}
	command.Say(b, "here           %s\n", r.Configured)
	if r.Next != nil {
		command.Say(b, "\nSearches use the first until the second is done; that needs a running worker with the second embedder.\n")
	}
	if r.InUse.Failed > 0 || r.Next != nil && r.Next.Failed > 0 {
		b.WriteString("To retry the failed items: starter reconcile\n")
	}
}

// progressText describes how many of the items are indexed.
func progressText(s vector.IndexStatus) string {
	total := s.Done + s.Pending + s.Failed
	text := command.Plural(s.Done, "item is indexed", "items are indexed")
	if s.Done < total {
		text = fmt.Sprintf("%d of %d items are indexed (%d %%)", s.Done, total, 100*s.Done/total)
	}
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d failed", s.Failed)
	}
	if s.Behind > 0 {
		text += fmt.Sprintf(", %s to check", command.Plural(s.Behind, "stream left", "streams left"))
	}
	return text
}
