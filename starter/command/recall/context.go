package recall

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/clickhouse"
	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/starter/command"
)

// contextOptions are the flags of context.
type contextOptions struct {
	command.Owner
	project string
	query   string
	budget  int
	count   string
}

func contextCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "context", Short: "print the memories for a prompt, within a token budget",
	}
	f := cmd.Flags()
	o := &contextOptions{}
	o.Add(f)
	f.StringVar(&o.project, "project", "", "print only the memories of this project (default: all)")
	f.StringVar(&o.query, "query", "", "print memories related to this text first (default: by confidence)")
	f.IntVar(&o.budget, "max-tokens", schema.DefaultMaxTokens, "most tokens")
	f.StringVar(&o.count, "count", client.CountTiktoken, "how tokens are counted: tiktoken (cl100k_base), or estimate, which is faster")
	a.Answers(cmd, contextOutput{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if o.budget < 1 {
			return command.Usagef("--max-tokens %d: want at least 1", o.budget)
		}
		if err := command.OneOf("count", o.count, client.Counters()); err != nil {
			return err
		}
		err := clickhouse.Required("user", o.User)
		if f.Changed("project") {
			err = cmp.Or(err, clickhouse.Required("project", o.project))
		}
		if err != nil {
			return command.BadUsage(err)
		}
		if f.Changed("query") && strings.TrimSpace(o.query) == "" {
			return command.Usagef("--query is empty: give it a text, or leave it out")
		}
		return recallContext(ctx, a, o)
	})
}

// contextOutput is the JSON output of the command context.
type contextOutput struct {
	Text    string `json:"text"`
	Tokens  int    `json:"tokens"`
	Counter string `json:"counter"`
	// Facts are the facts in the text, in its order.
	Facts []fact.Fact `json:"facts"`
}

func recallContext(ctx context.Context, a *command.App, o *contextOptions) error {
	c, err := a.Client(ctx)
	if err != nil {
		return err
	}
	known, err := c.Context(ctx, client.ContextRequest{
		User: o.User, Agent: o.Agent, Project: o.project, Query: o.query, MaxTokens: o.budget, Counter: o.count,
	})
	if err != nil {
		return command.ClientError(err)
	}
	if known.ByWords != nil {
		_, _ = fmt.Fprintln(a.ErrOut, "the facts are ordered by words alone: "+command.OneLine(command.ClientError(known.ByWords).Error(), command.MaxErrorLine))
	}
	if known.NotIndexed > 0 {
		_, _ = fmt.Fprintf(a.ErrOut, "%s not indexed yet, and ordered by words alone\n", command.Plural(known.NotIndexed, "fact is", "facts are"))
	}
	if known.Text == "" {
		emptyContext(a, o, known)
	}
	answer := contextOutput{Text: known.Text, Tokens: known.Tokens, Counter: known.Counter, Facts: known.Facts}
	return a.Print(answer, func(b *strings.Builder) {
		if known.Text != "" {
			fmt.Fprintln(b, known.Text)
		}
	})
}

// emptyContext explains why there is no context. It prints to stderr, because stdout becomes part of a prompt.
func emptyContext(a *command.App, o *contextOptions, known client.ContextResult) {
	whose := command.Unbroken(o.String())
	if o.project != "" {
		whose += " in project " + command.Unbroken(o.project)
	}
	switch {
	case known.Sections > 0:
		_, _ = fmt.Fprintf(a.ErrOut, "not even the profile of %s fits in %s; raise --max-tokens\n", whose, command.Plural(o.budget, "token", "tokens"))
	case known.Remembered == 0:
		_, _ = fmt.Fprintln(a.ErrOut, "nothing is remembered of "+whose)
	case known.Believed == 0:
		_, _ = fmt.Fprintf(a.ErrOut, "none of %s of %s is believed any longer; facts lists them\n",
			command.Plural(known.Remembered, "fact", "facts"), whose)
	default:
		_, _ = fmt.Fprintf(a.ErrOut, "none of %s of %s fits in %s; raise --max-tokens\n",
			command.Plural(known.Believed, "fact", "facts"), whose, command.Plural(o.budget, "token", "tokens"))
	}
}
