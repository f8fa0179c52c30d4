// Package answer returns memories to an agent when a session starts or the user enters a prompt.
package answer

import (
	"context"
	"fmt"

	"axiommind/activities/clickhouse"
	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/starter/hook"
	"axiommind/worker/settings"
)

// Remembered returns a context block of the user's profile and facts, framed as data, with the facts most relevant to the
// prompt first. It equals the output of starter context with estimated tokens, except that it ranks by words alone.
func Remembered(ctx context.Context, o hook.Options, e hook.Event, servers settings.Servers) (string, error) {
	roots, err := settings.Roots(servers.TLSCA)
	if err != nil {
		return "", err
	}
	conn, err := clickhouse.Connect(ctx, servers.ClickHouseDSN, clickhouse.ConnectOptions{RootCAs: roots, Cluster: servers.Cluster})
	if err != nil {
		return "", fmt.Errorf("answer %s: %w", e.Name, err)
	}
	// The connection is not closed, because the program exits.
	tables := fact.NewTables(conn)
	profile := make(chan error, 1)
	var sections []fact.Section
	go func() {
		var err error
		sections, err = tables.ProfileIn(ctx, o.User, o.Agent, o.Project)
		profile <- err
	}()
	facts, err := tables.ListIn(ctx, o.User, o.Agent, o.Project)
	if err == nil {
		err = tables.JudgeIn(ctx, o.User, o.Agent, o.Project, facts)
	}
	if other := <-profile; err == nil {
		err = other
	}
	if err != nil {
		return "", fmt.Errorf("answer %s: %w", e.Name, err)
	}
	facts = fact.NotInProfile(fact.Believed(facts), sections)
	formatter := fact.Formatter{MaxTokens: o.MaxTokens - fact.CJK2.Count(fact.Framed("")), Counter: fact.CJK2}
	if e.Prompt != "" {
		facts, formatter.Ranked = retrieve.RankFactsByWords(e.Prompt, facts), true
	}
	told := formatter.Format(fact.NewContext(sections, facts))
	if told == "" {
		return "", nil
	}
	return fact.Framed(told), nil
}
