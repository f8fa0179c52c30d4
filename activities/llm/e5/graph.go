package e5

import (
	_ "embed"
	"encoding/binary"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// graph writes the model as an ONNX graph that multiplies numbers of 8 bits. Weights have a scale for each output. Their
// inputs have one scale that never changes, so that a text's vector does not depend on the other texts of a run;
// the few dimensions in which it is many times as large as in others are divided before, and their weights multiplied.
//
// The products and their sums are whole numbers of 32 bits and exact on every CPU, for which [onnx.OpenBytes] sets an option of
// ONNX Runtime. Between CPUs, floats are rounded differently between the multiplications, which may move a number of 8 bits by one.
//
// It uses operators of ONNX Runtime (com.microsoft) that compute several steps at once. Messages and fields are those of
// onnx.proto; unset fields have the defaults that the operators define.
type graph struct {
	w     *weights
	nodes []byte
	// tensors are filled side by side.
	tensors []func() []byte
	// peaks are those that are not yet used. If it is nil, the graph computes with floats, and returns inputs.
	peaks []byte
	// inputs are the names of the values that are multiplied with weights.
	inputs []string
}

// peaks are the largest absolute values of each input of a multiplication, in the order of the graph, for each dimension: 16 to
// each power of two, 128 for 1. They are of some 300 texts (turns of LoCoMo's conversations, sessions of agents in English and
// Chinese, and the texts of this repository's tests that are not in Latin letters): see TestRecordPeaks.
//
//go:embed peaks.bin
var peaks []byte

const perOctave, unitPeak = 16, 128

// Fields of onnx.proto.
const (
	modelVersion, modelGraph, modelOpset                       = 1, 7, 8
	graphNode, graphName, graphTensor, graphInput, graphOutput = 1, 2, 5, 11, 12
	nodeInput, nodeOutput, nodeOp, nodeAttribute, nodeDomain   = 1, 2, 4, 5, 7
	attributeName, attributeFloat, attributeInt, attributeType = 1, 2, 3, 20
	tensorDim, tensorType, tensorName, tensorRaw               = 1, 2, 8, 9
	kindFloat, kindUint8, kindInt8                             = 1, 2, 3
	microsoft                                                  = "com.microsoft"
)

func message(field protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), slices.Concat(parts...))
}

func text(field protowire.Number, s string) []byte { return message(field, []byte(s)) }

func number(field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), n)
}

// node adds a node with one output, whose name it returns. Its attributes are ints and float32s.
func (g *graph) node(domain, op, output string, attributes map[string]any, inputs ...string) string {
	var n []byte
	for _, in := range inputs {
		n = append(n, text(nodeInput, in)...)
	}
	n = slices.Concat(n, text(nodeOutput, output), text(nodeOp, op), text(nodeDomain, domain))
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := text(attributeName, name)
		switch v := attributes[name].(type) {
		case int:
			a = slices.Concat(a, number(attributeInt, uint64(int64(v))), number(attributeType, 2))
		case float32:
			a = protowire.AppendFixed32(protowire.AppendTag(a, attributeFloat, protowire.Fixed32Type), math.Float32bits(v))
			a = append(a, number(attributeType, 1)...)
		}
		n = append(n, message(nodeAttribute, a)...)
	}
	g.nodes = append(g.nodes, message(graphNode, n)...)
	return output
}

// tensor adds a constant, whose name it returns.
func (g *graph) tensor(name string, kind int, raw []byte, dims ...int) string {
	g.tensors = append(g.tensors, func() []byte { return tensor(name, kind, raw, dims...) })
	return name
}

func tensor(name string, kind int, raw []byte, dims ...int) []byte {
	var t []byte
	for _, d := range dims {
		t = append(t, number(tensorDim, uint64(d))...)
	}
	return message(graphTensor, t, number(tensorType, uint64(kind)), text(tensorName, name), message(tensorRaw, raw))
}

func (g *graph) floats(name string, values ...float32) string {
	return g.tensor(name, kindFloat, bytesOf(values), len(values))
}

