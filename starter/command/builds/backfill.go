package builds

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

type backfillOptions struct {
	schema.BackfillSessionsInput
	since          string
	dryRun, detach bool
	flags          *pflag.FlagSet
}

func backfillCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backfill", Short: "extract again from old sessions, with the worker's current extractor",
		Example: "starter backfill --since 30d --extractor gemini/gemini-2.5-flash --rate 60\n" +
			"starter backfill --project demo --extractor rules/worth-v4 --dry-run",
	}
	f := cmd.Flags()
	o := &backfillOptions{flags: f}
	f.StringVar(&o.Extractor, "extractor", "", "PROVIDER/MODEL that the worker has; another worker refuses (default: whatever it has)")
	f.StringVar(&o.since, "since", "", "sessions of this date or later: 7d, 12h, 2026-11-01 or a time")
	command.FilterFlags(f, "sessions", &o.Project, &o.User, &o.Agent)
	f.IntVar(&o.PerMinute, "rate", 0, "start at most so many sessions a minute (default: no bound)")
	f.IntVar(&o.AtOnce, "jobs", schema.DefaultAtOnce, "sessions at a time")
	f.BoolVar(&o.dryRun, "dry-run", false, "show which sessions would be extracted from, and start nothing")
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	a.Complete(cmd, "extractor", command.Known(build.ColumnExtractor))
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if o.dryRun {
			return planBackfill(ctx, a, o)
		}
		return startBackfill(ctx, a, o)
	})
}

// check validates the options before any server is contacted.
func (o *backfillOptions) check() error {
	provider, model, ok := strings.Cut(o.Extractor, "/")
	if o.Extractor != "" && (!ok || provider == "" || model == "") {
		return command.Usagef("--extractor %q: want PROVIDER/MODEL, such as gemini/gemini-2.5-flash, as builds show prints it", o.Extractor)
	}
	var err error
	if o.Since, err = command.ParseSince(o.since, time.Now()); err != nil {
		return err
	}
	switch {
	case o.AtOnce < 1 || o.AtOnce > schema.MaxAtOnce:
		return command.Usagef("--jobs %d: want 1 to %d", o.AtOnce, schema.MaxAtOnce)
	case o.PerMinute < 0 || o.PerMinute > schema.MaxPerMinute || o.PerMinute == 0 && o.flags.Changed("rate"):
		return command.Usagef("--rate %d: want 1 to %d sessions a minute", o.PerMinute, schema.MaxPerMinute)
	case o.dryRun && o.detach:
		return command.Usagef("--dry-run starts nothing, so there is nothing to detach from")
	case o.dryRun && o.Extractor == "":
		return command.Usagef("--dry-run asks no worker: say by --extractor PROVIDER/MODEL which extractor it has")
	}
	if err := o.Validate(); err != nil {
		return command.BadUsage(err)
	}
	return nil
}

// backfillPlan is the result of a dry run.
type backfillPlan struct {
	Extractor schema.Extractor   `json:"extractor"`
	Sessions  []build.Backfilled `json:"sessions"`
}

// planBackfill prints the sessions that the workflow would select.
func planBackfill(ctx context.Context, a *command.App, o *backfillOptions) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	provider, model, _ := strings.Cut(o.Extractor, "/")
	plan := backfillPlan{llm.ExtractorOf(llm.ModelIdentity{Provider: provider, Model: model}), []build.Backfilled{}}
	chosen := build.Backfill{Conn: conn, Log: eventlog.New(conn, eventlog.Options{}), By: o.BackfillSessionsInput, Extractor: plan.Extractor}
	for s, err := range chosen.Each(ctx, "") {
		if err != nil {
			return err
		}
		plan.Sessions = append(plan.Sessions, s)
	}
	return a.Print(plan, plan.print)
}

func (p backfillPlan) print(b *strings.Builder) {
	command.LongTable(b, "session, project, user, latest build, extracted with, prompt", p.Sessions, func(s build.Backfilled) []any {
		return []any{
			command.ShownSession(s.SessionID), command.OneLine(s.Project, 40), command.OneLine(s.User, 40), command.ShortID(s.BuildID), command.OneLine(modelText(s.Extractor), 60), s.Extractor.PromptVersion,
		}
	})
	command.Say(b, "would extract from %s with %s, prompt %s\n", command.Plural(len(p.Sessions), "session", "sessions"), modelText(p.Extractor), p.Extractor.PromptVersion)
}

func modelText(x schema.Extractor) string { return x.Provider + "/" + x.Model }

