package recall

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// modelFlags are the flags of entry confirm that concern a model.
type modelFlags struct {
	byModel bool
	limit   int
}

func (m *modelFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&m.byModel, "by-model", false,
		"ask the worker's model whether the whole sentences around the quotes state the entries:\n"+
			"the named ones, or all unjudged ones whose quotes were only found")
	f.IntVar(&m.limit, "limit", command.MaxPage, "how many entries to ask a model about at most, the oldest first")
}

// check refuses incompatible arguments.
func (m *modelFlags) check(given []string) error {
	switch {
	case !m.byModel && len(given) == 0:
		return command.Usagef("name the entries to confirm, or give --by-model to ask a model about all unjudged ones")
	case m.limit < 1 || m.limit > command.MaxPage:
		return command.Usagef("--limit %d: want 1 to %d", m.limit, command.MaxPage)
	}
	return nil
}

// modelReport contains a model's judgments of entries.
type modelReport struct {
	Model     string       `json:"model,omitempty"`
	Confirmed int          `json:"confirmed"`
	Doubted   int          `json:"doubted"`
	LeftOut   int          `json:"left_out"`
	Entries   []modelSaid  `json:"entries"`
	Usage     schema.Usage `json:"usage"`
}

type modelSaid struct {
	graduate.AskedEntry
	Title string `json:"title"`
}

// confirmByModel asks the worker's model about the named entries, or about all open ones of the project.
func confirmByModel(ctx context.Context, a *command.App, project string, given []string, m modelFlags) error {
	rows, err := toAsk(ctx, a, project, given, m.limit)
	if err != nil {
		return err
	}
	report := modelReport{Entries: []modelSaid{}}
	if len(rows) > 0 {
		temporalClient, err := a.Temporal(ctx)
		if err != nil {
			return err
		}
		for ; len(rows) > 0; rows = rows[min(len(rows), graduate.MaxAsked):] {
			if err := report.ask(ctx, a, temporalClient, project, rows[:min(len(rows), graduate.MaxAsked)]); err != nil {
				return errors.Join(a.Print(report, report.print), err)
			}
		}
	}
	return a.Print(report, report.print)
}

// toAsk reads the named entries, or unproven entries that have not been judged yet.
func toAsk(ctx context.Context, a *command.App, project string, given []string, limit int) ([]entry.Row, error) {
	if len(given) > 0 {
		return NamedEntries(ctx, a, project, given)
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	open := entry.InProject(project).NotType(schema.EntryTaskNote).Unproven().Unanswered().OldestFirst().Limit(limit)
	return entry.NewReader(conn).Read(ctx, open, entry.Statement)
}

// ask asks the model about the entries in one request, or in two of half the size if that is too long.
func (r *modelReport) ask(ctx context.Context, a *command.App, c client.Client, project string, rows []entry.Row) error {
	in := graduate.AskInput{RequestID: a.NewID(), Project: project, Actor: a.Actor(), At: time.Now().UTC(), EntryIDs: IDsOfRows(rows)}
	var result graduate.AskResult
	err := boundary.Update{Name: schema.UpdateAsk, ID: in.RequestID, Arg: in}.Send(ctx, c, &result)
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		if application.Type() == schema.ErrorModelTooLong && len(rows) > 1 {
			half := len(rows) / 2
			return errors.Join(r.ask(ctx, a, c, project, rows[:half]), r.ask(ctx, a, c, project, rows[half:]))
		}
		err = errors.New(command.FailureText(err))
		switch application.Type() {
		case schema.ErrorInvalidInput, schema.ErrorGraduationRefused, schema.ErrorEntryNotFound:
			err = command.BadUsage(err)
		}
	}
	if err != nil {
		return err
	}
	r.Model = result.Model
	r.Confirmed += result.Confirmed
	r.Doubted += result.Doubted
	r.LeftOut += len(result.Entries) - result.Confirmed - result.Doubted
	r.Usage.Add(result.Usage)
	for i, e := range result.Entries {
		r.Entries = append(r.Entries, modelSaid{e, rows[i].Title})
	}
	return nil
}

// outcomeWords are the outcomes as people read them.
var outcomeWords = map[graduate.AskOutcome]string{
	graduate.AskConfirmed: "verified", graduate.AskDoubted: "doubted", graduate.AskLeftOut: "left out",
}

func (r modelReport) print(b *strings.Builder) {
	for _, e := range r.Entries {
		command.Say(b, "%s  %s: %s\n          %s\n", command.ShortID(e.ID), outcomeWords[e.Outcome], command.OneLine(e.Title, show.MaxTitleShown), command.OneLine(e.Reason, command.MaxErrorLine))
	}
	if len(r.Entries) == 0 {
		b.WriteString("there is nothing to ask about: every quote proves its entry, or the entry is judged already\n")
	} else {
		command.Say(b, "%d verified, %d doubted, %d left out", r.Confirmed, r.Doubted, r.LeftOut)
		if r.Usage.Calls > 0 {
			command.Say(b, "; %s asked: %s, %d + %d tokens", r.Model, command.Plural(r.Usage.Calls, "call", "calls"), r.Usage.InputTokens, r.Usage.OutputTokens)
		}
		b.WriteString("\n")
	}
}
