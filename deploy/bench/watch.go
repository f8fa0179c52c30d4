package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

// servers are the processes of a local stack, in the order of the tables.
var servers = []string{"clickhouse", "temporal", "weaviate", "worker"}

func isServer(name string) bool { return slices.Contains(servers, name) }

// stackState is the part of a local stack's state that is needed here.
type stackState struct {
	dir       string
	Servers   map[string]int `json:"servers"`
	Addresses struct {
		Temporal string `json:"temporal"`
	} `json:"addresses"`
}

// readStack returns the state of the stack in a directory, or nil if none is up: a stack that runs has a lock. The processes of
// one that was killed may be others by now.
func readStack(dir string) *stackState {
	lock, err := os.Open(filepath.Join(dir, "up.lock")) //nolint:gosec // the user named the directory
	if err != nil {
		return nil
	}
	defer func() { _ = lock.Close() }()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return nil
	}
	s := &stackState{dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, "state.json")) //nolint:gosec // the user named the directory
	if err != nil || json.Unmarshal(text, s) != nil {
		return nil
	}
	return s
}

// process is the state of a server's process.
type process struct {
	// CPU is the seconds that it used since the run began, over restarts.
	CPU     float64 `json:"cpu_s"`
	MiB     float64 `json:"mib"`
	Files   int     `json:"files"`
	Threads int     `json:"threads"`
}

// sample is the size of everything at a time. A figure that can't be read is 0.
type sample struct {
	At        float64            `json:"at_s"`
	Processes map[string]process `json:"processes,omitempty"`
	// Goroutines are the worker's.
	Goroutines int `json:"goroutines,omitempty"`
	// Events are the rows of the log, and Rows, Parts and ClickHouseMiB those of all tables.
	Events        uint64  `json:"events"`
	Rows          uint64  `json:"rows"`
	Parts         uint64  `json:"parts"`
	ClickHouseMiB float64 `json:"clickhouse_mib"`
	TemporalMiB   float64 `json:"temporal_mib,omitempty"`
	WeaviateMiB   float64 `json:"weaviate_mib,omitempty"`
	// DiskFiles counts the files of the stack.
	DiskFiles int `json:"disk_files,omitempty"`
	// Open counts the workflows that run, and History is the longest history of 200 of them, in events.
	Open    int   `json:"open_workflows"`
	History int64 `json:"longest_history"`
	// Unread names the servers that did not answer, as after they were killed. Their figures are 0.
	Unread []string `json:"unread,omitempty"`
}

// watch measures sizes.
type watch struct {
	*bench
	stack *stackState
	// last has the CPU ticks of each process at the sample before, and used their sum over restarts.
	last map[int]int
	used map[string]float64
}

// until samples each interval until ctx ends.
func (w *watch) until(ctx context.Context, every time.Duration) []sample {
	samples := []sample{w.sample(ctx)}
	for sleep(ctx, every) {
		samples = append(samples, w.sample(ctx))
	}
	return samples
}

func (w *watch) sample(ctx context.Context) sample {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second) // The last one is not cut short.
	defer stop()
	s := sample{}
	if !w.started.IsZero() {
		s.At = time.Since(w.started).Seconds()
	}
	w.engines(ctx, &s)
	if s.Processes = w.processes(); w.stack == nil {
		return s
	}
	s.TemporalMiB, _ = size(w.stack.dir, "temporal.db*")
	s.WeaviateMiB, s.DiskFiles = size(w.stack.dir, "weaviate")
	_, files := size(w.stack.dir, "clickhouse")
	s.DiskFiles += files
	return s
}

// processes reads those of the stack. Their ids change when they are started again.
func (w *watch) processes() map[string]process {
	if now := readStack(w.dir); now != nil {
		w.stack = now
	}
	if w.stack == nil {
		return nil
	}
	first := w.used == nil
	if first {
		w.last, w.used = map[int]int{}, map[string]float64{}
	}
	found := map[string]process{}
	for name, pid := range w.stack.Servers {
		if p, ok := w.process(name, pid, first); ok && isServer(name) {
			found[name] = p
		}
	}
	return found
}

