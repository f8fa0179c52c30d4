package e5

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"axiommind/activities/llm/onnx"
)

// loadFast returns the engine that ONNX Runtime computes. It takes the library from where [onnx.FindLibrary] looks.
func loadFast(dir string, f files) (*Engine, error) {
	library, err := onnx.FindLibrary(dir)
	if err != nil {
		return nil, err
	}
	w, err := load(f)
	if err != nil {
		return nil, err
	}
	session, err := onnx.OpenBytes(library, w.graph(filepath.Join(dir, graphFile)))
	if err != nil {
		return nil, fmt.Errorf("load the model into ONNX Runtime: %w", err)
	}
	e := &Engine{fast: w.encoder(session, Dimensions)}
	if err := e.check(Tolerance); err != nil {
		session.Close()
		return nil, err
	}
	return e, nil
}

const (
	// graphVersion is raised whenever the graph of the same weights changes.
	graphVersion = 2
	graphFile    = "e5-int8.graph"
)

// graph returns the graph of the weights. To build it takes a third of a second, so it is kept in the file, after a digest of it
// and of its sources. A file that is damaged or made of other sources is replaced.
func (w *weights) graph(path string) []byte {
	sum := func(model []byte) []byte {
		h := sha256.New()
		_, _ = fmt.Fprintf(h, "%d %v %x ", graphVersion, pins[weightsName], peaks)
		h.Write(model)
		return h.Sum(nil)
	}
	if kept, err := os.ReadFile(path); err == nil && len(kept) > sha256.Size && bytes.Equal(kept[:sha256.Size], sum(kept[sha256.Size:])) {
		return kept[sha256.Size:]
	}
	model := (&graph{w: w, peaks: peaks}).model()
	onnx.Keep(path, slices.Concat(sum(model), model))
	return model
}

// load maps the weights.
func load(f files) (*weights, error) {
	file, err := mapped(f.weights)
	if err != nil {
		return nil, fmt.Errorf("map the weights: %w", err)
	}
	w, err := readWeights(file)
	if err != nil {
		return nil, fmt.Errorf("read the weights %q: %w", f.weights, err)
	}
	return w, nil
}

// encoder returns the encoder that runs a graph of the weights, which gives vectors of this length.
func (w *weights) encoder(session *onnx.Session, dimensions int) *onnx.Encoder {
	return &onnx.Encoder{
		Tokens: w.tokenizer.Tokens, First: w.bos, Last: w.eos, Window: window, Dimensions: dimensions,
		Hidden: func(rows [][]int32, read func([]float32) error) error {
			shape := []int64{int64(len(rows)), int64(len(rows[0])), Dimensions}
			return session.Run(shape, []any{w.vectors(rows)}, func(vectors []float32, _ []int64) error { return read(vectors) })
		},
	}
}

// fastVectors returns the vectors of the model itself.
func fastVectors(ctx context.Context, e *onnx.Encoder, texts []string, query bool) ([][]float32, error) {
	embed, prefix := e.Passages, "passage: "
	if query {
		embed, prefix = e.Queries, "query: "
	}
	prefixed := make([]string, len(texts))
	for i, t := range texts {
		prefixed[i] = prefix + plain(t)
	}
	return embed(ctx, prefixed)
}
