// Package retrieve finds entries. It runs a hybrid search in the vector store, checks the results against the
// entries' rows, and explains each score.
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
	// DefaultAlpha was measured on dialogues. Above 0.5 the recall of every tested embedder falls, and that of the
	// offline embedder falls to a third.
	DefaultAlpha = 0.3
	// minCandidates are fetched even for a small limit, so that reranking has a choice. maxCandidates limits what is
	// fetched if the filters leave too few.
	minCandidates = 50
	maxCandidates = 3200
	// maxSessions is the number of sessions listed for a hit.
	maxSessions = 5
)

// Index is hybrid search in a vector store.
type Index interface {
	Hybrid(ctx context.Context, q vector.HybridQuery) ([]vector.Candidate, error)
}

// Options configures a [Searcher]. Zero values mean the defaults.
type Options struct {
	Weights *Weights
	Alpha   *float64
	// Floor is the minimum cosine similarity of hits that share no term with the query. Default: the embedder's, if
	// it is a [Floored] that knows it, or else the result of [measureFloor].
	Floor *float64
	// Now returns the current time.
	Now func() time.Time
}

// Searcher searches the entries of one embedding version.
type Searcher struct {
	conn     table.Conn
	entries  *entry.Reader
	index    Index
	embedder vector.Embedder
	weights  Weights
	alpha    float64
	floor    *float64
	measured atomic.Pointer[float64]
	now      func() time.Time
}

