package fact

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"axiommind/activities/graduate/pair"
	"axiommind/activities/llm"
	"axiommind/activities/spans"
	"axiommind/activities/text"
	"axiommind/schema"
)

// similarityIndex compares proposed facts with remembered ones. It has the vectors of all that may be near each other, so that
// planning asks no embedder.
type similarityIndex struct {
	vectors map[string][]float32
}

// newSimilarityIndex returns the nearness of the proposals to the facts and to each other, or nil if facts are not merged.
func newSimilarityIndex(ctx context.Context, opts Options, facts []Fact, proposals []proposal) (*similarityIndex, error) {
	if opts.MergeOverlap == 0 {
		return nil, nil
	}
	type known struct {
		content string
		words   map[string]bool
	}
	var all []known
	for _, f := range facts {
		if f.Status == Active {
			all = append(all, known{f.Content, termsOf(f.Content)})
		}
	}
	n := &similarityIndex{vectors: map[string][]float32{}}
	var texts []string
	need := func(content string) {
		if _, ok := n.vectors[content]; !ok {
			n.vectors[content], texts = nil, append(texts, content)
		}
	}
	for _, x := range proposals {
		own := known{strings.TrimSpace(x.content), termsOf(x.content)}
		for _, other := range all {
			if overlap(own.words, other.words) >= opts.MergeOverlap {
				need(own.content)
				need(other.content)
			}
		}
		all = append(all, own)
	}
	if len(texts) == 0 {
		return n, nil
	}
	calling, s := spans.Embedding(ctx, opts.Embedder.Version())
	vectors, err := opts.Embedder.Embed(calling, texts)
	spans.End(s, err)
	if err != nil {
		return nil, fmt.Errorf("compare %d facts: %w", len(texts), err)
	}
	for i, content := range texts {
		n.vectors[content] = vectors[i]
	}
	return n, nil
}

// nearDuplicate is an older fact that says nearly the same as a proposal.
type nearDuplicate struct {
	fact                Fact
	overlap, similarity float64
}

// mergeTarget returns the active fact that the proposal is merged into: one of its category that has as many words in common with
// it, and as similar a vector, as the options ask for. Of several it is the most similar, and of those the oldest. Facts
// that contradict each other, or that differ in a number, are never merged.
func (p *planner) mergeTarget(x proposal) (best nearDuplicate, found bool) {
	if p.near == nil {
		return nearDuplicate{}, false
	}
	content := strings.TrimSpace(x.content)
	vector, words := p.near.vectors[content], termsOf(content)
	if vector == nil {
		return nearDuplicate{}, false
	}
	category, _ := Category(x.category)
	said := pair.Parse(content)
	for _, f := range p.overlay.facts {
		other := p.near.vectors[f.Content]
		if f.Status != Active || f.Category != category || other == nil {
			continue
		}
		t := nearDuplicate{f, overlap(words, termsOf(f.Content)), llm.Similarity(p.opts.Embedder, cosine(vector, other))}
		if t.overlap < p.opts.MergeOverlap || t.similarity < p.opts.MergeSimilarity ||
			!slices.Equal(numbersOf(content), numbersOf(f.Content)) || pair.Parse(f.Content).Compare(said).Kind == pair.Conflict {
			continue
		}
		if !found || t.similarity > best.similarity || t.similarity == best.similarity && f.CreatedSeq < best.fact.CreatedSeq {
			best, found = t, true
		}
	}
	return best, found
}

func (p *planner) merge(x proposal, t nearDuplicate) error {
	return p.emit(x.key, x.at, schema.FactMergedPayload{
		Act: x.act, FactID: t.fact.ID, Confidence: max(t.fact.Confidence, confidenceOf(x)),
		Content: strings.TrimSpace(x.content), Proposed: confidenceOf(x), Overlap: t.overlap, Similarity: t.similarity,
		MinOverlap: p.opts.MergeOverlap, MinSimilarity: p.opts.MergeSimilarity,
	})
}

// termsOf returns the words of the content as a search has them, and pairs of signs where a script has no spaces.
func termsOf(content string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text.Terms(content)) {
		words[word] = true
	}
	return words
}

// overlap is the share of the words of either that both have.
func overlap(a, b map[string]bool) float64 {
	both := 0
	for word := range a {
		if b[word] {
			both++
		}
	}
	if either := len(a) + len(b) - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}

// numbersOf returns the words that contain a digit, sorted.
func numbersOf(content string) []string {
	fields := strings.FieldsFunc(text.Caseless(content), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '.' && r != '-'
	})
	fields = slices.DeleteFunc(fields, func(field string) bool { return !strings.ContainsFunc(field, unicode.IsNumber) })
	for i, field := range fields {
		fields[i] = strings.TrimRight(field, ".")
	}
	slices.Sort(fields)
	return fields
}

func cosine(a, b []float32) float64 {
	var dot, x, y float64
	for i := range min(len(a), len(b)) {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	if x == 0 || y == 0 {
		return 0
	}
	return dot / math.Sqrt(x*y)
}
