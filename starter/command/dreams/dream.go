package dreams

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

// diaryShown bounds the lines of a diary that are shown.
const diaryShown = 12

func dreamCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dream", Short: "consolidate the daily records into core memory, and show the changes",
		Example: "starter dream\n" +
			"starter dream --lookback 7 --dry-run\n" +
			"starter dream --user ann --agent coder --force",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	in := &schema.DeepDreamInput{}
	f.StringVar(&in.Date, "date", "", "day for which to dream, such as 2026-06-07 (default: today, in the worker's time zone)")
	f.IntVar(&in.LookbackDays, "lookback", 0, "days to read, that day included (default: all with unread records)")
	f.BoolVar(&in.Force, "force", false, "dream although nothing is new")
	f.BoolVar(&in.DryRun, "dry-run", false, "show the changes that the dream would make, and make none")
	a.Answers(cmd, Dreamt{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		in.User, in.Agent = o.User, o.Agent
		if err := in.Validate(); err != nil {
			return command.BadUsage(err)
		}
		return dream(ctx, a, o, *in)
	})
}

// Dreamt is the result of the command.
type Dreamt struct {
	Result schema.DeepDreamResult `json:"result"`
	// Joined is true if the dream was already running, with its own input.
	Joined bool   `json:"joined,omitempty"`
	Diff   string `json:"diff,omitempty"`
	// Dropped are the items of the memory and the answer that are missing from the version.
	Dropped []schema.DroppedItem `json:"dropped"`
	Diary   string               `json:"diary,omitempty"`
}

func dream(ctx context.Context, a *command.App, o *command.Owner, in schema.DeepDreamInput) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	out := Dreamt{Dropped: []schema.DroppedItem{}}
	if out.Result, out.Joined, err = runDream(ctx, a, o, in); err != nil {
		return err
	}
	if err := out.explain(ctx, conn); err != nil {
		return err
	}
	if err := a.Print(out, func(b *strings.Builder) { printDreamt(b, o, out) }); err != nil {
		return err
	}
	if out.Result.Status == schema.DreamIsRefused {
		return fmt.Errorf("the dream of %s was refused; the next one reads the same days again", command.Unbroken(o.String()))
	}
	return nil
}

// runDream starts the workflow, or joins the running one, and waits for it.
func runDream(ctx context.Context, a *command.App, o *command.Owner, in schema.DeepDreamInput) (result schema.DeepDreamResult, joined bool, err error) {
	c, err := a.Temporal(ctx)
	if err != nil {
		return result, false, err
	}
	bar := progress.New(a, 1, "dreams done")
	defer bar.Finish()
	id := in.WorkflowID()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMain, StaticSummary: "dream of " + in.Writer().Stream(),
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionTimeout:                 24 * time.Hour,
	}, schema.WorkflowDeepDream, in)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		bar.PrintOnce("a dream of " + command.Unbroken(o.String()) + " is already running: this is its result, whatever its flags were")
		run, joined, err = c.GetWorkflow(ctx, id, running.RunId), true, nil
	}
	if err != nil {
		return result, false, fmt.Errorf("start a dream of %s: %w", command.Unbroken(o.String()), err)
	}
	stop := bar.Watch(ctx, c, id, &progress.Job{Input: schema.ProcessSessionInput{SessionID: "dream"}})
	err = run.Get(ctx, &result)
	stop()
	switch {
	case err != nil && ctx.Err() != nil:
		return result, joined, fmt.Errorf("stopped waiting: %w; the dream goes on as workflow %s", ctx.Err(), id)
	case err != nil:
		return result, joined, fmt.Errorf("dream of %s: %s", command.Unbroken(o.String()), command.FailureText(err))
	}
	return result, joined, nil
}