// NewSearcher returns a searcher over a migrated database and the index with the embedder's vectors.
func NewSearcher(conn table.Conn, index Index, embedder vector.Embedder, opts Options) *Searcher {
	s := &Searcher{
		conn: conn, entries: entry.NewReader(conn), index: index, embedder: embedder, weights: DefaultWeights(), alpha: DefaultAlpha,
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

// Hit is what was found: a statement, in however many sessions and words it was said. The other fields describe the best
// of the entries that say it, which is believed if any is: its session and its evidence with message and span.
type Hit struct {
	schema.Entry
	SupersededBy string `json:"superseded_by,omitempty"`
	// SupersededByTitle is the title of that entry.
	SupersededByTitle string `json:"superseded_by_title,omitempty"`
	// EndedAt is when the entry ceased to be believed, or the time when a query about an earlier time found it. It is zero
	// while the entry is believed. EndedBecause and EndedBy say why and by whom.
	EndedAt      time.Time `json:"ended_at,omitzero"`
	EndedBecause string    `json:"ended_because,omitempty"`
	EndedBy      string    `json:"ended_by,omitempty"`
	// OriginalID is the oldest entry that says the same, empty if this one is.
	OriginalID string `json:"original_id,omitempty"`
	// Conflicts counts the open conflicts that the entry is a side of, and ContestedBy are the other sides.
	Conflicts   int       `json:"conflicts,omitempty"`
	ContestedBy []Mention `json:"contested_by,omitempty"`
	BuildID     string    `json:"build_id,omitempty"`
	// EvidenceSessionID is the session whose messages Evidence is from: SessionID, or another session that states the
	// same.
	EvidenceSessionID string  `json:"evidence_session_id"`
	Score             float64 `json:"score"`
	Explain           Explain `json:"explain"`
	// Sessions are the sessions in which an entry that matches the query says this: first the hit's own, then the newest,
	// up to five in all. Each is listed with its newest entry. MoreSessions counts the others.
	Sessions     []Saying `json:"sessions"`
	MoreSessions int      `json:"more_sessions"`
}

// Mention names another entry. Its title is empty if it is not the user's.
type Mention struct {
	EntryID string `json:"entry_id"`
	Title   string `json:"title,omitempty"`
}

// Saying is one entry that says what a hit says.
type Saying struct {
	SessionID       string            `json:"session_id"`
	Agent           string            `json:"agent,omitempty"`
	EntryID         string            `json:"entry_id"`
	Title           string            `json:"title"`
	Type            schema.EntryType  `json:"type"`
	Stage           schema.Stage      `json:"stage"`
	Status          schema.Status     `json:"status"`
	SupersededBy    string            `json:"superseded_by,omitempty"`
	OccurredAt      time.Time         `json:"occurred_at"`
	BuildID         string            `json:"build_id,omitempty"`
	EvidenceAligned bool              `json:"evidence_aligned"`
	EvidenceProven  bool              `json:"evidence_proven"`
	Evidence        []schema.Evidence `json:"evidence"`
	// EvidenceSessionID is the session whose messages Evidence is from.
	EvidenceSessionID string `json:"evidence_session_id"`
}

// Result is the answer to a query.
type Result struct {
	// Hits are in order of score, the best first.
	Hits []Hit `json:"hits"`
	// Embedder is the version of the embedder that made the vector of the query.
	Embedder string `json:"embedder"`
	// Alpha is the weight that was used. Floor is the minimum similarity of hits that share no term with the query.
	Alpha float64 `json:"alpha"`
	Floor float64 `json:"floor"`
	// Candidates counts the objects that the vector store found. Of these, Filtered did not match the query by their
	// rows, Dropped have no row, and Unrelated share no term with the query and are below the floor.
	Candidates int `json:"candidates"`
	Filtered   int `json:"filtered"`
	Dropped    int `json:"dropped"`
	Unrelated  int `json:"unrelated"`
	// Superseded counts those of Filtered that match the query and were left out because they are no longer believed.
	Superseded int `json:"superseded"`
	// Nearest is the highest similarity of the unrelated candidates.
	Nearest float64       `json:"nearest"`
	Took    time.Duration `json:"took_ns"`
}

// Search returns the entries that are related to the query, best first. Entries that say the same are one hit. If
// the query is invalid, the error wraps ErrQuery.
func (s *Searcher) Search(ctx context.Context, q Query) (Result, error) {
	started := time.Now()
	if err := q.validate(); err != nil {
		return Result{}, err
	}
	r := &search{
		Searcher: s, query: q, limit: cmp.Or(q.Limit, DefaultLimit), result: Result{Hits: []Hit{}, Alpha: s.alpha, Embedder: s.embedder.Version()},
		relations: relations{map[string]entry.Row{}, map[string][]string{}, map[string]*history{}},
	}
	if q.Alpha != nil {
		r.result.Alpha = *q.Alpha
	}
	// Punctuation alone asks for nothing, even if an embedder finds neighbours for it.
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

// search is a search in progress.
type search struct {
	*Searcher
	query Query
	limit int
	terms vector.QueryTerms
	// keywordHits counts the candidates that keyword search found. If it is 0, every candidate after an unrelated one
	// is unrelated too.
	keywordHits int
	relations   relations
	result      Result
}

func (r *search) run(ctx context.Context) error {
	queryVector, err := r.embed(ctx)
	if err != nil {
		return err
	}
	r.terms = vector.NewQueryTerms(r.query.Text)
	hybrid := vector.HybridQuery{
		Collection: schema.VectorCollection(r.embedder.Version()), Project: r.query.Project, Filter: r.query.filter(),
		Text: r.query.Text, Vector: queryVector, Alpha: r.result.Alpha,
	}
	var claims []*claim
	for fetch := max(5*r.limit, minCandidates); ; fetch *= 4 {
		hybrid.Limit = min(fetch, maxCandidates)
		candidates, err := r.index.Hybrid(ctx, hybrid)
		if err != nil {
			return err
		}
		if claims, err = r.judge(ctx, candidates); err != nil {
			return err
		}
		// If there are fewer candidates than requested, there are no more.
		if len(claims) >= r.limit || len(candidates) < hybrid.Limit || hybrid.Limit == maxCandidates ||
			r.keywordHits == 0 && r.result.Unrelated > 0 {
			break
		}
	}
	claims = claims[:min(r.limit, len(claims))]
	if err := r.fill(ctx, claims); err != nil {
		return err
	}
	for _, c := range claims {
		r.result.Hits = append(r.result.Hits, c.Hit)
	}
	return nil
}

// judge turns candidates into claims, the best first, if the query admits their rows and they are related to it.
func (r *search) judge(ctx context.Context, candidates []vector.Candidate) ([]*claim, error) {
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ItemID
	}
	// Read the rows of the whole project, so that candidates that the query may not see are counted apart from those
	// without a row.
	rows, err := r.entries.ByID(ctx, entry.InProject(r.query.Project).IDs(ids), entry.Standing)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	if r.query.Superseded || !r.query.AsOf.IsZero() {
		if err := r.relate(ctx, rows); err != nil {
			return nil, err
		}
	}
	now := r.now()
	if said := r.query.said(); !said.IsZero() {
		now = said
	}
	result := &r.result
	result.Candidates, result.Filtered, result.Dropped, result.Unrelated, result.Nearest = len(candidates), 0, 0, 0, 0
	result.Superseded, r.keywordHits = 0, 0
	var hits []Hit
	for _, c := range candidates {
		if c.BM25 > 0 {
			r.keywordHits++
		}
		row, ok := rows[c.ItemID]
		row = r.standing(row)
		e := row.Entry
		switch {
		case !ok:
			result.Dropped++
		case !r.query.admits(e):
			result.Filtered++
			if r.query.matches(e) && r.related(c, e) {
				result.Superseded++
			}
		case !r.related(c, e):
			result.Unrelated++
			result.Nearest = max(result.Nearest, c.Similarity)
		default:
			h := Hit{Explain: r.weights.explain(c, e, now)}
			h.Score = h.Explain.Score()
			h.show(row)
			hits = append(hits, h)
		}
	}
	claims := r.weights.fold(hits)
	order(claims, func(id string) string { return r.relations.rows[id].SupersededBy })
	return claims, nil
}

// related reports whether the entry shares a term with the query or is similar to it.
func (r *search) related(c vector.Candidate, e schema.Entry) bool {
	return c.Similarity >= r.result.Floor || r.terms.In(e.Text())
}
