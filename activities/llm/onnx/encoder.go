package onnx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

// maxTokens bounds the tokens of one run, unless one window has more. A longer run is no faster, and a query that comes shares
// the processors with it.
const maxTokens = 512

// Encoder makes vectors of texts by a model that gives one for each token. It is safe for concurrent use.
type Encoder struct {
	// Tokens returns the tokens of a text, without First and Last, which enclose each window.
	Tokens      func(text string) []int32
	First, Last int32
	// Window is the number of tokens that the model takes at a time, First and Last among them. A longer text has several
	// windows; its vector is their mean.
	Window int
	// Hidden runs the model on rows of tokens of the same length, and passes on the vectors of all tokens in their order.
	Hidden func(rows [][]int32, read func(vectors []float32) error) error
	// Dimensions is the length of a vector.
	Dimensions int
	// FirstOnly takes the vector of First for that of the window, instead of the mean of all its tokens.
	FirstOnly bool

	// stored lets one run of texts to store compute at a time. A query does not wait for it.
	stored sync.Mutex
}

// window is a part of a text.
type window struct {
	text   int
	tokens []int32
}

// Queries returns a vector of length 1 (L2) for each text, before those of [Encoder.Passages].
func (e *Encoder) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return e.vectors(ctx, texts, e.add)
}

// Passages returns a vector of length 1 (L2) for each text.
func (e *Encoder) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	return e.vectors(ctx, texts, func(group []window, sums [][]float32) error {
		e.stored.Lock()
		defer e.stored.Unlock()
		return e.add(group, sums)
	})
}

// vectors runs windows of the same length together. They need no padding, so that neither time is lost nor does the vector of
// a text depend on the other texts.
func (e *Encoder) vectors(ctx context.Context, texts []string, add func([]window, [][]float32) error) ([][]float32, error) {
	var windows []window
	for i, text := range texts {
		tokens := e.Tokens(text)
		for start := 0; start == 0 || start < len(tokens); start += e.Window - 2 {
			part := tokens[start:min(start+e.Window-2, len(tokens))]
			windows = append(windows, window{i, slices.Concat([]int32{e.First}, part, []int32{e.Last})})
		}
	}
	slices.SortStableFunc(windows, func(a, b window) int { return cmp.Compare(len(a.tokens), len(b.tokens)) })
	sums := make([][]float32, len(texts))
	for i := range sums {
		sums[i] = make([]float32, e.Dimensions)
	}
	for len(windows) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		size := len(windows[0].tokens)
		n := 1
		for n < len(windows) && len(windows[n].tokens) == size && (n+1)*size <= maxTokens {
			n++
		}
		if err := add(windows[:n], sums); err != nil {
			return nil, err
		}
		windows = windows[n:]
	}
	for i, v := range sums {
		if !normalize(v) {
			return nil, fmt.Errorf("embed text %d of %d: the model gives a vector without a direction", i, len(texts))
		}
	}
	return sums, nil
}

// add adds the vectors of the windows to the sums of their texts. A window counts by the tokens of its text.
func (e *Encoder) add(group []window, sums [][]float32) error {
	rows := make([][]int32, len(group))
	for i, w := range group {
		rows[i] = w.tokens
	}
	return e.Hidden(rows, func(vectors []float32) error {
		size := len(rows[0])
		if len(vectors) != len(rows)*size*e.Dimensions {
			return fmt.Errorf("the model gives %d numbers for %d tokens, not vectors of %d dimensions", len(vectors), len(rows)*size, e.Dimensions)
		}
		pooled := size
		if e.FirstOnly {
			pooled = 1
		}
		mean := make([]float32, e.Dimensions)
		for i, w := range group {
			of := vectors[i*size*e.Dimensions:]
			clear(mean)
			for t := range pooled {
				for d, x := range of[t*e.Dimensions : (t+1)*e.Dimensions] {
					mean[d] += x
				}
			}
			scale := float32(max(size-2, 1)) / float32(pooled)
			for d, x := range mean {
				sums[w.text][d] += scale * x
			}
		}
		return nil
	})
}

// normalize scales the vector to length 1. It returns false if that is not possible.
func normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return false
	}
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return true
}

// maxText is the length from which on a text does not count, in bytes: some four windows of 512 tokens, whose mean is the
// vector. The mean of more says nothing in particular.
const maxText = 8 << 10

// Head returns the part of a text that counts, without the part of a character at its end.
func Head(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > maxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
