package graduate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/graduate/pair"
	"axiommind/activities/table"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Bounds of what a model is asked about.
const (
	// maxCompared is how many entries of a project are looked at, the latest first.
	maxCompared = 5000
	// maxHolders is how many entries of a scope may share a word that still says something of their subject.
	maxHolders = 50
	// maxPartners is how many older entries one is paired with: those that share most with it.
	maxPartners = 5
	// minLikeness is the part of the weight of the lighter title's words that two titles share at least.
	minLikeness = 0.1
	// minScope is how many entries words are weighed against at least. Fewer say little of which words are rare.
	minScope = 64
	// maxTerms is how many words of a title count.
	maxTerms = 64
	// maxNoteBytes and maxQuestionBytes bound what an entry and a question say. Nothing is cut: half a statement may say
	// the contrary.
	maxNoteBytes     = schema.MaxPassage
	maxQuestionBytes = 32 << 10
)

// likePair is two entries of one scope that may speak of the same subject.
type likePair struct {
	older, newer *statement
	shared       float64
}

// likePairs returns the pairs of entries that may speak of the same subject: those of one scope whose titles share rare
// words. A word weighs the more the fewer entries of the scope have it, and one that more than maxHolders have weighs
// nothing. Each entry is paired with at most maxPartners older ones. The pairs with the latest entries come first, and of
// one entry those that share most. The words are those of the keyword search, so that no list of words is needed, in any
// language; statements about one subject that share no word at all are not found.
//
// Of n entries each looks at the maxHolders holders of its maxTerms words at most: the work grows as n log n.
func likePairs(entries []*statement) []likePair {
	scopes := map[schema.Scope][]*statement{}
	for _, s := range entries {
		scopes[s.Scope] = append(scopes[s.Scope], s)
	}
	var out []likePair
	for _, list := range scopes {
		out = append(out, likePairsInScope(list)...)
	}
	slices.SortFunc(out, func(a, b likePair) int {
		return cmp.Or(
			b.newer.OccurredAt.Compare(a.newer.OccurredAt), strings.Compare(a.newer.ID, b.newer.ID),
			cmp.Compare(b.shared, a.shared), strings.Compare(a.older.ID, b.older.ID))
	})
	return out
}

func likePairsInScope(list []*statement) []likePair {
	list = sortedByAge(slices.Clone(list))
	words, holders := make([][]string, len(list)), map[string][]int{}
	for i, s := range list {
		words[i] = termsOf(s.Title)
		for _, w := range words[i] {
			holders[w] = append(holders[w], i)
		}
	}
	weight := func(w string) float64 {
		return math.Log1p(float64(max(len(list), minScope)) / float64(len(holders[w])))
	}
	total := make([]float64, len(list))
	for i := range list {
		for _, w := range words[i] {
			total[i] += weight(w)
		}
	}
	var out []likePair
	for i, newer := range list {
		shared := map[int]float64{}
		for _, w := range words[i] {
			if len(holders[w]) > maxHolders {
				continue
			}
			for _, j := range holders[w] {
				if j == i {
					break // The holders are in the order of age.
				}
				shared[j] += weight(w)
			}
		}
		var partners []likePair
		for j, sum := range shared {
			if sum >= minLikeness*min(total[i], total[j]) {
				partners = append(partners, likePair{list[j], newer, sum})
			}
		}
		slices.SortFunc(partners, func(a, b likePair) int {
			return cmp.Or(cmp.Compare(b.shared, a.shared), b.older.OccurredAt.Compare(a.older.OccurredAt), strings.Compare(a.older.ID, b.older.ID))
		})
		out = append(out, partners[:min(len(partners), maxPartners)]...)
	}
	return out
}

// termsOf returns the words of a title, each once.
func termsOf(title string) []string {
	terms := strings.Fields(text.Terms(title))
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return terms[:min(len(terms), maxTerms)]
}

// choose returns the next pairs to ask the model about, all of one scope, so that no question holds what two users said. It
// leaves out what the rule can judge, what the model has judged, and what is or was a conflict.
func (f *finding) choose(ctx context.Context) (asked schema.PairsAskedPayload, err error) {
	asked = schema.PairsAskedPayload{Model: f.model, Prompt: ContradictPrompt, AnswerKey: f.key}
	entries, err := f.believed(ctx)
	if err != nil {
		return asked, err
	}
	bytes, compared := 0, &snapshot{}
	for part := range slices.Chunk(likePairs(entries), page) {
		known, err := f.known(ctx, part)
		if err != nil {
			return asked, err
		}
		for _, p := range part {
			if known[schema.ConflictID(f.in.Project, p.older.ID, p.newer.ID)] || relate(compared.parse, p.older.Entry, p.newer.Entry).Kind != pair.Unrelated ||
				compared.parse(p.older.Title).Advances(compared.parse(p.newer.Title)) {
				continue
			}
			if len(asked.Pairs) == 0 {
				asked.Scope = p.newer.Scope
			}
			bytes += noteBytes(p.older) + noteBytes(p.newer)
			if len(asked.Pairs) == f.in.Limit || bytes > maxQuestionBytes || p.newer.Scope != asked.Scope {
				asked.More = true
				return asked, nil
			}
			asked.Pairs = append(asked.Pairs, schema.EntryPair{OlderID: p.older.ID, NewerID: p.newer.ID})
		}
	}
	return asked, nil
}

func noteBytes(s *statement) int { return len(s.Title) + len(s.Content) }

// believed returns the latest entries that may be asked about. What says the same as an older entry is left out: a
// statement is asked about once, by the oldest entry that makes it. So are references, and notes of tasks, whose state has conflicts of
// its own.
func (f *finding) believed(ctx context.Context) ([]*statement, error) {
	of := entry.InProject(f.in.Project)
	if f.in.User != nil {
		of = entry.OfUser(f.in.Project, *f.in.User)
	}
	rows, err := f.a.entries.Read(ctx, of.NotType(schema.EntryTaskNote).Believed().Aligned().NewestFirst().Limit(maxCompared), entry.Standing)
	if err != nil {
		return nil, err
	}
	var out []*statement
	for _, row := range rows {
		row.OccurredAt = row.OccurredAt.UTC()
		if s := (&statement{Row: row}); row.OriginalID == "" && row.Type != schema.EntryReference && noteBytes(s) <= maxNoteBytes {
			out = append(out, s)
		}
	}
	return out, nil
}

// known returns the ids of the pairs that the model has judged, or between which there is or was a conflict.
func (f *finding) known(ctx context.Context, pairs []likePair) (map[string]bool, error) {
	ids := make([]string, len(pairs))
	for i, p := range pairs {
		ids[i] = schema.ConflictID(f.in.Project, p.older.ID, p.newer.ID)
	}
	out := map[string]bool{}
	err := table.Query(ctx, f.a.conn, func(rows driver.Rows) error {
		var id string
		err := rows.Scan(&id)
		out[id] = true
		return err
	}, `SELECT pair_id FROM judged_pairs_raw WHERE project = ? AND pair_id IN ? AND model = ? AND prompt = ?
		UNION DISTINCT
		SELECT conflict_id FROM conflicts_raw WHERE project = ? AND conflict_id IN ?`,
		f.in.Project, table.Set(ids), f.model, ContradictPrompt, f.in.Project, table.Set(ids))
	if err != nil {
		return nil, fmt.Errorf("read which pairs of project %q were judged: %w", f.in.Project, err)
	}
	return out, nil
}
