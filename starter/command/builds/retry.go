package builds

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

type retryOptions struct {
	schema.RetryBuildsInput
	classes        []string
	since          string
	dryRun, detach bool
	flags          *pflag.FlagSet
}

func retryCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "retry [BUILD…]", Short: "try failed and partial builds again: those named, or all that may succeed now",
		Example: "starter builds retry 04a5ad1b\n" +
			"starter builds retry --all-failed --dry-run\n" +
			"starter builds retry --all-failed --partial --since 7d\n" +
			"starter builds retry --all-failed --class setup",
	}
	f := cmd.Flags()
	o := &retryOptions{flags: f}
	f.BoolVar(&o.Failed, "all-failed", false, "retry the sessions whose latest build failed, or was interrupted")
	f.BoolVar(&o.Partial, "partial", false, "retry the sessions whose latest build lacks answers or vectors, for these")
	f.StringSliceVar(&o.classes, "class", nil, "with --all-failed: passing, setup, input, ours (default: passing, which may succeed now)")
	f.StringVar(&o.since, "since", "", "builds that started since: 7d, 12h, 2026-11-01 or a time")
	command.FilterFlags(f, "builds", &o.Project, &o.User, &o.Agent)
	f.StringVar(&o.SessionID, "session", "", "builds of one session")
	f.BoolVar(&o.Force, "force", false, "retry named builds although their input was wrong, after mending the source,\n"+
		"and ask once more about windows that are too small to be halved, after mending the model's settings")
	f.IntVar(&o.AtOnce, "jobs", schema.DefaultAtOnce, "sessions at a time")
	f.BoolVar(&o.dryRun, "dry-run", false, "show which builds would be retried and which left alone, and start nothing")
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	a.Complete(cmd, "class", command.Fixed(schema.FailureClasses()...))
	a.Answers(cmd, retryReport{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		return retry(ctx, a, conn, o)
	})
}

// check validates the options before any server is contacted.
func (o *retryOptions) check(args []string) error {
	o.Builds = args
	for _, class := range o.classes {
		if err := command.OneOf("class", schema.FailureClass(class), schema.FailureClasses()); err != nil {
			return err
		}
		o.Classes = append(o.Classes, schema.FailureClass(class))
	}
	var err error
	if o.Since, err = command.ParseSince(o.since, time.Now()); err != nil {
		return err
	}
	narrowed := slices.ContainsFunc([]string{"project", "user", "agent", "session", "since", "class"}, o.flags.Changed)
	switch all := o.Failed || o.Partial; {
	case len(args) == 0 && !all:
		return command.Usagef("name builds, or give --all-failed, --partial or both; with --dry-run nothing is started")
	case len(args) > 0 && all:
		return command.Usagef("name builds, or give --all-failed or --partial, not both")
	case len(args) > 0 && narrowed:
		return command.Usagef("a named build is retried whatever its project, user, agent, session, date and class: leave these flags out")
	case len(args) > schema.MaxNamedBuilds:
		return command.Usagef("%d builds are named: name %d at most, or use --all-failed", len(args), schema.MaxNamedBuilds)
	case len(o.Classes) > 0 && !o.Failed:
		return command.Usagef("--class selects among failed builds: give --all-failed")
	case o.Force && len(args) == 0:
		return command.Usagef("--force is for named builds; with --all-failed, select builds by --class")
	case o.AtOnce < 1 || o.AtOnce > schema.MaxAtOnce:
		return command.Usagef("--jobs %d: want 1 to %d", o.AtOnce, schema.MaxAtOnce)
	case o.dryRun && o.detach:
		return command.Usagef("--dry-run starts nothing, so there is nothing to detach from")
	}
	return nil
}

func retry(ctx context.Context, a *command.App, conn driver.Conn, o *retryOptions) error {
	if err := o.find(ctx, conn); err != nil {
		return err
	}
	// Named builds are checked first: a retry that is not possible is a usage error.
	if o.dryRun || len(o.Builds) > 0 {
		plan, err := planRetry(ctx, a, conn, o)
		if err != nil {
			return err
		}
		if len(o.Builds) > 0 && len(plan.Builds) == 0 {
			return plan.refusal()
		}
		if o.dryRun {
			return a.Print(plan, plan.print)
		}
	}
	return startRetry(ctx, a, conn, o)
}

