package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"axiommind/activities/boundary"
	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/command"
)

// factFlags are the flags of commands that write to a memory.
type factFlags struct {
	command.Owner
	flags   *pflag.FlagSet
	command fact.Command

	category, sourceError string
	confidence            float64
}

// add adds the flags that all of these commands share. --expect-version refers to thing.
func (x *factFlags) add(f *pflag.FlagSet, op fact.Op, thing string) {
	x.flags, x.command.Op = f, op
	x.Add(f)
	f.StringVar(&x.command.Reason, "reason", "", "why, for the history")
	f.Uint64Var(&x.command.ExpectVersion, "expect-version", 0, "refuse if "+thing+" has another version")
}

// addFields adds the flags for the other fields of a fact.
func (x *factFlags) addFields() {
	x.flags.StringVar(&x.category, "category", "", "one of "+strings.Join(schema.FactCategories(), ", "))
	x.addConfidence(fact.DefaultConfidence)
	x.flags.StringVar(&x.sourceError, "source-error", "", "for a correction: the mistake to avoid")
}

func (x *factFlags) addConfidence(value float64) {
	x.flags.Float64Var(&x.confidence, "confidence", value, "how sure it is, 0 to 1")
}

func (x *factFlags) addProject() {
	x.flags.StringVar(&x.command.Project, "project", "default", "project it belongs to, for context --project")
}

// take fills the command from the flags, or returns an error about an invalid flag.
func (x *factFlags) take() error {
	c := &x.command
	c.User, c.Agent = x.User, x.Agent
	if x.flags.Changed("expect-version") && c.ExpectVersion == 0 {
		return command.Usagef("--expect-version 0: want 1 or more; facts list and facts show print versions")
	}
	if x.flags.Changed("confidence") {
		if !(x.confidence >= 0 && x.confidence <= 1) {
			return command.Usagef("--confidence %v: want 0 to 1", x.confidence)
		}
		c.Confidence = &x.confidence
	}
	if x.flags.Changed("category") {
		if err := command.OneOf("category", x.category, schema.FactCategories()); err != nil {
			return err
		}
		c.Category = &x.category
	}
	if x.flags.Changed("source-error") {
		if !utf8.ValidString(x.sourceError) {
			return command.Usagef("--source-error is not UTF-8")
		}
		c.SourceError = &x.sourceError
	}
	if !utf8.ValidString(c.Reason) {
		return command.Usagef("--reason is not UTF-8")
	}
	return nil
}

// textOf joins the words of a text.
func textOf(words []string) (*string, error) {
	text := strings.Join(words, " ")
	if !utf8.ValidString(text) {
		return nil, command.Usagef("the text is not UTF-8")
	}
	return &text, nil
}

// tell sends the command with a new request id to the memory's writer and waits for the result.
func tell(ctx context.Context, a *command.App, c fact.Command) (result fact.Result, err error) {
	c.RequestID, c.Actor, c.At = a.NewID(), a.Actor(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return result, command.BadUsage(err)
	}
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	err = a.Send(ctx, update, &result, schema.ErrorFactNotFound, schema.ErrorFactRefused, schema.ErrorFactStale)
	return result, err
}

// tellEach sends the command once for each of the targets, which set chooses in it. The error counts those that were done
// before, such as "fact", "deleted".
func tellEach[T any](ctx context.Context, a *command.App, c fact.Command, targets []T, set func(c *fact.Command, target T), noun, done string) ([]fact.Result, error) {
	var results []fact.Result
	for _, target := range targets {
		set(&c, target)
		result, err := tell(ctx, a, c)
		if err != nil && len(results) > 0 {
			err = fmt.Errorf("%w; %s before it were %s", err, command.Plural(len(results), noun, noun+"s"), done)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// remembered returns the facts with the given beginnings of ids, each once. Deleted and evicted facts are excluded.
func remembered(ctx context.Context, a *command.App, o *command.Owner, given []string) (facts []fact.Fact, err error) {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range given {
		f, err := fact.NewTables(conn).Resolve(ctx, o.User, o.Agent, id)
		if err != nil {
			return nil, err
		}
		if f.Status != fact.Active {
			return nil, command.Conflictf("fact %q is not remembered any longer%s", f.ID, command.GoneText(f))
		}
		if !slices.ContainsFunc(facts, func(other fact.Fact) bool { return other.ID == f.ID }) {
			facts = append(facts, f)
		}
	}
	return facts, nil
}
