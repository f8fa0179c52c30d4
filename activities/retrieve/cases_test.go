package retrieve

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"testing"
	"time"

	"axiommind/activities/vector"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunAreas(t, sharedtest.Judges{
		"search": judgeSearch,
		// There is nothing that cuts texts into chunks.
		"chunker": func(json.RawMessage, json.RawMessage) string { return "nothing is cut into chunks" },
	})
}

// scored is a file and its score, which a case writes as a pair.
type scored struct {
	name  string
	score float64
}

func (s *scored) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&s.name, &s.score})
}

// judgeSearch scores candidates as a search does. The weights of the case take the place of those by stage and status,
// and a file is as old as the day in its name.
func judgeSearch(input, expect json.RawMessage) string {
	var in struct {
		Ranks    []float64  `json:"bm25_ranks"`
		Vector   []scored   `json:"vector"`
		Keyword  []scored   `json:"keyword"`
		Now      string     `json:"now"`
		Weights  [2]float64 `json:"weights"`
		HalfLife float64    `json:"half_life_days"`
	}
	var want struct {
		Decreasing bool               `json:"strictly_decreasing_scores"`
		Scores     map[string]float64 `json:"scores"`
		Order      []string           `json:"order"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	if want.Decreasing == (len(want.Scores) > 0 || len(want.Order) > 0) {
		return "want either decreasing scores, or scores and an order"
	}
	var now time.Time
	if in.Now != "" {
		var err error
		if now, err = time.Parse(time.DateOnly, in.Now); err != nil {
			return err.Error()
		}
	}
	var candidates []vector.Candidate
	named := func(id string) *vector.Candidate {
		i := slices.IndexFunc(candidates, func(c vector.Candidate) bool { return c.ItemID == id })
		if i < 0 {
			i, candidates = len(candidates), append(candidates, vector.Candidate{ItemID: id})
		}
		return &candidates[i]
	}
	for _, s := range in.Vector {
		named(s.name).Vector = s.score * in.Weights[0]
	}
	for _, s := range in.Keyword {
		named(s.name).Keyword = s.score * in.Weights[1]
	}
	for i, rank := range in.Ranks { // the best is the lowest
		named(fmt.Sprint(i)).Keyword = -rank
	}
	w := Weights{HalfLife: time.Duration(in.HalfLife * float64(24*time.Hour))}
	var claims []*claim
	for _, c := range candidates {
		c.Score = c.Vector + c.Keyword
		e := schema.Entry{ID: c.ItemID, Title: c.ItemID, OccurredAt: dayIn(c.ItemID, now)}
		h := Hit{Entry: e, Explain: w.explain(c, e, now)}
		h.Score = h.Explain.Score()
		claims = append(claims, w.fold([]Hit{h})...)
	}
	order(claims, func(string) string { return "" })
	return judgeOrder(claims, want.Decreasing, want.Scores, want.Order)
}

func judgeOrder(claims []*claim, decreasing bool, scores map[string]float64, ids []string) string {
	var got []string
	for i, c := range claims {
		got = append(got, c.ID)
		if decreasing && (c.ID != fmt.Sprint(i) || i > 0 && c.Score >= claims[i-1].Score) {
			return fmt.Sprintf("%s comes with score %v after %q", c.ID, c.Score, got)
		}
		if score, ok := scores[c.ID]; ok && math.Abs(score-c.Score) > 1e-9 {
			return fmt.Sprintf("score of %s is %v, want %v", c.ID, c.Score, score)
		}
	}
	if ids != nil && !slices.Equal(got, ids) {
		return fmt.Sprintf("order is %q, want %q", got, ids)
	}
	return ""
}

var dayName = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})\.md$`)

// dayIn is the day in a file's name, or now: a file without a day does not age.
func dayIn(name string, now time.Time) time.Time {
	if m := dayName.FindStringSubmatch(path.Base(name)); m != nil {
		if day, err := time.Parse(time.DateOnly, m[1]); err == nil {
			return day
		}
	}
	return now
}
