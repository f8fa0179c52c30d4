package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"axiommind/deploy/simulate/queueing"
	"axiommind/schema"
)

// protocol is how the costs are measured.
type protocol struct {
	warmUp  int
	resting time.Duration
	// inFlight are the numbers of sessions in flight at which the throughput is measured.
	inFlight []int
}

func usual() protocol {
	return protocol{warmUp: 16, resting: 20 * time.Second, inFlight: []int{1, 2, 4, 8, 16}}
}

// measure finds the costs of a session and of requests on this machine, for the simulator.
func (b *bench) measure(ctx context.Context) (*queueing.Measured, error) {
	w := &watch{bench: b, stack: readStack(b.dir)}
	m := &queueing.Measured{
		Machine: machine(), Cores: runtime.NumCPU(), Idle: map[string]float64{}, Requests: map[string]queueing.Cost{}, Bytes: map[string]float64{},
	}
	b.atOnce = 8
	b.say("warming up with %d sessions", b.warmUp)
	b.fill = b.warmUp
	if err := b.fillUp(ctx); err != nil {
		return nil, err
	}
	b.rest(ctx)
	b.say("measuring an idle system for %v", b.resting)
	idle := w.spend(func() { b.rest(ctx) })
	for name, s := range idle.cpu {
		m.Idle[name] = 1e3 * s / idle.wall
	}
	if err := b.measureSessions(ctx, w, m); err != nil {
		return nil, err
	}
	for _, kind := range []int{kindSearch, kindContext, kindEnqueue, kindHook} {
		if err := b.measureRequests(ctx, w, m, kind); err != nil {
			return nil, err
		}
	}
	return m, ctx.Err()
}

func (b *bench) rest(ctx context.Context) { sleep(ctx, b.resting) }

// measureSessions keeps numbers of sessions in flight, for a time each. Their cost includes the work that follows them in the background.
func (b *bench) measureSessions(ctx context.Context, w *watch, m *queueing.Measured) error {
	sizes, counts := w.sample(ctx), b.counts(ctx)
	begun := b.next.Load()
	var err error
	all := w.spend(func() {
		for _, atOnce := range b.inFlight {
			b.say("measuring sessions, %d in flight, for %v", atOnce, b.length)
			var run queueing.Run
			if run, err = b.closed(ctx, w, atOnce); err != nil || ctx.Err() != nil {
				return
			}
			m.Sessions = append(m.Sessions, run)
		}
		b.rest(ctx) // For the work that follows the last ones.
	})
	if len(m.Sessions) < len(b.inFlight) {
		return fmt.Errorf("measure sessions: %w", cmp.Or(err, ctx.Err()))
	}
	sessions, one := int(b.next.Load()-begun), m.Sessions[0]
	m.Session = queueing.Cost{Ms: 1e3 * one.Seconds / float64(one.N), CPU: w.each(all, m, sessions)}
	then, now := w.sample(ctx), b.counts(ctx)
	each := func(a, b float64) float64 { return (b - a) / float64(sessions) }
	m.Events, m.Rows = each(float64(sizes.Events), float64(then.Events)), each(float64(sizes.Rows), float64(then.Rows))
	m.Bytes["clickhouse"] = (1 << 20) * each(sizes.ClickHouseMiB, then.ClickHouseMiB)
	m.Bytes["temporal"] = (1 << 20) * each(sizes.TemporalMiB, then.TemporalMiB)
	m.Bytes["weaviate"] = (1 << 20) * each(sizes.WeaviateMiB, then.WeaviateMiB)
	m.Vectors, m.Messages = each(counts[0], now[0]), each(counts[1], now[1])
	m.Inserts, m.Appends = each(counts[2], now[2]), each(counts[3], now[3])
	m.History = float64(b.history(ctx))
	return nil
}

// each divides the CPU of a time among n, without that of an idle system.
func (w *watch) each(s spent, m *queueing.Measured, n int) map[string]float64 {
	cpu := map[string]float64{}
	for name, seconds := range s.cpu {
		cpu[name] = max(0, 1e3*seconds-m.Idle[name]*s.wall) / float64(n)
	}
	return cpu
}

