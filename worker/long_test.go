package main_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/schema"
)

// BenchmarkLongSession processes a coding session of 30 MB, and a session whose only message is a line of 20 MB.
// It reports how long each step took, how long
// the process computed, and the most memory that it had of the operating system:
//
//	go test ./worker -run '^$' -bench LongSession -benchtime 1x -timeout 30m
func BenchmarkLongSession(b *testing.B) {
	dir := b.TempDir()
	sessions := []struct{ name, uri string }{
		{"30MB", write(b, filepath.Join(dir, "session.jsonl"), toolSession(30<<20)...)},
		{"20MB-line", write(b, filepath.Join(dir, "line.jsonl"), said(1, "user", longMessage(20<<20)))},
	}
	stack := newBench(b)
	limit := debug.SetMemoryLimit(-1)
	stack.cfg.LimitMemory()
	b.Cleanup(func() { debug.SetMemoryLimit(limit) })
	stack.start(b)
	for _, s := range sessions {
		b.Run(s.name, func(b *testing.B) {
			for i := range b.N {
				in := stack.input(fmt.Sprintf("%s-%d-%d", s.name, b.N, i), s.uri)
				peak := watchMemory()
				used := cpuSeconds(b)
				result := stack.process(b, in)
				memory, heap := peak()
				b.ReportMetric(cpuSeconds(b)-used, "cpu-s")
				require.Equal(b, schema.BuildSuccess, result.Status)
				b.ReportMetric(memory, "peak-MiB")
				b.ReportMetric(heap, "peak-heap-MiB")
				b.ReportMetric(float64(result.Counts.Windows), "windows")
				b.ReportMetric(float64(result.Counts.Entries), "entries")
				detail, err := build.Show(b.Context(), stack.ClickHouse, result.BuildID)
				require.NoError(b, err)
				for _, m := range detail.Metrics {
					b.ReportMetric(m.LatencyMS, m.Step+"-ms")
				}
			}
		})
	}
}

// watchMemory starts to watch the process's memory. The function it returns ends that, and returns the most MiB
// that the process had of the operating system, and that objects of the heap took.
func watchMemory() func() (total, heap float64) {
	runtime.GC()
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
	}
	stop, done := make(chan struct{}), make(chan [2]uint64)
	go func() {
		var most [2]uint64
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			metrics.Read(samples)
			most[0] = max(most[0], samples[0].Value.Uint64()-samples[1].Value.Uint64())
			most[1] = max(most[1], samples[2].Value.Uint64())
			select {
			case <-ticker.C:
			case <-stop:
				done <- most
				return
			}
		}
	}()
	return func() (float64, float64) {
		close(stop)
		most := <-done
		return float64(most[0]) / (1 << 20), float64(most[1]) / (1 << 20)
	}
}

// cpuSeconds returns how long the process has computed.
func cpuSeconds(t testing.TB) float64 {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// longMessage is a text of about size bytes with a decision here and there.
func longMessage(size int) string {
	var text strings.Builder
	talk := strings.Repeat("The module reads its settings once and passes them on by value. ", 60)
	for n := 1; text.Len() < size; n++ {
		fmt.Fprintf(&text, "We decided to use module %d for step %d. %s\n", n, n, talk)
	}
	return text.String()
}
