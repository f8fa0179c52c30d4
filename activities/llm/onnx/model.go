package onnx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Names of the files of a model's directory, as sentence-transformers lays them out. The last two need not be there.
const (
	modelFile     = "model.onnx"
	tokenizerName = "tokenizer.json"
	promptsName   = "config_sentence_transformers.json"
	poolingName   = "1_Pooling/config.json"
)

// Model embeds texts with the model of a directory. It is safe for concurrent use.
type Model struct {
	encoder        *Encoder
	query, passage string
	// Digest names the content of the files, and the version of this package, in 12 hexadecimal digits: vectors of others can't be
	// compared.
	Digest string
}

// IsModel reports whether dir has a model of its own. An empty dir has none: it is not the working directory.
func IsModel(dir string) bool {
	if dir == "" {
		return false
	}
	for _, name := range []string{modelFile, tokenizerName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// models are those that are open, by their directories: they stay for the life of the process.
var models struct {
	sync.Mutex
	byDir map[string]*Model
}

// Open returns the model of a directory with model.onnx and tokenizer.json, which the first call loads. It puts the prompts
// "query" and "passage" (or "document") of config_sentence_transformers.json before texts, and pools as 1_Pooling/config.json
// says: by the mean, which is the default, or by the first token.
func Open(dir string) (*Model, error) {
	models.Lock()
	defer models.Unlock()
	if m := models.byDir[dir]; m != nil {
		return m, nil
	}
	m, err := openModel(dir)
	if err != nil {
		return nil, err
	}
	if models.byDir == nil {
		models.byDir = map[string]*Model{}
	}
	models.byDir[dir] = m
	return m, nil
}

// encoderVersion is raised whenever this package gives other vectors for the same files.
const encoderVersion = 1

func openModel(dir string) (_ *Model, err error) {
	library, err := FindLibrary(dir)
	if err != nil {
		return nil, err
	}
	e := &Encoder{}
	if err := e.readTokenizer(filepath.Join(dir, tokenizerName)); err != nil {
		return nil, err
	}
	m := &Model{encoder: e}
	if err := m.configure(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, modelFile)
	session, err := OpenFile(library, path)
	if err != nil {
		return nil, fmt.Errorf("load %q: %w", path, err)
	}
	defer func() {
		if err != nil {
			session.Close()
		}
	}()
	for _, name := range session.Inputs {
		if _, ok := fillers[name]; !ok {
			return nil, fmt.Errorf("load %q: it wants the input %q: only input_ids, attention_mask and token_type_ids are known", path, name)
		}
	}
	// The first run says how long a vector is.
	if err := session.Run([]int64{1, 2}, fill(session, [][]int32{{e.First, e.Last}}), func(_ []float32, shape []int64) error {
		if len(shape) != 3 {
			return fmt.Errorf("its first output has %d dimensions, not batch, token and width: export it without pooling", len(shape))
		}
		e.Dimensions = int(shape[2])
		return nil
	}); err != nil {
		return nil, fmt.Errorf("load %q: %w", path, err)
	}
	e.Hidden = func(rows [][]int32, read func([]float32) error) error {
		return session.Run([]int64{int64(len(rows)), int64(len(rows[0]))}, fill(session, rows), func(vectors []float32, _ []int64) error { return read(vectors) })
	}
	return m, m.digest(dir, encoderVersion)
}

// fillers are the inputs that a model may have, with their value for each token.
var fillers = map[string]func(token int32) int64{
	"input_ids":      func(token int32) int64 { return int64(token) },
	"attention_mask": func(int32) int64 { return 1 },
	"token_type_ids": func(int32) int64 { return 0 },
}

func fill(s *Session, rows [][]int32) []any {
	var inputs []any
	for _, name := range s.Inputs {
		input := make([]int64, 0, len(rows)*len(rows[0]))
		for _, row := range rows {
			for _, token := range row {
				input = append(input, fillers[name](token))
			}
		}
		inputs = append(inputs, input)
	}
	return inputs
}

// configure reads the prompts and the pooling.
func (m *Model) configure(dir string) error {
	var prompts struct{ Prompts map[string]string }
	var pooling struct {
		CLS  bool `json:"pooling_mode_cls_token"`
		Mean bool `json:"pooling_mode_mean_tokens"`
	}
	pooling.Mean = true
	for name, into := range map[string]any{promptsName: &prompts, poolingName: &pooling} {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			return fmt.Errorf("read %s of the model in %q: %w", name, dir, err)
		}
	}
	if pooling.CLS == pooling.Mean {
		return fmt.Errorf("read %s of the model in %q: only the mean and the first token are supported", poolingName, dir)
	}
	m.encoder.FirstOnly = pooling.CLS
	m.query, m.passage = prompts.Prompts["query"], prompts.Prompts["passage"]+prompts.Prompts["document"]
	return nil
}

// digest reads the files, as names of models are reused for others.
func (m *Model) digest(dir string, version int) error {
	all := sha256.New()
	_, _ = fmt.Fprintf(all, "%d %q %q %t ", version, m.query, m.passage, m.encoder.FirstOnly)
	parts := []string{filepath.Join(dir, modelFile), filepath.Join(dir, tokenizerName)}
	weights, err := external(dir)
	if err != nil {
		return fmt.Errorf("look for the weights of the model: %w", err)
	}
	parts = append(parts, weights...)
	for _, part := range parts {
		sum, err := sumOf(part)
		if err != nil {
			return fmt.Errorf("read the model: %w", err)
		}
		all.Write([]byte(sum))
	}
	m.Digest = hex.EncodeToString(all.Sum(nil))[:12]
	return nil
}

// maxGraph is the size up to which a model's file may have its weights in others. A file with weights of its own is larger.
const maxGraph = 64 << 20

// external returns the files of a directory that its model names, as those of its weights.
func external(dir string) (paths []string, err error) {
	info, err := os.Stat(filepath.Join(dir, modelFile))
	if err != nil || info.Size() > maxGraph {
		return nil, err
	}
	graph, err := os.ReadFile(filepath.Join(dir, modelFile))
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); bytes.Contains(graph, []byte(e.Name())) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				paths = append(paths, path)
			}
		}
	}
	return paths, err
}

// Dimensions is the length of a vector.
func (m *Model) Dimensions() int { return m.encoder.Dimensions }

// Queries returns a vector of length 1 (L2) for each question.
func (m *Model) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return m.encoder.Queries(ctx, prompted(m.query, texts))
}

// Passages returns a vector of length 1 (L2) for each text to search.
func (m *Model) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	return m.encoder.Passages(ctx, prompted(m.passage, texts))
}

// prompted returns the texts after the prompt, as valid UTF-8.
func prompted(prompt string, texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = prompt + strings.ToValidUTF8(Head(text), "\ufffd")
	}
	return out
}
