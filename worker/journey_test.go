package main_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/llm/worth"
	"axiommind/deploy/local/stacktest"
	"axiommind/deploy/simulate/queueing"
	"axiommind/schema"
)

// BenchmarkJourney processes real conversations of 10 messages and 10 KB by rules. It reports the requests and the
// history of a session, and prints a table: sessions a second compared with the simulator's prediction and with a workflow
// of as many activities that do nothing, and the CPU time of each process for a session:
//
//	go test ./worker -run '^$' -bench Journey -benchtime 1x
//
// Sessions and workflows that do nothing take turns, so that other load on the machine falls on both.
func BenchmarkJourney(b *testing.B) {
	var shape shape
	b.Run("requests", func(b *testing.B) {
		for b.Loop() {
			shape = countJourneys(b, 20, schema.Timing{})
		}
		b.ReportMetric(shape.clickHouse, "clickhouse")
		b.ReportMetric(shape.weaviate, "weaviate")
		b.ReportMetric(shape.events, "history-events")
		b.ReportMetric(shape.bytes, "history-B")
		b.ReportMetric(float64(shape.activities), "activities")
		b.ReportMetric(float64(shape.local), "local-activities")
	})
	j := newJourney(b, newBench(b))
	idle := j.startIdle(b, shape)
	j.run(b, 8, 8) // The first sessions make caches and parts.
	idle(b, 8, 8)
	table := []string{
		"| in flight | sessions/s | predicted | no-ops/s | ratio | ClickHouse | Temporal | Weaviate | worker | all |",
		"| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
	}
	var runs []queueing.Run
	for _, atOnce := range []int{1, 4, 8, 16} {
		b.Run(fmt.Sprintf("in-flight=%d", atOnce), func(b *testing.B) {
			var sessions, noOps pace
			for b.Loop() {
				for range 3 {
					sessions.add(j.measure(b, func() int { return j.run(b, max(6, 2*atOnce), atOnce) }))
					noOps.add(j.measure(b, func() int { return idle(b, max(12, 4*atOnce), atOnce) }))
				}
			}
			cpu := sessions.cpuOf("clickhouse", "temporal", "weaviate", "test")
			b.ReportMetric(sessions.rate(), "sessions/s")
			b.ReportMetric(noOps.rate(), "no-ops/s")
			b.ReportMetric(cpu[len(cpu)-1], "cpu-ms")
			row := fmt.Sprintf("| %d | %.1f | %%.1f | %.1f | %.0f %%%%", atOnce, sessions.rate(), noOps.rate(), 100*sessions.rate()/noOps.rate())
			for _, ms := range cpu {
				row += fmt.Sprintf(" | %.0f", ms)
			}
			table = append(table, row+" |")
			runs = append(runs, queueing.Run{
				AtOnce: atOnce, N: sessions.n, Seconds: sessions.wall.Seconds(), CPU: cpu[len(cpu)-1],
				Free: (cpu[len(cpu)-1]/1e3*float64(sessions.n) + sessions.idle.Seconds()) / sessions.wall.Seconds(),
			})
		})
	}
	// The log of a benchmark that has others below it is not shown.
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
		}
		for i, p := range queueing.Predict(runs) {
			table[i+2] = fmt.Sprintf(table[i+2], p.Predicted)
		}
		b.Logf("%d cores, CPU in ms a session\n%s", runtime.GOMAXPROCS(0), strings.Join(table, "\n"))
	})
}

// pace sums up runs of workflows.
type pace struct {
	n    int
	wall time.Duration
	cpu  map[string]time.Duration
	// idle is for how long the processors had nothing to do.
	idle time.Duration
}

func (p *pace) add(q pace) {
	p.n += q.n
	p.wall += q.wall
	p.idle += q.idle
	if p.cpu == nil {
		p.cpu = map[string]time.Duration{}
	}
	for name, used := range q.cpu {
		p.cpu[name] += used
	}
}

func (p *pace) rate() float64 { return float64(p.n) / p.wall.Seconds() }

// cpuOf returns the milliseconds that each process used for one workflow, and their sum.
func (p *pace) cpuOf(names ...string) []float64 {
	all := time.Duration(0)
	var out []float64
	for _, name := range append(names, "all") {
		used := p.cpu[name]
		if name == "all" {
			used = all
		}
		all += used
		out = append(out, used.Seconds()*1e3/float64(p.n))
	}
	return out
}

// journey processes conversations one after another on a bench with a worker.
type journey struct {
	*bench
	uris []string
	next atomic.Int64
}

func newJourney(t testing.TB, b *bench) *journey {
	t.Helper()
	b.cfg.Model.Model = worth.Version // As people run it.
	b.start(t)
	return &journey{bench: b, uris: conversations(t)}
}

