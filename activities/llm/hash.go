package llm

import (
	"context"
	"math"
	"math/bits"
	"unicode"
	"unicode/utf8"

	language "axiommind/activities/text"
)

// ProviderHash is the name of the offline embedder.
const ProviderHash = "hash"

var hashProvider = Provider{Name: ProviderHash, Embedder: &EmbedderProvider{Default: "v1", Batch: 1, MaxBatch: 1, New: newHash}}

func newHash(_ context.Context, c EmbedderConfig) (Embedder, error) {
	if c.Dimensions != 0 && c.Dimensions != HashDimensions {
		return nil, configError("dimensions", "hash has %d dimensions, not %d", HashDimensions, c.Dimensions)
	}
	return Hash{}, nil
}

// HashDimensions is the dimension of [Hash] vectors.
const HashDimensions = 384

// Hash embeds texts by their features: words, parts of words, and pairs of characters in scripts without spaces. Each
// feature is hashed to a signed dimension. Texts with common words are close to each other; meaning plays no part. It
// needs no key and no network, and the vector of a text never changes.
type Hash struct{}

// Version implements [Embedder].
func (Hash) Version() string { return "hash-v2-384" }

// Dimensions implements [Embedder].
func (Hash) Dimensions() int { return HashDimensions }

// Alpha is the weight of the vectors in a hybrid search, of 1. It is low because they know words alone, and less well
// than the keyword search. It was measured: with 0.3 a search finds less on dialogues, and with 0 less among long
// replies.
func (Hash) Alpha() float64 { return 0.15 }

// Chance implements [Calibrated]. The similarity of texts without common content words means nothing: it comes from function
// words, parts of words and hash collisions. Of 100 two-word queries among 5,000 entries of six words, 48 have such a
// neighbour at 0.5 or above.
func (Hash) Chance() Chance { return Chance{Deviation: math.Inf(1)} }

// Embed implements [Embedder]. A text without letters and digits gets a vector that is far from those of all other
// texts.
func (Hash) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = hashText(t)
	}
	return out, nil
}

// EmbedQuery implements [Embedder]: a question is a text as any other.
func (h Hash) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return first(h.Embed(ctx, []string{text}))
}

// Weights of the features. A whole word weighs more than a part of it.
const (
	wordWeight    = 1.0
	pieceWeight   = 0.35
	pairWeight    = 0.8
	singleWeight  = 0.4
	pieceLength   = 3
	maxWordLength = 48
)

// Hash seeds, which keep the features of different kinds apart.
const (
	wordSeed   = 0x9e3779b97f4a7c15
	pieceSeed  = 0xc2b2ae3d27d4eb4f
	pairSeed   = 0x165667b19e3779f9
	singleSeed = 0x27d4eb2f165667c5

	scatterSeed = 0x94d049bb133111eb
)

func hashText(text string) []float32 {
	h := hasher{counts: make([]float32, HashDimensions)}
	h.fold(text)
	for i, c := range h.counts {
		h.counts[i] = dampen(c)
	}
	if !normalize(h.counts) {
		h.scatter(text)
		normalize(h.counts)
	}
	return h.counts
}

// dampen limits the weight of a word that is repeated many times.
func dampen(c float32) float32 {
	switch {
	case c > 1:
		return 1 + (c-1)/(1+(c-1)/4)
	case c < -1:
		return -1 + (c+1)/(1-(c+1)/4)
	default:
		return c
	}
}

type hasher struct {
	counts []float32
	word   []rune
	prev   rune
}

func (h *hasher) fold(text string) {
	for _, r := range language.Caseless(text) {
		if r < utf8.RuneSelf {
			if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				h.letter(r)
			} else {
				h.endWord()
				h.prev = 0
			}
			continue
		}
		switch {
		case language.Unspaced(r):
			h.endWord()
			h.add(singleWeight, mix(singleSeed, uint64(r)))
			if h.prev != 0 {
				h.add(pairWeight, mix(mix(pairSeed, uint64(h.prev)), uint64(r)))
			}
			h.prev = r
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			h.letter(r)
		default:
			h.endWord()
			h.prev = 0
		}
	}
	h.endWord()
}

func (h *hasher) letter(r rune) {
	h.prev = 0
	if len(h.word) >= maxWordLength {
		h.endWord()
	}
	h.word = append(h.word, r)
}

func (h *hasher) endWord() {
	w := h.word
	h.word = h.word[:0]
	if len(w) == 0 {
		return
	}
	key := uint64(wordSeed)
	for _, r := range w {
		key = mix(key, uint64(r))
	}
	h.add(wordWeight, key)
	length := pieceLength
	if unicode.Is(unicode.Hangul, w[0]) {
		// A Korean syllable holds as much as two or three letters elsewhere.
		length = 2
	}
	// The word's boundaries count as characters, so that "cat" and "concatenate" stay apart.
	at := func(i int) uint64 {
		if i < 0 || i >= len(w) {
			return ' '
		}
		return uint64(w[i])
	}
	for i := -1; i+length <= len(w)+1; i++ {
		key := uint64(pieceSeed)
		for j := range length {
			key = mix(key, at(i+j))
		}
		h.add(pieceWeight, key)
	}
}

func (h *hasher) add(weight float32, key uint64) {
	key ^= key >> 29
	if key>>63 == 1 {
		weight = -weight
	}
	slot, _ := bits.Mul64(key<<1, HashDimensions)
	h.counts[slot] += weight
}

// scatter gives each dimension a sign that depends on the whole text.
func (h *hasher) scatter(text string) {
	key := uint64(scatterSeed)
	for _, r := range text {
		key = mix(key, uint64(r))
	}
	for i := range h.counts {
		key = mix(key, uint64(i))
		h.counts[i] = 1 - 2*float32(key>>63)
	}
}

func mix(key, v uint64) uint64 {
	hi, lo := bits.Mul64(key^v*0x9fb21c651e98df25, 0xd6e8feb86659fd93)
	return hi ^ lo
}
