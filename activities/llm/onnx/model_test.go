package onnx_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"axiommind/activities/llm/onnx"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
)

// TestKnownModel embeds with a model that Hugging Face's tokenizers and PyTorch have embedded with.
func TestKnownModel(t *testing.T) {
	t.Parallel()
	dir := sharedtest.Models.Path(t, "all-MiniLM-L6-v2")
	stacktest.Embedder(t)
	m, err := onnx.Open(dir)
	require.NoError(t, err)
	require.Equal(t, 384, m.Dimensions())
	vectors, err := m.Passages(t.Context(), []string{"The user prefers dark mode and works at Acme on service number 0."})
	require.NoError(t, err)
	for i, want := range []float64{-0.036569, -0.054777, -0.025800, 0.019099} {
		require.InDelta(t, want, vectors[0][i], 1e-5)
	}
	texts := []string{"", "\xff\x00", "yes", "ÜBER naïve 发布 ①", strings.Repeat("word ", 3000), strings.Repeat("é", 9000), "x\u200by"}
	vectors, err = m.Passages(t.Context(), texts)
	require.NoError(t, err)
	for i, text := range texts {
		alone, err := m.Queries(t.Context(), []string{text})
		require.NoError(t, err)
		require.InDeltaSlice(t, vectors[i], alone[0], 1e-4, "%.20q", text)
	}
}

func field(n protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), slices.Concat(parts...))
}

