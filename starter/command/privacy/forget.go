package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/clickhouse"
	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/transcript/grant"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
	"axiommind/worker/statedir"
)

// forgetOptions are the flags of forget.
type forgetOptions struct {
	schema.ForgetInput
	yes, verify, printInput bool
	// fresh is true if no erasure has the id yet.
	fresh bool
}

func forgetCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "forget", Short: "erase a session, a user, a project, or all that holds a text, from every store",
		Example: "starter forget --session today --project demo\n" +
			"starter forget --user ann --yes\n" +
			"starter forget --query 'the code of the door' --user ann\n" +
			"starter forget --user ann --verify",
	}
	f := cmd.Flags()
	o := &forgetOptions{}
	f.StringVar(&o.SessionID, "session", "", "session to forget, of --project, --user and --agent")
	f.StringVar(&o.User, "user", "", "user to forget, in all projects; with --session or --query: their owner")
	f.StringVar(&o.Project, "project", "", "project to forget, with its sessions; with --session or --query: their project")
	f.StringVar(&o.Agent, "agent", "", "with --session: its agent")
	f.StringVar(&o.Query, "query", "", "text to forget: all messages, memories, facts and so on that hold it, of --user or --project")
	f.StringVar(&o.Because, "because", "", "why, for the audit trail; must not contain the erased content")
	f.StringVar(&o.By, "by", a.Actor(), "who wants it, for the audit trail")
	f.StringVar(&o.ID, "id", "", "id of the erasure to continue, from forget list (default: one of the same target, or a new one)")
	f.BoolVar(&o.yes, "yes", false, "erase, and do not ask")
	f.BoolVar(&o.printInput, "print-input", false, "erase nothing: print the signed input of the workflow forget, for Temporal's web interface")
	f.BoolVar(&o.verify, "verify", false, "erase nothing: search every store for remains of an erasure with the same target")
	a.Answers(cmd, forgetPreview{}, schema.ForgetResult{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		o.keepTyped(a.Typed)
		return forget(ctx, a, o)
	})
}

// keepTyped drops a project or user that only a variable or a file names, unless it is the owner of a session or a text: no
// one erases a whole project because AXIOMMIND_PROJECT is set.
func (o *forgetOptions) keepTyped(typed []string) {
	project, user := slices.Contains(typed, "project"), slices.Contains(typed, "user")
	if o.SessionID != "" {
		return
	}
	if !project && (o.Query == "" || user) {
		o.Project = ""
	}
	if !user && (o.Query == "" || project) {
		o.User = ""
	}
}

// defaults fills in the default project and user of a session, and validates the options.
func (o *forgetOptions) defaults() error {
	if o.SessionID != "" && o.Query == "" {
		if o.Project == "" {
			o.Project = "default"
		}
		if o.User == "" {
			o.User = "default"
		}
	}
	if err := o.Validate(); err != nil {
		return command.Usagef("%s", strings.ReplaceAll(err.Error(), "session_id", "--session"))
	}
	return nil
}

