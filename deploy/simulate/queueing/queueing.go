// Package queueing predicts times, throughput and machines from the measured costs of one session and one request. It is a
// small queueing model: processors are servers of a queue, and everything else that takes time is a delay in which a session
// occupies none of them.
package queueing

import "math"

// Closed is the throughput and the time of a closed system: n sessions are always in flight, and one that ends is followed
// by another at once. Each uses the processors for demand seconds, in pieces, width of them at a time at most, and waits delay
// seconds for other things.
//
// It is the exact solution of the machine repair model (M/M/c//N) with cores servers, of which there may be a fraction, as
// where other programs take a part of the machine.
func Closed(n int, cores, demand, delay, width float64) (perSecond, seconds float64) {
	if n < 1 || cores <= 0 || demand <= 0 || width <= 0 {
		return 0, 0
	}
	// weight is that of the state in which k sessions are at the processors, from all of them down to none. It is scaled on the
	// way, as it can exceed a float's range.
	weight, sum, busy := 1.0, 0.0, 0.0
	for k := n; k >= 0; k-- {
		served := math.Min(width*float64(k), cores) / demand
		sum += weight
		busy += weight * served
		if sum > 1e100 {
			weight, sum, busy = weight/sum, 1, busy/sum
		}
		weight *= served * delay / float64(n-k+1)
	}
	perSecond = busy / sum
	return perSecond, float64(n) / perSecond
}

// Open is the mean time and the load of an open system: requests come at random, perSecond of them in the mean, and use one of
// the processors for demand seconds and wait delay seconds. It is M/M/c (Erlang C). Where load is 1 or more, the queue has no
// bound and the time is infinite.
func Open(perSecond float64, cores int, demand, delay float64) (seconds, load float64) {
	if cores < 1 {
		return math.Inf(1), math.Inf(1)
	}
	offered := perSecond * demand
	load = offered / float64(cores)
	if load >= 1 {
		return math.Inf(1), load
	}
	if perSecond <= 0 || demand <= 0 {
		return delay + demand, load
	}
	waits := erlangC(cores, offered, load)
	return delay + demand + waits*demand/(float64(cores)*(1-load)), load
}

// manyCores is from how many on the chance of waiting is taken from its limit, which differs by less than a hundredth then.
const manyCores = 10_000

// erlangC is the chance that a request has to wait.
func erlangC(cores int, offered, load float64) float64 {
	if cores > manyCores { // The limit of Halfin and Whitt.
		spare := (1 - load) * math.Sqrt(float64(cores))
		density := math.Exp(-spare*spare/2) / math.Sqrt(2*math.Pi)
		return density / (density + spare*(1+math.Erf(spare/math.Sqrt2))/2)
	}
	blocked := 1.0 // Erlang B, by its recursion, which does not overflow.
	for k := 1; k <= cores; k++ {
		blocked = offered * blocked / (float64(k) + offered*blocked)
	}
	return blocked / (1 - load*(1-blocked))
}

// Machines returns how many machines with the given cores keep the load at most at the given share, and at least one.
func Machines(perSecond, demand float64, cores int, share float64) int {
	need := perSecond * demand / share / float64(cores)
	return max(1, int(math.Ceil(need-1e-9)))
}
