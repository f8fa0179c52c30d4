package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/activities/table"
	"axiommind/schema"
	"axiommind/starter/client"
)

// contextOptions are the flags of context.
type contextOptions struct {
	owner
	project string
	query   string
	budget  int
	count   string
}

func (a *app) contextCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "context", Short: "print the memories for a prompt, within a token budget",
	}
	f := cmd.Flags()
	o := &contextOptions{}
	o.add(f)
	f.StringVar(&o.project, "project", "", "print only the memories of this project (default: all)")
	f.StringVar(&o.query, "query", "", "print memories related to this text first (default: the surest first)")
	f.IntVar(&o.budget, "max-tokens", schema.DefaultMaxTokens, "most tokens")
	f.StringVar(&o.count, "count", client.CountTiktoken, "how tokens are counted: tiktoken (cl100k_base), or estimate, which is faster")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if o.budget < 1 {
			return usagef("--max-tokens %d: want at least 1", o.budget)
		}
		if err := oneOf("count", o.count, client.Counters()); err != nil {
			return err
		}
		err := table.Required("user", o.user)
		if f.Changed("project") {
			err = cmp.Or(err, table.Required("project", o.project))
		}
		if err != nil {
			return badUsage(err)
		}
		if f.Changed("query") && strings.TrimSpace(o.query) == "" {
			return usagef("--query is empty: give it a text, or leave it out")
		}
		return a.recallContext(ctx, o)
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

func (a *app) recallContext(ctx context.Context, o *contextOptions) error {
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	known, err := c.Context(ctx, client.ContextRequest{
		User: o.user, Agent: o.agent, Project: o.project, Query: o.query, MaxTokens: o.budget, Counter: o.count,
	})
	if err != nil {
		return clientError(err)
	}
	if known.ByWords != nil {
		_, _ = fmt.Fprintln(a.errOut, "the facts are ordered by words alone: "+oneLine(clientError(known.ByWords).Error(), maxErrorLine))
	}
	if known.NotIndexed > 0 {
		_, _ = fmt.Fprintf(a.errOut, "%s not indexed yet, and ordered by words alone\n", plural(known.NotIndexed, "fact is", "facts are"))
	}
	if known.Text == "" {
		a.emptyContext(o, known)
	}
	answer := contextOutput{Text: known.Text, Tokens: known.Tokens, Counter: known.Counter, Facts: known.Facts}
	return a.print(answer, func(w io.Writer) error {
		if known.Text == "" {
			return nil
		}
		_, err := fmt.Fprintln(w, known.Text)
		return err
	})
}

// emptyContext explains why there is no context. It prints to stderr, because stdout becomes part of a prompt.
func (a *app) emptyContext(o *contextOptions, known client.ContextResult) {
	whose := unbroken(o.String())
	if o.project != "" {
		whose += " in project " + unbroken(o.project)
	}
	switch {
	case known.Sections > 0:
		_, _ = fmt.Fprintf(a.errOut, "not even the profile of %s fits in %s; raise --max-tokens\n", whose, plural(o.budget, "token", "tokens"))
	case known.Remembered == 0:
		_, _ = fmt.Fprintln(a.errOut, "nothing is remembered of "+whose)
	case known.Believed == 0:
		_, _ = fmt.Fprintf(a.errOut, "none of %s of %s is believed any longer; facts lists them\n",
			plural(known.Remembered, "fact", "facts"), whose)
	default:
		_, _ = fmt.Fprintf(a.errOut, "none of %s of %s fits in %s; raise --max-tokens\n",
			plural(known.Believed, "fact", "facts"), whose, plural(o.budget, "token", "tokens"))
	}
}
