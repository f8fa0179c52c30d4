// Package retrieve finds entries. It runs a hybrid search in the vector store, checks the results against the
// entries' rows, and explains each score.
package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Defaults and bounds of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 200
	// DefaultAlpha is the weight of meaning by an embedder that knows any. It was measured on dialogues: at 0.3 and at 0.7
	// each tested one finds less.
	DefaultAlpha = 0.5
	// minCandidates are fetched even for a small limit, so that reranking has a choice. maxCandidates limits the fetch
	// when the filters leave too few.
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
	// Now returns the current time.
	Now func() time.Time
}

// Searcher searches the entries of one embedding version.
type Searcher struct {
	conn     driver.Conn
	log      *eventlog.Store
	entries  *entry.Reader
	index    Index
	embedder vector.Embedder
	weights  Weights
	alpha    float64
	now      func() time.Time
	// chance is the embedder's measured chance. measuring is its lock, so that one search measures it.
	chance    *llm.Chance
	measuring chan struct{}
}

// NewSearcher returns a searcher over a migrated database and the index with the embedder's vectors.
func NewSearcher(conn driver.Conn, index Index, embedder vector.Embedder, opts Options) *Searcher {
	s := &Searcher{
		conn: conn, log: eventlog.New(conn, eventlog.Options{}), entries: entry.NewReader(conn), index: index, embedder: embedder,
		weights: DefaultWeights(), alpha: DefaultAlpha, now: time.Now, measuring: make(chan struct{}, 1),
	}
	if opts.Weights != nil {
		s.weights = *opts.Weights
	}
	if e, ok := embedder.(Weighted); ok {
		s.alpha = e.Alpha()
	}
	if opts.Alpha != nil {
		s.alpha = *opts.Alpha
	}
	if opts.Now != nil {
		s.now = opts.Now
	}
	return s
}

// Embedder returns the version of the embedder that makes the vectors of queries.
func (s *Searcher) Embedder() string { return s.embedder.Version() }

// Weighted is an embedder whose vectors weigh other than [DefaultAlpha].
type Weighted interface{ Alpha() float64 }

// Alpha returns the weight of meaning that is used where the query has none.
func (s *Searcher) Alpha() float64 { return s.alpha }

// Hit is one result: a statement, a message, a task, or a fact that a person entered. A statement is one hit, in however
// many sessions and words it was made. Its entry is the best one with the statement, a believed one if there is any. Of
// the fields of the entry the other kinds set only some: a message the scope, the session, the content and the time; a
// task the project and user, the title, the stage, the status and the time; a fact the user and agent, the title, the type
// and the time, and no project, since it is known in all projects.
type Hit struct {
	Kind Kind `json:"kind"`
	schema.Entry
	Message *MessageHit `json:"message,omitempty"`
	Fact    *FactHit    `json:"fact,omitempty"`
	// Tracked is the task of the hit: the hit itself, or the task that came of it.
	Tracked      *TaskHit `json:"tracked,omitempty"`
	SupersededBy string   `json:"superseded_by,omitempty"`
	// SupersededByTitle is the title of that entry.
	SupersededByTitle string `json:"superseded_by_title,omitempty"`
	// EndedAt is when the entry ceased to be believed, or the time when a query about an earlier time found it. It is zero
	// while the entry is believed. EndedBecause and EndedBy say why and by whom.
	EndedAt      time.Time `json:"ended_at,omitzero"`
	EndedBecause string    `json:"ended_because,omitempty"`
	EndedBy      string    `json:"ended_by,omitempty"`
	// OriginalID is the oldest entry with the same statement. It is empty if this entry is the oldest.
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
	// Weak is true if the hit may be unrelated to the query: it has less than half of the query's words and is hardly
	// nearer than chance. It does not depend on other hits.
	Weak bool `json:"weak"`
	// Sessions are the sessions in which an entry that matches the query says this: first the hit's own, then the newest,
	// up to five in all. Each is listed with its newest entry. MoreSessions counts the others. Of a message it counts those with
	// the same text.
	Sessions     []Statement `json:"sessions"`
	MoreSessions int         `json:"more_sessions"`
	// Around are the hit's own message and the messages before and after it, if the query asks for them.
	Around []Turn `json:"around,omitempty"`
}

// Mention names another entry. Its title is empty if it is not the user's.
type Mention struct {
	EntryID string `json:"entry_id"`
	Title   string `json:"title,omitempty"`
}

