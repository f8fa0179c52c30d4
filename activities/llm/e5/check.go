package e5

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
)

// known holds texts and the vectors that the library gave for them when it was pinned.
//
//go:embed known.json
var known []byte

// knownText is one of known.
type knownText struct {
	Text   string    `json:"text"`
	Query  bool      `json:"query,omitempty"`
	Vector []float32 `json:"vector"`
}

// Tolerance is the least cosine between the vectors that ONNX Runtime and the wheel's library give for a text, before they are
// centered. An engine that misses it for a known text is not used, so vectors of both may be in one index. For the
// texts of TestEnginesAgree, in a dozen languages, it was 0.9991 in the mean and 0.9972 at least.
const Tolerance = 0.995

// sameLibrary allows for another order of the same additions on another CPU, and for nothing else.
const sameLibrary = 0.999

// check embeds the known texts. A library or weights that were damaged or exchanged would else go unnoticed: all that was
// stored would still be found, only by worse matches.
func (e *Engine) check(least float64) error {
	var texts []knownText
	if err := json.Unmarshal(known, &texts); err != nil {
		return fmt.Errorf("read the known vectors: %w", err)
	}
	for _, k := range texts {
		vectors, err := e.embed(context.Background(), []string{k.Text}, k.Query)
		if err != nil {
			return err
		}
		if got := dot(vectors[0], k.Vector); !(got >= least) {
			return fmt.Errorf("the vector of %q is not the one of version %s (cosine %.4f): remove the directory and install it again", k.Text, Version, got)
		}
	}
	return nil
}

// dot is the cosine of two vectors of length 1.
func dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
