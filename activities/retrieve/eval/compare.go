package eval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// DefaultMaxDrop is how many points of recall@10 and MRR a run may lose by default: 0.02 of 1.
const DefaultMaxDrop = 0.02

// ErrIncomparable is wrapped by the errors of [Compare].
var ErrIncomparable = errors.New("the runs can't be compared")

// Thresholds are, by the name of a metric, how much of it may be lost: absolute, of 1.
type Thresholds map[string]float64

// MaxDrop returns thresholds that allow recall@10 and MRR to fall by so much.
func MaxDrop(drop float64) Thresholds { return Thresholds{"recall@10": drop, "mrr": drop} }

// Comparison reports how the metrics and each question changed.
type Comparison struct {
	// Changes are the overall metrics in the order of [MetricNames].
	Changes []Change `json:"changes"`
	// Worse are the questions whose recall@10 fell, or else whose first reference is found later, or that return a
	// result and should not.
	Worse []QuestionChange `json:"worse"`
	// Better counts the questions that changed in the opposite way.
	Better int `json:"better"`
}

// Change is how a metric changed.
type Change struct {
	Metric string  `json:"metric"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// MaxDrop is nil for a metric that no threshold is about.
	MaxDrop *float64 `json:"max_drop,omitempty"`
	// Failed is true if it fell by more than MaxDrop.
	Failed bool `json:"failed,omitempty"`
}

// QuestionChange is how the ranks of a question's references changed.
type QuestionChange struct {
	ID       string `json:"id"`
	Category string `json:"category,omitempty"`
	Before   []int  `json:"before"`
	After    []int  `json:"after"`
}

// Failed are the metrics that fell by more than is allowed.
func (c Comparison) Failed() []Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(change Change) bool { return !change.Failed })
}

// rounding keeps a drop of exactly the threshold from failing.
const rounding = 1e-9

// Compare compares a run with an earlier one of the same gold set.
func Compare(baseline, run Result, thresholds Thresholds) (Comparison, error) {
	if err := sameQuestions(baseline, run); err != nil {
		return Comparison{}, err
	}
	for name, drop := range thresholds {
		if !slices.Contains(MetricNames(), name) {
			return Comparison{}, fmt.Errorf("%w: there is no metric %q: want one of %v", ErrIncomparable, name, MetricNames())
		}
		if !(drop >= 0 && drop <= 1) {
			return Comparison{}, fmt.Errorf("%w: %s may drop by %v: want 0 to 1", ErrIncomparable, name, drop)
		}
	}
	c := Comparison{Changes: []Change{}, Worse: []QuestionChange{}}
	for _, name := range MetricNames() {
		before, measured := baseline.Overall.Metric(name)
		after, still := run.Overall.Metric(name)
		if !measured || !still {
			continue
		}
		change := Change{Metric: name, Before: before, After: after}
		if drop, ok := thresholds[name]; ok {
			change.MaxDrop, change.Failed = &drop, before-after > drop+rounding
		}
		c.Changes = append(c.Changes, change)
	}
	for i, a := range run.Questions {
		b := baseline.Questions[i]
		switch difference := quality(a, b); {
		case difference < 0:
			c.Worse = append(c.Worse, QuestionChange{a.ID, a.Category, b.Ranks, a.Ranks})
		case difference > 0:
			c.Better++
		}
	}
	return c, nil
}

// Comparable returns an error if a run of the questions could not be compared with the baseline. A program asks before it
// runs them.
func Comparable(baseline Result, questions []Question, opts Options) error {
	opts = opts.withDefaults()
	asked := opts.Half.Of(questions)
	return sameQuestions(baseline, Result{GoldSet: GoldSet{Hash(asked), len(asked)}, Half: opts.Half, Limit: opts.Limit})
}

// sameQuestions returns an error unless both runs asked the same questions for as many results.
func sameQuestions(baseline, run Result) error {
	switch {
	case baseline.Half != run.Half:
		return fmt.Errorf("%w: one asked the half %q, the other %q", ErrIncomparable, baseline.Half, run.Half)
	case baseline.GoldSet.Hash != run.GoldSet.Hash:
		return fmt.Errorf("%w: they are of different gold sets (%d and %d questions, %.15s… and %.15s…): save a new run of this one",
			ErrIncomparable, baseline.GoldSet.Questions, run.GoldSet.Questions, baseline.GoldSet.Hash, run.GoldSet.Hash)
	case baseline.Limit != run.Limit:
		return fmt.Errorf("%w: one asked for %d results, the other for %d", ErrIncomparable, baseline.Limit, run.Limit)
	}
	for i, a := range run.Questions {
		if i >= len(baseline.Questions) || baseline.Questions[i].ID != a.ID || len(baseline.Questions[i].Ranks) != len(a.Ranks) {
			return fmt.Errorf("%w: the questions differ from %q on", ErrIncomparable, a.ID)
		}
	}
	return nil
}

// quality compares the answers to one question: by recall@10, then by the rank of the first reference.
func quality(a, b Answer) int {
	if a.Abstain {
		return cmp.Compare(one(a.Sure == 0), one(b.Sure == 0))
	}
	x, y := scoresOf(a.Ranks), scoresOf(b.Ranks)
	return cmp.Or(cmp.Compare(x.recall.At10, y.recall.At10), cmp.Compare(x.reciprocal, y.reciprocal))
}
