package onnx

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// tokenizerFile has the fields that are read of tokenizer.json, the format of Hugging Face's tokenizers.
type tokenizerFile struct {
	Truncation *struct {
		MaxLength int `json:"max_length"`
	}
	Normalizer *struct {
		Type         string
		Lowercase    bool
		StripAccents *bool `json:"strip_accents"`
		Chinese      *bool `json:"handle_chinese_chars"`
	}
	PostProcessor *struct {
		Type          string
		Single        []templatePart
		SpecialTokens map[string]struct{ IDs []int32 } `json:"special_tokens"`
		CLS, SEP      []any
	} `json:"post_processor"`
	Model struct {
		Type    string
		Vocab   json.RawMessage
		Unknown string `json:"unk_token"`
		Prefix  string `json:"continuing_subword_prefix"`
		MaxWord int    `json:"max_input_chars_per_word"`
		UnkID   int32  `json:"unk_id"`
	}
}

type templatePart struct {
	SpecialToken *struct{ ID string }
	Sequence     *struct{ ID string }
}

// defaultWindow is the number of tokens that BERT and its descendants take.
const defaultWindow = 512

// readTokenizer configures the encoder by the file: how texts are cut, the tokens around them, and the largest window.
func (e *Encoder) readTokenizer(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the tokenizer: %w", err)
	}
	var f tokenizerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("read the tokenizer %q: %w", path, err)
	}
	if err := e.setTokenizer(f); err != nil {
		return fmt.Errorf("read the tokenizer %q: %w", path, err)
	}
	return nil
}

func (e *Encoder) setTokenizer(f tokenizerFile) error {
	e.Window = defaultWindow
	if f.Truncation != nil && f.Truncation.MaxLength > 2 {
		e.Window = min(f.Truncation.MaxLength, defaultWindow)
	}
	var ok bool
	if e.First, e.Last, ok = f.enclosing(); !ok {
		return fmt.Errorf("its post_processor must put one token before a text and one after it, as BERT's and XLM-RoBERTa's do")
	}
	switch f.Model.Type {
	case "WordPiece":
		return e.setWordPiece(f)
	case "Unigram":
		return e.setUnigram(f)
	}
	return fmt.Errorf("its model is %q: WordPiece and Unigram are supported", f.Model.Type)
}

// enclosing returns the tokens before and after a text.
func (f tokenizerFile) enclosing() (first, last int32, ok bool) {
	p := f.PostProcessor
	switch {
	case p == nil:
		return 0, 0, false
	case p.Type == "TemplateProcessing":
		if len(p.Single) != 3 || p.Single[0].SpecialToken == nil || p.Single[1].Sequence == nil || p.Single[2].SpecialToken == nil {
			return 0, 0, false
		}
		a, b := p.SpecialTokens[p.Single[0].SpecialToken.ID].IDs, p.SpecialTokens[p.Single[2].SpecialToken.ID].IDs
		if len(a) != 1 || len(b) != 1 {
			return 0, 0, false
		}
		return a[0], b[0], true
	case p.Type != "BertProcessing" && p.Type != "RobertaProcessing" || len(p.CLS) != 2 || len(p.SEP) != 2:
		return 0, 0, false
	}
	a, okA := p.CLS[1].(float64)
	b, okB := p.SEP[1].(float64)
	return int32(a), int32(b), okA && okB
}

func (e *Encoder) setWordPiece(f tokenizerFile) error {
	n := f.Normalizer
	if n == nil || n.Type != "BertNormalizer" || n.Chinese != nil && !*n.Chinese {
		return fmt.Errorf("WordPiece is supported with BertNormalizer and handle_chinese_chars only")
	}
	w := &WordPiece{Prefix: f.Model.Prefix, MaxWord: f.Model.MaxWord, Lower: n.Lowercase, Accents: !n.Lowercase}
	if n.StripAccents != nil {
		w.Accents = !*n.StripAccents
	}
	if err := json.Unmarshal(f.Model.Vocab, &w.Vocabulary); err != nil {
		return fmt.Errorf("its vocabulary: %w", err)
	}
	var ok bool
	if w.Unknown, ok = w.Vocabulary[f.Model.Unknown]; !ok {
		return fmt.Errorf("its vocabulary has no unknown token %q", f.Model.Unknown)
	}
	e.Tokens = w.Tokens
	return nil
}

// scored is a piece and its score, as a list of two.
type scored struct {
	piece string
	score float32
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scored) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&s.piece, &s.score})
}

// setUnigram takes NFKC for the normal form, which is the one of SentencePiece but for control characters.
func (e *Encoder) setUnigram(f tokenizerFile) error {
	var vocabulary []scored
	if err := json.Unmarshal(f.Model.Vocab, &vocabulary); err != nil {
		return fmt.Errorf("its vocabulary: %w", err)
	}
	if f.Model.UnkID < 0 || int(f.Model.UnkID) >= len(vocabulary) {
		return fmt.Errorf("its unknown piece %d is not one of its %d pieces", f.Model.UnkID, len(vocabulary))
	}
	var pieces []byte
	ends, scores := make([]uint32, len(vocabulary)), make([]float32, len(vocabulary))
	for i, v := range vocabulary {
		pieces = append(pieces, v.piece...)
		ends[i], scores[i] = uint32(len(pieces)), v.score
	}
	u := NewUnigram(pieces, ends, scores, f.Model.UnkID)
	e.Tokens = func(text string) []int32 {
		return u.Tokens(strings.Join(strings.Fields(norm.NFKC.String(text)), " "))
	}
	return nil
}
