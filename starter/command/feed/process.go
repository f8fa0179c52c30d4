package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/activities/transcript"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
	memory "axiommind/starter/client"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
	"axiommind/worker/statedir"
)

// statusStarted is the status of a session with --detach.
const statusStarted schema.BuildStatus = "started"

// ProcessOptions are the flags of process.
type ProcessOptions struct {
	Input          schema.ProcessSessionInput
	flush          string
	detach, noWait bool
	// verbose lists the files that are no transcripts.
	verbose bool
	jobs    int
	// sourceKey is the file with the key that grants workers access to the files, or "".
	sourceKey string
	// given returns the flags that select the sessions, as they were given.
	given func() []string
}

func processCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "process FILE|DIR|-", Short: "turn transcripts into memory",
		Long: `A directory, or a file that holds several sessions, is imported by a workflow, --jobs sessions at a time. It goes
on when starter is stopped or its terminal is closed, and the same command shows it again as long as it runs.
Once it has ended, the same command imports new messages only.`,
		Example: "starter process ~/.claude/projects\n" +
			"starter process session.jsonl --project demo --user ann\n" +
			"agent | starter process - --session today",
	}
	f := cmd.Flags()
	o := &ProcessOptions{}
	command.ScopeFlags(f, "the memories belong to", &o.Input.Project, &o.Input.User, &o.Input.Agent)
	f.StringVar(&o.Input.SessionID, "session", "", "session id (default: the transcript's own)")
	f.StringVar(&o.Input.Format, "format", "", "transcript format (default: detected from the content)")
	f.StringVar(&o.Input.Date, "date", "", "date of the session (default: the transcript's)")
	f.BoolVar(&o.Input.IncludeTools, "include-tools", false, "extract from tool calls and their results too")
	f.StringVar(&o.flush, "flush-reason", flushEnd, "reason, for the heading in the daily record:\n"+strings.Join(flushReasons(), ", "))
	f.StringVar(&o.Input.Notify, "notify", "", "id of a running workflow that gets the summary as the signal "+schema.SignalSummary)
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	f.BoolVar(&o.noWait, "no-wait", false, "skip a session that is being processed already, and exit with 3")
	f.BoolVar(&o.verbose, "verbose", false, "list the files of a directory that are not transcripts")
	f.IntVar(&o.jobs, "jobs", schema.DefaultAtOnce, "sessions at a time, of a directory or a file with several")
	o.given = func() []string { return command.GivenFlags(f, "detach", "no-wait", "verbose", "output") }
	a.Complete(cmd, "format", command.Fixed(formatNames()...))
	a.Complete(cmd, "flush-reason", command.Fixed(flushReasons()...))
	return a.Online(cmd, func(ctx context.Context, args []string) error { return process(ctx, a, o, args[0]) })
}

// ProcessReport is the result for all sessions.
type ProcessReport struct {
	// Workflow processes the session or, as a Batch, several sessions. It is empty if none was started.
	Workflow progress.WorkflowLink `json:"workflow,omitzero"`
	Batch    string                `json:"batch,omitempty"`
	Sessions []*progress.Job       `json:"sessions"`
	// PassedOver are the files of a directory that are no transcripts.
	PassedOver []passedOver `json:"passed_over"`
	// Verbose lists them in the text output, too.
	Verbose bool
}

type passedOver struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Print writes the report for people.
func (r ProcessReport) Print(b *strings.Builder) {
	if len(r.Sessions) > command.MaxTableRows {
		printManyJobs(b, r)
		return
	}
	printJobs(b, r)
}

// refuse marks a job as failed before it was started.
func refuse(j *progress.Job, reason string) {
	j.Result.SessionID, j.Result.Status, j.Error, j.Refused = j.Input.SessionID, schema.BuildFailed, reason, true
}

