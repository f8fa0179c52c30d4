package builds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/facts"
	"axiommind/starter/command/progress"
)

func showCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show BUILD", Short: "show a build: its steps, failures and remedies",
	}
	a.Answers(cmd, shownBuild{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		run, err := build.Find(ctx, conn, args[0])
		if err != nil {
			return err
		}
		shown, advised := shownBuild{Workflow: progress.LinkTo(a, run.WorkflowID())}, build.Detail{Run: run}
		reads, reading := errgroup.WithContext(ctx)
		reads.Go(func() (err error) {
			shown.Detail, err = build.Describe(reading, conn, run)
			return err
		})
		reads.Go(func() error { return advise(reading, a, conn, &advised) })
		reads.Go(func() (err error) {
			shown.Facts, err = facts.ReadOfBuild(reading, conn, run.SessionKey, run.BuildID)
			return err
		})
		if err := reads.Wait(); err != nil {
			return err
		}
		shown.Run, shown.Hint, shown.Retry, shown.NoRetry = advised.Run, advised.Hint, advised.Retry, advised.NoRetry
		if shown.Status == schema.BuildRunning {
			if shown.Progress = progressOf(ctx, a, shown.Run); shown.Progress != nil {
				shown.Counts = shown.Progress.Counts
			}
		}
		return a.Print(shown, func(b *strings.Builder) { printBuild(b, shown) })
	})
}

// advise adds advice to the build. It queries Temporal only about a running build.
func advise(ctx context.Context, a *command.App, conn driver.Conn, d *build.Detail) error {
	if d.Status != schema.BuildRunning {
		return d.Advise(ctx, conn, nil)
	}
	return progress.AskRunning(ctx, a, func(running build.Running) error { return d.Advise(ctx, conn, running) })
}

// shownBuild is the printed form of a build.
type shownBuild struct {
	build.Detail
	Workflow progress.WorkflowLink `json:"workflow"`
	// Progress is the progress of a running build, if its workflow reports it. The counts then come from it.
	Progress *schema.Progress `json:"progress,omitempty"`
	// Facts are the results of the facts that the build proposed.
	Facts *facts.OfBuild `json:"facts,omitempty"`
}

// progressOf queries the workflow of a running build for its progress. Without a worker there is no answer.
func progressOf(ctx context.Context, a *command.App, r build.Run) *schema.Progress {
	c, err := progress.TemporalNow(ctx, a)
	if err != nil {
		return nil // AskRunning has printed a notice already.
	}
	ctx, cancel := context.WithTimeout(ctx, progress.AnswerTimeout)
	defer cancel()
	var p schema.Progress
	value, err := c.QueryWorkflow(ctx, r.WorkflowID(), "", schema.QueryProgress)
	if err != nil || value.Get(&p) != nil || p.BuildID != r.BuildID {
		return nil
	}
	return &p
}

// printOutcome prints the build's status, its error and the advice.
func printOutcome(b *strings.Builder, d shownBuild) {
	r := d.Run
	command.Say(b, "status     %s\n", r.Status)
	switch {
	case r.Status == schema.BuildFailed:
		command.Say(b, "failed at  %s: %s\n", r.FailedStep, r.Error)
		command.Say(b, "kind       %s, %s\n", r.Class, r.ErrorType)
	case r.Error != "":
		command.Say(b, "kind       %s: %s\n", r.Class, r.Error)
	}
	if d.Hint != "" {
		command.Say(b, "remedy     %s\n", d.Hint)
	}
	switch {
	case d.Retry != "":
		command.Say(b, "retry      %s\n", d.Retry)
	case d.NoRetry != "" && r.Status != schema.BuildSuccess && r.Status != schema.BuildEmpty:
		command.Say(b, "no retry   %s\n", d.NoRetry)
	}
	if d.Resumed != nil {
		command.Say(b, "resumed    build %s, from the step %s\n", d.Resumed.BuildID, d.Resumed.Step)
	}
	if d.Unread != "" {
		command.Say(b, "unread     the source: %s; the build used the messages in the log\n", d.Unread)
	}
	if len(d.Redacted) > 0 {
		command.Say(b, "redacted   %s\n", redactedText(d.Redacted))
	}
	command.Say(b, "workflow   %s\n", d.Workflow)
}

// redactedText lists how many secrets each rule redacted.
func redactedText(counts map[string]int) string {
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d by %s", counts[rule], rule))
	}
	return strings.Join(parts, ", ")
}

