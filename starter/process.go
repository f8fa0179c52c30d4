package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/transcript"
	"axiommind/schema"
	"axiommind/worker/service"
)

// statusAlreadyRunning is reported for a session that another run is processing.
const statusAlreadyRunning schema.BuildStatus = "already running"

// statusStarted is reported for a session with --detach.
const statusStarted schema.BuildStatus = "started"

type processOptions struct {
	input          schema.ProcessSessionInput
	flush          string
	detach, noWait bool
	jobs           int
}

func (a *app) processCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &processOptions{}
	f.StringVar(&o.input.Project, "project", "default", "project the memories belong to")
	f.StringVar(&o.input.User, "user", "default", "user the memories belong to")
	f.StringVar(&o.input.Agent, "agent", "", "agent the memories belong to")
	f.StringVar(&o.input.SessionID, "session", "", "session id (default: the transcript's own)")
	f.StringVar(&o.input.Format, "format", "", "transcript format (default: told by the content)")
	f.StringVar(&o.input.Date, "date", "", "when the session took place (default: told by the transcript)")
	f.BoolVar(&o.input.IncludeTools, "include-tools", false, "extract from tool calls and their results too")
	f.StringVar(&o.flush, "flush-reason", flushEnd, "why the session is given, for its heading in the daily record:\n"+strings.Join(flushReasons(), ", "))
	f.StringVar(&o.input.Notify, "notify", "", "id of a running workflow that gets the summary as the signal "+schema.SignalSummary)
	f.BoolVar(&o.detach, "detach", false, "start and do not wait")
	f.BoolVar(&o.noWait, "no-wait", false, "leave a session alone that is being processed already, and exit with 3")
	f.IntVar(&o.jobs, "jobs", 8, "sessions at a time")
	return func(ctx context.Context, args []string) error { return a.process(ctx, o, args[0]) }
}

// job is one session to process and its result.
type job struct {
	File   string                      `json:"file"`
	Input  schema.ProcessSessionInput  `json:"-"`
	Format string                      `json:"format"`
	Result schema.ProcessSessionResult `json:"result"`
	// Error says why the session failed, or why the file was skipped.
	Error string `json:"error,omitempty"`
	// refused is true when nothing was started for it.
	refused bool
}

// refuse marks a job as failed before it was started. The other jobs go on.
func (j *job) refuse(reason string) *job {
	j.Result.SessionID, j.Result.Status, j.Error, j.refused = j.Input.SessionID, schema.BuildFailed, reason, true
	return j
}

func (a *app) process(ctx context.Context, o *processOptions, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	jobs, passed, err := a.findJobs(ctx, o, path)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(jobs, func(j *job) bool { return !j.refused }) {
		if err := a.processAll(ctx, o, jobs); err != nil {
			return err
		}
	}
	if err := a.print(append(jobs, passed...), func(w io.Writer) error { return printJobs(w, jobs, passed) }); err != nil {
		return err
	}
	return outcome(jobs)
}

// outcome is the error of the command if a session failed or was left alone.
func outcome(jobs []*job) error {
	failed, busy := 0, 0
	for _, j := range jobs {
		switch {
		case j.Error != "":
			failed++
		case j.Result.Status == statusAlreadyRunning:
			busy++
		}
	}
	switch total := plural(len(jobs), "session", "sessions"); {
	case failed > 0:
		return fmt.Errorf("%d of %s failed; see starter builds list", failed, total)
	case busy > 0:
		return busyError{fmt.Errorf("%d of %s left alone: being processed already; "+
			"without --no-wait, starter waits and then processes what is new", busy, total)}
	default:
		return nil
	}
}

// processAll processes the jobs, several sessions at a time.
func (a *app) processAll(ctx context.Context, o *processOptions, jobs []*job) error {
	temporalClient, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	bar := a.newProgress(len(jobs), "sessions done")
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(o.jobs)
	for _, same := range bySession(jobs) {
		group.Go(func() error {
			for _, j := range same {
				if !j.refused {
					if err := a.processOne(groupCtx, temporalClient, o, j, bar); err != nil {
						return err
					}
				}
				bar.done()
			}
			return nil
		})
	}
	err = group.Wait()
	bar.finish()
	return err
}

