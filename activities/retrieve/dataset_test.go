package retrieve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/activities/retrieve/eval"
	"axiommind/activities/transcript/format"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

var update = flag.Bool("update", false, "write testdata/gate.json anew")

// asked asks as starter eval does, for messages alone.
type asked struct {
	searcher *Searcher
	alpha    *float64
	kinds    []Kind
}

func (a asked) Retrieve(ctx context.Context, q eval.Question, limit int) ([]eval.Found, error) {
	r, err := a.searcher.Search(ctx, Query{
		Text: q.Query, Project: cmp.Or(q.Project, "default"), User: q.User, AsOf: q.AsOf, Kinds: a.kinds, Limit: limit, Alpha: a.alpha,
	})
	out := make([]eval.Found, len(r.Hits))
	for i, h := range r.Hits {
		out[i] = eval.Found{Kind: eval.KindMessage, Session: h.SessionID, Messages: []int{h.Message.Index}, Text: h.Content, Score: h.Score, Weak: h.Weak}
	}
	return out, err
}

// localEmbedder is the model in the process.
func localEmbedder(t testing.TB) vector.Embedder {
	t.Helper()
	e, err := llm.NewEmbedder(t.Context(), llm.EmbedderConfig{Provider: llm.ProviderLocal, Dir: stacktest.Embedder(t)})
	require.NoError(t, err)
	return e
}

// TestGate compares the search through the real servers with its earlier results: the gold set of the repository, and
// testdata/gate.json, which -update rewrites. Give the reason for a change in the commit.
func TestGate(t *testing.T) {
	t.Parallel()
	d := ownSet(t, "")
	path := filepath.Join("testdata", "gate.json")
	gate := map[string]map[string]float64{}
	raw, err := os.ReadFile(path)
	if !*update || err == nil {
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &gate))
	}
	for name, embedderOf := range map[string]func(testing.TB) vector.Embedder{
		"hash": func(testing.TB) vector.Embedder { return llm.Hash{} }, "local": localEmbedder,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, embedderOf(t))
			b.ingest(t, payloadsOf(d.Sessions)...)
			result, err := eval.Run(t.Context(), d.Questions, asked{b.searcher, nil, []Kind{KindMessage}}, eval.Options{})
			require.NoError(t, err)
			got := map[string]float64{}
			for _, metric := range []string{"recall@1", "recall@10", "mrr"} {
				value, ok := result.Overall.Metric(metric)
				require.True(t, ok, metric)
				got[metric] = math.Round(1000*value) / 1000
				if *update {
					continue
				}
				require.GreaterOrEqual(t, value, gate[name][metric]-eval.DefaultMaxDrop, "%s fell; if that is meant, run the test with -update", metric)
			}
			t.Log(got)
			if *update {
				gate[name] = got
			}
		})
	}
	if *update {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		require.NoError(t, e.Encode(gate))
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	}
}

// ownSet reads a gold set of the repository and its sessions.
func ownSet(t testing.TB, prefix string) eval.Dataset {
	t.Helper()
	dir := filepath.Join("eval", "testdata")
	questions, err := os.Open(filepath.Join(dir, prefix+"questions.jsonl"))
	require.NoError(t, err)
	defer func() { _ = questions.Close() }()
	sessions, err := os.Open(filepath.Join(dir, prefix+"sessions.jsonl"))
	require.NoError(t, err)
	defer func() { _ = sessions.Close() }()
	d, err := eval.Own(questions, "questions.jsonl", sessions, "sessions.jsonl")
	require.NoError(t, err)
	return d
}

func payloadsOf(sessions []eval.Session) []schema.SessionIngestedPayload {
	out := make([]schema.SessionIngestedPayload, 0, len(sessions))
	for _, s := range sessions {
		p := schema.SessionIngestedPayload{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: cmp.Or(s.Project, "default")}, SessionID: s.ID}, Date: start,
		}
		for i, m := range s.Messages {
			p.Messages = append(p.Messages, schema.Message{Index: i, Role: m.Role, Kind: schema.KindText, Author: m.Speaker, Text: m.Text, At: m.Time})
		}
		out = append(out, p)
	}
	return out
}

