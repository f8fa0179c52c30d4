package task_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// seed appends the events of n tasks, perTask each: created, observed, then blocked and unblocked in turn.
func (b *bundle) seed(t testing.TB, project string, n, perTask int) {
	t.Helper()
	var events []schema.Event
	emit := func(eventType, what string, payload any) {
		encoded, err := json.Marshal(payload)
		require.NoError(t, err)
		events = append(events, schema.Event{
			Type: eventType, TS: noon, Actor: task.ActorResolver, Project: project, Sensitivity: schema.SensitivityNormal,
			DedupeKey: "seed/" + project + "/" + what, Payload: encoded,
		})
	}
	flush := func() {
		_, err := b.log.AppendAll(t.Context(), schema.ProjectStream(project), events)
		require.NoError(t, err)
		events = events[:0]
	}
	for i := range n {
		title := fmt.Sprintf("Fix the %s bug number %d in module m%d", []string{"login", "cache", "upload", "index"}[i%4], i, i%997)
		key, err := task.KeyOfTask(project, title)
		require.NoError(t, err)
		condition, err := task.KeyOfCondition(project, fmt.Sprintf("condition %d", i%5000))
		require.NoError(t, err)
		id, entry := key.ID(), schema.DerivedID("seed", strconv.Itoa(i))
		act := schema.Act{EntryID: entry}
		emit(schema.TaskCreated, id+"/created", schema.TaskCreatedPayload{
			Act: act, TaskID: id, CanonicalKey: key.String(), Title: title, Status: schema.TaskInProgress, Priority: schema.PriorityMedium,
		})
		emit(schema.TaskObserved, id+"/observed", schema.TaskObservedPayload{
			Act: act, TaskID: id, CanonicalKey: key.String(), Title: title, Method: task.MethodCreated, Score: 1, EvidenceAligned: true,
		})
		for k := 2; k < perTask; k++ {
			what := id + "/" + strconv.Itoa(k)
			switch k % 3 {
			case 2:
				emit(schema.TaskBlockersSet, what, schema.TaskBlockersSetPayload{Act: act, TaskID: id, Mode: schema.BlockersReplace, Blockers: []schema.Blocker{{
					EntityRef: schema.EntityRef{Type: schema.EntityCondition, ID: condition.ID()}, Text: "condition", EntryID: entry, Since: noon,
				}}})
			case 0:
				emit(schema.TaskStatusChanged, what, schema.TaskStatusChangedPayload{Act: act, TaskID: id, From: schema.TaskInProgress, To: schema.TaskBlocked})
			default:
				emit(schema.TaskStatusChanged, what, schema.TaskStatusChangedPayload{Act: act, TaskID: id, From: schema.TaskBlocked, To: schema.TaskInProgress})
			}
		}
		if len(events) >= 50_000 {
			flush()
		}
	}
	flush()
}

// BenchmarkResolveAndProject matches one entry against many tasks, resolves it with its blocker, appends and projects
// it.
func BenchmarkResolveAndProject(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			room := newBundle(b)
			room.seed(b, "p", n, 2)
			room.apply(b, "p")
			for name, entry := range map[string]func(i int) schema.Entry{
				"known": func(i int) schema.Entry {
					status := []schema.TaskStatus{schema.TaskBlocked, schema.TaskInProgress}[i%2]
					e := room.report("p", "Fix the login bug number 4 in module m4", status)
					if status == schema.TaskBlocked {
						e.Task.BlockedBy = []string{"waiting for the keys"}
					}
					return e
				},
				"new": func(i int) schema.Entry {
					room.n++
					return room.report("p", fmt.Sprintf("Write the manual of part %d", room.n), schema.TaskBlocked, fmt.Sprintf("draft %d", room.n))
				},
			} {
				b.Run(name, func(b *testing.B) {
					i := 0
					for b.Loop() {
						require.NotZero(b, room.apply(b, "p", entry(i)).Events)
						i++
					}
				})
			}
		})
	}
}

// BenchmarkRebuild rebuilds a million task events of 250,000 tasks, and reports the peak heap of the worker.
func BenchmarkRebuild(b *testing.B) {
	const tasks, perTask = 250_000, 4
	room := newBundle(b)
	room.seed(b, "p", tasks, perTask)
	runtime.GC()
	for b.Loop() {
		stop, peak := make(chan struct{}), atomic.Uint64{}
		go func() {
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapInuse))
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
				}
			}
		}()
		progress, err := stacktest.Rebuild(b.Context(), room.conn, task.NewProjector(room.conn))
		close(stop)
		require.NoError(b, err)
		require.Equal(b, tasks*perTask, progress.Events)
		b.ReportMetric(float64(peak.Load())/(1<<20), "heap-MiB")
	}
	b.ReportMetric(float64(serverRSS(b))/(1<<20), "server-MiB")
	b.ReportMetric(float64(b.N*tasks*perTask)/b.Elapsed().Seconds(), "events/s")
	var count uint64
	require.NoError(b, room.conn.QueryRow(b.Context(), "SELECT count() FROM entities").Scan(&count))
	require.EqualValues(b, tasks, count)
}

// serverRSS is the resident memory of the test's own child processes, on systems with /proc.
func serverRSS(b *testing.B) uint64 {
	b.Helper()
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	var pids []string
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		pids = append(pids, strings.Fields(string(children))...)
	}
	var total uint64
	for _, pid := range pids {
		status, _ := os.ReadFile("/proc/" + pid + "/status")
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		if fields := strings.Fields(after); len(fields) > 0 {
			kb, _ := strconv.ParseUint(fields[0], 10, 64)
			total += kb << 10
		}
	}
	return total
}