// Statement is one entry with the statement of a hit.
type Statement struct {
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

// Version is that of the searcher's embedder.
func (s *Searcher) Version() string { return s.embedder.Version() }

// Result is the answer to a query.
type Result struct {
	// Hits are in order of score, the best first.
	Hits []Hit `json:"hits"`
	// Embedder is the version of the embedder in use, which made the vector of the query.
	Embedder string `json:"embedder"`
	// WordsOnly is why nothing was searched for by meaning, if it was not: this process can't have the embedder in use.
	WordsOnly string `json:"words_only,omitempty"`
	// Alpha is the weight that was used.
	Alpha float64 `json:"alpha"`
	// Candidates counts the objects that the vector store found. Of these, Filtered did not match the query by their
	// rows, and Dropped have no row. Unrelated share no word with the query and are no nearer to it than chance, or not
	// near enough for an answer.
	Candidates int `json:"candidates"`
	Filtered   int `json:"filtered"`
	Dropped    int `json:"dropped"`
	Unrelated  int `json:"unrelated"`
	// Superseded counts those of Filtered that match the query and were left out because they are no longer believed.
	Superseded int `json:"superseded"`
	// Nearest is the greatest height of those that match the query by their rows: see [Explain].
	Nearest float64       `json:"nearest"`
	Took    time.Duration `json:"took_ns"`
	// Next is the cursor of the hits that follow these, empty if none do, or if [MaxLimit] are listed.
	Next string `json:"next,omitempty"`
}

// Search returns the entries that are related to the query, best first. Entries that say the same are one hit. The answer
// is empty only if nothing is near the query. If the query is invalid, the error wraps ErrQuery.
func (s *Searcher) Search(ctx context.Context, q Query) (Result, error) {
	started := time.Now()
	if err := q.validate(); err != nil {
		return Result{}, err
	}
	from, err := s.readCursor(q)
	if err != nil {
		return Result{}, err
	}
	r := &search{
		Searcher: s, query: q, from: from, page: cmp.Or(q.Limit, DefaultLimit), result: Result{Hits: []Hit{}, Alpha: s.alpha, Embedder: s.embedder.Version()},
		relations: relations{map[string]entry.Row{}, map[string]*history{}},
	}
	r.limit = min(len(from.Seen)+r.page+1, MaxLimit)
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
	// from is where the page begins, and page the number of its hits. The limit is that of all pages so far plus one,
	// which shows whether there are more.
	from  cursor
	page  int
	limit int
	terms vector.QueryTerms
	// expected is the similarity of the query to unrelated texts in its language, and deviation their standard
	// deviation. mean is the similarity to unrelated texts in all languages.
	expected, deviation, mean float64
	// keywordHits counts the entries that keyword search found, unrelated those that are not related to the query. If the first
	// is 0, every entry after an unrelated one is unrelated too.
	keywordHits, unrelated int
	// perhapsMore is true if the candidates that were not fetched may hold hits.
	perhapsMore bool
	// texts is how many messages to read, and moreTexts is true if there are others.
	texts     int
	moreTexts bool
	relations relations
	result    Result
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
	for r.texts = 2 * r.limit; ; r.texts *= 4 {
		if claims, err = r.gather(ctx, hybrid); err != nil {
			return err
		}
		if claims, err = r.choose(ctx, r.answer(claims)); err != nil {
			return err
		}
		// Entries may quote every message that was read.
		if len(claims) == 0 || len(claims) >= r.limit || !r.moreTexts {
			break
		}
	}
	claims = r.from.rest(claims)
	more := len(claims) > r.page || len(claims) == r.page && r.perhapsMore
	claims = claims[:min(r.page, len(claims))]
	if err := r.expand(ctx, claims); err != nil {
		return err
	}
	r.result.Next = r.from.next(claims, more)
	for _, c := range claims {
		c.Weak = c.Explain.weak()
		r.result.Hits = append(r.result.Hits, c.Hit)
	}
	return nil
}

// gather returns the claims of all kinds, the best first. It looks for more entries if too few match the query.
func (r *search) gather(ctx context.Context, hybrid vector.HybridQuery) ([]*claim, error) {
	var items, messages, stated []vector.Candidate
	var err error
	if hybrid.Filter.IDs, err = r.few(ctx); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	ask := func(q vector.HybridQuery, into *[]vector.Candidate) {
		group.Go(func() (err error) {
			*into, err = r.index.Hybrid(groupCtx, q)
			return err
		})
	}
	if r.query.wants(KindMessage) {
		ask(r.messageQuery(hybrid), &messages)
	}
	if r.query.wants(KindFact) {
		ask(r.factQuery(hybrid), &stated)
	}
	fetch := max(5*r.limit, minCandidates)
	fetched := func(ctx context.Context) (err error) {
		if len(hybrid.Filter.Kinds) > 0 {
			hybrid.Limit = min(fetch, maxCandidates)
			items, err = r.index.Hybrid(ctx, hybrid)
		}
		return err
	}
	group.Go(func() error { return fetched(groupCtx) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for {
		r.fuse(items, messages, stated)
		r.weights.Neighbours.add(messages)
		found, err := r.load(ctx, items, messages, stated)
		if err != nil {
			return nil, err
		}
		// If there are fewer candidates than requested, there are no more.
		r.perhapsMore = len(items) == hybrid.Limit && hybrid.Limit < maxCandidates && hybrid.Limit > 0 &&
			(r.keywordHits > 0 || r.unrelated == 0)
		if len(found.entries) < r.limit-1 && r.perhapsMore {
			fetch *= 4
			if err := fetched(ctx); err != nil {
				return nil, err
			}
			continue
		}
		r.result.Candidates = len(items) + len(messages) + len(stated)
		return join(found.entries, found.tasks, append(found.messages, found.facts...)), err
	}
}

// maxFew is how many entries are few enough to name them to the vector store.
const maxFew = 2000

// few returns the ids of the entries with the stages and statuses that the query asks for, if they are few. The vector
// store knows neither, and would search thousands of candidates for a rare one.
func (r *search) few(ctx context.Context) ([]string, error) {
	q := r.query
	var statuses []schema.Status
	if q.AsOf.IsZero() {
		statuses = q.Statuses // The table has only today's statuses.
	}
	if len(q.Stages)+len(statuses) == 0 {
		return nil, nil
	}
	ids, err := r.entries.IDs(ctx, entry.OfUser(q.Project, q.User).Stages(q.Stages).Statuses(statuses).Limit(maxFew+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for entries of the stages: %w", err)
	case len(ids) > maxFew:
		return nil, nil
	case len(ids) == 0:
		return []string{""}, nil // No item has this id.
	}
	return ids, nil
}

// byKind parts the candidates of the index of entries.
func byKind(candidates []vector.Candidate) (entries, titles []vector.Candidate) {
	for _, c := range candidates {
		if c.Kind == schema.ItemTaskTitle {
			titles = append(titles, c)
		} else {
			entries = append(entries, c)
		}
	}
	return entries, titles
}

// choose returns the claims to list. Of an entry and a message most of which it quotes, it lists the entry alone, which then
// matches as well as the message does.
func (r *search) choose(ctx context.Context, claims []*claim) ([]*claim, error) {
	var chosen []*claim
	for rest := claims; len(chosen) < r.limit && len(rest) > 0; {
		next := rest[:min(2*r.limit, len(rest))]
		rest = rest[len(next):]
		if err := r.fill(ctx, next); err != nil {
			return nil, err
		}
		chosen = unquoted(append(chosen, next...))
	}
	return chosen[:min(r.limit, len(chosen))], nil
}

// unquoted returns the claims without the messages that entries among them quote, the best first.
func unquoted(claims []*claim) []*claim {
	messages := map[string]*claim{}
	for _, c := range claims {
		if c.Kind == KindMessage {
			for _, m := range c.members {
				messages[m.Message.id()] = c
			}
		}
	}
	quoted := map[*claim]bool{}
	for _, c := range claims {
		if c.Kind != KindEntry {
			continue
		}
		evidence := c.Evidence
		for _, s := range c.Sessions {
			evidence = slices.Concat(evidence, s.Evidence)
		}
		for _, e := range evidence {
			m := messages[(&MessageHit{Index: e.MessageIndex, EventID: e.EventID}).id()]
			if m == nil || 2*(e.Span.ByteEnd-e.Span.ByteStart) < len(m.Content) {
				continue
			}
			quoted[m] = true
			c.match(m.Explain)
		}
	}
	claims = slices.DeleteFunc(claims, func(c *claim) bool { return quoted[c] })
	if len(quoted) > 0 {
		slices.SortStableFunc(claims, byScore)
	}
	return claims
}

// judge turns candidates into claims, the best first, if the query admits their rows and they are related to it.
func (r *search) judge(ctx context.Context, candidates []vector.Candidate, t *tally) ([]*claim, error) {
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.ItemID
	}
	// Read the rows of the whole project, so that candidates that the query may not see are counted apart from those
	// without a row.
	rows, err := r.entries.ByID(ctx, entry.InProject(r.query.Project).IDs(ids), entry.Lifecycle)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	if r.query.Superseded || !r.query.AsOf.IsZero() {
		if err := r.relate(ctx, rows); err != nil {
			return nil, err
		}
	}
	now := r.now()
	r.keywordHits = 0
	var hits []Hit
	for _, c := range candidates {
		if c.BM25 > 0 {
			r.keywordHits++
		}
		row, ok := rows[c.ItemID]
		row = r.asOf(row)
		e := row.Entry
		share := r.terms.Share(e.Text())
		c.Words = share > 0
		switch {
		case !ok:
			t.dropped++
		case !r.query.admits(e):
			t.filtered++
			if r.query.matches(e) && r.weights.explain(c, e, now).near() {
				t.superseded++
			}
		case !related(c):
			t.unrelated++
		default:
			h := Hit{Kind: KindEntry, Explain: r.weights.explain(c, e, now)}
			h.Explain.Share = share
			h.Score = h.Explain.Score()
			h.show(row)
			hits = append(hits, h)
		}
	}
	r.unrelated = t.unrelated
	claims := r.weights.fold(hits)
	order(claims, func(id string) string { return r.relations.rows[id].SupersededBy })
	// While the hits of other kinds are read.
	return claims, r.fill(ctx, claims[:min(2*r.limit, len(claims))])
}
