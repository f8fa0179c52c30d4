package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

const (
	// maxTableRows is how many sessions are shown one by one. A report of more sessions counts them and lists the failed
	// ones.
	maxTableRows = 50
	// maxListed bounds each list of such a report.
	maxListed = 100
)

// importAll imports all sessions of a directory, or of a file that contains several. It starts a workflow, which continues
// without this program.
func (a *app) importAll(ctx context.Context, o *processOptions, path string) error {
	in, err := o.importOf(path)
	if err != nil {
		return err
	}
	c, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("find path %q: %w", path, err)
	}
	w := batchWork{
		input: in, summary: "import " + oneLine(path, 60), unit: "sessions done", scope: in.Source().Key().Scope,
		again: build.Command(append(append([]string{"process"}, o.given()...), path)...),
	}
	run, running, err := w.start(ctx, c)
	switch {
	case err != nil:
		return fmt.Errorf("start the import of %q: %w", path, err)
	case running && o.noWait:
		return busy(fmt.Errorf("%q is being imported already, as workflow %s; without --no-wait, starter shows it", path, run.GetID()))
	}
	report := processReport{Workflow: a.linkTo(run.GetID()), Sessions: []*job{}, PassedOver: []passedOver{}, verbose: o.verbose}
	if o.detach {
		return a.printDetached(report, report.Workflow, w.again)
	}
	result, err := a.watchBatch(ctx, c, w, run, running)
	if err != nil {
		return err
	}
	listed, err := a.readBatch(ctx, result.Batch)
	if err != nil {
		return fmt.Errorf("the import of %q has ended (%s), but its report can't be read: %w", path, statusCounts(result.Statuses), err)
	}
	report.Batch = result.Batch
	report.add(listed)
	a.unspool(report.Sessions)
	if len(report.Sessions) == 0 {
		return noTranscript(path, report.PassedOver)
	}
	return cmp.Or(a.print(report, report.print), outcome(report.Sessions))
}

// importOf returns the input of the workflow that imports the path.
func (o *processOptions) importOf(path string) (schema.ImportSessionsInput, error) {
	p := o.input
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
		return in, badUsage(err)
	}
	return in, nil
}

// add adds the items of a batch with their outcomes, and the skipped files.
func (r *processReport) add(listed batch.Report) {
	for _, item := range listed.Items {
		j := &job{File: item.Name, Format: item.Format, Input: item.Input, refused: item.Refused != ""}
		j.Result.SessionID = item.Input.SessionID
		if o, ok := listed.Outcomes[item.Index]; ok {
			j.Result.BuildID, j.Result.Status, j.Result.Counts, j.Result.Usage = o.BuildID, o.Status, o.Counts, o.Usage
			j.Error = plainWords(o.Error)
		}
		r.Sessions = append(r.Sessions, j)
	}
	for _, p := range listed.PassedOver {
		r.PassedOver = append(r.PassedOver, passedOver{p.Name, plainWords(p.Reason)})
	}
}

// printManyJobs counts the sessions by status and lists the failed ones.
func printManyJobs(w io.Writer, r processReport) error {
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
	var b strings.Builder
	say(&b, "%s: %s\n%s (%d new), %s (%d new)\n", plural(len(r.Sessions), "session", "sessions"), statusCounts(statuses),
		plural(counts.Messages, "message", "messages"), counts.NewMessages, plural(counts.Entries, "entry", "entries"), counts.NewEntries)
	if counts.Quarantined > 0 {
		say(&b, "the model gave no whole answer to %s; see starter builds list --status partial\n", plural(counts.Quarantined, "window", "windows"))
	}
	if len(failed) > 0 {
		b.WriteString("\nfailed:\n")
		listFiles(&b, failed)
	}
	r.notePassedOver(&b)
	r.sayNext(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// notePassedOver counts the files that are no transcripts, or lists them.
func (r processReport) notePassedOver(b *strings.Builder) {
	files := plural(len(r.PassedOver), "file is not a transcript", "files are not transcripts")
	switch {
	case len(r.PassedOver) == 0:
	case r.verbose:
		say(b, "\n%s:\n", files)
		listFiles(b, r.PassedOver)
	default:
		say(b, "\n%s; --verbose lists them\n", files)
	}
}

// listFiles lists files with reasons.
func listFiles(b *strings.Builder, of []passedOver) {
	for _, f := range of[:min(len(of), maxListed)] {
		say(b, "  %s: %s\n", f.File, oneLine(f.Reason, maxErrorLine))
	}
	if more := len(of) - maxListed; more > 0 {
		say(b, "  and %d more: --output json lists all\n", more)
	}
}

// noTranscript returns an error that lists the directory's files, none of which is a transcript.
func noTranscript(dir string, passed []passedOver) error {
	const shown = 5
	var b strings.Builder
	for _, p := range passed[:min(shown, len(passed))] {
		say(&b, "\n  %s: %s", p.File, oneLine(p.Reason, maxReasonShown))
	}
	if more := len(passed) - shown; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return usagef("directory %q holds no transcript (%s checked)%s", dir, plural(len(passed), "file", "files"), b.String())
}

// givenFlags returns the own flags of a command that were given, except for some.
func givenFlags(f *pflag.FlagSet, except ...string) (given []string) {
	f.VisitAll(func(flag *pflag.Flag) {
		for _, name := range except {
			if flag.Name == name {
				return
			}
		}
		if flag.Changed && flag.Annotations[isSetting] == nil {
			given = append(given, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return given
}
