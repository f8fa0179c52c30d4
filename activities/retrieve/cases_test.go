package retrieve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

type caseFile struct {
	Cases []struct {
		ID     string          `json:"id"`
		Area   string          `json:"area"`
		Input  json.RawMessage `json:"input"`
		Expect json.RawMessage `json:"expect"`
		Ours   json.RawMessage `json:"ours"`
	} `json:"cases"`
}

var judges = map[string]func(input, expect json.RawMessage) string{
	"search":  judgeSearch,
	"chunker": func(json.RawMessage, json.RawMessage) string { return "nothing is cut into chunks" },
}

func TestCases(t *testing.T) {
	t.Parallel()
	holds := func(file caseFile) bool {
		for _, c := range file.Cases {
			if judges[c.Area] != nil {
				return true
			}
		}
		return false
	}
	sharedtest.RunCases(t, holds, func(_ *testing.T, v *sharedtest.Verdicts, file caseFile) {
		for _, c := range file.Cases {
			judge := judges[c.Area]
			if judge == nil {
				continue
			}
			problem := sharedtest.Play(func() string { return judge(c.Input, c.Expect) })
			if problem != "" && len(c.Ours) > 0 && sharedtest.Play(func() string { return judge(c.Input, c.Ours) }) == "" {
				problem = ""
			}
			v.Count(c.Area, c.ID, problem)
		}
	})
}

// judgeSearch scores what the two searches found as the vector store fuses it, and then with the weights of this package.
func judgeSearch(input, expect json.RawMessage) string {
	var in struct {
		Ranks    []float64 `json:"bm25_ranks"`
		Vector   [][2]any  `json:"vector"`
		Keyword  [][2]any  `json:"keyword"`
		Now      string    `json:"now"`
		Weights  []float64 `json:"weights"`
		HalfLife float64   `json:"half_life_days"`
	}
	var want struct {
		Decreasing bool               `json:"strictly_decreasing_scores"`
		Scores     map[string]float64 `json:"scores"`
		Order      []string           `json:"order"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	w := DefaultWeights()
	e := schema.Entry{Stage: schema.StageVerified, Status: schema.StatusActive}
	if want.Decreasing {
		// BM25 is better the lower it is in these ranks, and the best of a search counts 1.
		best, worst, last := slices.Min(in.Ranks), slices.Max(in.Ranks), math.Inf(1)
		for _, rank := range in.Ranks {
			x := Explain{Hybrid: (rank - worst) / (best - worst), StageWeight: factor(w.Stage, e.Stage), StatusPenalty: 1, Recency: 1, Corroboration: w.corroboration(1)}
			if x.Score() >= last && slices.IsSorted(in.Ranks) {
				return fmt.Sprintf("a rank of %v scores %v, the better one before it %v", rank, x.Score(), last)
			}
			last = x.Score()
		}
		return ""
	}
	now, err := time.Parse(time.DateOnly, in.Now)
	if err != nil {
		return err.Error()
	}
	w.HalfLife = time.Duration(in.HalfLife * 24 * float64(time.Hour))
	scores := map[string]float64{}
	for i, found := range [][][2]any{in.Vector, in.Keyword} {
		for _, hit := range found {
			scores[hit[0].(string)] += in.Weights[i] * hit[1].(float64)
		}
	}
	for name := range scores {
		if day, err := time.Parse(time.DateOnly, strings.TrimSuffix(path.Base(name), ".md")); err == nil {
			scores[name] *= w.recency(now.Sub(day))
		}
	}
	order := slices.SortedFunc(maps.Keys(scores), func(a, b string) int {
		if scores[a] > scores[b] {
			return -1
		}
		return 1
	})
	if want.Order != nil && !slices.Equal(order, want.Order) {
		return fmt.Sprintf("the order is %q, want %q", order, want.Order)
	}
	for name, score := range want.Scores {
		if math.Abs(scores[name]-score) > 1e-6 {
			return fmt.Sprintf("%s scores %v, want %v", name, scores[name], score)
		}
	}
	return ""
}
