package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/transcript"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
	memory "axiommind/starter/client"
	"axiommind/worker/statedir"
)

// statusStarted is the status of a session with --detach.
const statusStarted schema.BuildStatus = "started"

// processOptions are the flags of process.
type processOptions struct {
	input          schema.ProcessSessionInput
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

func (a *app) processCommand() *cobra.Command {
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
	o := &processOptions{}
	f.StringVar(&o.input.Project, "project", "default", "project the memories belong to")
	f.StringVar(&o.input.User, "user", "default", "user the memories belong to")
	f.StringVar(&o.input.Agent, "agent", "", "agent the memories belong to")
	f.StringVar(&o.input.SessionID, "session", "", "session id (default: the transcript's own)")
	f.StringVar(&o.input.Format, "format", "", "transcript format (default: detected from the content)")
	f.StringVar(&o.input.Date, "date", "", "date of the session (default: the transcript's)")
	f.BoolVar(&o.input.IncludeTools, "include-tools", false, "extract from tool calls and their results too")
	f.StringVar(&o.flush, "flush-reason", flushEnd, "why the session is given, for its heading in the daily record:\n"+strings.Join(flushReasons(), ", "))
	f.StringVar(&o.input.Notify, "notify", "", "id of a running workflow that gets the summary as the signal "+schema.SignalSummary)
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	f.BoolVar(&o.noWait, "no-wait", false, "skip a session that is being processed already, and exit with 3")
	f.BoolVar(&o.verbose, "verbose", false, "list the files of a directory that are not transcripts")
	f.IntVar(&o.jobs, "jobs", schema.DefaultAtOnce, "sessions at a time, of a directory or a file with several")
	o.given = func() []string { return givenFlags(f, "detach", "no-wait", "verbose", "output") }
	a.complete(cmd, "format", fixed(formatNames()...))
	a.complete(cmd, "flush-reason", fixed(flushReasons()...))
	return a.online(cmd, func(ctx context.Context, args []string) error { return a.process(ctx, o, args[0]) })
}

// job is one session to process and its result.
type job struct {
	File   string                      `json:"file"`
	Input  schema.ProcessSessionInput  `json:"-"`
	Format string                      `json:"format"`
	Result schema.ProcessSessionResult `json:"result"`
	// Error is the reason why the session failed.
	Error string `json:"error,omitempty"`
	// refused is true if no workflow was started for the session.
	refused bool
	// signals are the signals in its last messages.
	signals memory.Signals
}

// processReport is the result for all sessions.
type processReport struct {
	// Workflow processes the session or, as a Batch, several sessions. It is empty if none was started.
	Workflow workflowLink `json:"workflow,omitzero"`
	Batch    string       `json:"batch,omitempty"`
	Sessions []*job       `json:"sessions"`
	// PassedOver are the files of a directory that are no transcripts.
	PassedOver []passedOver `json:"passed_over"`
	// verbose lists them in the text output, too.
	verbose bool
}

type passedOver struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// print writes the report for people.
func (r processReport) print(w io.Writer) error {
	if len(r.Sessions) > maxTableRows {
		return printManyJobs(w, r)
	}
	return printJobs(w, r)
}

// refuse marks a job as failed before it was started.
func (j *job) refuse(reason string) {
	j.Result.SessionID, j.Result.Status, j.Error, j.refused = j.Input.SessionID, schema.BuildFailed, reason, true
}

func (a *app) process(ctx context.Context, o *processOptions, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	o.sourceKey = a.cfg.State.Path(statedir.SourceKey)
	if path == "-" {
		copies, err := a.spool(ctx, o)
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
		return usagef("read %q: %w", path, errors.Unwrap(err))
	case info.IsDir() && o.input.SessionID != "":
		return usagef("--session names one session, and %q is a directory: give the file that holds it", path)
	case info.IsDir():
		return a.importAll(ctx, o, path)
	}
	jobs, err := fileJobs(ctx, o, path)
	switch {
	case err != nil:
		return badUsage(err)
	case len(jobs) > 1:
		return a.importAll(ctx, o, path)
	case jobs[0].Input.Key().Validate() != nil:
		return usagef("%s; give another one with --session", jobs[0].Error)
	}
	if err := a.processAlone(ctx, o, jobs[0]); err != nil {
		return err
	}
	a.unspool(jobs)
	report := processReport{Sessions: jobs, PassedOver: []passedOver{}}
	if !jobs[0].refused {
		report.Workflow = a.linkTo(jobs[0].Input.Key().WorkflowID())
	}
	return cmp.Or(a.print(report, report.print), outcome(jobs))
}

// outcome returns the command's error if a session failed or was skipped.
func outcome(jobs []*job) error {
	failed, refused, active := 0, 0, 0
	for _, j := range jobs {
		switch {
		case j.Error != "":
			failed++
			if j.refused {
				refused++
			}
		case j.Result.Status == schema.BatchBusy:
			active++
		}
	}
	switch total := plural(len(jobs), "session", "sessions"); {
	case failed > 0 && failed == refused: // These sessions have no builds.
		return fmt.Errorf("%d of %s failed: none of these was started", failed, total)
	case failed > 0:
		return fmt.Errorf("%d of %s failed; see starter builds list --status failed", failed, total)
	case active > 0:
		return busy(fmt.Errorf("%d of %s left alone: being processed already; "+
			"without --no-wait, starter waits and then processes new messages", active, total))
	default:
		return nil
	}
}

// processAlone processes the only session of a file.
func (a *app) processAlone(ctx context.Context, o *processOptions, j *job) error {
	if j.refused {
		return nil
	}
	temporalClient, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	bar := a.newProgress(1, "sessions done")
	defer bar.finish()
	if err := processOne(ctx, temporalClient, o, j, bar); err != nil {
		return err
	}
	bar.done()
	return nil
}

// check validates the options before anything is read.
func (o *processOptions) check() error {
	if o.jobs < 1 || o.jobs > schema.MaxAtOnce {
		return usagef("--jobs %d: want 1 to %d", o.jobs, schema.MaxAtOnce)
	}
	if o.input.Format != "" {
		if err := oneOf("format", strings.ToLower(o.input.Format), formatNames()); err != nil {
			return err
		}
	}
	if o.input.Date != "" {
		if _, err := transcript.ParseDate(o.input.Date); err != nil {
			return usagef("--%w", err)
		}
	}
	if err := oneOf("flush-reason", o.flush, flushReasons()); err != nil {
		return err
	}
	if o.flush != flushEnd {
		o.input.Flush = schema.FlushReason(o.flush)
	}
	if err := schema.CheckWorkflowID(o.input.Notify); err != nil {
		return usagef("--notify: %w", err)
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
func fileJobs(ctx context.Context, o *processOptions, file string) ([]*job, error) {
	uri, err := transcript.FileURI(file)
	if err != nil {
		return nil, err
	}
	sessions, source, err := transcript.ReadSource(ctx, uri, o.input.Format)
	if err != nil {
		return nil, err
	}
	jobs := make([]*job, 0, len(sessions))
	for _, s := range sessions {
		j := &job{File: file, Input: o.input, Format: source.Format, signals: memory.FindSignals(s.Messages)}
		j.Input.URI = uri
		j.Input.SessionID = cmp.Or(o.input.SessionID, s.ID)
		shown := j.Input.SessionID
		redact.Names(&shown)
		if err := j.Input.Key().Validate(); err != nil {
			j.refuse(err.Error())
		} else if shown != j.Input.SessionID {
			j.Input.SessionID = shown
			j.refuse(holdsCredential(shown))
		} else if reason := transcript.LeftOut(s, source.Format, o.input.Format, func() (schema.Source, error) {
			_, source, err := transcript.ReadSource(ctx, uri, "")
			return source, err
		}); reason != "" {
			j.refuse(reason)
		}
		// Without a grant, as when its key can't be stored, the worker's roots decide.
		j.Input.Grant, _ = transcript.Grant(o.sourceKey, j.Input)
		jobs = append(jobs, j)
	}
	if o.input.SessionID != "" && len(jobs) > 1 {
		return pick(jobs, sessions, o.input.SessionID)
	}
	return jobs, nil
}

// holdsCredential explains the refusal of a session whose id contained a credential. The id has been redacted.
func holdsCredential(id string) string {
	return fmt.Sprintf("the session's id %q holds a credential, and ids are stored as they are: name another one by --session", id)
}

// pick returns the session of a file that --session selects.
func pick(jobs []*job, sessions []*transcript.Session, id string) ([]*job, error) {
	for i, s := range sessions {
		if s.ID == id {
			return jobs[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("%q holds %d sessions, none with the id %q", jobs[0].File, len(jobs), id)
}

// processOne starts the session's workflow and waits for it. A failure is stored in the job. The returned error stops all
// jobs: Temporal is unreachable, or the command was interrupted.
func processOne(ctx context.Context, c client.Client, o *processOptions, j *job, bar *progress) error {
	j.Result.SessionID = j.Input.SessionID
	w := sessionWork{
		SessionKey: j.Input.Key(), workflow: schema.WorkflowProcessSession, summary: "process session " + j.Input.SessionID, input: j.Input,
	}
	run, err := w.start(ctx, c, w.WorkflowID())
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		if o.noWait {
			j.Result.Status = schema.BatchBusy
			return nil
		}
		bar.printOnce(fmt.Sprintf("%s: is being processed already; new messages follow after that", j.Input.SessionID))
		run, err = w.startAfter(ctx, c)
	}
	switch {
	case err != nil && (ctx.Err() != nil || away(err)):
		return fmt.Errorf("start session %q: %w", j.Input.SessionID, err)
	case err != nil:
		j.fail(fmt.Sprintf("it can't be started: %v", err))
		return nil
	case o.detach:
		j.Result.Status = statusStarted
		return nil
	}
	stop := bar.watch(ctx, c, w.WorkflowID(), j)
	err = run.Get(ctx, &j.Result)
	stop()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped waiting: %w; the session goes on as workflow %s", ctx.Err(), run.GetID())
		}
		j.fail(failureText(err))
	}
	return nil
}

func (j *job) fail(reason string) {
	j.Result.SessionID, j.Result.Status, j.Error = j.Input.SessionID, schema.BuildFailed, reason
}

// away reports whether the error means that Temporal is unreachable.
func away(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &late)
}

// failureText returns the message of the failure itself, without the layers around it.
func failureText(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return plainWords(application.Message())
	}
	return reason(err)
}

// maxReasonShown bounds the reason why a file is skipped. There may be many files.
const maxReasonShown = 120

func printJobs(w io.Writer, r processReport) error {
	t := newTable(w, "session", "status", "messages", "new", "entries", "new", "aligned", "proven", "vectors", "file")
	t.SetColumnConfigs(rightAligned(3, 9))
	for _, j := range r.Sessions {
		row := []any{cmp.Or(shownSession(j.Result.SessionID), "-"), j.Result.Status}
		if c := j.Result.Counts; j.Result.BuildID != "" {
			row = append(row, c.Messages, c.NewMessages, c.Entries, c.NewEntries, c.AlignedEntries, c.ProvenEntries, c.Indexed)
		} else {
			row = append(row, "-", "-", "-", "-", "-", "-", "-") // The counts are unknown: it failed, or another run processes it.
		}
		t.AppendRow(append(row, oneLine(filepath.Base(j.File), 40)))
	}
	t.Render()
	var b strings.Builder
	for _, j := range r.Sessions {
		note(&b, j, len(r.Sessions) == 1)
	}
	r.notePassedOver(&b)
	r.sayNext(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// sayNext ends the report of several sessions with their entries, and the command that finds them.
func (r processReport) sayNext(b *strings.Builder) {
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
	found := plural(entries, "entry", "entries")
	if fresh == 0 {
		found = "nothing new"
	}
	scope := r.Sessions[0].Input
	search := []string{"search", "…", "--project", scope.Project}
	if scope.User != "default" {
		search = append(search, "--user", scope.User)
	}
	say(b, "%s, %s. Next: %s\n", plural(len(r.Sessions), "session", "sessions"), found, build.Command(search...))
}

// note writes remarks about a job below the table.
func note(b *strings.Builder, j *job, alone bool) {
	c, see := j.Result.Counts, "; see starter builds show "+j.Result.BuildID
	if j.Result.Status == schema.BuildUnchanged { // A run that finds nothing new records no build.
		see = ""
	}
	if j.Error != "" {
		say(b, "%s failed: %s\n", cmp.Or(shownSession(j.Result.SessionID), j.File), oneLine(j.Error, maxErrorLine))
	}
	if alone && j.Result.Status == schema.BuildEmpty {
		say(b, "%s is empty: nothing to remember in %s\n", j.Result.SessionID, plural(c.Messages, "message", "messages"))
	}
	if c.SkippedLines > 0 {
		say(b, "%s: %s of the source had to be repaired or left out%s\n", j.Result.SessionID, plural(c.SkippedLines, "line", "lines"), see)
	}
	if c.Redacted > 0 {
		say(b, "%s: %s removed before anything was stored%s\n",
			shownSession(j.Result.SessionID), plural(c.Redacted, "secret or private passage was", "secrets or private passages were"), see)
	}
	if c.Quarantined > 0 {
		id := j.Result.BuildID
		say(b, "%s: the model gave no whole answer to %s; see starter builds show %s\n", shownSession(j.Result.SessionID), plural(c.Quarantined, "window", "windows"), id)
		if open := c.Quarantined - c.GivenUp; open > 0 {
			say(b, "  ask again about %d: starter builds retry %s\n", open, id)
		}
		if c.GivenUp > 0 {
			say(b, "  ask once more about %d, too small to be asked about in parts: starter builds retry %s --force\n", c.GivenUp, id)
		}
	}
}
