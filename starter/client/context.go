package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Fact is a remembered fact about a user, in a sentence.
type Fact = fact.Fact

// Counters of tokens.
const (
	// CountTiktoken counts as cl100k_base does.
	CountTiktoken = "tiktoken"
	// CountEstimate estimates, which is faster.
	CountEstimate = "estimate"
)

// Counters returns all counters, the default one first.
func Counters() []string { return []string{CountTiktoken, CountEstimate} }

// DefaultMaxTokens is the default of [ContextRequest.MaxTokens].
const DefaultMaxTokens = schema.DefaultMaxTokens

// ContextRequest selects the memories for a prompt.
type ContextRequest struct {
	// User is by default "default". Agent is that of the memory, and may be empty.
	User, Agent string
	// Project restricts the facts to those that come from it. Empty for all.
	Project string
	// Query puts related facts first, and leaves out those that exceed the budget. Without a query, the surest facts come
	// first.
	Query string
	// MaxTokens is the budget, by default [DefaultMaxTokens]. The text never has more tokens by the counter.
	MaxTokens int
	// Counter is one of [Counters].
	Counter string
}

// ContextResult is the memory of a user as a text for a prompt.
type ContextResult struct {
	// Text is empty if nothing is remembered, or nothing fits.
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	// Counter is the counter that counted the tokens.
	Counter string `json:"counter"`
	// Facts are the facts in the text, in its order.
	Facts []Fact `json:"facts"`
	// Remembered counts all facts of the memory, in the project if one was given, and Believed those that are believed.
	// Sections counts the parts of the profile.
	Remembered int `json:"remembered"`
	Believed   int `json:"believed"`
	Sections   int `json:"sections"`
	// ByWords says why the facts were ordered by the words of the query alone. It is nil if they were not.
	ByWords error `json:"-"`
	// NotIndexed counts the facts that people entered about the user and that the query finds by words alone, since they
	// are not indexed yet.
	NotIndexed int `json:"not_indexed"`
}

// Context returns the memory of the user, for a prompt, within the budget. If Weaviate or the embedder is unavailable,
// the facts are ordered by words alone.
func (c *Client) Context(ctx context.Context, r ContextRequest) (ContextResult, error) {
	r.User, r.Counter, r.MaxTokens = cmp.Or(r.User, defaultName), cmp.Or(r.Counter, CountTiktoken), cmp.Or(r.MaxTokens, DefaultMaxTokens)
	switch {
	case r.MaxTokens < 0:
		return ContextResult{}, invalid(fmt.Errorf("max tokens %d: want at least 1", r.MaxTokens))
	case !slices.Contains(Counters(), r.Counter):
		return ContextResult{}, invalid(fmt.Errorf("counter %q: want one of %s", r.Counter, strings.Join(Counters(), ", ")))
	}
	conn, err := c.askClickHouse(ctx)
	if err != nil {
		return ContextResult{}, err
	}
	counter, err := counterOf(r.Counter)
	if err != nil {
		return ContextResult{}, err
	}
	tables := fact.NewTables(conn)
	all, profile, err := factsOf(ctx, tables, r)
	if err != nil {
		return ContextResult{}, err
	}
	out := ContextResult{Counter: r.Counter, Facts: []Fact{}, Remembered: len(all), Believed: len(fact.Believed(all)), Sections: len(profile)}
	facts := fact.NotInProfile(fact.Believed(all), profile)
	formatter := fact.Formatter{MaxTokens: r.MaxTokens, Counter: counter}
	if r.Query != "" {
		formatter.Ranked = true
		facts, out.NotIndexed, out.ByWords = c.rank(ctx, r, facts)
	}
	text, told := formatter.FormatIndexed(fact.NewContext(profile, facts))
	out.Text, out.Tokens = text, counter.Count(text)
	for _, i := range told {
		out.Facts = append(out.Facts, facts[i])
	}
	c.note(ctx, schema.RetrievedByContext, entriesOf(r, out.Facts))
	return out, nil
}

// factsOf returns the judged facts and the profile of the request's project, or of all projects if it names none.
func factsOf(ctx context.Context, tables *fact.Tables, r ContextRequest) (facts []Fact, profile []fact.Section, err error) {
	if r.Project == "" {
		if facts, err = tables.List(ctx, r.User, r.Agent); err != nil {
			return nil, nil, err
		}
		if err := tables.Judge(ctx, r.User, r.Agent, facts); err != nil {
			return nil, nil, err
		}
		profile, err = tables.Profile(ctx, r.User, r.Agent)
		return facts, profile, err
	}
	if facts, err = tables.ListIn(ctx, r.User, r.Agent, r.Project); err != nil {
		return nil, nil, err
	}
	if err := tables.JudgeIn(ctx, r.User, r.Agent, r.Project, facts); err != nil {
		return nil, nil, err
	}
	profile, err = tables.ProfileIn(ctx, r.User, r.Agent, r.Project)
	return facts, profile, err
}

func counterOf(name string) (fact.Counter, error) {
	if name == CountEstimate {
		return fact.CJK2, nil
	}
	return fact.CL100K()
}

// rank orders the facts by the query, and counts those that are not indexed yet. Without the vectors it is ordered by
// words alone: who asks for a prompt gets one.
func (c *Client) rank(ctx context.Context, r ContextRequest, facts []Fact) (ranked []Fact, notIndexed int, byWords error) {
	finder, err := get(ctx, c, &c.finder, c.openFinder)
	if err != nil {
		return retrieve.RankFactsByWords(r.Query, facts), 0, err
	}
	searcher, err := finder.Searcher(ctx)
	if err != nil {
		return retrieve.RankFactsByWords(r.Query, facts), 0, err
	}
	if conn, err := c.askClickHouse(ctx); err == nil {
		notIndexed, _ = vector.Waiting(ctx, conn, searcher.Version(), r.User) // A count that fails costs no prompt.
	}
	ranked, err = searcher.RankFacts(ctx, r.Query, r.User, r.Agent, facts)
	return ranked, notIndexed, err
}

// entriesOf are the entries behind the facts, by their projects.
func entriesOf(r ContextRequest, facts []Fact) map[schema.Scope][]string {
	out := map[schema.Scope][]string{}
	for _, f := range facts {
		if f.Project != "" && f.EntryID != "" {
			scope := schema.Scope{Project: f.Project, User: r.User, Agent: r.Agent}
			out[scope] = append(out[scope], f.EntryID)
		}
	}
	return out
}
