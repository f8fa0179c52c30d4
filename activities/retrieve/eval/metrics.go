package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Deepest is the largest k of the metrics, and the least limit of a run.
const Deepest = 20

// AtK is a metric at each of its cutoffs.
type AtK struct {
	At1  float64 `json:"1"`
	At5  float64 `json:"5"`
	At10 float64 `json:"10"`
	At20 float64 `json:"20"`
}

func atK(f func(k int) float64) AtK { return AtK{f(1), f(5), f(10), f(20)} }

// scores are the metrics of one question.
type scores struct {
	recall, hit, all AtK
	reciprocal, ndcg float64
}

// scoresOf computes the metrics from the ranks of the references, 0 for those that were not found.
func scoresOf(ranks []int) scores {
	within := func(k int) int {
		n := 0
		for _, r := range ranks {
			if r > 0 && r <= k {
				n++
			}
		}
		return n
	}
	s := scores{
		recall: atK(func(k int) float64 { return float64(within(k)) / float64(len(ranks)) }),
		hit:    atK(func(k int) float64 { return one(within(k) > 0) }),
		all:    atK(func(k int) float64 { return one(within(k) == len(ranks)) }),
		ndcg:   ndcg(ranks, 10),
	}
	for _, r := range ranks {
		if r > 0 {
			s.reciprocal = max(s.reciprocal, 1/float64(r))
		}
	}
	return s
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// ndcg is the discounted cumulative gain at k with binary gains, by the highest there can be. References that one result
// satisfies share a rank: the nth best counts at rank n or later, so that none exceeds the ideal, and a result
// that satisfies all of them is ideal.
func ndcg(ranks []int, k int) float64 {
	ranked := slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { return r == 0 })
	slices.Sort(ranked)
	var gain, ideal float64
	for i := range min(len(ranks), k) {
		ideal += discount(i + 1)
		if i < len(ranked) && ranked[i] <= k {
			gain += discount(max(ranked[i], i+1))
		}
	}
	return gain / ideal
}

func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }

// Summary holds the metrics of questions. An average over no question is 0.
type Summary struct {
	// Questions counts those with references, Abstentions the others, and Refs the references.
	Questions   int `json:"questions"`
	Abstentions int `json:"abstentions"`
	Refs        int `json:"refs"`

	Recall AtK     `json:"recall"`
	Hit    AtK     `json:"hit"`
	All    AtK     `json:"all"`
	MRR    float64 `json:"mrr"`
	NDCG10 float64 `json:"ndcg@10"`
	// Interval is the 95 % interval of recall@10: lowest and highest, by a bootstrap over the questions.
	Interval [2]float64 `json:"recall@10_interval"`
	// Abstained is the share of Abstentions for which nothing was returned, or only weak results.
	Abstained float64 `json:"abstained"`
	Latency   Latency `json:"latency"`
}

// Latency is how long the retriever took, for all questions.
type Latency struct {
	P50 time.Duration `json:"p50_ns"`
	P95 time.Duration `json:"p95_ns"`
	P99 time.Duration `json:"p99_ns"`
}

// MetricNames are the names that [Summary.Metric] knows, in the order of a table.
func MetricNames() []string {
	return []string{
		"recall@1", "recall@5", "recall@10", "recall@20", "hit@1", "hit@5", "hit@10", "hit@20",
		"all@1", "all@5", "all@10", "all@20", "mrr", "ndcg@10", "abstained",
	}
}

// Metric returns a metric by its name. It is false if there is none of the name, or no question that it could be measured on.
func (s Summary) Metric(name string) (float64, bool) {
	at := slices.Index(MetricNames(), name)
	if at < 0 || name == "abstained" && s.Abstentions == 0 || name != "abstained" && s.Questions == 0 {
		return 0, false
	}
	return []float64{
		s.Recall.At1, s.Recall.At5, s.Recall.At10, s.Recall.At20, s.Hit.At1, s.Hit.At5, s.Hit.At10, s.Hit.At20,
		s.All.At1, s.All.At5, s.All.At10, s.All.At20, s.MRR, s.NDCG10, s.Abstained,
	}[at], true
}

// summarize averages over the answers.
func summarize(answers []Answer) Summary {
	var s Summary
	var recalls []float64
	var took []time.Duration
	for _, a := range answers {
		took = append(took, a.Took)
		if a.Abstain {
			s.Abstentions++
			s.Abstained += one(a.Sure == 0)
			continue
		}
		q := scoresOf(a.Ranks)
		s.Questions++
		s.Refs += len(a.Ranks)
		s.Recall.add(q.recall)
		s.Hit.add(q.hit)
		s.All.add(q.all)
		s.MRR += q.reciprocal
		s.NDCG10 += q.ndcg
		recalls = append(recalls, q.recall.At10)
	}
	if n := float64(s.Questions); n > 0 {
		s.Recall.divide(n)
		s.Hit.divide(n)
		s.All.divide(n)
		s.MRR /= n
		s.NDCG10 /= n
	}
	if s.Abstentions > 0 {
		s.Abstained /= float64(s.Abstentions)
	}
	s.Interval = bootstrap(recalls)
	slices.Sort(took)
	s.Latency = Latency{percentile(took, 50), percentile(took, 95), percentile(took, 99)}
	return s
}

func (a *AtK) add(b AtK) { *a = AtK{a.At1 + b.At1, a.At5 + b.At5, a.At10 + b.At10, a.At20 + b.At20} }

func (a *AtK) divide(n float64) { *a = AtK{a.At1 / n, a.At5 / n, a.At10 / n, a.At20 / n} }

// percentile returns the value at the nearest rank, or 0 if there is none.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}

// resamples is how many means the interval is taken from. The seed is fixed so that a run can be repeated.
const (
	resamples = 1000
	seed      = 19
)

// bootstrap returns the 95 % interval of the mean.
func bootstrap(values []float64) [2]float64 {
	if len(values) == 0 {
		return [2]float64{}
	}
	random := rand.New(rand.NewPCG(seed, seed))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[random.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	return [2]float64{means[resamples*25/1000], means[resamples*975/1000-1]}
}
