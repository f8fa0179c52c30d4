package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// tokenizerFile has the fields that are read of tokenizer.json, the format of Hugging Face's tokenizers.
type tokenizerFile struct {
	Truncation *struct {
		MaxLength int `json:"max_length"`
	}
	Normalizer    *normalizer
	PreTokenizer  *preTokenizer `json:"pre_tokenizer"`
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
		Bytes   bool   `json:"byte_fallback"`
	}
}

type normalizer struct {
	Type         string
	Lowercase    bool
	StripAccents *bool `json:"strip_accents"`
	CleanText    *bool `json:"clean_text"`
	Chinese      *bool `json:"handle_chinese_chars"`
	// Pattern and Content are the pattern and the replacement of Replace.
	Pattern     struct{ String, Regex string }
	Content     string
	Normalizers []normalizer
}

type preTokenizer struct {
	Type string
	// Mark replaces a space, and Scheme and Prefix say whether there is one before the text.
	Mark          string         `json:"replacement"`
	Scheme        string         `json:"prepend_scheme"`
	Prefix        *bool          `json:"add_prefix_space"`
	PreTokenizers []preTokenizer `json:"pretokenizers"`
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
	f := tokenizerFile{}
	f.Model.Prefix, f.Model.MaxWord = "##", 100 // As BERT has them.
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
	if n == nil || n.Type != "BertNormalizer" || !on(n.Chinese) || !on(n.CleanText) {
		return fmt.Errorf("its normalizer: WordPiece is supported with BertNormalizer, handle_chinese_chars and clean_text only")
	}
	if p := f.PreTokenizer; p != nil && p.Type != "BertPreTokenizer" {
		return fmt.Errorf("its pre_tokenizer is %q: WordPiece is supported with BertPreTokenizer only", p.Type)
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

// on reports whether a setting is true, which is its default.
func on(setting *bool) bool { return setting == nil || *setting }

// plainSpaces are the patterns of several spaces that Replace may make one.
var plainSpaces = []string{"  ", " {2,}", " +"}

// check returns an error unless the normal form is the one that [Encoder.setUnigram] makes.
func (n *normalizer) check() error {
	var parts []normalizer
	switch {
	case n != nil && n.Type == "Sequence":
		parts = n.Normalizers
	case n != nil:
		parts = append(parts, *n)
	}
	form := false
	for _, part := range parts {
		switch {
		case part.Type == "Precompiled" || part.Type == "NFKC":
			form = true
		case part.Type == "Strip":
		case part.Type == "Replace" && slices.Contains(plainSpaces, part.Pattern.String+part.Pattern.Regex) &&
			(part.Content == " " || part.Content == string(space)):
		default:
			return fmt.Errorf("its normalizer has %q: Unigram is supported with Precompiled, NFKC, Strip, and Replace of several spaces by one", part.Type)
		}
	}
	if !form {
		return errors.New("its normalizer has neither Precompiled nor NFKC, without which Unigram is not supported")
	}
	return nil
}

// check returns an error unless words are cut as [Unigram.Tokens] does: by spaces, with a mark before each.
func (p *preTokenizer) check() error {
	var parts []preTokenizer
	switch {
	case p != nil && p.Type == "Sequence":
		parts = p.PreTokenizers
	case p != nil:
		parts = append(parts, *p)
	}
	marked, split := false, false
	for _, part := range parts {
		switch {
		case part.Type == "WhitespaceSplit":
			split = true
		// The scheme "first" marks the first word alone once they are split.
		case part.Type == "Metaspace" && part.Mark == string(space) && on(part.Prefix) &&
			(part.Scheme == "" || part.Scheme == "always" || part.Scheme == "first" && !split):
			marked = true
		default:
			return fmt.Errorf("its pre_tokenizer has %q: Unigram is supported with WhitespaceSplit and a Metaspace that marks each word", part.Type)
		}
	}
	if !marked {
		return errors.New("its pre_tokenizer has no Metaspace, without which Unigram is not supported")
	}
	return nil
}

// setUnigram takes NFKC for the normal form, which is the one of SentencePiece but for control characters.
func (e *Encoder) setUnigram(f tokenizerFile) error {
	if err := errors.Join(f.Normalizer.check(), f.PreTokenizer.check()); err != nil {
		return err
	}
	if f.Model.Bytes {
		return errors.New("its model has byte_fallback, which is not supported")
	}
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
