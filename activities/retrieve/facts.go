package retrieve

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"axiommind/activities/fact"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// maxFactProjects is how many projects are searched for facts, those with the most facts first: a project is a query.
const maxFactProjects = 8

// RankFacts returns the facts by how well they answer the query, the best first. A fact's score is its relevance, from
// 0 to 1, halved as its confidence goes from 1 to 0. So a sure fact goes before an unsure one that fits somewhat
// better, but no confidence makes up for an unrelated fact. Facts without relevance come last, the surest first.
//
// The relevance is the score of the fact's best entry in the hybrid search of its project. If the share of the query's
// terms that the fact contains is more, it is that share. A fact that a person entered has no entry, and the share
// alone. If a search fails, the order is by the share alone, and the error gives the cause: the order is usable anyway.
func (s *Searcher) RankFacts(ctx context.Context, query, user, agent string, facts []fact.Fact) ([]fact.Fact, error) {
	found, err := s.factScores(ctx, query, user, agent, facts)
	return rankFacts(query, facts, found), err
}

// RankFactsByWords is [Searcher.RankFacts] without a search.
func RankFactsByWords(query string, facts []fact.Fact) []fact.Fact {
	return rankFacts(query, facts, nil)
}

func rankFacts(query string, facts []fact.Fact, found map[string]float64) []fact.Fact {
	terms := vector.NewQueryTerms(query)
	type ranked struct {
		fact.Fact
		score float64
	}
	all := make([]ranked, len(facts))
	for i, f := range facts {
		relevance := max(found[f.EntryID], terms.Share(f.Content))
		all[i] = ranked{f, relevance * (1 + f.Confidence) / 2}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Confidence, a.Confidence))
	})
	out := make([]fact.Fact, len(all))
	for i, r := range all {
		out[i] = r.Fact
	}
	return out
}

// factScores returns the scores of the entries that a search for the query finds in the facts' projects. A weak hit without a
// word of the query does not rank its fact.
func (s *Searcher) factScores(ctx context.Context, query, user, agent string, facts []fact.Fact) (map[string]float64, error) {
	count := map[string]int{}
	for _, f := range facts {
		if f.EntryID != "" {
			count[f.Project]++
		}
	}
	projects := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	projects = projects[:min(len(projects), maxFactProjects)]
	results := make([]Result, len(projects))
	group, ctx := errgroup.WithContext(ctx)
	for i, project := range projects {
		group.Go(func() (err error) {
			results[i], err = s.Search(ctx, Query{
				Text: query, Project: project, User: user, Agent: agent, Kinds: []Kind{KindEntry}, Types: []schema.EntryType{schema.EntryFact}, Limit: MaxLimit,
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := map[string]float64{}
	for _, r := range results {
		for _, h := range r.Hits {
			if h.Weak && !h.Explain.Words {
				continue
			}
			found[h.ID] = max(found[h.ID], h.Score)
			for _, saying := range h.Sessions {
				found[saying.EntryID] = max(found[saying.EntryID], h.Score)
			}
		}
	}
	return found, nil
}
