// Package retrieve finds entries: a hybrid search in the vector store, judged again by the entries'
// rows, and a score that explains itself.
package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"axiommind/activities/entry"
	"axiommind/activities/table"
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
	// maxSessions are listed of a hit.
	maxSessions = 5
)

// Index is the hybrid search of a vector store.
type Index interface {
	Hybrid(ctx context.Context, q vector.HybridQuery) ([]vector.Candidate, error)
}

// Options configure a [Searcher]. A zero value means its default.
type Options struct {
	Weights *Weights
	Alpha   *float64
	// Floor is the cosine similarity from which an entry that shares no term with the query is a hit.
	// Default: that of the embedder if it is a [Floored], or else what [measureFloor] finds.
	Floor *float64
	// Now is the clock.
	Now func() time.Time
}

// Searcher searches the entries of one embedding version.
type Searcher struct {
	entries  *entry.Reader
	index    Index
	embedder vector.Embedder
	weights  Weights
	alpha    float64
	floor    *float64
	measured atomic.Pointer[float64]
	now      func() time.Time
}

// NewSearcher returns a searcher over a migrated database and the index of the embedder's vectors.
func NewSearcher(conn table.Conn, index Index, embedder vector.Embedder, opts Options) *Searcher {
	s := &Searcher{
		entries: entry.NewReader(conn), index: index, embedder: embedder, weights: DefaultWeights(), alpha: DefaultAlpha,
		floor: opts.Floor, now: time.Now,
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

// Hit is a text that was found. The entry is the best one that says it, and so are its session and its
// evidence with message and span.
type Hit struct {
	schema.Entry
	SupersededBy string `json:"superseded_by,omitempty"`
	BuildID      string `json:"build_id,omitempty"`
	// EvidenceSessionID is the session whose messages Evidence is of: SessionID, or another that states the same.
	EvidenceSessionID string  `json:"evidence_session_id"`
	Score             float64 `json:"score"`
	Explain           Explain `json:"explain"`
	// Sessions are those that say the text in an entry that the query admits: the hit's own first, and then
	// the newest, each by its newest entry, up to five in all. MoreSessions counts the others.
	Sessions     []Saying `json:"sessions"`
	MoreSessions int      `json:"more_sessions"`
}

// Saying is one entry that says the text of a hit.
type Saying struct {
	SessionID       string            `json:"session_id"`
	Agent           string            `json:"agent,omitempty"`
	EntryID         string            `json:"entry_id"`
	Type            schema.EntryType  `json:"type"`
	Stage           schema.Stage      `json:"stage"`
	Status          schema.Status     `json:"status"`
	SupersededBy    string            `json:"superseded_by,omitempty"`
	OccurredAt      time.Time         `json:"occurred_at"`
	BuildID         string            `json:"build_id,omitempty"`
	EvidenceAligned bool              `json:"evidence_aligned"`
	EvidenceProven  bool              `json:"evidence_proven"`
	Evidence        []schema.Evidence `json:"evidence"`
	// EvidenceSessionID is the session whose messages Evidence is of.
	EvidenceSessionID string `json:"evidence_session_id"`
}

// Result is the answer to a query.
type Result struct {
	// Hits are in order of score.
	Hits []Hit `json:"hits"`
	// Alpha is what the search was made with, and Floor the similarity from which an entry that shares
	// no term with the query is a hit.
	Alpha float64 `json:"alpha"`
	Floor float64 `json:"floor"`
	// Candidates counts what the vector store found. Of them the entries' rows ruled out Filtered,
	// Dropped have no row, and Unrelated share no term with the query and are below the floor.
	Candidates int `json:"candidates"`
	Filtered   int `json:"filtered"`
	Dropped    int `json:"dropped"`
	Unrelated  int `json:"unrelated"`
	// Nearest is the highest similarity of those that are unrelated.
	Nearest float64       `json:"nearest"`
	Took    time.Duration `json:"took_ns"`
}

// Search returns the entries that have to do with the query, those first that fit it best. Of entries
// with the same text it makes one hit. A refusal wraps ErrQuery.
func (s *Searcher) Search(ctx context.Context, q Query) (Result, error) {
	started := time.Now()
	if err := q.validate(); err != nil {
		return Result{}, err
	}
	r := &search{Searcher: s, query: q, limit: cmp.Or(q.Limit, DefaultLimit), result: Result{Hits: []Hit{}, Alpha: s.alpha}}
	if q.Alpha != nil {
		r.result.Alpha = *q.Alpha
	}
	// Marks alone ask for nothing, whatever an embedder makes of them.
	if strings.ContainsFunc(q.Text, meant) {
		if err := r.run(ctx); err != nil {
			return Result{}, err
		}
	}
	r.result.Took = time.Since(started)
	return r.result, nil
}

func meant(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

// search is one search as it goes on.
type search struct {
	*Searcher
	query Query
	limit int
	asked vector.Asked
	// worded counts the candidates that keyword search found. Where there are none, all that follow one
	// that is unrelated are.
	worded int
	result Result
}

func (r *search) run(ctx context.Context) error {
	queryVector, err := r.embed(ctx)
	if err != nil {
		return err
	}
	r.asked = vector.Ask(r.query.Text)
	hybrid := vector.HybridQuery{
		Collection: schema.VectorCollection(r.embedder.Version()), Project: r.query.Project, Filter: r.query.filter(),
		Text: r.query.Text, Vector: queryVector, Alpha: r.result.Alpha,
	}
	for fetch := max(5*r.limit, minCandidates); ; fetch *= 4 {
		hybrid.Limit = min(fetch, maxCandidates)
		candidates, err := r.index.Hybrid(ctx, hybrid)
		if err != nil {
			return err
		}
		if err := r.judge(ctx, candidates); err != nil {
			return err
		}
		// Fewer candidates than asked for: there are no more.
		if len(r.result.Hits) >= r.limit || len(candidates) < hybrid.Limit || hybrid.Limit == maxCandidates ||
			r.worded == 0 && r.result.Unrelated > 0 {
			break
		}
	}
	r.result.Hits = r.result.Hits[:min(r.limit, len(r.result.Hits))]
	return r.fill(ctx)
}

// judge makes hits of the candidates whose rows the query admits and that have to do with it.
func (r *search) judge(ctx context.Context, candidates []vector.Candidate) error {
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ItemID
	}
	// Of the whole project: what the query may not see is counted apart from what has no row.
	rows, err := r.entries.ByID(ctx, entry.InProject(r.query.Project).IDs(ids), entry.Standing)
	if err != nil {
		return fmt.Errorf("read candidates: %w", err)
	}
	now := r.now()
	if !r.query.To.IsZero() {
		now = r.query.To
	}
	result := &r.result
	result.Hits = result.Hits[:0]
	result.Candidates, result.Filtered, result.Dropped, result.Unrelated, result.Nearest = len(candidates), 0, 0, 0, 0
	r.worded = 0
	for _, c := range candidates {
		if c.BM25 > 0 {
			r.worded++
		}
		row, ok := rows[c.ItemID]
		e := row.Entry
		switch {
		case !ok:
			result.Dropped++
		case !r.query.admits(e):
			result.Filtered++
		case c.Similarity < result.Floor && !r.asked.In(e.Text()):
			result.Unrelated++
			result.Nearest = max(result.Nearest, c.Similarity)
		default:
			explain := r.weights.explain(c, e, now)
			result.Hits = append(result.Hits, Hit{Entry: e, Score: explain.Score(), Explain: explain})
		}
	}
	sortHits(result.Hits)
	result.Hits = merge(result.Hits)
	return nil
}
