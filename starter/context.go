package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/pflag"

	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// Counters of tokens, by the values of --count.
const (
	countTiktoken = "tiktoken"
	countEstimate = "estimate"
)

func counterOf(name string) (fact.Counter, error) {
	if name == countEstimate {
		return fact.CJK2, nil
	}
	return fact.CL100K()
}

// contextOptions are the flags of context.
type contextOptions struct {
	owner
	project string
	query   string
	budget  int
	count   string
}

func (a *app) contextCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &contextOptions{}
	o.add(f)
	f.StringVar(&o.project, "project", "", "print only what comes from this project (default: all)")
	f.StringVar(&o.query, "query", "", "print first what is related to this text (default: what is surest)")
	f.IntVar(&o.budget, "max-tokens", fact.DefaultMaxTokens, "most tokens")
	f.StringVar(&o.count, "count", countTiktoken, "how tokens are counted: tiktoken (cl100k_base), or estimate, which is faster")
	return func(ctx context.Context, _ []string) error {
		if o.budget < 1 {
			return usagef("--max-tokens %d: want at least 1", o.budget)
		}
		if err := oneOf("count", o.count, []string{countTiktoken, countEstimate}); err != nil {
			return err
		}
		if f.Changed("query") && strings.TrimSpace(o.query) == "" {
			return usagef("--query is empty: give it a text, or leave it out")
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		return a.context(ctx, conn, o)
	}
}

// toldContext is what context prints for programs.
type toldContext struct {
	Text    string `json:"text"`
	Tokens  int    `json:"tokens"`
	Counter string `json:"counter"`
	// Facts are those that the text tells, in its order.
	Facts []fact.Fact `json:"facts"`
}

func (a *app) context(ctx context.Context, conn driver.Conn, o *contextOptions) error {
	counter, err := counterOf(o.count)
	if err != nil {
		return err
	}
	tables := fact.NewTables(conn)
	all, err := readFacts(ctx, conn, &o.owner, func(t *fact.Tables) ([]fact.Fact, error) { return t.List(ctx, o.user, o.agent) })
	if err != nil {
		return err
	}
	profile, err := tables.Profile(ctx, o.user, o.agent, o.project)
	if err != nil {
		return err
	}
	if o.project != "" {
		all = fact.OfProject(all, o.project)
	}
	facts := fact.Untold(fact.Believed(all), profile)
	formatter := fact.Formatter{MaxTokens: o.budget, Counter: counter}
	if o.query != "" {
		facts, formatter.Ranked = a.rankFacts(ctx, conn, o, facts), true
	}
	text, told := formatter.Tell(fact.NewContext(profile, facts))
	answer := toldContext{Text: text, Tokens: counter.Count(text), Counter: o.count, Facts: []fact.Fact{}}
	for _, i := range told {
		answer.Facts = append(answer.Facts, facts[i])
	}
	if text == "" {
		a.emptyContext(o, profile, all)
	}
	err = a.print(answer, func(w io.Writer) error {
		if text == "" {
			return nil
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
	if err != nil {
		return err
	}
	a.retrieved(ctx, conn, schema.RetrievedByContext, entriesOf(&o.owner, answer.Facts))
	return nil
}

// rankFacts orders the facts by the query. Without the vectors it is ordered by words alone: who asks for a prompt gets one.
func (a *app) rankFacts(ctx context.Context, conn driver.Conn, o *contextOptions, facts []fact.Fact) []fact.Fact {
	without := func(err error) {
		_, _ = fmt.Fprintln(a.errOut, "the facts are ordered by words alone: "+oneLine(err.Error(), maxErrorLine))
	}
	embedder, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
	if err != nil {
		without(err)
		return retrieve.RankFactsByWords(o.query, facts)
	}
	weaviate, err := a.weaviate(ctx)
	if err != nil {
		without(err)
		return retrieve.RankFactsByWords(o.query, facts)
	}
	searcher := retrieve.NewSearcher(conn, weaviate, embedder, retrieve.Options{Floor: a.cfg.SimilarityFloor})
	ranked, err := searcher.RankFacts(ctx, o.query, o.user, o.agent, facts)
	if err != nil {
		without(err)
	}
	return ranked
}

// emptyContext says why there is no context. It prints to stderr, because stdout is part of a prompt.
func (a *app) emptyContext(o *contextOptions, profile []fact.Section, facts []fact.Fact) {
	whose := unbroken(o.String())
	if o.project != "" {
		whose += " in project " + unbroken(o.project)
	}
	believed := len(fact.Believed(facts))
	switch {
	case len(profile) > 0:
		_, _ = fmt.Fprintf(a.errOut, "not even the profile of %s fits in %s; raise --max-tokens\n", whose, plural(o.budget, "token", "tokens"))
	case len(facts) == 0:
		_, _ = fmt.Fprintln(a.errOut, "nothing is remembered of "+whose)
	case believed == 0:
		_, _ = fmt.Fprintf(a.errOut, "none of %s of %s is believed any longer; facts lists them\n",
			plural(len(facts), "fact", "facts"), whose)
	default:
		_, _ = fmt.Fprintf(a.errOut, "none of %s of %s fits in %s; raise --max-tokens\n",
			plural(believed, "fact", "facts"), whose, plural(o.budget, "token", "tokens"))
	}
}

// entriesOf are the entries behind the facts, by their projects.
func entriesOf(o *owner, facts []fact.Fact) map[schema.Scope][]string {
	out := map[schema.Scope][]string{}
	for _, f := range facts {
		if f.Project != "" && f.EntryID != "" {
			scope := schema.Scope{Project: f.Project, User: o.user, Agent: o.agent}
			out[scope] = append(out[scope], f.EntryID)
		}
	}
	return out
}