// TestMeasureDataset measures a data set that starter eval import has written, through the real servers:
//
//	AXIOMMIND_DATASET=gold go test ./activities/retrieve -run TestMeasureDataset -v -timeout 0
//
// AXIOMMIND_HALF is odd or even, and AXIOMMIND_EMBEDDER may be hash. Vectors are kept in the file AXIOMMIND_VECTORS
// between runs: a large set takes an hour to embed. With AXIOMMIND_KEPT only questions whose sessions are all in the
// file are asked.
func TestMeasureDataset(t *testing.T) {
	dir := os.Getenv("AXIOMMIND_DATASET")
	if dir == "" {
		t.Skip("AXIOMMIND_DATASET names no data set")
	}
	gold, err := os.Open(filepath.Join(dir, "goldset.jsonl"))
	require.NoError(t, err)
	defer func() { _ = gold.Close() }()
	questions, err := eval.ReadGoldSet(gold, gold.Name())
	require.NoError(t, err)
	half := eval.Half(cmp.Or(os.Getenv("AXIOMMIND_HALF"), string(eval.HalfAll)))
	questions = half.Of(questions)
	var embedder vector.Embedder = llm.Hash{}
	if os.Getenv("AXIOMMIND_EMBEDDER") != llm.ProviderHash {
		embedder = localEmbedder(t)
	}
	kept := keepVectors(t, embedder, os.Getenv("AXIOMMIND_VECTORS"))
	if os.Getenv("AXIOMMIND_KEPT") != "" {
		// Only the questions whose sessions are all embedded already.
		questions = slices.DeleteFunc(questions, func(q eval.Question) bool { return !kept.holds(t, dir, q) })
	}
	b := newBench(t, kept)
	done := map[string]bool{}
	n := 0
	for _, q := range questions {
		if done[q.Project] {
			continue
		}
		done[q.Project] = true
		payloads := transcriptOf(t, dir, q.Project)
		for _, p := range payloads {
			n += len(p.Messages)
		}
		b.ingest(t, payloads...)
	}
	fmt.Printf("%d questions, %d messages, %s\n", len(questions), n, half)
	for i := range questions {
		questions[i].User = ""
	}
	type run struct {
		name    string
		alpha   float64
		weights *Weights
	}
	alone := DefaultWeights()
	alone.Neighbours = Neighbours{}
	alpha := b.searcher.Alpha()
	for _, r := range []run{{"words", 0, &alone}, {"meaning", 1, &alone}, {"both", alpha, &alone}, {"default", alpha, nil}} {
		searcher := NewSearcher(b.conn, b.client, b.embedder, Options{Weights: r.weights})
		result, err := eval.Run(t.Context(), questions, asked{searcher, &r.alpha, []Kind{KindMessage}}, eval.Options{})
		require.NoError(t, err)
		var line strings.Builder
		for _, metric := range []string{"recall@5", "recall@10", "recall@20", "all@10", "mrr", "abstained"} {
			if value, ok := result.Overall.Metric(metric); ok {
				fmt.Fprintf(&line, " %s %.3f", metric, value)
			}
		}
		fmt.Printf("%-24s%s p50 %s p95 %s\n", r.name, line.String(), result.Overall.Latency.P50, result.Overall.Latency.P95)
	}
}

func transcriptOf(t testing.TB, dir, project string) []schema.SessionIngestedPayload {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "transcripts", project+".jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	parsed, err := format.Parse(t.Context(), f, format.Options{Name: project + ".jsonl"})
	require.NoError(t, err)
	var out []schema.SessionIngestedPayload
	for _, s := range parsed {
		out = append(out, schema.SessionIngestedPayload{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: project}, SessionID: s.ID}, Date: start, Messages: s.Messages,
		})
	}
	return out
}

// vectorsKept is an embedder that keeps the vectors of texts in a file.
type vectorsKept struct {
	vector.Embedder
	mu    sync.Mutex
	known map[[sha256.Size]byte][]float32
	file  *os.File
}

func keepVectors(t testing.TB, e vector.Embedder, name string) *vectorsKept {
	t.Helper()
	k := &vectorsKept{Embedder: e, known: map[[sha256.Size]byte][]float32{}}
	if name == "" {
		return k
	}
	raw, err := os.ReadFile(name)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	size := sha256.Size + 4*e.Dimensions()
	for ; len(raw) >= size; raw = raw[size:] {
		v := make([]float32, e.Dimensions())
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[sha256.Size+4*i:]))
		}
		k.known[[sha256.Size]byte(raw)] = v
	}
	k.file, err = os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = k.file.Close() })
	return k
}

func (k *vectorsKept) Chance() llm.Chance { return k.Embedder.(llm.Calibrated).Chance() }

func (k *vectorsKept) Alpha() float64 { return versioned{Embedder: k.Embedder}.Alpha() }

func (k *vectorsKept) Baseline() float64 { return versioned{Embedder: k.Embedder}.Baseline() }

func (k *vectorsKept) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		key := sha256.Sum256([]byte(text))
		if k.known[key] == nil {
			vectors, err := k.Embedder.Embed(ctx, []string{text})
			if err != nil {
				return nil, err
			}
			k.known[key] = vectors[0]
			if k.file != nil {
				line := slices.Clone(key[:])
				for _, x := range vectors[0] {
					line = binary.LittleEndian.AppendUint32(line, math.Float32bits(x))
				}
				if _, err := k.file.Write(line); err != nil {
					return nil, err
				}
			}
		}
		out[i] = k.known[key]
	}
	return out, nil
}

// holds reports whether all messages that the question is asked about are embedded.
func (k *vectorsKept) holds(t testing.TB, dir string, q eval.Question) bool {
	for _, p := range transcriptOf(t, dir, q.Project) {
		for _, m := range p.Messages {
			if m.Extractable() && strings.TrimSpace(m.Text) != "" && k.known[sha256.Sum256([]byte(m.Text))] == nil {
				return false
			}
		}
	}
	return true
}