// run processes n sessions, some at once, and returns n.
func (j *journey) run(t testing.TB, n, atOnce int) int {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(atOnce)
	for range n {
		in := j.following()
		group.Go(func() error {
			result, err := j.try(ctx, in)
			if err == nil && result.Status != schema.BuildSuccess && result.Status != schema.BuildEmpty {
				err = fmt.Errorf("session %q of %q ended as %s", in.SessionID, in.URI, result.Status)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	return n
}

func (j *journey) following() schema.ProcessSessionInput {
	n := int(j.next.Add(1)) - 1
	return j.input(fmt.Sprintf("journey-%d", n), j.uris[n%len(j.uris)])
}

func (j *journey) measure(t testing.TB, run func() int) pace {
	t.Helper()
	before, idle, start := stacktest.CPU(t), stacktest.Idle(t), time.Now()
	p := pace{n: run(), cpu: map[string]time.Duration{}}
	p.wall, p.idle = time.Since(start), stacktest.Idle(t)-idle
	for name, used := range stacktest.CPU(t) {
		p.cpu[name] = used - before[name]
	}
	return p
}

// shape is the average load of a remembered session on the servers.
type shape struct {
	clickHouse, weaviate, events, bytes float64
	// activities and local are the activities of the longest session.
	activities, local int
}

// countJourneys processes n sessions, one after another, on a warm worker, and counts the requests of those with
// something to remember. All requests from a session's start to the next one's count, including those in the
// background.
func countJourneys(t testing.TB, n int, timing schema.Timing) shape {
	t.Helper()
	b := newBench(t)
	b.cfg.Timing = timing
	clickHouse, weaviate := &counter{}, &counter{}
	b.cfg.ClickHouseDSN = clickHouse.before(t, b.cfg.ClickHouseDSN)
	b.cfg.WeaviateURL = weaviate.before(t, b.cfg.WeaviateURL)
	j := newJourney(t, b)
	j.run(t, 8, 1)

	var s shape
	counted := 0
	clickHouse.n.Store(0)
	weaviate.n.Store(0)
	for range n {
		in := j.following()
		result := j.process(t, in)
		asked := [2]int64{clickHouse.n.Swap(0), weaviate.n.Swap(0)}
		if result.Status != schema.BuildSuccess {
			continue
		}
		counted++
		// The first ones learn the tables: the cheapest one shows the needs of a session.
		s.clickHouse = least(s.clickHouse, float64(asked[0]))
		s.weaviate = least(s.weaviate, float64(asked[1]))
		s.count(t, b.Temporal, in.Key().WorkflowID())
	}
	require.Greater(t, counted, n/4, "hardly a session has anything to remember")
	s.events /= float64(counted)
	s.bytes /= float64(counted)
	return s
}

// least is the smaller of two counts. 0 means none yet.
func least(a, b float64) float64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func (s *shape) count(t testing.TB, c client.Client, workflowID string) {
	t.Helper()
	activities, local := 0, 0
	it := c.GetWorkflowHistory(t.Context(), workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	whole := &history.History{}
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		whole.Events = append(whole.Events, event)
		switch {
		case event.GetActivityTaskScheduledEventAttributes() != nil:
			activities++
		case event.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity":
			local++
		}
	}
	s.events += float64(len(whole.GetEvents()))
	s.bytes += float64(whole.Size())
	if activities+local > s.activities+s.local {
		s.activities, s.local = activities, local
	}
}

// counter counts the requests to a server. The awaited ones of the tests themselves go past it.
type counter struct{ n atomic.Int64 }

// before puts the counter before the server and returns the address to use instead.
func (c *counter) before(t testing.TB, address string) string {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: at.Scheme, Host: at.Host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.n.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	at.Host = strings.TrimPrefix(server.URL, "http://")
	return at.String()
}

// idleQueue is the task queue of the worker that does nothing.
const idleQueue = "idle"

func doNothing(context.Context) error { return nil }

// startIdle starts a worker in the namespace of the bench whose workflow has as many activities as a session of the
// shape, and returns a function that runs it n times, some at once.
func (j *journey) startIdle(t testing.TB, s shape) func(t testing.TB, n, atOnce int) int {
	t.Helper()
	w := worker.New(j.Temporal, idleQueue, worker.Options{})
	w.RegisterActivity(doNothing)
	idle := func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
		for range s.local {
			if err := workflow.ExecuteLocalActivity(ctx, doNothing).Get(ctx, nil); err != nil {
				return err
			}
		}
		for range s.activities {
			if err := workflow.ExecuteActivity(ctx, doNothing).Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}
	w.RegisterWorkflowWithOptions(idle, workflow.RegisterOptions{Name: "idle"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return func(t testing.TB, n, atOnce int) int {
		t.Helper()
		group, ctx := errgroup.WithContext(t.Context())
		group.SetLimit(atOnce)
		for range n {
			group.Go(func() error {
				run, err := j.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: idleQueue}, "idle")
				if err != nil {
					return err
				}
				return run.Get(ctx, nil)
			})
		}
		require.NoError(t, group.Wait())
		return n
	}
}