// find replaces beginnings of build ids by whole ids.
func (o *retryOptions) find(ctx context.Context, conn driver.Conn) error {
	for i, id := range o.Builds {
		run, err := build.Find(ctx, conn, id)
		if err != nil {
			return err
		}
		o.Builds[i] = run.BuildID
	}
	slices.Sort(o.Builds)
	o.Builds = slices.Compact(o.Builds)
	slices.Sort(o.Classes)
	o.Classes = slices.Compact(o.Classes)
	var err error
	o.SessionID, err = command.FindAnySession(ctx, conn, schema.SessionKey{
		Scope: schema.Scope{Project: o.Project, User: o.User, Agent: o.Agent}, SessionID: o.SessionID,
	})
	if err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return command.BadUsage(err)
	}
	return nil
}

// retryPlan is the result of a dry run.
type retryPlan struct {
	Builds    []plannedRetry `json:"builds"`
	LeftAlone []skippedBuild `json:"left_alone"`
}

type plannedRetry struct {
	BuildID string `json:"build_id"`
	schema.SessionKey
	StartedAt  time.Time           `json:"started_at"`
	Status     schema.BuildStatus  `json:"status"`
	Class      schema.FailureClass `json:"class,omitempty"`
	FailedStep string              `json:"failed_step,omitempty"`
	Error      string              `json:"error,omitempty"`
	// Windows and Vectors count the parts of a partial build that are retried.
	Windows int `json:"windows,omitempty"`
	Vectors int `json:"vectors,omitempty"`
}

// skippedBuild is a build that is not retried, with the reason.
type skippedBuild struct {
	BuildID string              `json:"build_id"`
	Class   schema.FailureClass `json:"class,omitempty"`
	Reason  string              `json:"reason"`
}

// planRetry selects the builds that the workflow would select.
func planRetry(ctx context.Context, a *command.App, conn driver.Conn, o *retryOptions) (retryPlan, error) {
	plan := retryPlan{Builds: []plannedRetry{}, LeftAlone: []skippedBuild{}}
	err := progress.AskRunning(ctx, a, func(running build.Running) error {
		selection := build.Selection{Conn: conn, Running: running, By: o.RetryBuildsInput, At: time.Now()}
		for c, err := range selection.Each(ctx, "") {
			switch {
			case err != nil:
				return err
			case c.LeftAlone != "":
				plan.LeftAlone = append(plan.LeftAlone, skippedBuild{c.BuildID, c.Class, c.LeftAlone})
			default:
				plan.Builds = append(plan.Builds, plannedRetry{
					c.BuildID, c.SessionKey, c.StartedAt, c.Status, c.Class, c.FailedStep, c.Error, c.Windows, c.Vectors,
				})
			}
		}
		return nil
	})
	return plan, err
}

// refusal returns an error that explains why none of the named builds can be retried.
func (p retryPlan) refusal() error {
	var b strings.Builder
	for i, l := range p.LeftAlone {
		if i > 0 {
			b.WriteString("\n")
		}
		command.Say(&b, "build %s: %s", l.BuildID, l.Reason)
	}
	return command.Usagef("nothing to retry: %s", b.String())
}

func (p retryPlan) print(b *strings.Builder) {
	command.LongTable(b, "build, session, project, status, started, class, why", p.Builds, func(r plannedRetry) []any {
		return []any{
			command.ShortID(r.BuildID), command.ShownSession(r.SessionID), command.OneLine(r.Project, 40), r.Status, command.When(r.StartedAt), cmp.Or(string(r.Class), "-"), r.why(),
		}
	})
	classes := map[string]int{}
	for _, r := range p.Builds {
		classes[cmp.Or(string(r.Class), string(r.Status))]++
	}
	command.Say(b, "would retry %s%s\n", command.Plural(len(p.Builds), "build", "builds"), countsOf(classes))
	writeSkipped(b, p.LeftAlone)
}

