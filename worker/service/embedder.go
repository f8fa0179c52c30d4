package service

import (
	"context"

	"axiommind/activities/llm"
	"axiommind/activities/vector"
)

// NewIndexes returns the indexes of the stores, which need no Temporal where nothing is written.
func NewIndexes(s *Stores, cfg Config) *vector.Indexes {
	make := func(ctx context.Context, version string) (vector.Embedder, error) {
		return llm.EmbedderOf(ctx, cfg.Embedder, version)
	}
	return vector.NewIndexes(s.ClickHouse, s.Log, s.Weaviate, s.Temporal, s.Embedder, make, vector.Options{Timing: cfg.Timing})
}