func forget(ctx context.Context, a *command.App, o *forgetOptions) error {
	if err := o.defaults(); err != nil {
		return err
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	log := projection.New(conn, eventlog.Options{})
	plan, err := planForget(ctx, a, conn, log.Store, o)
	if err != nil {
		return err
	}
	key, err := grant.Key(a.Cfg.State.Path(statedir.SourceKey))
	if err != nil {
		return err
	}
	o.Grant = grant.OfErasure(key, o.ID, o.ErasureScope)
	switch {
	case o.printInput:
		return json.NewEncoder(a.Out).Encode(o.ForgetInput)
	case o.Verify:
		return runForget(ctx, a, o)
	}
	p := previewOf(plan)
	if p.Local, err = local(a, o, false); err != nil {
		return err
	}
	if o.yes {
		var b strings.Builder
		printPreview(&b, o, p)
		if _, err := io.WriteString(a.ErrOut, b.String()); err != nil {
			return err
		}
		return runForget(ctx, a, o)
	}
	if err := a.Print(p, func(b *strings.Builder) { printPreview(b, o, p) }); err != nil {
		return err
	}
	if !command.IsTerminal(a.In) {
		_, err := fmt.Fprintln(a.ErrOut, "nothing was erased: to erase it, say --yes")
		return err
	}
	word := o.what()
	if err := command.Ask(a.In, a.ErrOut, fmt.Sprintf("This can't be undone. Type %s to go on: ", word), word); err != nil {
		return err
	}
	return runForget(ctx, a, o)
}

// what returns the word that a person types to confirm.
func (o *forgetOptions) what() string {
	switch o.Kind() {
	case schema.EraseSession:
		return o.SessionID
	case schema.EraseUser:
		return o.User
	case schema.EraseProject:
		return o.Project
	default:
		return "forget"
	}
}

// forgetPreview lists the content that an erasure would erase.
type forgetPreview struct {
	schema.ErasureCounts
	ErasedSessions []schema.SessionKey `json:"erased_sessions"`
	Memories       []erase.Memory      `json:"memories"`
	Streams        []string            `json:"streams"`
	Changed        []string            `json:"changed"`
	// Local are the places in this machine's state directory.
	Local []schema.Leftover `json:"local"`
}

func previewOf(p *erase.Plan) forgetPreview {
	return forgetPreview{
		ErasureCounts: p.Counts, ErasedSessions: append([]schema.SessionKey{}, p.Sessions...), Memories: append([]erase.Memory{}, p.Memories...),
		Streams: append([]string{}, p.Streams...), Changed: append([]string{}, p.Changed()...),
	}
}

func printPreview(b *strings.Builder, o *forgetOptions, p forgetPreview) {
	if p.Deleted+p.Replaced == 0 {
		command.Say(b, "the log holds nothing of it; it is kept out from now on; Weaviate, files and workflow executions are searched\n")
		for _, l := range p.Local {
			command.Say(b, "  %s\n", command.Unbroken(l.Place))
		}
		return
	}
	if o.yes {
		command.Say(b, "erasing from every store:\n")
	} else {
		command.Say(b, "this would be erased, from every store:\n")
	}
	for i, s := range p.ErasedSessions {
		if i == command.MaxListed {
			command.Say(b, "  … and %s more\n", command.Plural(len(p.ErasedSessions)-i, "session", "sessions"))
			break
		}
		user := strings.TrimSuffix(s.User+"/"+s.Agent, "/")
		command.Say(b, "  session %s of user %s in project %s\n", command.Unbroken(s.SessionID), command.Unbroken(user), command.Unbroken(s.Project))
	}
	for _, line := range countLines(p.ErasureCounts) {
		command.Say(b, "  %s\n", line)
	}
	for _, l := range p.Local {
		command.Say(b, "  %s\n", command.Unbroken(l.Place))
	}
	if len(p.Memories) > 0 && o.Kind() != schema.EraseUser {
		names := make([]string, len(p.Memories))
		for i, m := range p.Memories {
			names[i] = command.Unbroken(strings.TrimSuffix(m.User+"/"+m.Agent, "/"))
		}
		command.Say(b, "affected memories: %s\n", strings.Join(names, ", "))
	}
	command.Say(b, "content that others have stated too stays, in their words; the next dream rereads the rest of those days\n")
	if o.Kind() != schema.EraseQuery {
		command.Say(b, "it is not stored again: to admit it later, starter forget lift\n")
	}
	command.Say(b, "not erased: source transcripts on disk, summaries that were sent on, backups, and server logs\n")
}

// countLines lists the counts that are not zero.
func countLines(c schema.ErasureCounts) []string {
	var out []string
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{c.Sessions, "session", "sessions"}, {c.Messages, "message", "messages"}, {c.Entries, "memory", "memories"}, {c.Facts, "fact", "facts"},
		{c.Tasks, "task", "tasks"}, {c.Decisions, "decision", "decisions"}, {c.Proposals, "proposal", "proposals"},
		{c.Records, "block of a daily record", "blocks of daily records"},
		{c.Edits, "file as a person had left it", "files as persons had left them"},
		{c.Versions, "version of core memory, in part or whole", "versions of core memory, in part or whole"},
		{c.Dreams, "dream's diary", "dreams' diaries"}, {c.Answers, "answer of a model", "answers of models"},
		{c.Queued, "enqueued context", "enqueued contexts"},
	} {
		if of.n > 0 {
			out = append(out, command.Plural(of.n, of.one, of.many))
		}
	}
	return append(out, fmt.Sprintf("%s deleted, %d replaced", command.Plural(c.Deleted, "event", "events"), c.Replaced))
}

// runForget starts the erasure on a worker and waits for it.
func runForget(ctx context.Context, a *command.App, o *forgetOptions) error {
	c, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	if err := checkEraser(ctx, a, c); err != nil {
		return err
	}
	id := schema.WorkflowForget + "/" + o.ID
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMain, StaticSummary: "forget",
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, schema.WorkflowForget, o.ForgetInput)
	if err != nil {
		return fmt.Errorf("start the erasure: %w", err)
	}
	result, err := awaitForget(ctx, a, c, run, o)
	if err != nil {
		return err
	}
	var dropped []schema.Leftover
	if !o.Verify {
		dropped, err = local(a, o, true)
	}
	if err == nil {
		left, leftErr := local(a, o, false)
		result.Left = append(result.Left, left...)
		err = errors.Join(leftErr, erase.DeleteOwnRuns(ctx, c, a.Cfg.TemporalNamespace, erase.Execution{WorkflowID: id, RunID: run.GetRunID()}))
	}
	if err := errors.Join(a.Print(result, func(b *strings.Builder) { printForgotten(b, o, result, dropped) }), err); err != nil {
		return err
	}
	if n := len(result.Left); n > 0 {
		err := fmt.Errorf("something of it is left in %s", command.Plural(n, "place", "places"))
		if o.Verify {
			err = fmt.Errorf("%w: to erase that, too: %s", err, o.again("--yes"))
		}
		return err
	}
	return nil
}

