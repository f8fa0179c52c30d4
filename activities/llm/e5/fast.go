package e5

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"axiommind/activities/llm/onnx"
)

// newFast returns the model as ONNX Runtime computes it. It takes the library from where [onnx.FindLibrary] looks.
func newFast(dir string, f files) (*onnx.Encoder, error) {
	library, err := onnx.FindLibrary(dir)
	if err != nil {
		return nil, err
	}
	w, err := load(f)
	if err != nil {
		return nil, err
	}
	session, err := w.session(library, dir)
	if err != nil {
		return nil, fmt.Errorf("load the model into ONNX Runtime: %w", err)
	}
	return w.encoder(session, Dimensions), nil
}

// graphVersion is raised whenever the graph of the same weights changes.
const graphVersion = 2

// session loads the graph. To build it takes a third of a second, so it is kept in the directory of the weights if that can be
// written.
func (w *weights) session(library, dir string) (*onnx.Session, error) {
	name := sha256.Sum256(fmt.Appendf(nil, "%d %v %x", graphVersion, pins[weightsName], peaks))
	path := filepath.Join(dir, fmt.Sprintf("e5-int8-%x.onnx", name[:6]))
	if s, err := onnx.OpenFile(library, path); err == nil {
		return s, nil
	}
	model := (&graph{w: w, peaks: peaks}).model()
	onnx.Keep(path, model)
	return onnx.OpenBytes(library, model)
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
