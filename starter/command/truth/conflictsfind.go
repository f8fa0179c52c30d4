package truth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// defaultPairs is how many pairs a model judges by default: five requests.
const defaultPairs = 5 * graduate.MaxPairs

func conflictsFindCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "find", Short: "ask the worker's model for contradictions that the rule can't find; it costs money",
		Example: "starter conflicts find --project demo\n" +
			"starter conflicts find --project demo --user ann --limit 20",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the memories")
	user := f.String("user", "", "memories of one user (default: of all users)")
	limit := f.Int("limit", defaultPairs, "how many pairs to ask the model about at most, those with the latest memories first")
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if *limit < 1 || *limit > command.MaxPage {
			return command.Usagef("--limit %d: want 1 to %d", *limit, command.MaxPage)
		}
		in := graduate.FindInput{Project: *project, Actor: a.Actor(), Limit: *limit}
		if f.Changed("user") {
			in.User = user
		}
		temporalClient, err := a.Temporal(ctx)
		if err != nil {
			return err
		}
		report := foundReport{Pairs: []graduate.FoundPair{}}
		err = report.findAll(ctx, a, temporalClient, in)
		if err != nil && len(report.Pairs) == 0 {
			return err
		}
		return errors.Join(a.Print(report, func(b *strings.Builder) { report.Print(b, *project) }), err)
	})
}

// foundReport contains a model's judgments of pairs of memories.
type foundReport struct {
	Model      string               `json:"model,omitempty"`
	Found      int                  `json:"found"`
	Compatible int                  `json:"compatible"`
	Unclear    int                  `json:"unclear"`
	LeftOut    int                  `json:"left_out"`
	Dropped    int                  `json:"dropped"`
	Pairs      []graduate.FoundPair `json:"pairs"`
	More       bool                 `json:"more,omitempty"`
	Usage      schema.Usage         `json:"usage"`
}

// findAll sends requests until the limit is reached or no pairs are left. A request that is too long for the model is split
// into smaller ones.
func (r *foundReport) findAll(ctx context.Context, a *command.App, c client.Client, in graduate.FindInput) error {
	most := graduate.MaxPairs
	for left := in.Limit; left > 0; {
		one := in
		one.Limit, one.RequestID, one.At = min(left, most), a.NewID(), time.Now().UTC()
		var result graduate.FindResult
		err := boundary.Update{Name: schema.UpdateFind, ID: one.RequestID, Arg: one}.Send(ctx, c, &result)
		if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			if application.Type() == schema.ErrorModelTooLong && one.Limit > 1 {
				most = one.Limit / 2
				continue
			}
			err = errors.New(command.FailureText(err))
			switch application.Type() {
			case schema.ErrorInvalidInput, schema.ErrorGraduationRefused:
				err = command.BadUsage(err)
			}
		}
		if err != nil {
			return err
		}
		r.Add(result)
		left -= len(result.Pairs)
		if len(result.Pairs) == 0 || !result.More {
			return nil
		}
	}
	return nil
}

func (r *foundReport) Add(one graduate.FindResult) {
	r.Model, r.More = one.Model, one.More
	r.Found += one.Found
	r.Compatible += one.Compatible
	r.Unclear += one.Unclear
	r.LeftOut += one.LeftOut
	r.Dropped += one.Dropped
	r.Pairs = append(r.Pairs, one.Pairs...)
	r.Usage.Add(one.Usage)
}

// Print lists the conflicts that were found and counts the other pairs.
func (r foundReport) Print(b *strings.Builder, project string) {
	for _, p := range r.Pairs {
		if p.ConflictID == "" {
			continue
		}
		command.Say(b, "%s  %s\n          %s  %s\n          %s  %s\n", command.ShortID(p.ConflictID), command.OneLine(p.Reason, command.MaxErrorLine),
			command.ShortID(p.OlderID), command.OneLine(p.OlderTitle, show.MaxTitleShown), command.ShortID(p.NewerID), command.OneLine(p.NewerTitle, show.MaxTitleShown))
	}
	if len(r.Pairs) == 0 {
		b.WriteString("there is nothing to ask about: no two memories share a subject that neither the rule nor the model has judged\n")
	} else {
		command.Say(b, "%s found in %s: %d do not contradict each other, %d unclear, %d left out", command.Plural(r.Found, "conflict", "conflicts"),
			command.Plural(len(r.Pairs), "pair", "pairs"), r.Compatible, r.Unclear, r.LeftOut)
		if r.Dropped > 0 {
			command.Say(b, "; %s about no pair dropped", command.Plural(r.Dropped, "answer", "answers"))
		}
		if r.Usage.Calls > 0 {
			command.Say(b, "; %s asked: %s, %d + %d tokens", r.Model, command.Plural(r.Usage.Calls, "call", "calls"), r.Usage.InputTokens, r.Usage.OutputTokens)
		}
		b.WriteString("\n")
	}
	if r.Found > 0 {
		command.Say(b, "to resolve one: %s\n", InProject(project, "conflicts", "resolve", "CONFLICT", "--keep=ENTRY"))
	}
	if r.More {
		b.WriteString("there is more to ask about: give the command again\n")
	}
}
