package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
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

// readFacts runs fn with the tables of facts, and says of what it returns how the entries stand.
func readFacts(ctx context.Context, conn driver.Conn, o *owner, fn func(*fact.Tables) ([]fact.Fact, error)) ([]fact.Fact, error) {
	tables := fact.NewTables(conn)
	facts, err := fn(tables)
	if err == nil {
		err = tables.Judge(ctx, o.user, o.agent, facts)
	}
	return facts, err
}

func (a *app) factsCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o, p := &owner{}, &page{}
	o.add(f)
	p.add(f, defaultPage, maxPage, "the oldest first")
	return func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		facts, err := readFacts(ctx, conn, o, func(t *fact.Tables) ([]fact.Fact, error) {
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
		t.AppendRow([]any{
			x.ID, x.Category, fmt.Sprintf("%.2f", x.Confidence), oneLine(x.Content, 80), short(x.EntryID) + factText(x.Entry),
		})
	}
	t.Render()
	return nil
}

// factText says whether the fact is no longer believed, or contested. It is empty otherwise.
func factText(s *fact.Standing) string {
	switch {
	case s.Ended() && s.SupersededBy != "":
		return ", superseded by " + short(s.SupersededBy)
	case s.Ended():
		return ", retired: " + oneLine(s.EndedBecause, 60)
	case s.Contested():
		return ", contested"
	}
	return ""
}
