package vector

import (
	"context"
	"errors"
	"fmt"
	"math"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Embedder turns texts into vectors of one length.
type Embedder interface {
	// Embed returns one vector for each text, in the order of the texts. An error with a method
	// "Retryable() bool" that returns false says that the same request can't succeed.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Version names the model and all else that decides a vector.
	Version() string
	Dimensions() int
}

// ErrEmbedder is returned when an embedder does not keep its word: another number of vectors, or
// vectors of another length.
var ErrEmbedder = boundary.Invalid(schema.ErrorModelRefused, errors.New("embedder returned what was not asked for"))

// probeText is what no embedder can mind. If it is refused, the fault is not with the texts.
const probeText = "hello"

// embedAll returns a vector or an error for each text. An error of the whole is one that no single
// text is to blame for: nothing is known then of any of them. Where the embedder refuses a batch,
// the texts at fault are found by halving it.
func embedAll(ctx context.Context, e Embedder, texts []string) (vectors [][]float32, faults []error, err error) {
	vectors, faults = make([][]float32, len(texts)), make([]error, len(texts))
	innocent := false
	var embed func(lo, hi int) error
	embed = func(lo, hi int) error {
		if lo == hi {
			return nil
		}
		got, err := e.Embed(ctx, texts[lo:hi])
		if err == nil {
			return take(e, got, vectors[lo:hi], faults[lo:hi])
		}
		if !refusal(err) || ctx.Err() != nil {
			return err
		}
		if !innocent {
			if _, probeErr := e.Embed(ctx, []string{probeText}); probeErr != nil {
				return err
			}
			innocent = true
		}
		if hi-lo == 1 {
			faults[lo] = err
			return nil
		}
		middle := lo + (hi-lo)/2
		if err := embed(lo, middle); err != nil {
			return err
		}
		return embed(middle, hi)
	}
	if err := embed(0, len(texts)); err != nil {
		return nil, nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, faults, nil
}

// take checks what the embedder returned and copies it into place.
func take(e Embedder, got, vectors [][]float32, faults []error) error {
	if len(got) != len(vectors) {
		return fmt.Errorf("%w: %d vectors for %d texts", ErrEmbedder, len(got), len(vectors))
	}
	for i, v := range got {
		if len(v) != e.Dimensions() {
			return fmt.Errorf("%w: a vector of %d dimensions, not %d", ErrEmbedder, len(v), e.Dimensions())
		}
		if norm := squaredNorm(v); norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
			faults[i] = fmt.Errorf("%w: a vector without a direction", ErrEmbedder)
			continue
		}
		vectors[i] = v
	}
	return nil
}

func squaredNorm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}

// refusal reports whether the error says that the same request can't succeed.
func refusal(err error) bool {
	var r interface{ Retryable() bool }
	return errors.As(err, &r) && !r.Retryable()
}
