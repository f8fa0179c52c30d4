package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"axiommind/activities/fact"
)

// owner identifies whose memory to read.
type owner struct{ user, agent string }

func (o *owner) add(f *pflag.FlagSet) {
	f.StringVar(&o.user, "user", "default", "user who is remembered")
	f.StringVar(&o.agent, "agent", "", "agent that remembers")
}

func (o *owner) String() string {
	if o.agent == "" {
		return "user " + o.user
	}
	return "user " + o.user + " by agent " + o.agent
}

// withFacts runs fn with the tables of facts.
func (a *app) withFacts(ctx context.Context, fn func(*fact.Tables) ([]fact.Fact, error)) ([]fact.Fact, error) {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return fn(fact.NewTables(conn))
}

func (a *app) factsCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o, p := &owner{}, &page{}
	o.add(f)
	p.add(f, defaultPage, maxPage, "the oldest first")
	return func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		facts, err := a.withFacts(ctx, func(t *fact.Tables) ([]fact.Fact, error) {
			return t.Page(ctx, o.user, o.agent, p.ask(), p.offset)
		})
		if err != nil {
			return err
		}
		return list(a, p, facts, "nothing is remembered of "+unbroken(o.String()), printFacts)
	}
}

func printFacts(w io.Writer, facts []fact.Fact) error {
	t := newTable(w, "fact", "category", "confidence", "content", "entry")
	for _, x := range facts {
		t.AppendRow([]any{x.ID, x.Category, fmt.Sprintf("%.2f", x.Confidence), oneLine(x.Content, 80), short(x.EntryID)})
	}
	t.Render()
	return nil
}

func (a *app) contextCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &owner{}
	o.add(f)
	budget := f.Int("max-tokens", 2000, "most tokens, estimated for text in any script")
	return func(ctx context.Context, _ []string) error {
		if *budget < 1 {
			return usagef("--max-tokens %d: want at least 1", *budget)
		}
		facts, err := a.withFacts(ctx, func(t *fact.Tables) ([]fact.Fact, error) { return t.List(ctx, o.user, o.agent) })
		if err != nil {
			return err
		}
		counter := fact.CJK2
		text := fact.FormatContext(fact.Context{Facts: fact.Statements(facts)}, *budget, counter)
		answer := struct {
			Text   string `json:"text"`
			Tokens int    `json:"tokens"`
		}{text, counter.Count(text)}
		if text == "" {
			a.emptyContext(o, len(facts), *budget)
		}
		return a.print(answer, func(w io.Writer) error {
			if text == "" {
				return nil
			}
			_, err := fmt.Fprintln(w, text)
			return err
		})
	}
}

// emptyContext says why there is no context. It prints to stderr, because stdout is part of a prompt.
func (a *app) emptyContext(o *owner, facts, budget int) {
	if facts == 0 {
		_, _ = fmt.Fprintln(a.errOut, "nothing is remembered of "+unbroken(o.String()))
		return
	}
	_, _ = fmt.Fprintf(a.errOut, "none of %s of %s fits in %s; raise --max-tokens\n",
		plural(facts, "fact", "facts"), unbroken(o.String()), plural(budget, "token", "tokens"))
}
