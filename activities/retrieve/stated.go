package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"axiommind/activities/fact"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// FactHit is the fact that a hit of [KindFact] is. Its words are the title of the hit.
type FactHit struct {
	ID         string  `json:"id"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
}

// factQuery is the query of the facts that people entered.
func (r *search) factQuery(hybrid vector.HybridQuery) vector.HybridQuery {
	hybrid.Project, hybrid.Filter = vector.FactsProject, r.query.filter()
	hybrid.Filter.Kinds, hybrid.Filter.Types = []string{schema.ItemFact}, nil
	hybrid.Limit = min(max(5*r.limit, minCandidates), maxCandidates)
	return hybrid
}

// memoryFact names a fact of the user in the memory of an agent.
type memoryFact struct{ agent, id string }

// facts turns candidates into hits, one for each fact that has the wording of the candidate.
func (r *search) facts(ctx context.Context, candidates []vector.Candidate, t *tally) ([]*claim, error) {
	var kept []vector.Candidate
	var ids []string
	for _, c := range candidates {
		if !related(c) {
			t.unrelated++
			continue
		}
		kept, ids = append(kept, c), append(ids, c.ItemID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	events, err := r.log.GetMany(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	known, err := r.activeFacts(ctx, events)
	if err != nil {
		return nil, err
	}
	var out []*claim
	for _, c := range kept {
		event, ok := events[c.ItemID]
		if !ok {
			t.dropped++ // Another database may use the same vector store.
			continue
		}
		user, agent, id, content, err := vector.FactWording(event)
		f, ok := known[memoryFact{agent, id}]
		switch {
		case err != nil:
			return nil, err
		case !ok || f.Content != content:
			t.dropped++ // It was deleted, or has other words now.
			continue
		case user != r.query.User:
			t.filtered++
			continue
		}
		h := Hit{
			Kind: KindFact,
			Entry: schema.Entry{
				Scope: schema.Scope{User: user, Agent: agent}, Title: content, Type: schema.EntryFact, OccurredAt: f.UpdatedAt,
			},
			Fact:     &FactHit{f.ID, f.Category, f.Confidence},
			Explain:  r.weights.explainCandidate(c, cmp.Or(r.weights.Fact, 1), 1, r.weights.recency(r.now().Sub(f.UpdatedAt))),
			Sessions: []Statement{},
		}
		h.Score, h.Explain.Share = h.Explain.Score(), r.terms.Share(content)
		out = append(out, &claim{Hit: h, members: []Hit{h}})
	}
	return out, nil
}

// activeFacts returns the facts of the user that the events are about and that are not deleted.
func (r *search) activeFacts(ctx context.Context, events map[string]schema.Event) (map[memoryFact]fact.Fact, error) {
	byAgent := map[string][]string{}
	for _, event := range events {
		user, agent, id, _, err := vector.FactWording(event)
		if err != nil {
			return nil, err
		}
		if user == r.query.User {
			byAgent[agent] = append(byAgent[agent], id)
		}
	}
	known := map[memoryFact]fact.Fact{}
	for _, agent := range slices.Sorted(maps.Keys(byAgent)) {
		found, err := r.factsThen(ctx, agent, byAgent[agent])
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		for _, f := range found {
			if f.Status == fact.Active {
				known[memoryFact{agent, f.ID}] = f
			}
		}
	}
	return known, nil
}

// factsThen returns the facts with the ids, as they were at the time that the query asks about.
func (r *search) factsThen(ctx context.Context, agent string, ids []string) ([]fact.Fact, error) {
	tables := fact.NewTables(r.conn)
	if r.query.AsOf.IsZero() {
		return tables.Find(ctx, r.query.User, agent, ids)
	}
	return tables.AsOf(ctx, r.query.User, agent, ids, r.query.AsOf)
}
