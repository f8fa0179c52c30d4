package retrieve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/activities/text"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// anyDirection gives each text a vector in a direction of its own.
type anyDirection struct{}

func (anyDirection) Version() string    { return "any-direction" }
func (anyDirection) Dimensions() int    { return 384 }
func (anyDirection) Chance() llm.Chance { return llm.Chance{Deviation: 0.05} }

func (a anyDirection) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, said := range texts {
		h := fnv.New64a()
		_, _ = io.WriteString(h, said)
		random := rand.New(rand.NewPCG(h.Sum64(), 7)) //nolint:gosec // no secret
		v, norm := make([]float32, a.Dimensions()), 0.0
		for d := range v {
			x := random.NormFloat64()
			v[d], norm = float32(x), norm+x*x
		}
		for d := range v {
			v[d] /= float32(math.Sqrt(norm))
		}
		out[i] = v
	}
	return out, nil
}

func (a anyDirection) EmbedQuery(ctx context.Context, asked string) ([]float32, error) {
	v, err := a.Embed(ctx, []string{asked})
	return v[0], err
}

// sentence returns words of a vocabulary in which some are much more frequent than others.
func sentence(random *rand.Rand, words int) string {
	out := make([]string, words)
	for i := range out {
		out[i] = fmt.Sprintf("word%04d", int(5000*math.Pow(random.Float64(), 3)))
	}
	return strings.Join(out, " ")
}

// BenchmarkSearchLarge asks the same questions by turns, alone and eight at once, over AXIOMMIND_ENTRIES entries (100,000) of one
// project: of the engine alone, without a filter and for ids alone; of the index, with the filters of a search; and of a
// searcher, the whole way.
func BenchmarkSearchLarge(b *testing.B) {
	entries := 100_000
	if n, err := strconv.Atoi(os.Getenv("AXIOMMIND_ENTRIES")); err == nil {
		entries = n
	}
	s := newBench(b, anyDirection{})
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	started := time.Now()
	for session := 0; session*1000 < entries; session++ {
		list := make([]schema.Entry, min(1000, entries-session*1000))
		for i := range list {
			list[i].Title, list[i].SessionID = fmt.Sprintf("%s %d", sentence(random, 8), session*1000+i), fmt.Sprint("s", session)
		}
		s.add(b, list...)
	}
	b.ReportMetric(float64(entries)/time.Since(started).Seconds(), "entries-indexed/s")
	require.NoError(b, s.conn.Exec(b.Context(), "OPTIMIZE TABLE entries_raw FINAL"))
	bare := newBare(b, s)
	questions := make([]string, 160)
	for i := range questions {
		questions[i] = sentence(random, 4)
	}
	ask := map[string]func(question string){
		"bare": bare.ask,
		"hybrid": func(question string) {
			v, err := s.embedder.EmbedQuery(b.Context(), question)
			require.NoError(b, err)
			_, err = s.client.Hybrid(b.Context(), vector.HybridQuery{
				Collection: schema.VectorCollection(s.embedder.Version()), Project: "red", Filter: Query{}.filter(),
				Text: question, Vector: v, Alpha: .5, Limit: 50,
			})
			require.NoError(b, err)
		},
		"search": func(question string) {
			r, err := s.searcher.Search(b.Context(), Query{Text: question, Project: "red"})
			require.NoError(b, err)
			require.Len(b, r.Hits, DefaultLimit)
		},
	}
	names := []string{"bare", "hybrid", "search"}
	for b.Loop() {
		for _, at := range []int{1, 8} {
			took := map[string][]time.Duration{}
			for round := range 2 { // The first warms up.
				for from := 0; from < len(questions); from += 40 {
					for _, name := range names {
						times := together(at, questions[from:from+40], ask[name])
						if round > 0 {
							took[name] = append(took[name], times...)
						}
					}
				}
			}
			for _, name := range names {
				p50 := median(took[name])
				b.ReportMetric(float64(p50.Microseconds())/1000, fmt.Sprintf("%s-%d-p50-ms", name, at))
				b.ReportMetric(float64(p50)/float64(median(took["bare"])), fmt.Sprintf("%s-%d-ratio", name, at))
			}
		}
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// together asks the questions, so many at a time, and returns how long each took.
func together(at int, questions []string, ask func(string)) []time.Duration {
	took := make([]time.Duration, len(questions))
	var wait sync.WaitGroup
	for worker := range at {
		wait.Go(func() {
			for i := worker; i < len(questions); i += at {
				started := time.Now()
				ask(questions[i])
				took[i] = time.Since(started)
			}
		})
	}
	wait.Wait()
	return took
}

// bare asks the engine over HTTP, with nothing of ours between.
type bare struct {
	b     *testing.B
	url   string
	class string
}

func newBare(b *testing.B, s *bench) *bare {
	class, err := s.client.EnsureCollection(b.Context(), schema.VectorCollection(s.embedder.Version()))
	require.NoError(b, err)
	return &bare{b, "http://" + stacktest.Weaviate(b) + "/v1/graphql", class}
}

func (e *bare) ask(question string) {
	v, err := anyDirection{}.EmbedQuery(e.b.Context(), question)
	require.NoError(e.b, err)
	numbers, err := json.Marshal(v)
	require.NoError(e.b, err)
	query := fmt.Sprintf(`{Get{%s(tenant:%q,limit:50,hybrid:{query:%q,alpha:0.5,vector:%s,fusionType:relativeScoreFusion,properties:["terms"]})`+
		`{item_id _additional{score}}}}`, e.class, schema.VectorTenant("red"), text.Terms(question), numbers)
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(e.b, err)
	request, err := http.NewRequestWithContext(e.b.Context(), http.MethodPost, e.url, bytes.NewReader(body))
	require.NoError(e.b, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+stacktest.WeaviateKey(e.b))
	answer, err := http.DefaultClient.Do(request)
	require.NoError(e.b, err)
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	require.NoError(e.b, err)
	require.Equal(e.b, 50, strings.Count(string(data), `"item_id"`), "%.300s", data)
}
