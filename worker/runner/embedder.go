package runner

import (
	"context"
	"log/slog"

	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/worker/service"
)

// followEmbedder replaces the default embedder by the one chosen in the log: a worker without a setting of its own
// moves nothing from one to another. It reports whether the stores have the chosen one.
func followEmbedder(ctx context.Context, s *service.Stores, cfg service.Config, logger *slog.Logger) (bool, error) {
	if !cfg.EmbedderByDefault {
		return true, nil
	}
	choice, err := service.NewIndexes(s, cfg).Now(ctx)
	if err != nil || choice.Used == "" || choice.Chosen == s.Embedder.Version() {
		return true, err
	}
	chosen, err := llm.EmbedderOf(ctx, cfg.Embedder, choice.Chosen)
	if err != nil {
		logger.Warn("the chosen embedder is not available here: this worker's sessions are indexed with it once a worker that has it runs",
			"embedder", choice.Chosen, "reason", err)
		return false, nil
	}
	s.Embedder = chosen
	return true, nil
}

// chooseEmbedder selects the worker's embedder for the whole index, and logs the consequences.
func chooseEmbedder(ctx context.Context, indexes *vector.Indexes, own llm.Embedder, logger *slog.Logger) error {
	if local, ok := own.(llm.LocalEmbedder); ok && local.Slow() != nil {
		logger.Warn("the local embedder is several times slower than it could be: go run ./deploy/local up installs ONNX Runtime", "reason", local.Slow())
	}
	choice, err := indexes.Choose(ctx, own.Version())
	if err != nil || choice.Used == own.Version() {
		return err
	}
	logger.Info("everything is indexed with another embedder; searches use the one before until that is done: starter embedder status",
		"embedder", own.Version(), "in_use", choice.Used)
	if used, err := indexes.InUse(ctx); err != nil {
		return err
	} else if words, ok := used.(vector.WordsOnly); ok {
		logger.Warn("until then, new sessions are not found, and others by their words alone", "in_use", choice.Used, "reason", words.Reason)
	}
	return nil
}
