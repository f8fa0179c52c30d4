package worth

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"axiommind/schema"
)

const (
	// inputs is the number of values that the net reads of a line.
	inputs = 29
	// hidden is the size of the net's hidden layer. It holds several nets that were trained apart, whose results are averaged.
	hidden = 64
	// maxCompared bounds the lines of a window that are compared with each other: those of the highest scores.
	maxCompared = 40
	// absentScore is the score of a line that does not exist.
	absentScore = -6
	// maxScore clamps scores on both sides.
	maxScore = 11.5
)

// net decides from the scores of all lines of a window which are worth remembering. A line's rank counts, the scores around it,
// and the lines that repeat its words.
type net struct {
	Into   [hidden][inputs]float32
	Bias   [hidden]float32
	Out    [hidden]float32
	Direct [inputs]float32
	Base   float32
}

// weigh returns the logit of a line's being worth remembering.
func (n *net) weigh(x *[inputs]float64) float64 {
	sum := float64(n.Base)
	for i, v := range x {
		sum += float64(n.Direct[i]) * v
	}
	for h := range hidden {
		in := float64(n.Bias[h])
		for i, v := range x {
			in += float64(n.Into[h][i]) * v
		}
		sum += float64(n.Out[h]) * squash(in)
	}
	return sum
}

// squash bounds a neuron's output. It needs no exponential function, unlike the usual ones.
func squash(x float64) float64 { return x / (1 + math.Abs(x)) }

// worth returns the worth of a window's lines, as probabilities. Where people talk, a line is worth as much as its best sentence,
// because they mention lasting facts in passing. Where an agent works, most lines are about the same few things, and the net
// chooses among them. It is not asked about a single line.
func (w *weights) worth(all []line) []float64 {
	out := make([]float64, len(all))
	if len(all) == 0 {
		return out
	}
	work := all[0].work
	if len(all) == 1 {
		work = 0
	}
	if work > 0 {
		for i := range all {
			out[i] = w.weigh(headWork, features(all, i))
		}
		for i, x := range surroundings(all, out) {
			out[i] = work * w.net.weigh(&x)
		}
	}
	for i := range all {
		if work < 1 {
			_, talk := w.best(all, i)
			out[i] += (1 - work) * talk
		}
		out[i] = probability(out[i])
	}
	return out
}

// best returns the sentence of a line that has the highest score by itself, and the score.
func (w *weights) best(all []line, i int) (best string, most float64) {
	most = math.Inf(-1)
	for _, alone := range sentencesOf(all, i) {
		if score := w.weigh(headTalk, features(alone, len(alone)-1)); score > most {
			best, most = alone[len(alone)-1].text(), score
		}
	}
	return best, most
}

// sentencesOf returns each sentence of a line as the last of some lines.
func sentencesOf(all []line, i int) [][]line {
	from := max(0, i-1)
	if len(all[i].parts) == 1 {
		return [][]line{all[from : i+1]}
	}
	out := make([][]line, len(all[i].parts))
	for n := range out {
		out[n] = slices.Clone(all[from : i+1])
		last := &out[n][i-from]
		last.Sentence, last.parts = all[i].parts[n], all[i].parts[n:n+1]
	}
	return out
}

// surroundings returns the inputs of the net for each line. It clamps the given scores.
func surroundings(all []line, scores []float64) [][inputs]float64 {
	for i, s := range scores {
		scores[i] = max(-maxScore, min(s, maxScore))
	}
	ranked := make([]int, len(all))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	// rank is a line's place among those of the window, and higher the number of lines with higher scores in its message.
	rank, higher, seen := make([]int, len(all)), make([]int, len(all)), map[int]int{}
	top := 0.0
	for place, i := range ranked {
		if rank[i] = place; place < 5 {
			top += scores[i] / float64(min(5, len(all)))
		}
		higher[i] = seen[all[i].message]
		seen[all[i].message]++
	}
	said := messagesOf(all, scores)
	repeats := repeatsOf(all, ranked[:min(maxCompared, len(ranked))])
	mean := meanOf(scores)
	out := make([][inputs]float64, len(all))
	for at, m := range said {
		before, after := message{best: absentScore}, message{best: absentScore}
		if at > 0 {
			before = said[at-1]
		}
		if at+1 < len(said) {
			after = said[at+1]
		}
		for i := m.first; i < m.end; i++ {
			l, previous, next := &all[i], float64(absentScore), float64(absentScore)
			if i > m.first {
				previous = scores[i-1]
			}
			if i+1 < m.end {
				next = scores[i+1]
			}
			out[i] = [inputs]float64{
				scores[i], previous, next, m.best, m.mean, log(rank[i]), log(higher[i]), float64(rank[i]) / float64(len(all)),
				top, mean, log(len(all)), log(m.end - m.first), log(l.messages),
				float64(l.message) / float64(max(1, l.messages-1)), float64(l.Start) / float64(max(1, len(l.m.Text))), one(m.user),
				log(len(l.m.Text)), log(utf8.RuneCountInString(l.text())), repeats[i].better, repeats[i].later, log(repeats[i].alike), l.work,
				one(after.user), one(after.bytes == 0), after.best, log(after.bytes), before.best, log(before.bytes), one(before.user),
			}
		}
	}
	return out
}

func log(n int) float64 { return math.Log(1 + float64(n)) }

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func meanOf(scores []float64) (mean float64) {
	for _, s := range scores {
		mean += s / float64(len(scores))
	}
	return mean
}

// message is a message of a window that has lines.
type message struct {
	// first is the first of its lines, and end the one after the last.
	first, end int
	user       bool
	bytes      int
	// best and mean are of the lines' scores.
	best, mean float64
}

func messagesOf(all []line, scores []float64) []message {
	var out []message
	for first := 0; first < len(all); {
		end := first + all[first].of
		out = append(out, message{
			first: first, end: end, user: all[first].m.Role == schema.RoleUser, bytes: len(all[first].m.Text),
			best: slices.Max(scores[first:end]), mean: meanOf(scores[first:end]),
		})
		first = end
	}
	return out
}

// repeated says how much of a line other lines say.
type repeated struct {
	// better and later are the greatest share of a line's words that a line with a higher score, or one after it, has, too.
	better, later float64
	// alike is the number of lines that share half of the words.
	alike int
}

// repeatsOf compares the lines at the given places, the one of the highest score first.
func repeatsOf(all []line, ranked []int) []repeated {
	out := make([]repeated, len(all))
	said := make([][]uint32, len(ranked))
	for n, i := range ranked {
		said[n] = hashed(all[i].text())
	}
	for n, i := range ranked {
		for better, j := range ranked[:n] {
			// Of the words of the shorter line, this share is in the other.
			share := float64(inCommon(said[n], said[better])) / float64(max(1, min(len(said[n]), len(said[better]))))
			out[i].better = max(out[i].better, share)
			if j > i {
				out[i].later = max(out[i].later, share)
			} else {
				out[j].later = max(out[j].later, share)
			}
			if share > 0.5 {
				out[i].alike++
				out[j].alike++
			}
		}
	}
	return out
}

// hashed returns the hashes of a text's different words, in order.
func hashed(t string) []uint32 {
	words := tokens(t)
	out := make([]uint32, len(words))
	for n, w := range words {
		out[n] = bucket('w', w)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inCommon returns the number of words that two texts have in common.
func inCommon(a, b []uint32) (both int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return both
}
