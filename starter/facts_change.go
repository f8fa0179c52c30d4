package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/boundary"
	"axiommind/activities/fact"
	"axiommind/schema"
)

// factFlags are the flags of commands that write to a memory.
type factFlags struct {
	owner
	flags   *pflag.FlagSet
	command fact.Command

	category, sourceError string
	confidence            float64
}

// add adds the flags that all of these commands share. --expect-version refers to thing.
func (x *factFlags) add(f *pflag.FlagSet, op fact.Op, thing string) {
	x.flags, x.command.Op = f, op
	x.owner.add(f)
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
	x.flags.StringVar(&x.command.Project, "project", "default", "project that they belong to, for context --project")
}

// take fills the command from the flags, or returns an error about an invalid flag.
func (x *factFlags) take() error {
	c := &x.command
	c.User, c.Agent = x.user, x.agent
	if x.flags.Changed("expect-version") && c.ExpectVersion == 0 {
		return usagef("--expect-version 0: want 1 or more; facts list and facts show print versions")
	}
	if x.flags.Changed("confidence") {
		if !(x.confidence >= 0 && x.confidence <= 1) {
			return usagef("--confidence %v: want 0 to 1", x.confidence)
		}
		c.Confidence = &x.confidence
	}
	if x.flags.Changed("category") {
		if err := oneOf("category", x.category, schema.FactCategories()); err != nil {
			return err
		}
		c.Category = &x.category
	}
	if x.flags.Changed("source-error") {
		if !utf8.ValidString(x.sourceError) {
			return usagef("--source-error is not UTF-8")
		}
		c.SourceError = &x.sourceError
	}
	if !utf8.ValidString(c.Reason) {
		return usagef("--reason is not UTF-8")
	}
	return nil
}

// textOf joins the words of a text.
func textOf(words []string) (*string, error) {
	text := strings.Join(words, " ")
	if !utf8.ValidString(text) {
		return nil, usagef("the text is not UTF-8")
	}
	return &text, nil
}

// tell sends the command with a new request id to the memory's writer and waits for the result.
func (a *app) tell(ctx context.Context, c fact.Command) (result fact.Result, err error) {
	c.RequestID, c.Actor, c.At = uuid.NewString(), actor(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return result, badUsage(err)
	}
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	err = a.send(ctx, update, &result, schema.ErrorFactNotFound, schema.ErrorFactRefused, schema.ErrorFactStale)
	return result, err
}

func (a *app) factsAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add TEXT…", Short: "add a fact",
		Example: "starter facts add I prefer short answers --category preference --confidence 0.9\n" +
			"starter facts add The office is in Porto --user ann --project demo",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpCreate, "the memory")
	x.addFields()
	x.addProject()
	return a.online(cmd, func(ctx context.Context, args []string) (err error) {
		if err = x.take(); err != nil {
			return err
		}
		if x.command.Content, err = textOf(args); err != nil {
			return err
		}
		result, err := a.tell(ctx, x.command)
		if err != nil {
			return err
		}
		return a.print(result, func(w io.Writer) error {
			said := "remembered as " + result.FactID
			if result.Evicted > 0 {
				said += "; " + plural(result.Evicted, "fact was", "facts were") + " evicted; see facts history"
			}
			_, err := fmt.Fprintln(w, said)
			return err
		})
	})
}

func (a *app) factsUpdateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "update FACT", Short: "change a fact",
		Example: "starter facts update 0a1b2c3d --content 'I prefer tea' --expect-version 12",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpUpdate, "the fact")
	x.addFields()
	content := f.String("content", "", "new text of the fact")
	return a.online(cmd, func(ctx context.Context, args []string) (err error) {
		if err = x.take(); err != nil {
			return err
		}
		c := &x.command
		if f.Changed("content") {
			if c.Content, err = textOf([]string{*content}); err != nil {
				return err
			}
		}
		if c.Content == nil && c.Category == nil && c.Confidence == nil && c.SourceError == nil {
			return usagef("nothing to change: give --content, --category, --confidence or --source-error")
		}
		facts, err := a.remembered(ctx, &x.owner, args)
		if err != nil {
			return err
		}
		c.FactID = facts[0].ID
		result, err := a.tell(ctx, *c)
		if err != nil {
			return err
		}
		return a.print(result, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s is changed, version %d\n", result.FactID, result.LastSeq)
			return err
		})
	})
}

func (a *app) factsDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete FACT…", Short: "delete facts",
		Example: "starter facts delete 0a1b2c3d --reason 'it was a joke'",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpDelete, "the fact")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if err := x.take(); err != nil {
			return err
		}
		if x.command.ExpectVersion > 0 && len(args) > 1 {
			return usagef("--expect-version is the version of one fact: name one")
		}
		facts, err := a.remembered(ctx, &x.owner, args)
		if err != nil {
			return err
		}
		var results []fact.Result
		for _, f := range facts {
			x.command.FactID = f.ID
			result, err := a.tell(ctx, x.command)
			if err != nil && len(results) > 0 {
				return fmt.Errorf("%w; %s before it were deleted", err, plural(len(results), "fact", "facts"))
			}
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return a.print(results, func(w io.Writer) error {
			var b strings.Builder
			for _, f := range facts {
				say(&b, "%s is deleted: %s\n", f.ID, oneLine(f.Content, 80))
			}
			_, err := io.WriteString(w, b.String())
			return err
		})
	})
}

// remembered returns the facts with the given beginnings of ids, each once. Deleted and evicted facts are excluded.
func (a *app) remembered(ctx context.Context, o *owner, given []string) (facts []fact.Fact, err error) {
	err = a.withFacts(ctx, func(_ driver.Conn, t *fact.Tables) error {
		for _, id := range given {
			f, err := resolveFact(ctx, t, o, id)
			if err != nil {
				return err
			}
			if f.Status != fact.Active {
				return usagef("fact %q is not remembered any longer%s", f.ID, goneText(f))
			}
			if !slices.ContainsFunc(facts, func(other fact.Fact) bool { return other.ID == f.ID }) {
				facts = append(facts, f)
			}
		}
		return nil
	})
	return facts, err
}