// explain adds the changes of the dream to d. They come from its version or, for a dry run, from the draft composed of its
// input and the answers.
func (d *Dreamt) explain(ctx context.Context, conn driver.Conn) error {
	r, tables := d.Result, tier.NewTables(conn)
	switch r.Status {
	case schema.DreamSkipped:
		return nil
	case schema.DreamDry:
		return d.compose(ctx, conn)
	case schema.DreamIsRefused:
		if r.Ordinal == 0 {
			return nil
		}
	}
	dream, err := tables.Dream(ctx, r.User, r.Agent, r.Ordinal)
	if err != nil {
		return err
	}
	d.Dropped = append(d.Dropped, dream.Dropped...)
	d.Diary = dream.Diary
	if r.Version == r.Parent {
		return nil
	}
	version, err := tables.Version(ctx, r.User, r.Agent, r.Version)
	if err != nil {
		return err
	}
	parent := tier.Core{}
	if r.Parent > 0 {
		if parent, err = tables.Version(ctx, r.User, r.Agent, r.Parent); err != nil {
			return err
		}
	}
	d.Diff = tier.Diff(parent.Text, version.Text, tier.VersionName(r.Parent), tier.VersionName(r.Version))
	d.Dropped = append(d.Dropped, version.Dropped...)
	return nil
}

func (d *Dreamt) compose(ctx context.Context, conn driver.Conn) error {
	r := d.Result
	g, draft, err := tier.ReadDraft(ctx, eventlog.New(conn, eventlog.Options{}), r.Gathered, r.Responses)
	if err != nil {
		return err
	}
	text := ""
	if g.Version > 0 {
		core, err := tier.NewTables(conn).Version(ctx, r.User, r.Agent, g.Version)
		if err != nil {
			return err
		}
		text = core.Text
	}
	d.Diff = tier.Diff(text, draft.Text, tier.VersionName(g.Version), "MEMORY.md, not committed")
	d.Dropped = append(d.Dropped, draft.Dropped...)
	d.Diary = draft.Diary
	return nil
}

func printDreamt(b *strings.Builder, o *command.Owner, d Dreamt) {
	r := d.Result
	switch r.Status {
	case schema.DreamSkipped:
		command.Say(b, "no dream of %s for %s: %s\n", o.String(), r.Date, r.Reason)
	case schema.DreamIsRefused:
		command.Say(b, "the dream of %s for %s was refused: %s\n", o.String(), r.Date, r.Reason)
		command.Say(b, "core memory stays as it is: version %d\n", r.Version)
	case schema.DreamUnchanged:
		command.Say(b, "dreamt of %s for %s; core memory stays as it is, version %d, %s\n", o.String(), r.Date, r.Version, command.Plural(r.Items, "item", "items"))
	case schema.DreamDry:
		command.Say(b, "a dream of %s for %s would make this of version %d\n", o.String(), r.Date, r.Parent)
	default:
		command.Say(b, "dreamt of %s for %s: core memory has version %d\n", o.String(), r.Date, r.Version)
	}
	if r.Dreams > 1 {
		command.Say(b, "it took %d dreams, the oldest days first\n", r.Dreams)
	}
	if d.Diff != "" {
		b.WriteString("\n")
		command.Block(b, "  │ ", d.Diff)
	}
	if r.Status != schema.DreamSkipped && r.Status != schema.DreamIsRefused {
		command.Say(b, "\n%s: %d new, %d dropped, %d left out by the answer and kept\n", command.Plural(r.Items, "item", "items"), r.Added, r.Dropped, r.Carried)
		if r.LeftOut > 0 {
			command.Say(b, "no room for %s of the days beside those that weigh more\n", command.Plural(r.LeftOut, "statement", "statements"))
		}
	}
	sayDropped(b, d.Dropped)
	if lines := strings.Split(strings.TrimSpace(d.Diary), "\n"); d.Diary != "" {
		b.WriteString("\ndiary\n")
		command.Block(b, "  │ ", strings.Join(lines[:min(diaryShown, len(lines))], "\n"))
		if more := len(lines) - diaryShown; more > 0 {
			command.Say(b, "  and %s more\n", command.Plural(more, "line", "lines"))
		}
	}
	switch {
	case r.Status == schema.DreamDry && r.Next != "":
		command.Say(b, "\nnothing was changed; the days from %s on are left for another dream\n", r.Next)
	case r.Status == schema.DreamDry:
		b.WriteString("\nnothing was changed\n")
	case r.Files != "":
		command.Say(b, "\nthe files are not written yet: %s; the worker keeps trying\n", r.Files)
	}
}