// why returns the reason for the retry.
func (r plannedRetry) why() string {
	var parts []string
	if r.Windows > 0 {
		parts = append(parts, command.Plural(r.Windows, "window", "windows")+" without a whole answer")
	}
	if r.Vectors > 0 {
		parts = append(parts, command.Plural(r.Vectors, "vector", "vectors")+" that failed")
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", ")
	}
	if r.FailedStep != "" {
		return command.OneLine(r.FailedStep+": "+r.Error, 60)
	}
	return command.OneLine(r.Error, 60)
}

// countsOf lists the number of each kind.
func countsOf(kinds map[string]int) string {
	var parts []string
	for kind, n := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// writeSkipped writes the number of builds that are not retried, by class and reason.
func writeSkipped(b *strings.Builder, all []skippedBuild) {
	if len(all) == 0 {
		return
	}
	command.Say(b, "left alone %s:\n", command.Plural(len(all), "build", "builds"))
	groups := map[skippedBuild][]string{}
	var order []skippedBuild
	for _, l := range all {
		of := skippedBuild{Class: l.Class, Reason: l.Reason}
		if groups[of] == nil {
			order = append(order, of)
		}
		groups[of] = append(groups[of], l.BuildID)
	}
	slices.SortStableFunc(order, func(x, y skippedBuild) int {
		return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(len(groups[y]), len(groups[x])))
	})
	for _, of := range order[:min(len(order), command.MaxListed)] {
		ids := groups[of]
		name := command.ShortID(ids[0])
		if len(ids) > 1 {
			name = fmt.Sprintf("%d, such as %s", len(ids), name)
		}
		command.Say(b, "  %s (%s): %s\n", name, cmp.Or(string(of.Class), "-"), command.OneLine(of.Reason, 300))
	}
	if more := len(order) - command.MaxListed; more > 0 {
		command.Say(b, "  and %d more reasons: --output json lists all\n", more)
	}
}

// retried is the result of the retry of one build.
type retried struct {
	BuildID string `json:"build_id"`
	schema.SessionKey
	// NewBuildID is the build that the retry created. It is empty if GoesOn is true: the build was interrupted, and the
	// retry resumed it.
	NewBuildID string              `json:"new_build_id,omitempty"`
	GoesOn     bool                `json:"goes_on,omitempty"`
	Status     schema.BuildStatus  `json:"status"`
	Counts     schema.BuildCounts  `json:"counts,omitzero"`
	Usage      schema.Usage        `json:"usage,omitzero"`
	Error      string              `json:"error,omitempty"`
	ErrorType  string              `json:"error_type,omitempty"`
	Class      schema.FailureClass `json:"class,omitempty"`
}

// retryReport is the result of a retry.
type retryReport struct {
	Workflow  progress.WorkflowLink `json:"workflow"`
	Batch     string                `json:"batch,omitempty"`
	Builds    []retried             `json:"builds"`
	LeftAlone []skippedBuild        `json:"left_alone"`
}

// startRetry starts the workflow, or joins the run of the same retry, and reports the result of each build.
func startRetry(ctx context.Context, a *command.App, conn driver.Conn, o *retryOptions) error {
	w := progress.BatchWork{
		Input: o.RetryBuildsInput, Summary: "retry builds", Name: "the retry", Unit: "builds done", Again: o.again(),
		Scope: schema.Scope{Project: o.Project, User: o.User, Agent: o.Agent},
	}
	run, err := w.Run(ctx, a, o.detach)
	if err != nil {
		return err
	}
	if o.detach {
		return progress.PrintDetached(a, retryReport{Workflow: run.Workflow, Builds: []retried{}, LeftAlone: []skippedBuild{}}, run.Workflow, w.Again)
	}
	report, err := reportRetry(ctx, conn, run.Listed)
	if err != nil {
		return err
	}
	report.Workflow, report.Batch = run.Workflow, run.Batch
	return cmp.Or(a.Print(report, report.Print), report.Outcome(len(o.Builds) > 0))
}

