package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
)

type backfillOptions struct {
	schema.BackfillSessionsInput
	since          string
	dryRun, detach bool
	flags          *pflag.FlagSet
}

func (a *app) backfillCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backfill", Short: "extract again from old sessions, with the worker's current extractor",
		Example: "starter backfill --since 30d --extractor gemini/gemini-2.5-flash --rate 60\n" +
			"starter backfill --project demo --extractor rules/worth-v3 --dry-run",
	}
	f := cmd.Flags()
	o := &backfillOptions{flags: f}
	f.StringVar(&o.Extractor, "extractor", "", "PROVIDER/MODEL that the worker has; another worker refuses (default: whatever it has)")
	f.StringVar(&o.since, "since", "", "sessions of this date or later: 7d, 12h, 2026-11-01 or a time")
	f.StringVar(&o.Project, "project", "", "sessions of one project (default: all)")
	f.StringVar(&o.User, "user", "", "sessions of one user (default: all)")
	f.StringVar(&o.Agent, "agent", "", "sessions of one agent (default: all)")
	f.IntVar(&o.PerMinute, "rate", 0, "start at most so many sessions a minute (default: no bound)")
	f.IntVar(&o.AtOnce, "jobs", schema.DefaultAtOnce, "sessions at a time")
	f.BoolVar(&o.dryRun, "dry-run", false, "show which sessions would be extracted from, and start nothing")
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	a.complete(cmd, "extractor", known(build.ColumnExtractor))
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if o.dryRun {
			return a.planBackfill(ctx, o)
		}
		return a.startBackfill(ctx, o)
	})
}

// check validates the options before any server is contacted.
func (o *backfillOptions) check() error {
	provider, model, ok := strings.Cut(o.Extractor, "/")
	if o.Extractor != "" && (!ok || provider == "" || model == "") {
		return usagef("--extractor %q: want PROVIDER/MODEL, such as gemini/gemini-2.5-flash, as builds show prints it", o.Extractor)
	}
	var err error
	if o.Since, err = parseSince(o.since, time.Now()); err != nil {
		return err
	}
	switch {
	case o.AtOnce < 1 || o.AtOnce > schema.MaxAtOnce:
		return usagef("--jobs %d: want 1 to %d", o.AtOnce, schema.MaxAtOnce)
	case o.PerMinute < 0 || o.PerMinute > schema.MaxPerMinute || o.PerMinute == 0 && o.flags.Changed("rate"):
		return usagef("--rate %d: want 1 to %d sessions a minute", o.PerMinute, schema.MaxPerMinute)
	case o.dryRun && o.detach:
		return usagef("--dry-run starts nothing, so there is nothing to detach from")
	case o.dryRun && o.Extractor == "":
		return usagef("--dry-run asks no worker: say by --extractor PROVIDER/MODEL which extractor it has")
	}
	if err := o.Validate(); err != nil {
		return badUsage(err)
	}
	return nil
}

// backfillPlan is the result of a dry run.
type backfillPlan struct {
	Extractor schema.Extractor   `json:"extractor"`
	Sessions  []build.Backfilled `json:"sessions"`
}

// planBackfill prints the sessions that the workflow would select.
func (a *app) planBackfill(ctx context.Context, o *backfillOptions) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	provider, model, _ := strings.Cut(o.Extractor, "/")
	plan := backfillPlan{llm.ExtractorOf(llm.ModelIdentity{Provider: provider, Model: model}), []build.Backfilled{}}
	chosen := build.Backfill{Conn: conn, Log: eventlog.New(conn, eventlog.Options{}), By: o.BackfillSessionsInput, Extractor: plan.Extractor}
	for s, err := range chosen.Each(ctx, "") {
		if err != nil {
			return err
		}
		plan.Sessions = append(plan.Sessions, s)
	}
	return a.print(plan, plan.print)
}

func (p backfillPlan) print(w io.Writer) error {
	if len(p.Sessions) > 0 {
		t := newTable(w, "session", "project", "user", "latest build", "extracted with", "prompt")
		for _, s := range p.Sessions[:min(len(p.Sessions), maxTableRows)] {
			t.AppendRow([]any{
				shownSession(s.SessionID), oneLine(s.Project, 40), oneLine(s.User, 40), short(s.BuildID), oneLine(modelText(s.Extractor), 60), s.Extractor.PromptVersion,
			})
		}
		t.Render()
	}
	var b strings.Builder
	if more := len(p.Sessions) - maxTableRows; more > 0 {
		say(&b, "and %d more: --output json lists all\n", more)
	}
	say(&b, "would extract from %s with %s, prompt %s\n", plural(len(p.Sessions), "session", "sessions"), modelText(p.Extractor), p.Extractor.PromptVersion)
	_, err := io.WriteString(w, b.String())
	return err
}