func process(ctx context.Context, a *command.App, o *ProcessOptions, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	o.sourceKey = a.Cfg.State.Path(statedir.SourceKey)
	if path == "-" {
		copies, err := Spool(ctx, a, o)
		if err != nil {
			return err
		}
		if path = copies[0]; len(copies) > 1 {
			path = filepath.Dir(path)
		}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return command.Usagef("read %q: %w", path, errors.Unwrap(err))
	case info.IsDir() && o.Input.SessionID != "":
		return command.Usagef("--session names one session, and %q is a directory: give the file that holds it", path)
	case info.IsDir():
		return importAll(ctx, a, o, path)
	}
	jobs, err := fileJobs(ctx, o, path)
	switch {
	case err != nil:
		return command.BadUsage(err)
	case len(jobs) > 1:
		return importAll(ctx, a, o, path)
	case jobs[0].Input.Key().Validate() != nil:
		return command.Usagef("%s; give another one with --session", jobs[0].Error)
	}
	if err := processAlone(ctx, a, o, jobs[0]); err != nil {
		return err
	}
	unspool(a, jobs)
	report := ProcessReport{Sessions: jobs, PassedOver: []passedOver{}}
	if !jobs[0].Refused {
		report.Workflow = progress.LinkTo(a, jobs[0].Input.Key().WorkflowID())
	}
	return cmp.Or(a.Print(report, report.Print), outcome(jobs))
}

// outcome returns the command's error if a session failed or was skipped.
func outcome(jobs []*progress.Job) error {
	failed, refused, active := 0, 0, 0
	for _, j := range jobs {
		switch {
		case j.Error != "":
			failed++
			if j.Refused {
				refused++
			}
		case j.Result.Status == schema.BatchBusy:
			active++
		}
	}
	switch total := command.Plural(len(jobs), "session", "sessions"); {
	case failed > 0 && failed == refused: // These sessions have no builds.
		return fmt.Errorf("%d of %s failed: none of these was started", failed, total)
	case failed > 0:
		return fmt.Errorf("%d of %s failed; see starter builds list --status failed", failed, total)
	case active > 0:
		return command.Busy(fmt.Errorf("%d of %s left alone: being processed already; "+
			"without --no-wait, starter waits and then processes new messages", active, total))
	default:
		return nil
	}
}

// processAlone processes the only session of a file.
func processAlone(ctx context.Context, a *command.App, o *ProcessOptions, j *progress.Job) error {
	if j.Refused {
		return nil
	}
	temporalClient, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	bar := progress.New(a, 1, "sessions done")
	defer bar.Finish()
	if err := processOne(ctx, temporalClient, o, j, bar); err != nil {
		return err
	}
	bar.Done()
	return nil
}

// check validates the options before anything is read.
func (o *ProcessOptions) check() error {
	if o.jobs < 1 || o.jobs > schema.MaxAtOnce {
		return command.Usagef("--jobs %d: want 1 to %d", o.jobs, schema.MaxAtOnce)
	}
	if o.Input.Format != "" {
		if err := command.OneOf("format", strings.ToLower(o.Input.Format), formatNames()); err != nil {
			return err
		}
	}
	if o.Input.Date != "" {
		if _, err := transcript.ParseDate(o.Input.Date); err != nil {
			return command.Usagef("--%w", err)
		}
	}
	if err := command.OneOf("flush-reason", o.flush, flushReasons()); err != nil {
		return err
	}
	if o.flush != flushEnd {
		o.Input.Flush = schema.FlushReason(o.flush)
	}
	if err := schema.CheckWorkflowID(o.Input.Notify); err != nil {
		return command.Usagef("--notify: %w", err)
	}
	return nil
}

// flushEnd is the value of --flush-reason for the end of a session.
const flushEnd = "end"

func flushReasons() []string {
	names := []string{}
	for _, reason := range schema.FlushReasons() {
		names = append(names, cmp.Or(string(reason), flushEnd))
	}
	return names
}