// closed keeps sessions in flight, and measures them for a time in which none of them is missing.
func (b *bench) closed(ctx context.Context, w *watch, atOnce int) (queueing.Run, error) {
	var n atomic.Int64
	var enough atomic.Bool
	group, ctx := errgroup.WithContext(ctx)
	for range atOnce {
		group.Go(func() error {
			for !enough.Load() {
				if err := b.process(ctx); err != nil {
					return err
				}
				n.Add(1)
			}
			return nil
		})
	}
	sleep(ctx, b.length/5)
	before, ended := n.Load(), int64(0)
	s := w.spend(func() {
		sleep(ctx, b.length)
		for n.Load() == before && sleep(ctx, b.length) {
		}
		ended = n.Load() - before
	})
	enough.Store(true)
	err := group.Wait()
	return queueing.Run{AtOnce: atOnce, N: int(ended), Seconds: s.wall, CPU: 1e3 * s.all() / float64(max(1, ended)), Free: s.free}, err
}

// measureRequests sends requests one after another for half of the time.
func (b *bench) measureRequests(ctx context.Context, w *watch, m *queueing.Measured, kind int) error {
	b.say("measuring %s", kindNames[kind])
	n, err := 0, error(nil)
	run := w.spend(func() {
		for end := time.Now().Add(b.length / 2); err == nil && time.Now().Before(end); n++ {
			err = b.request(ctx, kind)
		}
	})
	if err != nil {
		return fmt.Errorf("measure %s: %w", kindNames[kind], err)
	}
	c := queueing.Cost{Ms: 1e3 * run.wall / float64(n)}
	// Conversations become sessions at another time, whose CPU is not the request's.
	if kind == kindSearch || kind == kindContext {
		c.CPU = w.each(run, m, n)
	}
	m.Requests[kindNames[kind]] = c
	return nil
}

// counts returns how many items are indexed or to be, how many messages are among them, the INSERT statements since the
// server's start, and those of events, which have a time each.
func (b *bench) counts(ctx context.Context) [4]float64 {
	var items, messages, inserts, appends uint64
	_ = b.log.QueryRow(ctx, `SELECT count(), countIf(item_kind = 'message') FROM vector_outbox WHERE project = ?`, b.project).Scan(&items, &messages)
	_ = b.log.QueryRow(ctx, `SELECT value FROM system.events WHERE event = 'InsertQuery'`).Scan(&inserts)
	_ = b.log.QueryRow(ctx, `SELECT uniqExact(recorded_at) FROM events_raw`).Scan(&appends)
	return [4]float64{float64(items), float64(messages), float64(inserts), float64(appends)}
}

// history returns the length of the history of a session's workflow, in events.
func (b *bench) history(ctx context.Context) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) == 0 {
		return 0
	}
	one := b.known[0]
	key := schema.SessionKey{Scope: schema.Scope{Project: b.project, User: b.user(one.n)}, SessionID: one.session}
	described, err := b.temporal.DescribeWorkflowExecution(ctx, key.WorkflowID(), "")
	if err != nil {
		return 0
	}
	return described.GetWorkflowExecutionInfo().GetHistoryLength()
}

// spent is the CPU of the servers over a time, in seconds.
type spent struct {
	wall float64
	cpu  map[string]float64
	// free is how many cores the servers and this program had, or could have had.
	free float64
}

func (s spent) all() (seconds float64) {
	for _, used := range s.cpu {
		seconds += used
	}
	return seconds
}

// spend measures work.
func (w *watch) spend(work func()) spent {
	before, idle, start := w.processes(), idleSeconds(), time.Now()
	work()
	s := spent{wall: time.Since(start).Seconds(), cpu: map[string]float64{}}
	s.free = (idleSeconds() - idle) / s.wall
	for name, p := range w.processes() {
		s.cpu[name] = p.CPU - before[name].CPU
		s.free += s.cpu[name] / s.wall
	}
	return s
}

// idleSeconds is for how long the cores had nothing to do since the machine started, in seconds of a core.
func idleSeconds() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])
	if len(fields) < 6 {
		return 0
	}
	idle, _ := strconv.ParseFloat(fields[4], 64)
	waits, _ := strconv.ParseFloat(fields[5], 64)
	return (idle + waits) / 100
}

// machine describes the processors of this machine.
func machine() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return fmt.Sprintf("%d cores of %s", runtime.NumCPU(), strings.TrimSpace(value))
		}
	}
	return fmt.Sprintf("%d cores (%s)", runtime.NumCPU(), runtime.GOARCH)
}
