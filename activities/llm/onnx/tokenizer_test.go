package onnx_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/onnx"
	"axiommind/deploy/local/stacktest"
)

// unigram is a tokenizer.json with the parts, whose tokens are 1 before a text, 2 after it, and 4 for the word a.
func unigram(normalizer, preTokenizer, model string) string {
	return fmt.Sprintf(`{"normalizer": %s, "pre_tokenizer": %s, "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
		"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["<s>", 0], ["</s>", 0], ["b", -9], ["\u2581a", -1]] %s}}`, normalizer, preTokenizer, model)
}

const (
	precompiled = `{"type": "Precompiled", "precompiled_charsmap": "AAAA"}`
	metaspace   = `{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}`
)

// TestUnigramTokenizers: the tokenizers of XLM-RoBERTa and its descendants are taken, and others refused instead of cutting texts
// in another way than they were trained with.
func TestUnigramTokenizers(t *testing.T) {
	t.Parallel()
	stacktest.Embedder(t)
	open := func(tokenizer string) (*onnx.Model, error) {
		return onnx.Open(write(t, filepath.Join(t.TempDir(), "model"), map[string]string{"model.onnx": string(lookup("input_ids")), "tokenizer.json": tokenizer}))
	}
	sequence := func(key string, parts ...string) string {
		return fmt.Sprintf(`{"type": "Sequence", %q: [%s]}`, key, strings.Join(parts, ", "))
	}
	split := `{"type": "WhitespaceSplit"}`
	for _, tokenizer := range []string{
		unigram(precompiled, metaspace, ""),
		unigram(`{"type": "NFKC"}`, `{"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}`, `, "byte_fallback": false`),
		unigram(sequence("normalizers", precompiled, `{"type": "Strip", "strip_left": false, "strip_right": true}`,
			`{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}`), sequence("pretokenizers", split, metaspace), ""),
	} {
		m, err := open(tokenizer)
		require.NoError(t, err, tokenizer)
		got, err := m.Passages(t.Context(), []string{"ａ  a"})
		require.NoError(t, err)
		require.InDeltaSlice(t, direction(1, 4, 4, 2), got[0], 1e-5)
	}
	for _, c := range [][2]string{
		{`normalizer has "Lowercase"`, unigram(sequence("normalizers", precompiled, `{"type": "Lowercase"}`), metaspace, "")},
		{`normalizer has "Replace"`, unigram(sequence("normalizers", precompiled, `{"type": "Replace", "pattern": {"String": "a"}, "content": " "}`), metaspace, "")},
		{"neither Precompiled nor NFKC", unigram("null", metaspace, "")},
		{`pre_tokenizer has "Digits"`, unigram(precompiled, sequence("pretokenizers", `{"type": "Digits"}`, metaspace), "")},
		{`pre_tokenizer has "Metaspace"`, unigram(precompiled, strings.Replace(metaspace, "always", "never", 1), "")},
		{`pre_tokenizer has "Metaspace"`, unigram(precompiled, sequence("pretokenizers", split, strings.Replace(metaspace, "always", "first", 1)), "")},
		{"no Metaspace", unigram(precompiled, "null", "")},
		{"byte_fallback", unigram(precompiled, metaspace, `, "byte_fallback": true`)},
	} {
		_, err := open(c[1])
		require.ErrorContains(t, err, c[0])
	}
}

// TestWordPieceDefaults: a tokenizer without the settings that have defaults cuts as BERT's.
func TestWordPieceDefaults(t *testing.T) {
	t.Parallel()
	stacktest.Embedder(t)
	short := tokenizer(`{"type": "WordPiece", "unk_token": "[U]", "vocab": {"[U]": 3, "a": 4, "##c": 6}}`)
	m, err := onnx.Open(write(t, t.TempDir(), map[string]string{"model.onnx": string(lookup("input_ids")), "tokenizer.json": short}))
	require.NoError(t, err)
	for text, want := range map[string][]float32{"ac": direction(1, 4, 6, 2), strings.Repeat("a", 101): direction(1, 3, 2)} {
		got, err := m.Passages(t.Context(), []string{text})
		require.NoError(t, err)
		require.InDeltaSlice(t, want, got[0], 1e-5)
	}
	for fault, with := range map[string]string{`pre_tokenizer is "Digits"`: `"pre_tokenizer": {"type": "Digits"}`, "clean_text": `"normalizer": {"type": "BertNormalizer", "clean_text": false}`} {
		_, err := onnx.Open(write(t, t.TempDir(), map[string]string{"model.onnx": string(lookup("input_ids")), "tokenizer.json": strings.TrimSuffix(short, "}") + ", " + with + "}"}))
		require.ErrorContains(t, err, fault)
	}
}
