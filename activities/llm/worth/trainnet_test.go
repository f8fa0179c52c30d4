package worth

import (
	"math"
	"math/rand/v2"
)

// surrounded is a line as the net reads it, with the opinion of readers.
type surrounded struct {
	x           [inputs]float64
	yes, weight float64
}

// surroundedBy returns the lines of the sessions, in windows of all sizes, with their scores by linear weights.
func surroundedBy(sessions []labeled, w []float64) (out []surrounded) {
	for i := range sessions {
		s := &sessions[i]
		for _, most := range []int{windowBytes, smallWindow, oneMessage} {
			for _, window := range windows(s.window, most) {
				all := split(window, false)
				if len(all) == 1 {
					continue // The net is not asked.
				}
				scores := make([]float64, len(all))
				for n := range all {
					for _, f := range features(all, n) {
						scores[n] += w[f.at] * float64(f.value)
					}
				}
				for n, x := range surroundings(all, scores) {
					yes, weight := s.opinionOf(&all[n])
					out = append(out, surrounded{x, yes, weight})
				}
			}
		}
	}
	return out
}

// fitNet trains nets from different beginnings, which are then one: the mean of their results is better than each.
func fitNet(of []surrounded) net {
	var mean, scale [inputs]float64
	for _, s := range of {
		for i, v := range s.x {
			mean[i] += v / float64(len(of))
		}
	}
	for _, s := range of {
		for i, v := range s.x {
			scale[i] += (v - mean[i]) * (v - mean[i]) / float64(len(of))
		}
	}
	for i := range scale {
		scale[i] = math.Sqrt(scale[i]) + 1e-6
	}
	var out net
	var trained [nets]parameters
	calls := make([]func(), nets)
	for n := range calls {
		calls[n] = func() { trained[n] = descend(of, &mean, &scale, uint64(n)) }
	}
	atOnce(calls)
	for n, p := range trained {
		out.Base += float32(p.base() / nets)
		for i := range inputs {
			out.Direct[i] += float32(p.direct(i) / scale[i] / nets)
			out.Base -= float32(p.direct(i) * mean[i] / scale[i] / nets)
		}
		for h := range neurons {
			at, bias := n*neurons+h, p.bias(h)
			for i := range inputs {
				out.Into[at][i] = float32(p.into(h, i) / scale[i])
				bias -= p.into(h, i) * mean[i] / scale[i]
			}
			out.Bias[at], out.Out[at] = float32(bias), float32(p.out(h)/nets)
		}
	}
	return out
}

// neurons is the size of the hidden layer of each of the nets.
const nets, neurons = 4, hidden / nets

// parameters are those of one net: the weights into each neuron with its bias, those out of them, those from the inputs to the result, and the base.
type parameters [neurons*(inputs+1) + neurons + inputs + 1]float64

func (p *parameters) into(h, i int) float64 { return p[h*(inputs+1)+i] }
func (p *parameters) bias(h int) float64    { return p[h*(inputs+1)+inputs] }
func (p *parameters) out(h int) float64     { return p[neurons*(inputs+1)+h] }
func (p *parameters) direct(i int) float64  { return p[neurons*(inputs+2)+i] }
func (p *parameters) base() float64         { return p[len(p)-1] }

// descend trains a net along the whole gradient, with Adam's steps.
func descend(of []surrounded, mean, scale *[inputs]float64, seed uint64) parameters {
	const rounds, rate, penalty = 150, 0.02, 1e-3
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // The same beginning each time.
	var p, g, m, v parameters
	for i := range p[:neurons*(inputs+2)] {
		p[i] = random.NormFloat64() / math.Sqrt(inputs)
	}
	total := 0.0
	for _, s := range of {
		total += s.weight
	}
	for round := 1; round <= rounds; round++ {
		for i := range g {
			g[i] = 0
			if into := neurons * (inputs + 1); i < into && i%(inputs+1) != inputs || i >= into && i < into+neurons {
				g[i] = penalty * p[i]
			}
		}
		for k := range of {
			p.learn(&of[k], mean, scale, total, &g)
		}
		step := rate * (1 - float64(round)/(rounds+1))
		for i, d := range g {
			m[i] += 0.1 * (d - m[i])
			v[i] += 0.01 * (d*d - v[i])
			p[i] -= step * m[i] / (1 - math.Pow(0.9, float64(round))) / (math.Sqrt(v[i]/(1-math.Pow(0.99, float64(round)))) + 1e-8)
		}
	}
	return p
}

// learn adds a line's part of the gradient.
func (p *parameters) learn(of *surrounded, mean, scale *[inputs]float64, total float64, g *parameters) {
	var x [inputs]float64
	var active [neurons]float64
	z := p.base()
	for i := range x {
		x[i] = (of.x[i] - mean[i]) / scale[i]
		z += p.direct(i) * x[i]
	}
	for h := range active {
		in := p.bias(h)
		for i, w := range p[h*(inputs+1) : h*(inputs+1)+inputs] {
			in += w * x[i]
		}
		active[h] = squash(in)
		z += p.out(h) * active[h]
	}
	d := (probability(z) - of.yes) * of.weight / total
	g[len(g)-1] += d
	for i := range x {
		g[neurons*(inputs+2)+i] += d * x[i]
	}
	for h, a := range active {
		g[neurons*(inputs+1)+h] += d * a
		in := d * p.out(h) * (1 - math.Abs(a)) * (1 - math.Abs(a)) // The slope of squash.
		into := g[h*(inputs+1) : (h+1)*(inputs+1)]
		for i := range x {
			into[i] += in * x[i]
		}
		into[inputs] += in
	}
}
