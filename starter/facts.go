package main

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/pflag"

	"axiommind/activities/fact"
)

// owner identifies the user and agent of a memory.
type owner struct{ user, agent string }

// add declares the flags.
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

// readFacts runs fn with the tables of facts, and adds the state of their entries to the result.
func readFacts(ctx context.Context, conn driver.Conn, o *owner, fn func(*fact.Tables) ([]fact.Fact, error)) ([]fact.Fact, error) {
	tables := fact.NewTables(conn)
	facts, err := fn(tables)
	if err == nil {
		err = tables.Judge(ctx, o.user, o.agent, facts)
	}
	return facts, err
}