// again returns the command that shows the running retry. It gives --since as an absolute time, because a relative one would
// select another retry.
func (o *retryOptions) again() string {
	args := append([]string{"builds", "retry"}, command.GivenFlags(o.flags, "detach", "since", "class")...)
	if !o.Since.IsZero() {
		args = append(args, "--since="+o.Since.Format(time.RFC3339Nano))
	}
	for _, class := range o.Classes {
		args = append(args, "--class="+string(class))
	}
	return build.Command(append(args, o.Builds...)...)
}

// reportRetry reports the result of each build of the batch, with its new id. The outcome of a failed session contains no
// id, so its latest build is used.
func reportRetry(ctx context.Context, conn driver.Conn, listed batch.Report) (retryReport, error) {
	report := retryReport{Builds: []retried{}, LeftAlone: []skippedBuild{}}
	var failed []schema.SessionKey
	for _, item := range listed.Items {
		o, ended := listed.Outcomes[item.Index]
		r := retried{
			BuildID: item.Input.Retry, SessionKey: item.Input.Key(), NewBuildID: o.BuildID, Status: o.Status, Counts: o.Counts, Usage: o.Usage,
			Error: command.PlainWords(o.Error), ErrorType: o.ErrorType,
		}
		if r.GoesOn = o.BuildID == r.BuildID; r.GoesOn {
			r.NewBuildID = ""
		}
		switch {
		case !ended:
			r.Status, r.Error = schema.BuildFailed, "the workflow recorded no outcome"
		case o.Status == schema.BuildUnchanged || o.BuildID == "" && o.Error == "":
			r.Status, r.Error = schema.BuildFailed, "nothing was started: there was nothing to do"
		}
		if r.ErrorType != "" {
			r.Class = schema.ClassOf(r.ErrorType)
		}
		if o.BuildID == "" {
			failed = append(failed, r.SessionKey)
		}
		report.Builds = append(report.Builds, r)
	}
	latest, err := build.Latest(ctx, conn, failed)
	if err != nil {
		return report, err
	}
	for i := range report.Builds {
		if r := &report.Builds[i]; r.NewBuildID == "" && !r.GoesOn && latest[r.SessionKey].ID != r.BuildID {
			r.NewBuildID = latest[r.SessionKey].ID
		}
	}
	for _, p := range listed.PassedOver {
		report.LeftAlone = append(report.LeftAlone, skippedBuild{p.Name, p.Class, p.Reason})
	}
	return report, nil
}

func (r retryReport) Print(b *strings.Builder) {
	command.LongTable(b, "build, session, status, new build, entries, new, reason", r.Builds, func(one retried) []any {
		return []any{
			command.ShortID(one.BuildID), command.ShownSession(one.SessionID), one.Status, one.newBuild(), one.Counts.Entries, one.Counts.NewEntries,
			command.OneLine(one.Error, 100),
		}
	})
	statuses := map[string]int{}
	for _, one := range r.Builds {
		statuses[string(one.Status)]++
	}
	if len(r.Builds) == 0 {
		b.WriteString("nothing to retry\n")
	} else {
		command.Say(b, "retried %s%s\n", command.Plural(len(r.Builds), "build", "builds"), countsOf(statuses))
	}
	writeSkipped(b, r.LeftAlone)
}

// newBuild describes the build that the retry created.
func (r retried) newBuild() string {
	if r.GoesOn {
		return "goes on"
	}
	return cmp.Or(command.ShortID(r.NewBuildID), "-")
}

// Outcome returns the command's error if a build failed again, or if a named build was not retried.
func (r retryReport) Outcome(named bool) error {
	failed := command.Count(r.Builds, func(one retried) bool { return one.Error != "" })
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s failed; see starter builds list --status failed", failed, command.Plural(len(r.Builds), "build", "builds"))
	case named && len(r.LeftAlone) > 0:
		return fmt.Errorf("%s left alone", command.Plural(len(r.LeftAlone), "named build", "named builds"))
	}
	return nil
}
