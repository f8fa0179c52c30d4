package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// The kinds of requests.
const (
	kindProcess = iota
	kindEnqueue
	kindHook
	kindSearch
	kindContext
	kinds
)

var (
	kindNames = [kinds]string{"process", "enqueue", "hook", "search", "context"}
	kindUsage = [kinds]string{
		"`N` sessions a second through their workflow, until they are remembered",
		"`N` conversations a second given to the queue, as programs do",
		"`N` runs a second of the hook of an agent, a program each time",
		"`N` searches a second",
		"`N` texts a second for a prompt",
	}
)

// answers has the times and the errors of the requests of a kind.
type answers struct {
	mu     sync.Mutex
	took   []time.Duration
	errors map[string]int
	// notSent counts the requests that were due while too many had no answer.
	notSent int
	// asked and found count the searches for a remembered session, and those that found it.
	asked, found int
}

func (a *answers) add(took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		if a.errors == nil {
			a.errors = map[string]int{}
		}
		a.errors[reason(err)]++
		return
	}
	a.took = append(a.took, took)
}

func (a *answers) looked(found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if found {
		a.found++
	}
}

// at returns the least time that at least the given share of the sorted times does not exceed.
func at(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// arrivals sends requests of a kind at random times with the mean rate until length is over, and waits for the answers. It does
// not wait for one before the next is sent: users do not know of each other.
func (b *bench) arrivals(ctx context.Context, kind int, length time.Duration) {
	rate := b.rates[kind]
	if rate == 0 {
		return
	}
	random := rand.New(rand.NewPCG(b.seed, uint64(kind))) //nolint:gosec // a run is to be repeatable
	free := make(chan struct{}, b.atMost)
	var sent sync.WaitGroup
	defer sent.Wait()
	a := &b.answers[kind]
	for due := time.Now(); ; {
		due = due.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
		if due.Sub(b.started) > length || !sleep(ctx, time.Until(due)) {
			return
		}
		select {
		case free <- struct{}{}:
		default:
			a.mu.Lock()
			a.notSent++
			a.mu.Unlock()
			continue
		}
		sent.Go(func() {
			defer func() { <-free }()
			// A request that was sent is answered, also when the user ends the run.
			err := b.request(context.WithoutCancel(ctx), kind)
			a.add(time.Since(due), err)
		})
	}
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// summary is a line of the result.
type summary struct {
	Kind    string         `json:"kind"`
	Rate    float64        `json:"rate"`
	Answers int            `json:"answers"`
	Errors  int            `json:"errors"`
	Reasons map[string]int `json:"reasons,omitempty"`
	NotSent int            `json:"not_sent"`
	// P50 and the others are in milliseconds.
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
	// Asked and Found are of searches for sessions that were remembered before.
	Asked int `json:"asked,omitempty"`
	Found int `json:"found,omitempty"`
}

func (a *answers) summary(kind string, rate float64) summary {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.took)
	ms := func(share float64) float64 { return float64(at(a.took, share).Microseconds()) / 1e3 }
	s := summary{
		Kind: kind, Rate: rate, Answers: len(a.took), Reasons: a.errors, NotSent: a.notSent,
		P50: ms(0.5), P90: ms(0.9), P99: ms(0.99), Max: ms(1), Asked: a.asked, Found: a.found,
	}
	for _, n := range a.errors {
		s.Errors += n
	}
	return s
}