func printBuild(b *strings.Builder, d shownBuild) {
	r := d.Run
	command.Say(b, "build      %s (no. %d of session %s)\n", r.BuildID, r.Ordinal, r.SessionID)
	command.Say(b, "project    %s\n", r.Project)
	printOutcome(b, d)
	command.Say(b, "source     %s\n", sourceText(r.Source))
	command.Say(b, "made with  %s, %s, idris2 %s\n", r.ExtractorModel, r.EmbeddingVersion, r.IdrisVersion)
	command.Say(b, "took       %s, from %s\n", took(r), command.When(r.StartedAt))
	if r.FinishedAt == nil {
		printSoFar(b, d)
	} else {
		printCounts(b, r)
	}
	facts.SayOfBuild(b, d.Facts)
	b.WriteString("\n")
	if r.FinishedAt != nil {
		printSteps(b, d.Metrics)
	}
	printProblems(b, d)
}

// printSoFar prints the progress of a running build and leaves out unknown counts.
func printSoFar(b *strings.Builder, d shownBuild) {
	c := d.Counts
	if d.Status != schema.BuildRunning {
		return
	}
	at := "not known: no worker says so"
	if p := d.Progress; p != nil {
		at = p.Step
		if p.Step == schema.StepExtract && p.WindowsTotal > 0 {
			at += fmt.Sprintf(", %d of %d windows", p.WindowsDone, p.WindowsTotal)
		}
	}
	command.Say(b, "at step    %s\n", at)
	var known []string
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{c.Messages, "message", "messages"}, {c.NewMessages, "new message", "new messages"}, {c.Windows, "window", "windows"},
		{c.Quarantined, "window without a whole answer", "windows without a whole answer"}, {c.Entries, "entry", "entries"},
		{c.NewEntries, "new entry", "new entries"}, {c.Rejected, "item rejected", "items rejected"}, {c.Indexed, "vector", "vectors"},
		{c.IndexFailed, "vector failed", "vectors failed"},
	} {
		if of.n > 0 {
			known = append(known, command.Plural(of.n, of.one, of.many))
		}
	}
	if len(known) > 0 {
		command.Say(b, "so far     %s\n", strings.Join(known, ", "))
	}
}

// printCounts prints the counts of a finished build.
func printCounts(b *strings.Builder, r build.Run) {
	c := r.Counts
	command.Say(b, "messages   %d, %d of them new; %d lines repaired or left out\n", c.Messages, c.NewMessages, c.SkippedLines)
	command.Say(b, "windows    %d, %d of them without a whole answer\n", c.Windows, c.Quarantined)
	command.Say(b, "entries    %d, %d of them new, %d with aligned evidence, %d of them proven; %d items rejected\n",
		c.Entries, c.NewEntries, c.AlignedEntries, c.ProvenEntries, c.Rejected)
	if c.CandidateEntries > 0 || c.PromotedEntries > 0 {
		command.Say(b, "stages     %s or more, %d of them verified; %d lifted\n",
			command.Plural(c.CandidateEntries, "candidate", "candidates"), c.VerifiedEntries, c.PromotedEntries)
	}
	if c.GainedEntries > 0 {
		command.Say(b, "gained     %s better evidence, here or in other sessions\n", command.Plural(c.GainedEntries, "entry has", "entries have"))
	}
	if c.SupersededEntries > 0 || c.RestoredEntries > 0 {
		command.Say(b, "superseded %s of other extractors, %d active again\n", command.Plural(c.SupersededEntries, "entry", "entries"), c.RestoredEntries)
	}
	command.Say(b, "vectors    %d, %d failed\n", c.Indexed, c.IndexFailed)
	command.Say(b, "model      %d calls, %d tokens in, %d out", r.Usage.Calls, r.Usage.InputTokens, r.Usage.OutputTokens)
	if r.Usage.CostUSD > 0 {
		command.Say(b, ", $%.4f", r.Usage.CostUSD)
	}
	b.WriteString("\n")
}

func printSteps(b *strings.Builder, metrics []schema.StepMetric) {
	command.Table(b, "step, ms, result", metrics, func(m schema.StepMetric) []any {
		result := "ok"
		if !m.Success {
			result = m.Error
		}
		return []any{m.Step, fmt.Sprintf("%.0f", m.LatencyMS), command.OneLine(result, 100)}
	})
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

// printProblems lists each lost item with its reason. A remedy that several items share is printed once after them.
func printProblems(b *strings.Builder, d shownBuild) {
	for i, p := range d.Problems {
		command.Say(b, "%s: %s\n", command.OneLine(p.Where, 120), command.OneLine(p.Reason, 200))
		if p.Retry != "" && (i+1 == len(d.Problems) || d.Problems[i+1].Retry != p.Retry) {
			command.Say(b, "  -> %s\n", p.Retry)
		}
	}
}
