package retrieve

import (
	"context"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/vector"
)

// Finder searches with the embedder in use, which may change at any time.
type Finder struct {
	embedders   vector.InUse
	newSearcher func(vector.Embedder) *Searcher

	mu sync.Mutex
	// searchers are the searchers by version, because one may have measured its embedder.
	searchers map[string]*Searcher
}

// NewFinder returns a finder over a migrated database and the index. The arguments are those of [NewSearcher].
func NewFinder(conn driver.Conn, index Index, embedders vector.InUse, opts Options) *Finder {
	return &Finder{
		embedders: embedders, searchers: map[string]*Searcher{},
		newSearcher: func(e vector.Embedder) *Searcher { return NewSearcher(conn, index, e, opts) },
	}
}

// Search is [Searcher.Search].
func (f *Finder) Search(ctx context.Context, q Query) (Result, error) {
	s, err := f.Searcher(ctx)
	if err != nil {
		return Result{}, err
	}
	return s.Search(ctx, q)
}

// Searcher returns that of the embedder in use.
func (f *Finder) Searcher(ctx context.Context) (*Searcher, error) {
	e, err := f.embedders.InUse(ctx)
	if err != nil {
		return nil, err
	}
	if _, words := e.(vector.WordsOnly); words {
		return f.newSearcher(e), nil // The embedder may be there later.
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.searchers[e.Version()]
	if s == nil {
		s = f.newSearcher(e)
		f.searchers[e.Version()] = s
	}
	return s, nil
}
