package queueing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Processes are those of an installation, in the order of the tables.
var Processes = []string{"clickhouse", "temporal", "weaviate", "worker"}

// Measured has the costs that `go run ./deploy/bench --measure` found on a machine.
type Measured struct {
	// Machine says on which one, in words.
	Machine string `json:"machine"`
	Cores   int    `json:"cores"`
	// Idle is the CPU in milliseconds that each process uses in a second without a request.
	Idle map[string]float64 `json:"idle_cpu_ms"`
	// Sessions are the runs of sessions, a number of them at a time.
	Sessions []Run `json:"sessions"`
	// Session is the cost of a session, with the work that follows it, and Requests those of requests by kind.
	Session  Cost            `json:"session"`
	Requests map[string]Cost `json:"requests"`
	// Messages, Events, Rows and Vectors are a session's, Vectors those of its messages and memories. History is the
	// events of its workflow's history.
	Messages float64 `json:"messages"`
	Events   float64 `json:"events"`
	Rows     float64 `json:"rows"`
	Vectors  float64 `json:"vectors"`
	History  float64 `json:"history_events"`
	// Inserts are the INSERT statements for a session, each of which makes at least one part.
	Inserts float64 `json:"inserts"`
	// Appends are those of them into the log, which is the busiest table.
	Appends float64 `json:"appends"`
	// Bytes are the growth of each store by a session.
	Bytes map[string]float64 `json:"bytes"`
}

// Run is a number of sessions of which AtOnce were in flight.
type Run struct {
	AtOnce  int     `json:"at_once"`
	N       int     `json:"n"`
	Seconds float64 `json:"seconds"`
	// CPU is in milliseconds a session, of all processes.
	CPU float64 `json:"cpu_ms"`
	// Free is how many cores other programs left to these processes in the mean.
	Free float64 `json:"free_cores"`
}

// PerSecond is the throughput of a run.
func (r Run) PerSecond() float64 { return float64(r.N) / r.Seconds }

// Cost is that of a session or a request.
type Cost struct {
	// Ms is the time of one alone, in milliseconds.
	Ms float64 `json:"ms"`
	// CPU is in milliseconds, by process.
	CPU map[string]float64 `json:"cpu_ms"`
}

// All is the CPU of all processes, in seconds.
func (c Cost) All() (seconds float64) {
	for _, ms := range c.CPU {
		seconds += ms / 1e3
	}
	return seconds
}

// Delay is the time of one alone that is not CPU, in seconds: for timers, disks and messages between processes. Processes work for
// one session at the same time, so it may be less than the true one, and is at least 0.
func (c Cost) Delay() float64 { return max(0, c.Ms/1e3-c.All()) }

// ReadMeasured reads the output of the bench.
func ReadMeasured(r io.Reader) (*Measured, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	m := &Measured{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("parse the figures (want the output of `go run ./deploy/bench --measure`): %w", err)
	}
	switch {
	case m.Cores < 1 || len(m.Sessions) == 0 || m.Session.All() <= 0 || m.Session.Ms <= 0:
		err = errors.New("the figures have no cores, no sessions or no cost of a session: measure again on the machine of the stack")
	case slices.ContainsFunc(m.Sessions, func(r Run) bool { return r.AtOnce < 1 || r.N < 1 || r.Seconds <= 0 }):
		err = errors.New("a run of sessions has no sessions or no time: measure again")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Prediction is a run with the prediction of the model.
type Prediction struct {
	Run
	// Predicted is in sessions a second.
	Predicted float64 `json:"predicted"`
}

// Off is by how much the prediction is off, as a share of the measured throughput.
func (p Prediction) Off() float64 { return p.Predicted/p.PerSecond() - 1 }

// told is up to how many sessions at once the model is told the CPU of a session. It predicts the runs with more.
const told = 4

// Check predicts the throughput of each run from two of them: the time and the CPU of a session alone, with the cores that other
// programs left to it, and the CPU of one among few.
func (m *Measured) Check() []Prediction { return Predict(m.Sessions) }

// Predict is [Measured.Check] for runs.
func Predict(runs []Run) []Prediction {
	if len(runs) == 0 {
		return nil
	}
	byNumber := func(a, b Run) int { return a.AtOnce - b.AtOnce }
	one := slices.MinFunc(runs, byNumber)
	many := slices.MaxFunc(slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.AtOnce > max(told, one.AtOnce) }), byNumber)
	// Sessions share some work, such as writing the vectors of those that wait: its part for each falls with their number.
	shared := 0.0
	if many.AtOnce > one.AtOnce {
		shared = (one.CPU - many.CPU) / (1/float64(one.AtOnce) - 1/float64(many.AtOnce))
	}
	own := one.CPU - shared/float64(one.AtOnce)
	// Processes work for one session at the same time, so that it may use more than one core.
	seconds := float64(one.AtOnce) / one.PerSecond()
	delay, width := max(0, seconds-one.CPU/1e3), max(1, one.CPU/1e3/seconds)
	out := make([]Prediction, len(runs))
	for i, r := range runs {
		perSecond, _ := Closed(r.AtOnce, one.Free, (own+shared/float64(r.AtOnce))/1e3, delay, width)
		out[i] = Prediction{r, perSecond}
	}
	return out
}
