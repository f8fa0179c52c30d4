package feed

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/activities/transcript"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

// importAll imports all sessions of a directory, or of a file that contains several. It starts a workflow, which continues
// without this program.
func importAll(ctx context.Context, a *command.App, o *ProcessOptions, path string) error {
	in, err := o.importOf(path)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("find path %q: %w", path, err)
	}
	w := progress.BatchWork{
		Input: in, Summary: "import " + command.OneLine(path, 60), Name: fmt.Sprintf("the import of %q", path), Unit: "sessions done",
		Scope: in.Source().Key().Scope, Again: build.Command(append(append([]string{"process"}, o.given()...), path)...),
	}
	if o.noWait {
		w.Busy = func(workflowID string) error {
			return command.Busy(fmt.Errorf("%q is being imported already, as workflow %s; without --no-wait, starter shows it", path, workflowID))
		}
	}
	run, err := w.Run(ctx, a, o.detach)
	if err != nil {
		return err
	}
	report := ProcessReport{Workflow: run.Workflow, Batch: run.Batch, Sessions: []*progress.Job{}, PassedOver: []passedOver{}, Verbose: o.verbose}
	if o.detach {
		return progress.PrintDetached(a, report, report.Workflow, w.Again)
	}
	report.add(run.Listed)
	unspool(a, report.Sessions)
	if len(report.Sessions) == 0 {
		return noTranscript(path, report.PassedOver)
	}
	return cmp.Or(a.Print(report, report.Print), outcome(report.Sessions))
}

// importOf returns the input of the workflow that imports the path.
func (o *ProcessOptions) importOf(path string) (schema.ImportSessionsInput, error) {
	p := o.Input
	in := schema.ImportSessionsInput{
		Format: p.Format, Project: p.Project, User: p.User, Agent: p.Agent, Date: p.Date, Flush: p.Flush, Notify: p.Notify,
		IncludeTools: p.IncludeTools, AtOnce: o.jobs, NoWait: o.noWait,
	}
	var err error
	if in.URI, err = transcript.FileURI(path); err != nil {
		return in, err
	}
	// Without a grant, as when its key can't be stored, the worker's roots decide.
	in.Grant, _ = transcript.Grant(o.sourceKey, in.Source())
	if err := in.Validate(); err != nil {
		return in, command.BadUsage(err)
	}
	return in, nil
}

// add adds the items of a batch with their outcomes, and the skipped files.
func (r *ProcessReport) add(listed batch.Report) {
	for _, item := range listed.Items {
		j := &progress.Job{File: item.Name, Format: item.Format, Input: item.Input, Refused: item.Refused != ""}
		j.Result.SessionID = item.Input.SessionID
		if o, ok := listed.Outcomes[item.Index]; ok {
			j.Result.BuildID, j.Result.Status, j.Result.Counts, j.Result.Usage = o.BuildID, o.Status, o.Counts, o.Usage
			j.Error = command.PlainWords(o.Error)
		}
		r.Sessions = append(r.Sessions, j)
	}
	for _, p := range listed.PassedOver {
		r.PassedOver = append(r.PassedOver, passedOver{p.Name, command.PlainWords(p.Reason)})
	}
}

// printManyJobs counts the sessions by status and lists the failed ones.
func printManyJobs(b *strings.Builder, r ProcessReport) {
	statuses := map[schema.BuildStatus]int{}
	counts := schema.BuildCounts{}
	var failed []passedOver
	for _, j := range r.Sessions {
		statuses[j.Result.Status]++
		counts.Messages += j.Result.Counts.Messages
		counts.NewMessages += j.Result.Counts.NewMessages
		counts.Entries += j.Result.Counts.Entries
		counts.NewEntries += j.Result.Counts.NewEntries
		counts.Quarantined += j.Result.Counts.Quarantined
		if j.Error != "" {
			failed = append(failed, passedOver{cmp.Or(j.File, j.Result.SessionID), j.Error})
		}
	}
	command.Say(b, "%s: %s\n%s (%d new), %s (%d new)\n", command.Plural(len(r.Sessions), "session", "sessions"), progress.StatusCounts(statuses),
		command.Plural(counts.Messages, "message", "messages"), counts.NewMessages, command.Plural(counts.Entries, "entry", "entries"), counts.NewEntries)
	if counts.Quarantined > 0 {
		command.Say(b, "the model gave no whole answer to %s; see starter builds list --status partial\n", command.Plural(counts.Quarantined, "window", "windows"))
	}
	if len(failed) > 0 {
		b.WriteString("\nfailed:\n")
		listFiles(b, failed)
	}
	r.notePassedOver(b)
	r.sayNext(b)
}

// notePassedOver counts the files that are no transcripts, or lists them.
func (r ProcessReport) notePassedOver(b *strings.Builder) {
	files := command.Plural(len(r.PassedOver), "file is not a transcript", "files are not transcripts")
	switch {
	case len(r.PassedOver) == 0:
	case r.Verbose:
		command.Say(b, "\n%s:\n", files)
		listFiles(b, r.PassedOver)
	default:
		command.Say(b, "\n%s; --verbose lists them\n", files)
	}
}

// listFiles lists files with reasons.
func listFiles(b *strings.Builder, of []passedOver) {
	for _, f := range of[:min(len(of), command.MaxListed)] {
		command.Say(b, "  %s: %s\n", f.File, command.OneLine(f.Reason, command.MaxErrorLine))
	}
	command.SayMore(b, "  ", len(of)-command.MaxListed)
}

// noTranscript returns an error that lists the directory's files, none of which is a transcript.
func noTranscript(dir string, passed []passedOver) error {
	const shown = 5
	var b strings.Builder
	for _, p := range passed[:min(shown, len(passed))] {
		command.Say(&b, "\n  %s: %s", p.File, command.OneLine(p.Reason, maxReasonShown))
	}
	if more := len(passed) - shown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return command.Usagef("directory %q holds no transcript (%s checked)%s", dir, command.Plural(len(passed), "file", "files"), b.String())
}
