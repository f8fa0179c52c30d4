package queueing

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClosedAgainstKnownSolutions(t *testing.T) {
	t.Parallel()
	// One session alone waits for no other.
	x, r := Closed(1, 2, 0.3, 0.1, 1)
	require.InDelta(t, 1/0.4, x, 1e-9)
	require.InDelta(t, 0.4, r, 1e-9)
	// Alone, it may use both cores.
	x, _ = Closed(1, 2, 0.3, 0, 1.5)
	require.InDelta(t, 5, x, 1e-9)
	// Two at one core without delay: the core is always busy.
	x, r = Closed(2, 1, 0.5, 0, 1)
	require.InDelta(t, 2, x, 1e-9)
	require.InDelta(t, 1, r, 1e-9)
	// Two customers, one server, demand = delay = 1: the states 0, 1, 2 have the weights 1, 2, 2; the server is busy 4/5.
	x, _ = Closed(2, 1, 1, 1, 1)
	require.InDelta(t, 0.8, x, 1e-9)
	x, _ = Closed(100_000, 2, 0.3, 0.1, 1)
	require.InDelta(t, 2/0.3, x, 1e-6, "many in flight use all cores, and no weight overflows")
}

func TestOpenAgainstKnownSolutions(t *testing.T) {
	t.Parallel()
	// M/M/1: 1/(mu-lambda).
	s, load := Open(5, 1, 0.1, 0)
	require.InDelta(t, 1/(10-5.0), s, 1e-9)
	require.InDelta(t, 0.5, load, 1e-9)
	// M/M/2 with the load 0.5: Erlang C is 1/3.
	s, _ = Open(1, 2, 1, 0.25)
	require.InDelta(t, 0.25+1+1.0/3, s, 1e-9)
	exact, near := erlangC(manyCores, 0.99*manyCores, 0.99), erlangC(manyCores+1, 0.99*(manyCores+1), 0.99)
	require.InDelta(t, exact, near, 0.01)
	require.InDelta(t, 0.22, exact, 0.03)
	s, load = Open(30, 2, 0.1, 0)
	require.True(t, math.IsInf(s, 1))
	require.InDelta(t, 1.5, load, 1e-9)
	require.Equal(t, 4, Machines(30, 0.1, 1, 0.75))
	require.Equal(t, 1, Machines(0.001, 0.1, 16, 0.6))
}

// TestClosedAgainstASimulation plays the system with random times, which shares nothing with the formula.
func TestClosedAgainstASimulation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, cores      int
		demand, delay float64
	}{{1, 2, 0.3, 0.1}, {4, 2, 0.3, 0.5}, {8, 2, 0.3, 1}, {16, 4, 0.2, 3}} {
		want := play(c.n, c.cores, c.demand, c.delay)
		got, _ := Closed(c.n, float64(c.cores), c.demand, c.delay, 1)
		require.InEpsilon(t, want, got, 0.02, "%+v", c)
	}
}

// play is the throughput of 300,000 random sessions.
func play(n, cores int, demand, delay float64) float64 {
	r := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // the test is to be repeatable
	now, done, at := 0.0, 0, 0               // at counts the sessions at the processors.
	for done < 300_000 {
		served, comes := math.Min(float64(at), float64(cores))/demand, float64(n-at)/delay
		now += r.ExpFloat64() / (served + comes)
		if r.Float64() < served/(served+comes) {
			at--
			done++
		} else {
			at++
		}
	}
	return float64(done) / now
}

func TestMoreCoresNeverHurt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		cores := rapid.Float64Range(0.1, 64).Draw(t, "cores")
		demand := rapid.Float64Range(1e-4, 10).Draw(t, "demand")
		delay := rapid.Float64Range(0, 10).Draw(t, "delay")
		x, r := Closed(n, cores, demand, delay, 1)
		more, _ := Closed(n, cores+1, demand, delay, 1)
		others, _ := Closed(n+1, cores, demand, delay, 1)
		require.False(t, math.IsNaN(x) || math.IsInf(x, 0))
		require.LessOrEqual(t, x, cores/demand*(1+1e-9), "no more than the cores can do")
		require.LessOrEqual(t, x, float64(n)/(demand+delay)*math.Max(1, 1/math.Min(1, cores))*(1+1e-9))
		require.GreaterOrEqual(t, more*(1+1e-9), x)
		require.GreaterOrEqual(t, others*(1+1e-9), x)
		require.InEpsilon(t, float64(n), x*r, 1e-9, "Little's law")
	})
}

func TestReadMeasured(t *testing.T) {
	t.Parallel()
	good := Measured{
		Cores: 2, Session: Cost{Ms: 500, CPU: map[string]float64{"worker": 300}},
		Sessions: []Run{{AtOnce: 1, N: 10, Seconds: 5, CPU: 300, Free: 2}, {AtOnce: 4, N: 40, Seconds: 5.1, CPU: 240, Free: 2}, {AtOnce: 8, N: 40, Seconds: 4.6, CPU: 220, Free: 2}},
	}
	text, err := json.Marshal(good)
	require.NoError(t, err)
	m, err := ReadMeasured(bytes.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, good, *m)
	checked := m.Check()
	require.InDelta(t, 0, checked[0].Off(), 1e-9, "the run that the model is made from")
	require.InDelta(t, 0, checked[1].Off(), 0.1)
	require.InDelta(t, 0, checked[2].Off(), 0.1)
	require.Empty(t, Predict(nil))

	_, err = ReadMeasured(bytes.NewReader([]byte(`{"cores": 2, "speed": 3}`)))
	require.ErrorContains(t, err, "speed")
	for _, spoil := range []func(*Measured){
		func(m *Measured) { m.Cores = 0 }, func(m *Measured) { m.Sessions = nil }, func(m *Measured) { m.Session.CPU = nil },
		func(m *Measured) { m.Sessions = []Run{{AtOnce: 1, N: 1}} },
	} {
		bad := good
		spoil(&bad)
		text, err := json.Marshal(bad)
		require.NoError(t, err)
		_, err = ReadMeasured(bytes.NewReader(text))
		require.ErrorContains(t, err, "measure again")
	}
}