// BackfillReport is the result of a backfill.
type BackfillReport struct {
	Workflow progress.WorkflowLink `json:"workflow"`
	Batch    string                `json:"batch,omitempty"`
	Sessions []backfilledSession   `json:"sessions"`
}

type backfilledSession struct {
	schema.SessionKey
	BuildID   string              `json:"build_id,omitempty"`
	Status    schema.BuildStatus  `json:"status"`
	Counts    schema.BuildCounts  `json:"counts,omitzero"`
	Usage     schema.Usage        `json:"usage,omitzero"`
	Error     string              `json:"error,omitempty"`
	ErrorType string              `json:"error_type,omitempty"`
	Class     schema.FailureClass `json:"class,omitempty"`
}

// startBackfill starts the workflow, or joins the run of the same backfill, and reports the result of each session.
func startBackfill(ctx context.Context, a *command.App, o *backfillOptions) error {
	w := progress.BatchWork{
		Input: o.BackfillSessionsInput, Summary: "extract from sessions of the log", Name: "the backfill", Unit: "sessions done", Again: o.again(),
		Scope: schema.Scope{Project: o.Project, User: o.User, Agent: o.Agent},
	}
	run, err := w.Run(ctx, a, o.detach)
	if err != nil {
		return err
	}
	report := BackfillReport{Workflow: run.Workflow, Batch: run.Batch, Sessions: []backfilledSession{}}
	if o.detach {
		return progress.PrintDetached(a, report, report.Workflow, w.Again)
	}
	report.add(run.Listed)
	return cmp.Or(a.Print(report, report.Print), report.Outcome())
}

// again returns the command that shows the running backfill. It gives --since as an absolute time, because a relative one
// would select another backfill.
func (o *backfillOptions) again() string {
	args := append([]string{"backfill"}, command.GivenFlags(o.flags, "detach", "since")...)
	if !o.Since.IsZero() {
		args = append(args, "--since="+o.Since.Format(time.RFC3339Nano))
	}
	return build.Command(args...)
}

func (r *BackfillReport) add(listed batch.Report) {
	for _, item := range listed.Items {
		o, ended := listed.Outcomes[item.Index]
		s := backfilledSession{
			SessionKey: item.Input.Key(), BuildID: o.BuildID, Status: o.Status, Counts: o.Counts, Usage: o.Usage,
			Error: command.PlainWords(o.Error), ErrorType: o.ErrorType,
		}
		if !ended {
			s.Status, s.Error = schema.BuildFailed, "the workflow recorded no outcome"
		}
		if s.ErrorType != "" {
			s.Class = schema.ClassOf(s.ErrorType)
		}
		r.Sessions = append(r.Sessions, s)
	}
}

// Print writes the report for people.
func (r BackfillReport) Print(b *strings.Builder) {
	command.LongTable(b, "session, project, status, build, entries, new, superseded, restored, reason", r.Sessions, func(s backfilledSession) []any {
		return []any{
			command.ShownSession(s.SessionID), command.OneLine(s.Project, 40), s.Status, cmp.Or(command.ShortID(s.BuildID), "-"), s.Counts.Entries, s.Counts.NewEntries,
			s.Counts.SupersededEntries, s.Counts.RestoredEntries, command.OneLine(s.Error, 100),
		}
	})
	statuses, sum, usage := map[string]int{}, schema.BuildCounts{}, schema.Usage{}
	for _, s := range r.Sessions {
		statuses[string(s.Status)]++
		sum.NewEntries += s.Counts.NewEntries
		sum.SupersededEntries += s.Counts.SupersededEntries
		sum.RestoredEntries += s.Counts.RestoredEntries
		usage.Add(s.Usage)
	}
	if len(r.Sessions) == 0 {
		b.WriteString("nothing to do: the worker's extractor has extracted from all of these sessions\n")
	} else {
		command.Say(b, "extracted from %s%s: %s new, %d superseded, %d active again\n", command.Plural(len(r.Sessions), "session", "sessions"),
			countsOf(statuses), command.Plural(sum.NewEntries, "entry", "entries"), sum.SupersededEntries, sum.RestoredEntries)
		command.Say(b, "model: %d calls, %d tokens in, %d out", usage.Calls, usage.InputTokens, usage.OutputTokens+usage.ThoughtTokens)
		if usage.CostUSD > 0 {
			command.Say(b, ", $%.4f", usage.CostUSD)
		}
		b.WriteString("\n")
	}
}

// Outcome returns the command's error if a session failed.
func (r BackfillReport) Outcome() error {
	failed := command.Count(r.Sessions, func(s backfilledSession) bool { return s.Error != "" })
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s failed; see starter builds list --status failed", failed, command.Plural(len(r.Sessions), "session", "sessions"))
}
