package retrieve

import (
	"cmp"
	"slices"

	"axiommind/activities/text"
	"axiommind/schema"
)

// wording is the text of an entry. Entries with the same wording are one hit, whatever their type.
type wording struct{ title, content string }

func wordingOf(e schema.Entry) wording {
	w := wording{text.Title(e.Title), text.Title(e.Content)}
	if w.content == w.title {
		w.content = ""
	}
	return w
}

// original is the id of the oldest entry that says the same.
func (h Hit) original() string { return cmp.Or(h.OriginalID, h.ID) }

// claim is a hit with all the candidates that say the same.
type claim struct {
	Hit
	members []Hit
	// depth counts the claims that took its place, one after the other.
	depth int
	// filled is true once the fields of an entry are loaded.
	filled bool
}

// fold makes one claim of the hits that have the same wording or the same original.
func (w Weights) fold(hits []Hit) []*claim {
	// of leads from each wording and each original to the claim that holds it, and from there to the one it was joined to.
	byWording, byOriginal := map[wording]int{}, map[string]int{}
	joined := make([]int, len(hits))
	var find func(i int) int
	find = func(i int) int {
		if joined[i] != i {
			joined[i] = find(joined[i])
		}
		return joined[i]
	}
	for i, h := range hits {
		joined[i] = i
		if first, ok := byWording[wordingOf(h.Entry)]; ok {
			joined[i] = find(first)
		} else {
			byWording[wordingOf(h.Entry)] = i
		}
		if first, ok := byOriginal[h.original()]; ok {
			joined[find(i)] = find(first)
		} else {
			byOriginal[h.original()] = i
		}
	}
	var out []*claim
	places := map[int]*claim{}
	for i, h := range hits {
		c := places[find(i)]
		if c == nil {
			c = &claim{}
			places[find(i)] = c
			out = append(out, c)
		}
		c.members = append(c.members, h)
	}
	for _, c := range out {
		c.represent(w)
	}
	return out
}

// represent chooses the hit that represents all: a believed one, of the highest stage, and the best match.
func (c *claim) represent(w Weights) {
	c.Hit = slices.MinFunc(c.members, func(a, b Hit) int {
		return cmp.Or(
			cmp.Compare(rank(ended(a.Status)), rank(ended(b.Status))),
			cmp.Compare(b.Explain.StageWeight*b.Explain.StatusPenalty, a.Explain.StageWeight*a.Explain.StatusPenalty),
			cmp.Compare(b.Score, a.Score),
			b.OccurredAt.Compare(a.OccurredAt),
			cmp.Compare(a.ID, b.ID),
		)
	})
	sessions := map[schema.SessionKey]bool{}
	for _, m := range c.members {
		c.match(m.Explain)
		c.Explain.Recency = max(c.Explain.Recency, m.Explain.Recency)
		if schema.SaidByAgent(m.Evidence) == "" {
			sessions[m.Session()] = true
		}
	}
	c.Explain.Corroboration = w.corroboration(len(sessions))
	c.Score = c.Explain.Score()
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

func byScore(a, b *claim) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score), cmp.Compare(a.depth, b.depth),
		b.OccurredAt.Compare(a.OccurredAt), cmp.Compare(a.ID, b.ID),
	)
}

// match gives the claim the hybrid score of another wording, if that matches the query better, and the better reasons to
// answer of the two.
func (c *claim) match(x Explain) {
	c.Explain.Words = c.Explain.Words || x.Words
	c.Explain.Share, c.Explain.Height = max(c.Explain.Share, x.Share), max(c.Explain.Height, x.Height)
	if x.Hybrid <= c.Explain.Hybrid {
		return
	}
	c.Explain.Hybrid, c.Explain.Vector, c.Explain.Keyword, c.Explain.Context = x.Hybrid, x.Vector, x.Keyword, x.Context
	c.Explain.Similarity, c.Explain.BM25 = x.Similarity, x.BM25
	c.Score = c.Explain.Score()
}

// order sorts by score, the best first, and puts no claim above its successor. successor returns the id that succeeds
// an id, or "".
func order(claims []*claim, successor func(id string) string) {
	// Sorted, so that the order of the claims does not change how those in a circle are limited.
	slices.SortFunc(claims, byScore)
	holding := map[string]*claim{}
	for _, c := range claims {
		for _, m := range c.members {
			holding[m.ID] = c
		}
	}
	seen := map[*claim]bool{}
	var limit func(c *claim)
	limit = func(c *claim) {
		if seen[c] || !ended(c.Status) {
			return
		}
		seen[c] = true
		next := c.follow(holding, successor)
		if next == nil {
			return
		}
		limit(next)
		c.depth = next.depth + 1
		if next.Score < c.Score {
			score := next.Score
			c.Explain.Limit, c.Score = &score, score
		}
	}
	for _, c := range claims {
		limit(c)
	}
	slices.SortFunc(claims, byScore)
}

// follow returns the next claim that took the place of this one, also if it is found by way of others that were not
// found, or nil.
func (c *claim) follow(holding map[string]*claim, successor func(id string) string) *claim {
	passed := map[string]bool{}
	for id := c.SupersededBy; id != "" && !passed[id]; id = successor(id) {
		if next := holding[id]; next != nil && next != c {
			return next
		}
		passed[id] = true
	}
	return nil
}
