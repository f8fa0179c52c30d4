package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"axiommind/activities/fact"
)

// owner says whose memory is meant.
type owner struct{ user, agent string }

func (o *owner) add(f *pflag.FlagSet) {
	f.StringVar(&o.user, "user", "default", "user the facts are about")
	f.StringVar(&o.agent, "agent", "", "agent that remembers them")
}

// facts reads what is remembered.
func (a *app) facts(ctx context.Context, o *owner) ([]fact.Fact, error) {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	facts, err := fact.NewTables(conn).List(ctx, o.user, o.agent)
	if facts == nil {
		facts = []fact.Fact{}
	}
	return facts, err
}

func (a *app) factsCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &owner{}
	o.add(f)
	return func(ctx context.Context, _ []string) error {
		facts, err := a.facts(ctx, o)
		if err != nil {
			return err
		}
		return a.print(facts, func(w io.Writer) error {
			if len(facts) == 0 {
				_, err := fmt.Fprintf(w, "nothing is remembered of user %s\n", o.user)
				return err
			}
			t := newTable(w, "fact", "category", "confidence", "content", "entry")
			for _, x := range facts {
				t.AppendRow([]any{x.ID, x.Category, fmt.Sprintf("%.2f", x.Confidence), oneLine(x.Content, 80), x.EntryID[:min(8, len(x.EntryID))]})
			}
			t.Render()
			return nil
		})
	}
}

func (a *app) contextCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &owner{}
	o.add(f)
	budget := f.Int("max-tokens", 2000, "most tokens, estimated for text in any script")
	return func(ctx context.Context, _ []string) error {
		if *budget < 1 {
			return usagef("--max-tokens %d: want at least 1", *budget)
		}
		facts, err := a.facts(ctx, o)
		if err != nil {
			return err
		}
		counter := fact.CJK2
		text := fact.FormatContext(fact.Context{Facts: fact.Statements(facts)}, *budget, counter)
		answer := struct {
			Text   string `json:"text"`
			Tokens int    `json:"tokens"`
		}{text, counter.Count(text)}
		return a.print(answer, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, text)
			return err
		})
	}
}
