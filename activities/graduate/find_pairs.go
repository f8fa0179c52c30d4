package graduate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/graduate/pair"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Bounds of the entries and pairs that a model is asked about.
const (
	// maxCompared is the maximum number of entries of a project to compare, the latest first.
	maxCompared = 5000
	// maxHolders is the maximum number of entries of a scope that share a word. A more frequent word says nothing about
	// the subject.
	maxHolders = 50
	// maxPartners is the maximum number of older entries to pair one with: those that share most with it.
	maxPartners = 5
	// minLikeness is the least weight of the shared words, as a part of the weight of all words of the lighter title.
	minLikeness = 0.1
	// minScope is the least number of entries to weigh words against. With fewer, rare words can't be distinguished.
	minScope = 64
	// maxTerms is the maximum number of words of a title to compare.
	maxTerms = 64
	// maxNoteBytes and maxQuestionBytes bound the text of an entry and of a question. No text is cut, since half a
	// statement may say the contrary.
	maxNoteBytes     = schema.MaxPassage
	maxQuestionBytes = 32 << 10
)

// likePair is two entries of one scope that may be about the same subject.
type likePair struct {
	older, newer *statement
	shared       float64
}

// likePairs returns the pairs of entries that may be about the same subject: those of one scope whose titles share rare
// words. The rarer a word is in the scope, the more it weighs. A word that more than maxHolders entries have weighs
// nothing. Each entry is paired with at most maxPartners older ones. The pairs with the latest entries come first, and
// those of one entry are sorted by shared weight. The words are the terms of the keyword search, so that no language
// needs a word list. Statements about one subject that share no word are not found.
//
// Each of n entries is compared with at most maxHolders holders of each of its at most maxTerms words: the work grows
// as n log n.
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

// choose returns the next pairs to ask the model about. All are of one scope, so that no question mixes statements of
// two users. It leaves out pairs that the rule can judge, that the model has judged, or that are or were in conflict.
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

// believed returns the latest entries that may be asked about. It leaves out entries that repeat an older one, so that
// each statement is asked about once. It also leaves out references, and notes of tasks, whose state has conflicts of
// its own.
func (f *finding) believed(ctx context.Context) ([]*statement, error) {
	of := entry.InProject(f.in.Project)
	if f.in.User != nil {
		of = entry.OfUser(f.in.Project, *f.in.User)
	}
	rows, err := f.a.entries.Read(ctx, of.NotType(schema.EntryTaskNote).Believed().Aligned().NewestFirst().Limit(maxCompared), entry.Lifecycle)
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

// known returns the ids of the pairs that the model has judged, or that are or were in conflict.
func (f *finding) known(ctx context.Context, pairs []likePair) (map[string]bool, error) {
	ids := make([]string, len(pairs))
	for i, p := range pairs {
		ids[i] = schema.ConflictID(f.in.Project, p.older.ID, p.newer.ID)
	}
	out := map[string]bool{}
	err := clickhouse.Query(ctx, f.a.conn, clickhouse.Map(out, func(rows driver.Rows, id *string, is *bool) error { return rows.Scan(id, is) }),
		`SELECT pair_id, true FROM judged_pairs_raw WHERE project = ? AND pair_id IN ? AND model = ? AND prompt = ?
		UNION DISTINCT
		SELECT conflict_id, true FROM conflicts_raw WHERE project = ? AND conflict_id IN ?`,
		f.in.Project, clickhouse.Set(ids), f.model, ContradictPrompt, f.in.Project, clickhouse.Set(ids))
	if err != nil {
		return nil, fmt.Errorf("read which pairs of project %q were judged: %w", f.in.Project, err)
	}
	return out, nil
}