func formatNames() []string {
	formats := transcript.Formats()
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// fileJobs lists the sessions of one file. A session that can't be processed is refused.
func fileJobs(ctx context.Context, o *ProcessOptions, file string) ([]*progress.Job, error) {
	uri, err := transcript.FileURI(file)
	if err != nil {
		return nil, err
	}
	sessions, source, err := transcript.ReadSource(ctx, uri, o.Input.Format)
	if err != nil {
		return nil, err
	}
	jobs := make([]*progress.Job, 0, len(sessions))
	for _, s := range sessions {
		j := &progress.Job{File: file, Input: o.Input, Format: source.Format, Signals: memory.FindSignals(s.Messages)}
		j.Input.URI = uri
		j.Input.SessionID = cmp.Or(o.Input.SessionID, s.ID)
		shown := j.Input.SessionID
		redact.Names(&shown)
		if err := j.Input.Key().Validate(); err != nil {
			refuse(j, err.Error())
		} else if shown != j.Input.SessionID {
			j.Input.SessionID = shown
			refuse(j, holdsCredential(shown))
		} else if reason := transcript.LeftOut(s, source.Format, o.Input.Format, func() (schema.Source, error) {
			_, source, err := transcript.ReadSource(ctx, uri, "")
			return source, err
		}); reason != "" {
			refuse(j, reason)
		}
		// Without a grant, as when its key can't be stored, the worker's roots decide.
		j.Input.Grant, _ = transcript.Grant(o.sourceKey, j.Input)
		jobs = append(jobs, j)
	}
	if o.Input.SessionID != "" && len(jobs) > 1 {
		return pick(jobs, sessions, o.Input.SessionID)
	}
	return jobs, nil
}

// holdsCredential explains the refusal of a session whose id contained a credential. The id has been redacted.
func holdsCredential(id string) string {
	return fmt.Sprintf("the session's id %q holds a credential, and ids are stored as they are: name another one by --session", id)
}

// pick returns the session of a file that --session selects.
func pick(jobs []*progress.Job, sessions []*transcript.Session, id string) ([]*progress.Job, error) {
	for i, s := range sessions {
		if s.ID == id {
			return jobs[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("%q holds %d sessions, none with the id %q", jobs[0].File, len(jobs), id)
}

// processOne starts the session's workflow and waits for it. A failure is stored in the job. The returned error stops all
// jobs: Temporal is unreachable, or the command was interrupted.
func processOne(ctx context.Context, c client.Client, o *ProcessOptions, j *progress.Job, bar *progress.Progress) error {
	j.Result.SessionID = j.Input.SessionID
	w := progress.SessionWork{
		SessionKey: j.Input.Key(), Workflow: schema.WorkflowProcessSession, Summary: "process session " + j.Input.SessionID, Input: j.Input,
	}
	run, err := w.Start(ctx, c, w.WorkflowID())
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		if o.noWait {
			j.Result.Status = schema.BatchBusy
			return nil
		}
		bar.PrintOnce(fmt.Sprintf("%s: is being processed already; new messages follow after that", j.Input.SessionID))
		run, err = w.StartAfter(ctx, c)
	}
	switch {
	case err != nil && (ctx.Err() != nil || command.Away(err)):
		return fmt.Errorf("start session %q: %w", j.Input.SessionID, err)
	case err != nil:
		fail(j, fmt.Sprintf("it can't be started: %v", err))
		return nil
	case o.detach:
		j.Result.Status = statusStarted
		return nil
	}
	stop := bar.Watch(ctx, c, w.WorkflowID(), j)
	err = run.Get(ctx, &j.Result)
	stop()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped waiting: %w; the session goes on as workflow %s", ctx.Err(), run.GetID())
		}
		fail(j, command.FailureText(err))
	}
	return nil
}

func fail(j *progress.Job, reason string) {
	j.Result.SessionID, j.Result.Status, j.Error = j.Input.SessionID, schema.BuildFailed, reason
}

// maxReasonShown bounds the reason why a file is skipped. There may be many files.
const maxReasonShown = 120

func printJobs(b *strings.Builder, r ProcessReport) {
	titles := "session, status, >messages, >new, >entries, >new, >aligned, >proven, >vectors, file"
	command.Table(b, titles, r.Sessions, func(j *progress.Job) []any {
		row := []any{cmp.Or(command.ShownSession(j.Result.SessionID), "-"), j.Result.Status}
		if c := j.Result.Counts; j.Result.BuildID != "" {
			row = append(row, c.Messages, c.NewMessages, c.Entries, c.NewEntries, c.AlignedEntries, c.ProvenEntries, c.Indexed)
		} else {
			row = append(row, "-", "-", "-", "-", "-", "-", "-") // The counts are unknown: it failed, or another run processes it.
		}
		return append(row, command.OneLine(filepath.Base(j.File), 40))
	})
	for _, j := range r.Sessions {
		note(b, j, len(r.Sessions) == 1)
	}
	r.notePassedOver(b)
	r.sayNext(b)
}

// sayNext ends the report of several sessions with their entries, and the command that finds them.
func (r ProcessReport) sayNext(b *strings.Builder) {
	entries, fresh, kept := 0, 0, 0
	for _, j := range r.Sessions {
		entries += j.Result.Counts.Entries
		switch {
		case j.Error != "":
		case j.Result.Status == schema.BuildUnchanged:
			kept++
		case j.Result.Status != schema.BatchBusy:
			fresh++
		}
	}
	if len(r.Sessions) < 2 || fresh+kept == 0 {
		return
	}
	found := command.Plural(entries, "entry", "entries")
	if fresh == 0 {
		found = "nothing new"
	}
	scope := r.Sessions[0].Input
	search := []string{"search", "…", "--project", scope.Project}
	if scope.User != "default" {
		search = append(search, "--user", scope.User)
	}
	command.Say(b, "%s, %s. Next: %s\n", command.Plural(len(r.Sessions), "session", "sessions"), found, build.Command(search...))
}

// note writes remarks about a job below the table.
func note(b *strings.Builder, j *progress.Job, alone bool) {
	c, see := j.Result.Counts, "; see starter builds show "+j.Result.BuildID
	if j.Result.Status == schema.BuildUnchanged { // A run that finds nothing new records no build.
		see = ""
	}
	if j.Error != "" {
		command.Say(b, "%s failed: %s\n", cmp.Or(command.ShownSession(j.Result.SessionID), j.File), command.OneLine(j.Error, command.MaxErrorLine))
	}
	if alone && j.Result.Status == schema.BuildEmpty {
		command.Say(b, "%s is empty: nothing to remember in %s\n", j.Result.SessionID, command.Plural(c.Messages, "message", "messages"))
	}
	if c.SkippedLines > 0 {
		command.Say(b, "%s: %s of the source had to be repaired or left out%s\n", j.Result.SessionID, command.Plural(c.SkippedLines, "line", "lines"), see)
	}
	if c.Redacted > 0 {
		command.Say(b, "%s: %s removed before anything was stored%s\n",
			command.ShownSession(j.Result.SessionID), command.Plural(c.Redacted, "secret or private passage was", "secrets or private passages were"), see)
	}
	if c.Quarantined > 0 {
		id := j.Result.BuildID
		command.Say(b, "%s: the model gave no whole answer to %s; see starter builds show %s\n", command.ShownSession(j.Result.SessionID), command.Plural(c.Quarantined, "window", "windows"), id)
		if open := c.Quarantined - c.GivenUp; open > 0 {
			command.Say(b, "  ask again about %d: starter builds retry %s\n", open, id)
		}
		if c.GivenUp > 0 {
			command.Say(b, "  ask once more about %d, too small to be asked about in parts: starter builds retry %s --force\n", c.GivenUp, id)
		}
	}
}