// engines asks ClickHouse and Temporal.
func (w *watch) engines(ctx context.Context, s *sample) {
	var bytes uint64
	err := w.log.QueryRow(ctx, `SELECT sum(rows), count(), sum(bytes_on_disk), sumIf(rows, table = 'events_raw')
FROM system.parts WHERE active AND database = currentDatabase()`).Scan(&s.Rows, &s.Parts, &bytes, &s.Events)
	if err != nil {
		s.Unread = append(s.Unread, "clickhouse")
	}
	s.ClickHouseMiB = float64(bytes) / (1 << 20)
	s.Goroutines = w.goroutines(ctx)
	running := `ExecutionStatus = "Running"`
	count, err := w.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: running})
	if err != nil {
		s.Unread = append(s.Unread, "temporal")
		return
	}
	s.Open = int(count.GetCount())
	open, err := w.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: running, PageSize: 200})
	if err != nil {
		s.Unread = append(s.Unread, "temporal")
		return
	}
	for _, e := range open.GetExecutions() {
		described, err := w.temporal.DescribeWorkflowExecution(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId())
		if err == nil {
			s.History = max(s.History, described.GetWorkflowExecutionInfo().GetHistoryLength())
		}
	}
}

// goroutines reads the worker's metrics.
func (w *watch) goroutines(ctx context.Context) int {
	if w.metrics == "" {
		return 0
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.metrics+"/metrics", nil)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if text, is := strings.CutPrefix(lines.Text(), "go_goroutines "); is {
			n, _ := strconv.Atoi(text)
			return n
		}
	}
	return 0
}

// process reads /proc, where there is one.
func (w *watch) process(name string, pid int, first bool) (p process, ok bool) {
	dir := fmt.Sprintf("/proc/%d", pid)
	stat, err := os.ReadFile(dir + "/stat") //nolint:gosec // a process of the stack
	if err != nil || pid == 0 {
		return p, false
	}
	// The name is in parentheses and may contain spaces. Fields 14 and 15 are the ticks, and 16 and 17 those of children.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	ticks := 0
	for _, field := range fields[11:15] {
		n, _ := strconv.Atoi(field)
		ticks += n
	}
	before := w.last[pid]
	if first {
		before = ticks // Its use before the run does not count.
	}
	w.last[pid] = ticks
	w.used[name] += float64(ticks-before) / 100
	p.CPU = w.used[name]
	p.Threads, _ = strconv.Atoi(fields[17])
	pages, _ := strconv.Atoi(fields[21])
	p.MiB = float64(pages) * float64(os.Getpagesize()) / (1 << 20)
	if files, err := os.ReadDir(dir + "/fd"); err == nil {
		p.Files = len(files)
	}
	return p, true
}

// size returns the MiB and the number of the files that match, and of those in directories that match.
func size(dir, pattern string) (mib float64, files int) {
	roots, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // Engines remove files at any time.
			}
			if info, err := d.Info(); err == nil {
				mib += float64(info.Size()) / (1 << 20)
				files++
			}
			return nil
		})
	}
	return mib, files
}

// killing kills one server after the other. The stack starts them again.
func (b *bench) killing(ctx context.Context) {
	for n := 0; sleep(ctx, b.killEvery); n++ {
		name := b.kill[n%len(b.kill)]
		now := readStack(b.dir)
		if now == nil || now.Servers[name] == 0 {
			b.say("%s: it does not run here, so it is not killed", name)
			continue
		}
		if err := syscall.Kill(now.Servers[name], syscall.SIGKILL); err != nil {
			b.say("%s: %v", name, err)
			continue
		}
		b.say("killed %s", name)
		b.mu.Lock()
		b.kills = append(b.kills, name)
		b.mu.Unlock()
	}
}