func varint(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

// lookup is a model with the input, which gives each token the vector of its number in a table of two dimensions.
func lookup(input string) []byte {
	var table []byte
	for token := range 10 {
		for _, x := range []float64{math.Cos(float64(token)), math.Sin(float64(token))} {
			table = binary.LittleEndian.AppendUint32(table, math.Float32bits(float32(x)))
		}
	}
	value := func(n protowire.Number, name string, kind uint64, rank int) []byte {
		return field(n, field(1, []byte(name)), field(2, field(1, varint(1, kind), field(2, bytes.Repeat(field(1), rank)))))
	}
	return slices.Concat(varint(1, 8), field(8, varint(2, 17)), field(7,
		field(1, field(1, []byte("table")), field(1, []byte(input)), field(2, []byte("out")), field(4, []byte("Gather"))),
		field(2, []byte("lookup")), field(5, varint(1, 10), varint(1, 2), varint(2, 1), field(8, []byte("table")), field(9, table)),
		value(11, input, 7, 2), value(12, "out", 1, 3)))
}

// tokenizer is one whose tokens are 1 before a text, 2 after it, 3 for words it does not know, and others for a, b and ##c.
func tokenizer(model string) string {
	return fmt.Sprintf(`{"truncation": {"max_length": 5}, "normalizer": {"type": "BertNormalizer", "lowercase": true},
		"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}, "model": %s}`, model)
}

const wordPiece = `{"type": "WordPiece", "unk_token": "[U]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9,
	"vocab": {"[U]": 3, "a": 4, "b": 5, "##c": 6, "!": 7, "q": 8}}`

func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

// direction returns the vector of length 1 of the sum of the tokens' vectors.
func direction(tokens ...int) []float32 {
	var x, y float64
	for _, token := range tokens {
		x, y = x+math.Cos(float64(token)), y+math.Sin(float64(token))
	}
	length := math.Hypot(x, y)
	return []float32{float32(x / length), float32(y / length)}
}

// TestOwnModel: a directory of any name with the files of sentence-transformers is embedded with as they say.
func TestOwnModel(t *testing.T) {
	t.Parallel()
	stacktest.Embedder(t)
	files := map[string]string{"model.onnx": string(lookup("input_ids")), "tokenizer.json": tokenizer(wordPiece)}
	dir := write(t, filepath.Join(t.TempDir(), `a "model" [x]* 한`), files)
	require.True(t, onnx.IsModel(dir))
	m, err := onnx.Open(dir)
	require.NoError(t, err)
	again, err := onnx.Open(dir)
	require.NoError(t, err)
	require.Same(t, m, again, "a model is loaded once")
	for text, want := range map[string][]float32{
		"Ác": direction(1, 4, 6, 2), "ac!": direction(1, 4, 6, 7, 2), "c": direction(1, 3, 2), "": direction(1, 2),
	} {
		got, err := m.Passages(t.Context(), []string{text})
		require.NoError(t, err)
		require.InDeltaSlice(t, want, got[0], 1e-5, text)
	}

	files["config_sentence_transformers.json"] = `{"prompts": {"query": "q ", "document": "b "}}`
	files["1_Pooling/config.json"] = `{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}`
	prompted, err := onnx.Open(write(t, t.TempDir(), files))
	require.NoError(t, err)
	require.NotEqual(t, m.Digest, prompted.Digest)
	got, err := prompted.Queries(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.InDeltaSlice(t, direction(1, 8, 4, 2), got[0], 1e-5)
	got, err = prompted.Passages(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.InDeltaSlice(t, direction(1, 5, 4, 2), got[0], 1e-5)

	files["1_Pooling/config.json"] = `{"pooling_mode_cls_token": true}`
	first, err := onnx.Open(write(t, t.TempDir(), files))
	require.ErrorContains(t, err, "only the mean and the first token", "%v", first)
	files["1_Pooling/config.json"] = `{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}`
	first, err = onnx.Open(write(t, t.TempDir(), files))
	require.NoError(t, err)
	got, err = first.Passages(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.InDeltaSlice(t, direction(1), got[0], 1e-5)
}

// TestDigest: the digest changes with the weights and with this package, and with no other file.
func TestDigest(t *testing.T) {
	t.Parallel()
	stacktest.Embedder(t)
	dir := write(t, t.TempDir(), map[string]string{"model.onnx": string(lookup("input_ids")), "tokenizer.json": tokenizer(wordPiece)})
	m, err := onnx.Open(dir)
	require.NoError(t, err)
	digest := func(version int) string {
		d, err := onnx.DigestOf(m, dir, version)
		require.NoError(t, err)
		return d
	}
	require.NotEqual(t, digest(1), digest(2))
	write(t, dir, map[string]string{"model.onnx": string(lookup("input_ids")) + "\x0aweights.bin\x0amodel.onnx_data\x0amodel.onnx.d"})
	own := digest(1)
	write(t, dir, map[string]string{"model.onnx.bak": "x", "model.onnx.data~": "x", "model.onnx.d/file": "x"})
	require.Equal(t, own, digest(1))
	digests := []string{own}
	for _, name := range []string{"model.onnx_data", "weights.bin"} {
		write(t, dir, map[string]string{name: "x"})
		require.NotContains(t, digests, digest(1), name)
		digests = append(digests, digest(1))
	}
}

// TestRefusedModelsAreReleased: a model that was loaded and then refused takes no memory any longer.
func TestRefusedModelsAreReleased(t *testing.T) {
	stacktest.Embedder(t)
	library, err := onnx.FindLibrary("")
	require.NoError(t, err)
	s, err := onnx.OpenBytes(library, lookup("input_ids"))
	require.NoError(t, err)
	s.Close()
	s.Close()
	require.ErrorContains(t, s.Run([]int64{1, 1}, []any{[]int64{1}}, nil), "closed")
	released, stop := onnx.CountReleased()
	defer stop()
	files := map[string]string{"model.onnx": string(lookup("pixels")), "tokenizer.json": tokenizer(wordPiece)}
	for _, input := range []string{"pixels", "input_ids"} { // The second has tokens that are not in the table.
		files["model.onnx"] = string(lookup(input))
		_, err = onnx.Open(write(t, t.TempDir(), files))
		require.Error(t, err)
		files["tokenizer.json"] = strings.Replace(files["tokenizer.json"], `"[SEP]", 2`, `"[SEP]", 99`, 1)
	}
	require.Equal(t, 2, *released)
}

// TestOtherModelsAreRefused: a model that can't be embedded with is an error that says why.
func TestOtherModelsAreRefused(t *testing.T) {
	t.Parallel()
	stacktest.Embedder(t)
	sound := string(lookup("input_ids"))
	for fault, files := range map[string]map[string]string{
		"load":                     {"model.onnx": "no model", "tokenizer.json": tokenizer(wordPiece)},
		`wants the input "pixels"`: {"model.onnx": string(lookup("pixels")), "tokenizer.json": tokenizer(wordPiece)},
		`its model is "BPE"`:       {"model.onnx": sound, "tokenizer.json": tokenizer(`{"type": "BPE"}`)},
		"has no unknown token":     {"model.onnx": sound, "tokenizer.json": tokenizer(`{"type": "WordPiece", "vocab": {}}`)},
		"post_processor":           {"model.onnx": sound, "tokenizer.json": `{}`},
		"unexpected end":           {"model.onnx": sound, "tokenizer.json": "{"},
		"unknown piece 7":          {"model.onnx": sound, "tokenizer.json": strings.Replace(unigram(precompiled, metaspace, ""), `"unk_id": 0`, `"unk_id": 7`, 1)},
		"invalid character":        {"model.onnx": sound, "tokenizer.json": tokenizer(wordPiece), "1_Pooling/config.json": "-"},
	} {
		_, err := onnx.Open(write(t, t.TempDir(), files))
		require.ErrorContains(t, err, fault)
	}
	require.False(t, onnx.IsModel(t.TempDir()))
}

func TestUnigram(t *testing.T) {
	t.Parallel()
	pieces := []string{"<unk>", "▁", "▁ab", "a", "b", "▁a", "한국"}
	var all []byte
	var ends []uint32
	for _, p := range pieces {
		all = append(all, p...)
		ends = append(ends, uint32(len(all)))
	}
	u := onnx.NewUnigram(all, ends, []float32{0, -2, -3, -4, -4, -2.5, -1}, 0)
	for text, want := range map[string][]int32{
		"ab": {2}, " ab": {2}, "a b": {5, 1, 4}, "ab  ab": {2, 2}, "": {1}, "한국x": {1, 6, 0}, "<unk>": {1, 0, 0, 0, 0, 0},
	} {
		require.Equal(t, want, u.Tokens(text), "%q", text)
	}
}
