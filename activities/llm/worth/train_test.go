package worth

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"axiommind/schema"
)

var train = flag.Bool("train", false, "learn the weights from the labels, and write weights.bin")

// example is a line with its label.
type example struct {
	v []feature
	// class is the kind, or 0. Yes is the share of yes, for the worth.
	class       int
	yes, weight float64
}

// windows returns the parts of a session of the size that a worker reads at once.
func windows(session []schema.Message, most int) (out [][]schema.Message) {
	for from := 0; from < len(session); {
		to, size := from, 0
		for to < len(session) && (to == from || size+len(session[to].Text) <= most) {
			size += len(session[to].Text)
			to++
		}
		out = append(out, session[from:to])
		from = to
	}
	return out
}

// windowBytes is the size of a worker's window. A session that grows has smaller ones, so the net learns from these, too.
const windowBytes, smallWindow, oneMessage = 32 << 10, 4 << 10, 1

// works returns the sessions of work.
func works(sessions []labeled) []labeled {
	return slices.DeleteFunc(slices.Clone(sessions), func(s labeled) bool { return s.Source == grammar || s.chat() })
}

// ofWork returns the lines of sessions of work.
func ofWork(sessions []labeled) (out []example) {
	for _, s := range works(sessions) {
		for _, window := range windows(s.window, windowBytes) {
			all := split(window, false)
			for i := range all {
				yes, weight := s.opinionOf(&all[i])
				out = append(out, example{v: features(all, i), yes: yes, weight: weight})
			}
		}
	}
	return out
}

// ofTalk returns the sentences of all sessions, and the lines of each type.
func ofTalk(sessions []labeled) (talk, types []example) {
	for _, s := range sessions {
		all := split(s.window, false)
		for i := range all {
			if s.Source == grammar && all[i].m.Role != schema.RoleUser {
				continue
			}
			for n, alone := range sentencesOf(all, i) {
				e := example{v: features(alone, len(alone)-1), weight: 1}
				if it := s.itemOf(&alone[len(alone)-1]); it != nil {
					e.yes, e.weight = 1, importances[it.Importance]
				} else if s.Source == grammar {
					e.weight = unlabeled
				}
				talk = append(talk, e)
				if k := s.kindAt(&all[i]); n == 0 && k >= 0 {
					// In chats nearly all are facts, which says nothing of a session of work.
					weight := 1.0
					if s.chat() {
						weight = 0.3
					}
					types = append(types, example{v: features(all, i), class: k, weight: weight})
				}
			}
		}
	}
	return talk, types
}

// fit returns the weights of logistic regression for each of the classes, or for yes if there is one, with a penalty of half
// the square of the weights. It descends along the whole gradient, with Adam's steps, so that it always returns the same.
func fit(of []example, classes int, penalty float64) [][]float64 {
	const rounds, rate = 250, 0.08
	rows := classes
	w, m, v := table(rows), table(rows), table(rows)
	g := table(rows)
	for round := 1; round <= rounds; round++ {
		for r := range g {
			for i := range g[r] {
				g[r][i] = penalty * w[r][i]
			}
		}
		logits := make([]float64, rows)
		for _, e := range of {
			for r := range w {
				logits[r] = 0
				for _, f := range e.v {
					logits[r] += w[r][f.at] * float64(f.value)
				}
			}
			wrong(logits, e)
			for r, d := range logits {
				if d *= e.weight; d != 0 {
					for _, f := range e.v {
						g[r][f.at] += d * float64(f.value)
					}
				}
			}
		}
		step := rate * math.Sqrt(1-math.Pow(0.999, float64(round))) / (1 - math.Pow(0.9, float64(round))) * (1 - float64(round)/(rounds+1))
		for r := range w {
			for i, d := range g[r] {
				m[r][i] += 0.1 * (d - m[r][i])
				v[r][i] += 0.001 * (d*d - v[r][i])
				w[r][i] -= step * m[r][i] / (math.Sqrt(v[r][i]) + 1e-8)
			}
		}
	}
	return w
}

func table(rows int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, dimensions)
	}
	return out
}

// wrong turns logits into the differences of the probabilities from the label.
func wrong(logits []float64, of example) {
	if len(logits) == 1 {
		logits[0] = probability(logits[0]) - of.yes
		return
	}
	most, sum := slices.Max(logits), 0.0
	for i := range logits {
		logits[i] = math.Exp(logits[i] - most)
		sum += logits[i]
	}
	for i := range logits {
		logits[i] /= sum
	}
	logits[of.class]--
}

// learn returns the weights of all heads, and the net. The net learns from scores of lines that the linear weights did not see:
// each part of the sessions is scored by weights from the others.
func learn(sessions []labeled) ([]byte, error) {
	const parts = 3
	var all [heads][]float64
	var scored [parts][]surrounded
	calls := []func(){
		func() {
			talk, types := ofTalk(sessions)
			all[headTalk] = fit(talk, 1, 1)[0]
			copy(all[headTypes:], fit(types, len(kinds), 1))
		},
		func() { all[headWork] = fit(ofWork(sessions), 1, 1)[0] },
	}
	for part := range scored {
		calls = append(calls, func() { scored[part] = scoredPart(sessions, part, parts) })
	}
	atOnce(calls)
	return encode(all, fitNet(slices.Concat(scored[:]...)))
}

// scoredPart returns the lines of a part of the sessions, with scores by weights from the others.
func scoredPart(sessions []labeled, part, parts int) []surrounded {
	var of, others []labeled
	for n, s := range works(sessions) {
		if n%parts == part {
			of = append(of, s)
		} else {
			others = append(others, s)
		}
	}
	return surroundedBy(of, fit(ofWork(others), 1, 1)[0])
}

// atOnce calls the functions, as many at a time as there are processors.
func atOnce(calls []func()) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, call := range calls {
		group.Go(func() error { call(); return nil })
	}
	_ = group.Wait() // None returns an error.
}

// TestTrain learns the weights from the labels, with the flag -train, and writes weights.bin.
func TestTrain(t *testing.T) {
	if !*train {
		t.Skip("weights are learned with the flag -train only")
	}
	raw, err := learn(training(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("weights.bin", raw, 0o600))
}

// encode writes the weights of all heads and the net.
func encode(of [heads][]float64, n net) ([]byte, error) {
	var out []byte
	for _, w := range of {
		most := 0.0
		for _, x := range w[:buckets] {
			most = max(most, math.Abs(x))
		}
		scale := float32(max(most, 1e-9) / math.MaxInt8)
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(scale))
		for _, x := range w[buckets:] {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
		}
		for _, x := range w[:buckets] {
			out = append(out, byte(int8(math.Round(x/float64(scale)))))
		}
	}
	return binary.Append(out, binary.LittleEndian, n)
}
