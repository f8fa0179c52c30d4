// Package retrieve finds entries: a hybrid search in the vector store, judged again by the entries'
// rows, and a score that explains itself.
package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// Defaults and bounds of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 200
	// DefaultAlpha was measured on dialogues: above 0.5 the recall of every embedder tried falls, and
	// that of the one without a model falls to a third.
	DefaultAlpha = 0.3
	// minCandidates are fetched for any limit, so that reranking has something to choose from, and
	// maxCandidates bounds what is fetched when filters leave too few.
	minCandidates = 50
	maxCandidates = 3200
)

// Index is the hybrid search of a vector store.
type Index interface {
	Hybrid(ctx context.Context, q vector.HybridQuery) ([]vector.Candidate, error)
}

// Options configure a [Searcher]. A zero value means its default.
type Options struct {
	Weights *Weights
	Alpha   *float64
	// Now is the clock.
	Now func() time.Time
}

// Searcher searches the entries of one embedding version.
type Searcher struct {
	conn     driver.Conn
	index    Index
	embedder vector.Embedder
	weights  Weights
	alpha    float64
	now      func() time.Time
}

// NewSearcher returns a searcher.
func NewSearcher(conn driver.Conn, index Index, embedder vector.Embedder, opts Options) *Searcher {
	s := &Searcher{
		conn: conn, index: index, embedder: embedder, weights: DefaultWeights(), alpha: DefaultAlpha, now: time.Now,
	}
	if opts.Weights != nil {
		s.weights = *opts.Weights
	}
	if opts.Alpha != nil {
		s.alpha = *opts.Alpha
	}
	if opts.Now != nil {
		s.now = opts.Now
	}
	return s
}

// Hit is an entry that was found. Its evidence is the entry's: session, message and span.
type Hit struct {
	schema.Entry
	SupersededBy string  `json:"superseded_by,omitempty"`
	BuildID      string  `json:"build_id,omitempty"`
	Score        float64 `json:"score"`
	Explain      Explain `json:"explain"`
}

// Result is the answer to a query.
type Result struct {
	// Hits are in order of score.
	Hits []Hit `json:"hits"`
	// Alpha is what the search was made with.
	Alpha float64 `json:"alpha"`
	// Candidates counts what the vector store found, Filtered those of them that the entries' rows
	// ruled out, and Dropped those that have no row.
	Candidates int           `json:"candidates"`
	Filtered   int           `json:"filtered"`
	Dropped    int           `json:"dropped"`
	Took       time.Duration `json:"took_ns"`
}

// Search returns the entries that fit the query best. A refusal wraps ErrQuery.
func (s *Searcher) Search(ctx context.Context, q Query) (Result, error) {
	started := time.Now()
	if err := q.validate(); err != nil {
		return Result{}, err
	}
	limit := cmp.Or(q.Limit, DefaultLimit)
	result := Result{Hits: []Hit{}, Alpha: s.alpha}
	if q.Alpha != nil {
		result.Alpha = *q.Alpha
	}
	vectors, err := s.embedder.Embed(ctx, []string{q.Text})
	if err != nil {
		return Result{}, fmt.Errorf("embed query: %w", err)
	}
	if len(vectors) != 1 || len(vectors[0]) != s.embedder.Dimensions() {
		return Result{}, fmt.Errorf("embed query: %w", vector.ErrEmbedder)
	}
	hybrid := vector.HybridQuery{
		Collection: schema.VectorCollection(s.embedder.Version()), Project: q.Project, Filter: q.filter(),
		Text: q.Text, Vector: vectors[0], Alpha: result.Alpha,
	}
	for fetch := max(5*limit, minCandidates); ; fetch *= 4 {
		hybrid.Limit = min(fetch, maxCandidates)
		candidates, err := s.index.Hybrid(ctx, hybrid)
		if err != nil {
			return Result{}, err
		}
		if err := s.judge(ctx, q, candidates, &result); err != nil {
			return Result{}, err
		}
		// Fewer candidates than asked for: there are no more.
		if len(result.Hits) >= limit || len(candidates) < hybrid.Limit || hybrid.Limit == maxCandidates {
			break
		}
	}
	sortHits(result.Hits)
	result.Hits = result.Hits[:min(limit, len(result.Hits))]
	if err := s.fill(ctx, q.Project, result.Hits); err != nil {
		return Result{}, err
	}
	result.Took = time.Since(started)
	return result, nil
}

// judge makes hits of the candidates whose rows the query admits.
func (s *Searcher) judge(ctx context.Context, q Query, candidates []vector.Candidate, result *Result) error {
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ItemID
	}
	entries, err := s.heads(ctx, q.Project, ids)
	if err != nil {
		return err
	}
	now := s.now()
	if !q.To.IsZero() {
		now = q.To
	}
	result.Hits = result.Hits[:0]
	result.Candidates, result.Filtered, result.Dropped = len(candidates), 0, 0
	for _, c := range candidates {
		e, ok := entries[c.ItemID]
		switch {
		case !ok:
			result.Dropped++
		case !q.admits(e):
			result.Filtered++
		default:
			explain := s.weights.explain(c, e, now)
			result.Hits = append(result.Hits, Hit{Entry: e, Score: explain.Score(), Explain: explain})
		}
	}
	return nil
}