// bySession groups jobs of the same session, which must run one after the other. Groups are in the order of their
// first jobs.
func bySession(jobs []*job) [][]*job {
	var groups [][]*job
	at := map[string]int{}
	for _, j := range jobs {
		i, ok := at[j.Input.SessionID]
		if !ok {
			i = len(groups)
			at[j.Input.SessionID] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], j)
	}
	return groups
}

// check refuses wrong options before anything is read.
func (o *processOptions) check() error {
	if o.jobs < 1 {
		return usagef("--jobs %d: want at least 1", o.jobs)
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

// flushEnd is how --flush-reason calls the end of a session.
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

// findJobs lists the sessions of the path. In a directory, files that are not transcripts are skipped. A file that
// is named must be a transcript.
func (a *app) findJobs(ctx context.Context, o *processOptions, path string) (jobs, passed []*job, err error) {
	if path == "-" {
		if path, err = a.spool(); err != nil {
			return nil, nil, err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, usagef("read %q: %w", path, errors.Unwrap(err))
	}
	if !info.IsDir() {
		jobs, err = fileJobs(ctx, o, path)
		switch {
		case err != nil:
			return nil, nil, usageError{err}
		case len(jobs) == 1 && jobs[0].Input.Key().Validate() != nil:
			return nil, nil, usagef("%s; give another one with --session", jobs[0].Error)
		}
		return jobs, nil, nil
	}
	found, err := walk(path)
	if err != nil {
		return nil, nil, usagef("read directory %q: %w", path, cmp.Or(errors.Unwrap(err), err))
	}
	bar := a.newProgress(len(found.files), "files read")
	defer bar.finish()
	bar.describe("reading " + oneLine(filepath.Base(path), 40))
	jobs, passed = found.unreadable, found.passed
	for _, file := range found.files {
		bar.done()
		of, err := fileJobs(ctx, o, file)
		switch {
		case errors.Is(err, transcript.ErrUnknownFormat), errors.Is(err, transcript.ErrNotTranscript):
			passed = append(passed, &job{File: file, Error: reasonOf(err, file)})
		case err != nil:
			jobs = append(jobs, (&job{File: file}).refuse(reasonOf(err, file)))
		}
		jobs = append(jobs, of...)
	}
	if len(jobs) == 0 {
		return nil, nil, noTranscript(path, passed)
	}
	if o.input.SessionID != "" && len(jobs) > 1 {
		return nil, nil, usagef("--session names one session, but %q holds %d", path, len(jobs))
	}
	return jobs, passed, nil
}

// noTranscript says what a directory holds instead of transcripts.
func noTranscript(dir string, passed []*job) error {
	const shown = 5
	var b strings.Builder
	for _, j := range passed[:min(shown, len(passed))] {
		say(&b, "\n  %s: %s", j.File, oneLine(j.Error, 120))
	}
	if more := len(passed) - shown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return usagef("directory %q holds no transcript (%s looked at)%s", dir, plural(len(passed), "file", "files"), b.String())
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
		j := &job{File: file, Input: o.input, Format: source.Format}
		j.Input.URI = uri
		j.Input.SessionID = cmp.Or(o.input.SessionID, s.ID)
		if err := j.Input.Key().Validate(); err != nil {
			j.refuse(err.Error())
		} else if reason := leftOut(ctx, o, j, s); reason != "" {
			j.refuse(reason)
		}
		// Without a grant, as where there is no place for its key, the worker's roots decide.
		j.Input.Grant, _ = transcript.Grant(service.SourceKeyFile(), j.Input)
		jobs = append(jobs, j)
	}
	if o.input.SessionID != "" && len(jobs) > 1 {
		return pick(jobs, sessions, o.input.SessionID)
	}
	return jobs, nil
}

// leftOut says why a source that is not empty gave no message: every line was skipped, or --format is wrong. It is
// empty when nothing is wrong.
func leftOut(ctx context.Context, o *processOptions, j *job, s *transcript.Session) string {
	switch {
	case len(s.Messages) > 0 || j.Format == "":
		return ""
	case len(s.Skipped) > 0:
		return fmt.Sprintf("nothing of it can be read as %s; line %d: %s", j.Format, s.Skipped[0].Line, s.Skipped[0].Reason)
	case o.input.Format == "":
		return ""
	}
	_, source, err := transcript.ReadSource(ctx, j.Input.URI, "")
	switch {
	case err != nil || source.Format == "":
		return fmt.Sprintf("nothing of it can be read as %s", j.Format)
	case source.Format != j.Format:
		return fmt.Sprintf("nothing of it can be read as %s: it looks like %s", j.Format, source.Format)
	}
	return ""
}

// pick returns the one session of a file that --session names.
func pick(jobs []*job, sessions []*transcript.Session, id string) ([]*job, error) {
	for i, s := range sessions {
		if s.ID == id {
			return jobs[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("%q holds %d sessions, none with the id %q", jobs[0].File, len(jobs), id)
}

// processOne starts the session's workflow and waits for it. A failure is stored in the job. The returned error
// stops all jobs: Temporal can't be reached, or the command was interrupted.
func (a *app) processOne(ctx context.Context, c client.Client, o *processOptions, j *job, bar *progress) error {
	j.Result.SessionID = j.Input.SessionID
	w := sessionWork{
		SessionKey: j.Input.Key(), workflow: schema.WorkflowProcessSession, summary: "process session " + j.Input.SessionID, input: j.Input,
	}
	run, err := w.start(ctx, c, w.WorkflowID())
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		if o.noWait {
			j.Result.Status = statusAlreadyRunning
			return nil
		}
		bar.tell(fmt.Sprintf("%s: is being processed already; what is new follows after that", j.Input.SessionID))
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

// away reports whether the error means that Temporal could not be reached.
func away(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &late)
}

// failureText is the message of the failure itself, without the layers around it.
func failureText(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return plainWords(application.Message())
	}
	return reason(err)
}

func printJobs(w io.Writer, jobs, passed []*job) error {
	t := newTable(w, "session", "status", "messages", "new", "entries", "new", "aligned", "proven", "vectors", "file")
	t.SetColumnConfigs(rightAligned(3, 9))
	for _, j := range jobs {
		row := []any{cmp.Or(shownSession(j.Result.SessionID), "-"), j.Result.Status}
		if c := j.Result.Counts; j.Result.BuildID != "" {
			row = append(row, c.Messages, c.NewMessages, c.Entries, c.NewEntries, c.AlignedEntries, c.ProvenEntries, c.Indexed)
		} else {
			row = append(row, "-", "-", "-", "-", "-", "-", "-") // Nothing is known of it: it failed, or others do it.
		}
		t.AppendRow(append(row, oneLine(filepath.Base(j.File), 40)))
	}
	t.Render()
	var b strings.Builder
	for _, j := range jobs {
		note(&b, j, len(jobs) == 1)
	}
	if len(passed) > 0 {
		say(&b, "\npassed over %s:\n", plural(len(passed), "file", "files"))
	}
	for _, j := range passed {
		say(&b, "  %s: %s\n", j.File, oneLine(j.Error, 120))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// note writes remarks about a job below the table.
func note(b *strings.Builder, j *job, alone bool) {
	c := j.Result.Counts
	if j.Error != "" {
		say(b, "%s failed: %s\n", cmp.Or(j.Result.SessionID, j.File), j.Error)
	}
	if alone && j.Result.Status == schema.BuildEmpty {
		say(b, "%s is empty: nothing to remember in %s\n", j.Result.SessionID, plural(c.Messages, "message", "messages"))
	}
	if c.SkippedLines > 0 {
		say(b, "%s: %s of the source had to be mended or left out; see starter builds show %s\n",
			j.Result.SessionID, plural(c.SkippedLines, "line", "lines"), j.Result.BuildID)
	}
	if c.Quarantined > 0 {
		say(b, "%s: the model gave no whole answer to %s; process it again to ask again; see starter builds show %s\n",
			j.Result.SessionID, plural(c.Quarantined, "window", "windows"), j.Result.BuildID)
	}
}