func bytesOf(values []float32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// stored adds a tensor of the file.
func (g *graph) stored(name string) string {
	return g.tensor(name, kindFloat, g.w.tensors[name], len(g.w.tensors[name])/4)
}

// input is a value to multiply with weights.
type input struct {
	name string
	// scales are the divisors of the dimensions.
	scales []float32
	// step and zero are the names of the scale and the zero point of its numbers.
	step, zero string
}

// quantized makes the values numbers of 8 bits. lowest is the smallest value there is, or 0 if they are as large below zero as
// above.
func (g *graph) quantized(x string, size int, lowest float32) input {
	if g.peaks == nil {
		g.inputs = append(g.inputs, x)
		return input{name: x}
	}
	peaks := make([]float32, size)
	for i, b := range g.peaks[:size] {
		peaks[i] = float32(math.Exp2((float64(b) - unitPeak) / perOctave))
	}
	g.peaks = g.peaks[size:]
	in := input{scales: make([]float32, size), step: x + ".step", zero: x + ".zero"}
	usual := slices.Sorted(slices.Values(peaks))[size/2]
	inverse, top := make([]float32, size), float32(0)
	for i, p := range peaks {
		in.scales[i] = 1
		if p > 1.5*usual {
			in.scales[i] = float32(math.Pow(float64(p/usual), 0.8))
		}
		inverse[i] = 1 / in.scales[i]
		top = max(top, p/in.scales[i])
	}
	const margin = 1.1 // Texts may have larger values than those that were measured.
	top *= margin
	if lowest == 0 {
		lowest = -top
	}
	step := (top - lowest) / math.MaxUint8
	scaled := g.node("", "Mul", x+".scaled", nil, x, g.floats(x+".inverse", inverse...))
	g.tensor(in.step, kindFloat, bytesOf([]float32{step}))
	g.tensor(in.zero, kindUint8, []byte{byte(math.Round(float64(-lowest / step)))})
	in.name = g.node("", "QuantizeLinear", x+".bytes", nil, scaled, in.step, in.zero)
	return in
}

// multiplied adds the multiplication of x with a matrix of the file, and the addition of its bias.
func (g *graph) multiplied(x input, name string, from, to int) string {
	bias := g.stored(name + ".b")
	if x.scales == nil {
		g.tensors = append(g.tensors, func() []byte {
			turned := make([]float32, from*to)
			g.rows(name, from, func(o int, row []float32) {
				for i, v := range row {
					turned[i*to+o] = v
				}
			})
			return tensor(name+".w", kindFloat, bytesOf(turned), from, to)
		})
		return g.node("", "Add", name, nil, g.node("", "MatMul", name+".product", nil, x.name, name+".w"), bias)
	}
	g.tensors = append(g.tensors, func() []byte {
		turned, steps := make([]byte, from*to), make([]float32, to)
		g.rows(name, from, func(o int, row []float32) {
			top := float32(math.SmallestNonzeroFloat32)
			for i, s := range x.scales {
				row[i] *= s
				top = max(top, row[i], -row[i])
			}
			steps[o] = top / math.MaxInt8
			inverse := math.MaxInt8 / top
			for i, v := range row {
				turned[i*to+o] = byte(int8(math.RoundToEven(float64(v * inverse))))
			}
		})
		return slices.Concat(tensor(name+".w", kindInt8, turned, from, to), tensor(name+".steps", kindFloat, bytesOf(steps), to))
	})
	return g.node(microsoft, "MatMulIntegerToFloat", name, nil, x.name, name+".w", x.step, name+".steps", x.zero, "", bias)
}

// rows passes the weights of each output of a matrix of the file. The row is valid until the next one.
func (g *graph) rows(name string, from int, pass func(o int, row []float32)) {
	row, size := make([]float32, from), from/blockSize*blockLen
	for o, packed := 0, g.w.tensors[name+".w"]; len(packed) > 0; o, packed = o+1, packed[size:] {
		unpack(packed[:size], row)
		pass(o, row)
	}
}

// model returns the graph. Its input are the vectors of tokens, and its output are those after the last layer.
func (g *graph) model() []byte {
	epsilon := map[string]any{"epsilon": g.w.epsilon}
	x := g.node("", "LayerNormalization", "normal", epsilon, graphIn, g.stored("emb.ln.w"), g.stored("emb.ln.b"))
	for n := range layers {
		l := "l" + strconv.Itoa(n) + "."
		in := g.quantized(x, Dimensions, 0)
		var parts []string
		for _, part := range []string{"q", "k", "v"} {
			parts = append(parts, g.multiplied(in, l+part, Dimensions, Dimensions))
		}
		attended := g.node(microsoft, "MultiHeadAttention", l+"attended", map[string]any{"num_heads": heads}, parts...)
		out := g.multiplied(g.quantized(attended, Dimensions, 0), l+"ao", Dimensions, Dimensions)
		x = g.node(microsoft, "SkipLayerNormalization", l+"middle", epsilon, out, x, g.stored(l+"aln.w"), g.stored(l+"aln.b"))
		wide := g.node(microsoft, "Gelu", l+"gelu", nil, g.multiplied(g.quantized(x, Dimensions, 0), l+"fi", Dimensions, inner))
		const least = -0.17 // of the function GELU
		out = g.multiplied(g.quantized(wide, inner, least), l+"fo", inner, Dimensions)
		x = g.node(microsoft, "SkipLayerNormalization", l+"end", epsilon, out, x, g.stored(l+"oln.w"), g.stored(l+"oln.b"))
	}
	if g.peaks == nil {
		x = g.node("", "Concat", "inputs", map[string]any{"axis": -1}, g.inputs...)
	}
	return g.file(x)
}

// graphIn is the name of the graph's input.
const graphIn = "tokens"

// file returns the graph with the output, which like the input has a batch, tokens and a width.
func (g *graph) file(output string) []byte {
	named := func(field protowire.Number, name string) []byte {
		unknown := message(1)
		return message(field, text(1, name), message(2, message(1, number(1, kindFloat), message(2, unknown, unknown, unknown))))
	}
	opset := func(domain string, version uint64) []byte {
		return message(modelOpset, text(1, domain), number(2, version))
	}
	return slices.Concat(number(modelVersion, 8), opset("", 17), opset(microsoft, 1),
		message(modelGraph, g.nodes, text(graphName, "e5"), g.filled(), named(graphInput, graphIn), named(graphOutput, output)))
}

// filled computes the constants, on all processors.
func (g *graph) filled() []byte {
	out := make([][]byte, len(g.tensors))
	var group sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				out[i] = g.tensors[i]()
			}
		})
	}
	for i := range g.tensors {
		next <- i
	}
	close(next)
	group.Wait()
	return slices.Concat(out...)
}