func modelText(x schema.Extractor) string { return x.Provider + "/" + x.Model }

// backfillReport is the result of a backfill.
type backfillReport struct {
	Workflow workflowLink        `json:"workflow"`
	Batch    string              `json:"batch,omitempty"`
	Sessions []backfilledSession `json:"sessions"`
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
func (a *app) startBackfill(ctx context.Context, o *backfillOptions) error {
	c, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	w := batchWork{
		input: o.BackfillSessionsInput, summary: "extract from sessions of the log", unit: "sessions done", again: o.again(),
		scope: schema.Scope{Project: o.Project, User: o.User, Agent: o.Agent},
	}
	run, running, err := w.start(ctx, c)
	if err != nil {
		return fmt.Errorf("start the backfill: %w", err)
	}
	report := backfillReport{Workflow: a.linkTo(run.GetID()), Sessions: []backfilledSession{}}
	if o.detach {
		return a.printDetached(report, report.Workflow, w.again)
	}
	result, err := a.watchBatch(ctx, c, w, run, running)
	if err != nil {
		return err
	}
	listed, err := a.readBatch(ctx, result.Batch)
	if err != nil {
		return fmt.Errorf("the backfill has ended (%s), but its report can't be read: %w", statusCounts(result.Statuses), err)
	}
	report.Batch = result.Batch
	report.add(listed)
	return cmp.Or(a.print(report, report.print), report.outcome())
}

// again returns the command that shows the running backfill. It gives --since as an absolute time, because a relative one
// would select another backfill.
func (o *backfillOptions) again() string {
	args := append([]string{"backfill"}, givenFlags(o.flags, "detach", "since")...)
	if !o.Since.IsZero() {
		args = append(args, "--since="+o.Since.Format(time.RFC3339Nano))
	}
	return build.Command(args...)
}

func (r *backfillReport) add(listed batch.Report) {
	for _, item := range listed.Items {
		o, ended := listed.Outcomes[item.Index]
		s := backfilledSession{
			SessionKey: item.Input.Key(), BuildID: o.BuildID, Status: o.Status, Counts: o.Counts, Usage: o.Usage,
			Error: plainWords(o.Error), ErrorType: o.ErrorType,
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

// print writes the report for people.
func (r backfillReport) print(w io.Writer) error {
	if len(r.Sessions) > 0 {
		t := newTable(w, "session", "project", "status", "build", "entries", "new", "superseded", "restored", "reason")
		for _, s := range r.Sessions[:min(len(r.Sessions), maxTableRows)] {
			t.AppendRow([]any{
				shownSession(s.SessionID), oneLine(s.Project, 40), s.Status, cmp.Or(short(s.BuildID), "-"), s.Counts.Entries, s.Counts.NewEntries,
				s.Counts.SupersededEntries, s.Counts.RestoredEntries, oneLine(s.Error, 100),
			})
		}
		t.Render()
	}
	var b strings.Builder
	if more := len(r.Sessions) - maxTableRows; more > 0 {
		say(&b, "and %d more: --output json lists all\n", more)
	}
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
		say(&b, "extracted from %s%s: %s new, %d superseded, %d active again\n", plural(len(r.Sessions), "session", "sessions"),
			countsOf(statuses), plural(sum.NewEntries, "entry", "entries"), sum.SupersededEntries, sum.RestoredEntries)
		say(&b, "model: %d calls, %d tokens in, %d out", usage.Calls, usage.InputTokens, usage.OutputTokens+usage.ThoughtTokens)
		if usage.CostUSD > 0 {
			say(&b, ", $%.4f", usage.CostUSD)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcome returns the command's error if a session failed.
func (r backfillReport) outcome() error {
	failed := 0
	for _, s := range r.Sessions {
		if s.Error != "" {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s failed; see starter builds list --status failed", failed, plural(len(r.Sessions), "session", "sessions"))
}
