package main

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
)

func (a *app) graduateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "graduate", Short: "evaluate a project's new memories now: repeats, contradictions, corrections and half-lives",
		Example: "starter graduate --project demo\n" +
			"starter graduate --project demo --apply",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the memories")
	apply := f.Bool("apply", false, "demote memories older than their half-life by one stage; without it, only list them")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		done, err := a.graduateProject(ctx, *project, *apply)
		if err != nil {
			return err
		}
		known := done.Sessions > 0
		if !known {
			if known, err = a.knows(ctx, *project); err != nil {
				return err
			}
		}
		return a.print(done, func(w io.Writer) error {
			if !known {
				_, err := io.WriteString(w, nothingKnown(*project)+"\n")
				return err
			}
			return printGraduated(w, *project, *apply, done)
		})
	})
}

// knows reports whether the project has memories.
func (a *app) knows(ctx context.Context, project string) (bool, error) {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	ids, err := entry.NewReader(conn).IDs(ctx, entry.InProject(project).Limit(1))
	return len(ids) > 0, err
}

func nothingKnown(project string) string {
	return "nothing is remembered of project " + unbroken(project) + "; starter health lists the projects"
}

// graduateProject requests passes until no session is pending, and then one that checks half-lives.
func (a *app) graduateProject(ctx context.Context, project string, apply bool) (all graduate.PassResult, err error) {
	in := graduate.PassInput{Project: project, Actor: actor()}
	for {
		in.At = time.Now().UTC()
		var one graduate.PassResult
		update := boundary.Update{Name: schema.UpdateGraduate, ID: uuid.NewString(), Arg: in}
		if err := a.send(ctx, update, &one); err != nil {
			return all, err
		}
		all = sumOfPasses(all, one, apply)
		if !one.More {
			if in.Demote {
				return all, nil
			}
			in.Demote, in.Apply = true, apply
		}
	}
}

// sumOfPasses adds the result of one more pass. Until demotions are applied, each pass reports all of them, so these are not
// summed.
func sumOfPasses(all, one graduate.PassResult, applied bool) graduate.PassResult {
	all.Sessions += one.Sessions
	all.Verified += one.Verified
	all.Certified += one.Certified
	all.Linked += one.Linked
	all.Superseded += one.Superseded
	all.Conflicts += one.Conflicts
	all.Decisions += one.Decisions
	if applied {
		all.Demoted += one.Demoted
		all.Falls = append(all.Falls, one.Falls...)
		return all
	}
	all.Demoted, all.Falls = one.Demoted, one.Falls
	return all
}

func printGraduated(w io.Writer, project string, applied bool, r graduate.PassResult) error {
	var b strings.Builder
	say(&b, "checked %s with new memories in project %s: %s\n", plural(r.Sessions, "session", "sessions"), project, passText(r))
	if r.Conflicts > 0 {
		say(&b, "list the conflicts: %s\n", inProject(project, "conflicts"))
	}
	switch {
	case r.Demoted == 0:
		b.WriteString("nothing is older than its half-life\n")
	case applied:
		say(&b, "%s demoted by one stage:\n",
			plural(r.Demoted, "memory older than its half-life was", "memories older than their half-life were"))
	default:
		say(&b, "%s:\n", plural(r.Demoted, "memory is older than its half-life", "memories are older than their half-life"))
	}
	if len(r.Falls) > 0 {
		t := newTable(&b, "entry", "title", "stage", "falls to", "because")
		for _, fall := range r.Falls {
			t.AppendRow([]any{short(fall.EntryID), oneLine(fall.Title, 60), fall.From, fall.To, oneLine(fall.Reason, 80)})
		}
		t.Render()
		if more := r.Demoted - len(r.Falls); more > 0 {
			say(&b, "and %d more\n", more)
		}
	}
	if r.Demoted > 0 && !applied {
		say(&b, "to demote them: %s\nto keep one as it is: %s\n",
			inProject(project, "graduate", "--apply"), inProject(project, "entry", "confirm", "ENTRY"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inProject returns the command line of a command in the project, for people to copy.
func inProject(project string, words ...string) string {
	if project != "default" {
		words = append(words, "--project="+project)
	}
	return build.Command(words...)
}

// passText describes the results of passes.
func passText(r graduate.PassResult) string {
	var done []string
	for _, each := range []struct {
		n         int
		one, many string
	}{
		{r.Verified, "memory verified", "memories verified"},
		{r.Certified, "memory certified", "memories certified"},
		{r.Linked, "memory repeats an older one", "memories repeat older ones"},
		{r.Superseded, "memory superseded by a correction", "memories superseded by corrections"},
		{r.Conflicts, "conflict found", "conflicts found"},
		{r.Decisions, "decision recorded", "decisions recorded"},
	} {
		if each.n > 0 {
			done = append(done, plural(each.n, each.one, each.many))
		}
	}
	return cmp.Or(strings.Join(done, ", "), "no changes")
}

// rule sends the command to the graduation of its project, waits until it is done, and prints the result for each item.
func (a *app) rule(ctx context.Context, c graduate.Command) error {
	c.RequestID, c.Actor, c.At = uuid.NewString(), actor(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return badUsage(err)
	}
	var result graduate.CommandResult
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	if err := a.send(ctx, update, &result, schema.ErrorGraduationRefused, schema.ErrorEntryNotFound); err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) error { return printRuled(w, result) })
}

// printRuled writes the changes of a command.
func printRuled(w io.Writer, r graduate.CommandResult) error {
	var b strings.Builder
	for _, c := range r.Changes {
		say(&b, "%s: %s\n", short(c.ID), shortIDs(c.Text))
	}
	switch {
	case r.MoreChanges > 0:
		say(&b, "and %s more\n", plural(r.MoreChanges, "change", "changes"))
	case len(r.Changes) == 0:
		b.WriteString("nothing to change\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