// awaitForget shows the progress of the erasure until it ends.
func awaitForget(ctx context.Context, a *command.App, c client.Client, run client.WorkflowRun, o *forgetOptions) (result schema.ForgetResult, err error) {
	bar := progress.New(a, 0, "steps done")
	defer bar.Finish()
	stop := progress.EveryTick(ctx, progress.WatchEvery, func(ctx context.Context) { lookAtForget(ctx, bar, c) })
	defer stop()
	flag := "--yes"
	if o.Verify {
		flag = "--verify"
	}
	switch err = run.Get(ctx, &result); {
	case err != nil && ctx.Err() != nil:
		return result, progress.StoppedWaiting(ctx, err, "the work goes on as workflow "+run.GetID()+"\nTo see its progress: "+o.again(flag))
	case err != nil:
		return result, fmt.Errorf("forget: %s; to continue: %s", command.FailureText(err), o.again(flag))
	}
	return result, nil
}

// checkEraser returns an error if no worker runs erasures.
func checkEraser(ctx context.Context, a *command.App, c client.Client) error {
	d, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: a.Cfg.TemporalNamespace, TaskQueue: &taskqueue.TaskQueue{Name: schema.QueueErase},
		TaskQueueType: enums.TASK_QUEUE_TYPE_ACTIVITY,
	})
	if err != nil {
		return fmt.Errorf("look for a worker that erases: %w", err)
	}
	if len(d.GetPollers()) == 0 {
		return errors.New("no worker may erase, and nothing was erased: start one with --eraser-dsn, the address of ClickHouse " +
			"with a user who has the role " + clickhouse.RoleEraser)
	}
	return nil
}

func lookAtForget(ctx context.Context, p *progress.Progress, c client.Client) {
	ctx, cancel := context.WithTimeout(ctx, progress.AnswerTimeout)
	defer cancel()
	var state schema.ForgetProgress
	value, err := c.QueryWorkflow(ctx, schema.ForgetWorkflowID, "", schema.QueryProgress)
	if err == nil && value.Get(&state) == nil && state.Steps < state.Total {
		p.At(state.Step, state.Steps, state.Total, "steps done")
	}
}

func printForgotten(b *strings.Builder, o *forgetOptions, r schema.ForgetResult, dropped []schema.Leftover) {
	if !o.Verify {
		if r.ID != o.ID {
			command.Say(b, "continued erasure %s of the same text, which had not ended\n", command.ShortID(r.ID))
		}
		command.Say(b, "forgotten (erasure %s):\n", command.ShortID(r.ID))
		for _, line := range countLines(r.ErasureCounts) {
			command.Say(b, "  %s\n", line)
		}
		command.Say(b, "  %s deleted, %s rewritten, %s rebuilt\n", command.Plural(r.Executions, "workflow execution", "workflow executions"),
			command.Plural(r.Files, "file", "files"), command.Plural(r.Vectors, "vector", "vectors"))
	}
	for _, d := range dropped {
		command.Say(b, "  %s deleted\n", command.Unbroken(d.Place))
	}
	switch {
	case len(r.Left) == 0 && r.NamesOnly:
		b.WriteString("every store was searched by name: nothing of it is left; the fingerprints of its texts were destroyed after the check that found nothing\n")
	case len(r.Left) == 0:
		b.WriteString("every store was searched: nothing of it is left\n")
	default:
		command.Say(b, "something of it is left in:\n")
		sayPlaces(b, r.Left, command.MaxListed)
	}
	if len(r.Elsewhere) > 0 {
		command.Say(b, "others have stated some of it too; their statements stay:\n")
		sayPlaces(b, r.Elsewhere, fewListed)
	}
}

// fewListed bounds the places that need no action: a greeting of a harness occurs in all sessions.
const fewListed = 5

func sayPlaces(b *strings.Builder, places []schema.Leftover, most int) {
	for i, l := range places {
		if i == most {
			command.Say(b, "  … and %d more\n", len(places)-i)
			return
		}
		command.Say(b, "  %s: %s\n", l.Store, command.OneLine(l.Place, 160))
	}
}
