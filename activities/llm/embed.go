package llm

import (
	"context"
	"fmt"
	"math"
	"strings"

	"axiommind/schema"
)

// remoteEmbedder splits texts into requests and validates the responses.
type remoteEmbedder struct {
	provider   string
	model      string
	dimensions int
	batch      int
	// call makes one request and returns one vector for each text, in order. query says that the texts are queries.
	call func(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

// Version implements [Embedder].
func (r *remoteEmbedder) Version() string {
	return fmt.Sprintf("%s-%s-%d", r.provider, slug(r.model), r.dimensions)
}

// Dimensions implements [Embedder].
func (r *remoteEmbedder) Dimensions() int { return r.dimensions }

// first returns the only vector of an answer.
func first(vectors [][]float32, err error) ([]float32, error) {
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Baseline implements [Baselined].
func (r *remoteEmbedder) Baseline() float64 {
	if strings.Contains(strings.ToLower(r.model), "multilingual-e5") {
		return baselineE5
	}
	return 0
}

// Embed implements [Embedder].
func (r *remoteEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return r.embed(ctx, texts, false)
}

// EmbedQuery implements [Embedder].
func (r *remoteEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return first(r.embed(ctx, []string{text}, true))
}

func (r *remoteEmbedder) embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			return nil, &Error{Provider: r.provider, Kind: KindInvalidRequest,
				Message: fmt.Sprintf("text %d is empty", i)}
		}
	}
	out := make([][]float32, 0, len(texts))
	for start := 0; start < len(texts); start += r.batch {
		part := texts[start:min(start+r.batch, len(texts))]
		vectors, err := r.call(ctx, part, query)
		if err != nil {
			return nil, err
		}
		if err := r.check(vectors, len(part)); err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

func (r *remoteEmbedder) check(vectors [][]float32, want int) error {
	bad := func(kind Kind, format string, args ...any) error {
		return &Error{Provider: r.provider, Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
	if len(vectors) != want {
		return bad(KindMalformed, "%d vectors for %d texts", len(vectors), want)
	}
	for i, v := range vectors {
		if len(v) != r.dimensions {
			return bad(KindInvalidRequest, "model %q gives %d dimensions, not %d", r.model, len(v), r.dimensions)
		}
		if !normalize(v) {
			return bad(KindMalformed, "vector %d has no direction", i)
		}
	}
	return nil
}

// normalize scales the vector to length 1. It returns false if that is not possible.
func normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true
}

// slug keeps lower-case letters, digits, dots and dashes. If the name contained anything else, part of its hash is
// added so that different names stay different.
func slug(name string) string {
	lossy := false
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		lossy = true
		return '-'
	}, strings.ToLower(name))
	if lossy || s != name {
		s += "-" + schema.HashText(name)[:8]
	}
	return s
}
