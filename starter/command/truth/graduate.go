package truth

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
)

func graduateCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "graduate", Short: "evaluate a project's new memories now: repeats, contradictions, corrections and half-lives",
		Example: "starter graduate --project demo\n" +
			"starter graduate --project demo --apply",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the memories")
	apply := f.Bool("apply", false, "demote memories older than their half-life by one stage; without it, only list them")
	a.Answers(cmd, graduate.PassResult{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		done, err := graduateProject(ctx, a, *project, *apply)
		if err != nil {
			return err
		}
		known := done.Sessions > 0
		if !known {
			if known, err = knows(ctx, a, *project); err != nil {
				return err
			}
		}
		return a.Print(done, func(b *strings.Builder) {
			if !known {
				fmt.Fprintln(b, nothingKnown(*project))
				return
			}
			printGraduated(b, *project, *apply, done)
		})
	})
}

// knows reports whether the project has memories.
func knows(ctx context.Context, a *command.App, project string) (bool, error) {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return false, err
	}
	return entry.NewReader(conn).Any(ctx, project)
}

func nothingKnown(project string) string {
	return "nothing is remembered of project " + command.Unbroken(project) + "; starter health lists the projects"
}

// graduateProject requests passes until no session is pending, and then one that checks half-lives.
func graduateProject(ctx context.Context, a *command.App, project string, apply bool) (all graduate.PassResult, err error) {
	in := graduate.PassInput{Project: project, Actor: a.Actor()}
	for {
		in.At = time.Now().UTC()
		var one graduate.PassResult
		update := boundary.Update{Name: schema.UpdateGraduate, ID: uuid.NewString(), Arg: in}
		if err := a.Send(ctx, update, &one); err != nil {
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

func printGraduated(b *strings.Builder, project string, applied bool, r graduate.PassResult) {
	command.Say(b, "checked %s with new memories in project %s: %s\n", command.Plural(r.Sessions, "session", "sessions"), project, passText(r))
	if r.Conflicts > 0 {
		command.Say(b, "list the conflicts: %s\n", InProject(project, "conflicts"))
	}
	switch {
	case r.Demoted == 0:
		b.WriteString("nothing is older than its half-life\n")
	case applied:
		command.Say(b, "%s demoted by one stage:\n",
			command.Plural(r.Demoted, "memory older than its half-life was", "memories older than their half-life were"))
	default:
		command.Say(b, "%s:\n", command.Plural(r.Demoted, "memory is older than its half-life", "memories are older than their half-life"))
	}
	if len(r.Falls) > 0 {
		command.Table(b, "entry, title, stage, falls to, because", r.Falls, func(fall graduate.Fall) []any {
			return []any{command.ShortID(fall.EntryID), command.OneLine(fall.Title, 60), fall.From, fall.To, command.OneLine(fall.Reason, 80)}
		})
		if more := r.Demoted - len(r.Falls); more > 0 {
			command.Say(b, "and %d more\n", more)
		}
	}
	if r.Demoted > 0 && !applied {
		command.Say(b, "to demote them: %s\nto keep one as it is: %s\n",
			InProject(project, "graduate", "--apply"), InProject(project, "entry", "confirm", "ENTRY"))
	}
}

// InProject returns the command line of a command in the project, for people to copy.
func InProject(project string, words ...string) string {
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
			done = append(done, command.Plural(each.n, each.one, each.many))
		}
	}
	return cmp.Or(strings.Join(done, ", "), "no changes")
}
