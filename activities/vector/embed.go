package vector

import (
	"context"
	"errors"
	"fmt"
	"math"

	"axiommind/activities/boundary"
	"axiommind/activities/spans"
	"axiommind/schema"
)

// Embedder turns texts into vectors of one length.
type Embedder interface {
	// Embed returns one vector per text to store, in the order of the texts. If the error has a method "Retryable()
	// bool" that returns false, the same request cannot succeed.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a search text.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	// Version names the model and everything else that determines a vector.
	Version() string
	Dimensions() int
}

// ErrEmbedder is returned if an embedder returns the wrong number of vectors or vectors of the wrong length.
var ErrEmbedder = boundary.Invalid(schema.ErrorModelRefused, errors.New("unexpected vectors from the embedder"))

// probeText is accepted by any working embedder. If it is refused too, the texts are not at fault.
const probeText = "hello"

// embedAll returns a vector or an error for each text. It returns a single error if no particular text is at fault. The
// state of all texts is then unknown. If the embedder refuses a batch, the batch is halved until the texts at fault are
// found: such a text is refused before and after another one is accepted.
func embedAll(ctx context.Context, e Embedder, texts []string) (vectors [][]float32, faults []error, err error) {
	vectors, faults = make([][]float32, len(texts)), make([]error, len(texts))
	innocent := false
	var embed func(lo, hi int, again bool) error
	embed = func(lo, hi int, again bool) error {
		if lo == hi {
			return nil
		}
		calling, s := spans.Embedding(ctx, e.Version())
		got, err := e.Embed(calling, texts[lo:hi])
		spans.End(s, err)
		if err == nil {
			return take(e, got, vectors[lo:hi], faults[lo:hi])
		}
		if !refusal(err) || ctx.Err() != nil {
			return err
		}
		if again {
			faults[lo] = err
			return nil
		}
		if !innocent || hi-lo == 1 {
			if _, probeErr := e.Embed(ctx, []string{probeText}); probeErr != nil {
				return err
			}
			innocent = true
		}
		if hi-lo == 1 {
			return embed(lo, hi, true) // The key may have been accepted only since the refusal.
		}
		middle := lo + (hi-lo)/2
		if err := embed(lo, middle, false); err != nil {
			return err
		}
		return embed(middle, hi, false)
	}
	if err := embed(0, len(texts), false); err != nil {
		return nil, nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, faults, nil
}

// take validates the embedder's vectors and copies them into place.
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

// refusal reports whether the error says that the same request cannot succeed.
func refusal(err error) bool {
	var r interface{ Retryable() bool }
	return errors.As(err, &r) && !r.Retryable()
}
