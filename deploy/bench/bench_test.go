package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stacktest"
	"axiommind/deploy/simulate/queueing"
	"axiommind/worker/runner/runnertest"
	"axiommind/worker/service"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// work runs a worker until the test ends, and returns the directory of a stack whose servers are those of the tests.
func work(t *testing.T) (dir string) {
	t.Helper()
	for name, value := range map[string]string{
		"AXIOMMIND_TEMPORAL_ADDRESS": stacktest.Temporal(t), "AXIOMMIND_TEMPORAL_NAMESPACE": stacktest.Namespace(t),
		"AXIOMMIND_CLICKHOUSE_DSN": stacktest.MigratedDatabase(t), "AXIOMMIND_WEAVIATE_URL": "http://" + stacktest.Weaviate(t),
		"WEAVIATE_API_KEY": stacktest.WeaviateKey(t), "AXIOMMIND_CONFIG": os.DevNull, "XDG_STATE_HOME": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	var cfg service.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(f)
	cfg.WorkerFlags(f)
	require.NoError(t, f.Parse([]string{"--stop-timeout", "2s", "--memory-root", t.TempDir()}))
	require.NoError(t, cfg.Load(f, os.Getenv, ""))
	cfg.Timing = stacktest.Timing()
	runnertest.Start(t, cfg, slog.New(slog.DiscardHandler))
	servers := stacktest.Processes(t)
	servers["worker"] = os.Getpid()
	dir = t.TempDir()
	state := stackState{Servers: servers}
	state.Addresses.Temporal = stacktest.Temporal(t)
	text, err := json.Marshal(state)
	require.NoError(t, err)
	lock, err := os.Create(filepath.Join(dir, "up.lock"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Close() })
	require.Nil(t, readStack(dir), "without the lock, it is the state of one that has ended")
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.json"), text, 0o600))
	return dir
}

// A run sends requests of every kind, finds its sessions, and prints the growth.
func TestBench(t *testing.T) {
	dir := work(t)
	project := `load "1"/` + stacktest.Namespace(t)
	args := []string{
		"--project", project, "--dir", dir, "--users", "2", "--fill", "6", "--at-once", "3", "--for", "6s", "--every", "1s", "--debounce", "1s",
		"--process", "1", "--enqueue", "1", "--hook", "1", "--search", "3", "--context", "2",
	}
	var out, says bytes.Buffer
	require.NoError(t, run(t.Context(), append(args, "-o", "json"), &out, &says), says.String())
	var r result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Equal(t, 6, r.Fill.Sessions)
	require.Greater(t, r.Fill.Events, 5.0)
	require.Greater(t, r.Fill.Bytes["clickhouse"], 100.0)
	require.Greater(t, r.Fill.CPU["clickhouse"]+r.Fill.CPU["worker"], 10.0)
	require.Len(t, r.Requests, int(kinds))
	for _, s := range r.Requests {
		require.Positive(t, s.Answers, s.Kind)
		require.Empty(t, s.Reasons, s.Kind)
		require.Positive(t, s.P50, s.Kind)
		require.LessOrEqual(t, s.P50, s.P99)
		require.LessOrEqual(t, s.P99, s.Max)
	}
	require.Greater(t, r.Given, 6+3)
	require.Equal(t, r.Given, r.Kept)
	require.Greater(t, len(r.Samples), 3)
	last := r.Samples[len(r.Samples)-1]
	require.Greater(t, last.Events, uint64(100))
	require.Positive(t, last.Processes["clickhouse"].MiB)
	require.Positive(t, last.Processes["worker"].Files)
	require.Positive(t, last.History)

	out.Reset()
	require.NoError(t, r.print(&out))
	require.Contains(t, out.String(), fmt.Sprintf("%d of %d sessions", r.Kept, r.Given))
	require.Contains(t, out.String(), "worker memory, MiB")
	require.Contains(t, out.String(), "search")
	require.Contains(t, out.String(), "Remove them with: go run ./starter forget --project 'load \"1\"/")
}

// The costs are those that the simulator reads.
func TestMeasure(t *testing.T) {
	dir := work(t)
	var out bytes.Buffer
	b, err := open(t.Context(), &options{project: stacktest.Namespace(t), users: 1, dir: dir, seed: 1, length: time.Second, costs: true}, io.Discard)
	require.NoError(t, err)
	defer b.close()
	b.warmUp, b.resting, b.inFlight = 2, time.Second, []int{1, 2}
	m, err := b.measure(t.Context())
	require.NoError(t, err)
	require.NoError(t, json.NewEncoder(&out).Encode(m))
	again, err := queueing.ReadMeasured(&out)
	require.NoError(t, err)
	require.Equal(t, m, again)
	require.Len(t, m.Sessions, 2)
	for _, r := range m.Sessions {
		require.Positive(t, r.CPU)
		require.Positive(t, r.Free)
	}
	require.Greater(t, m.Events, 5.0)
	require.Greater(t, m.Messages, 5.0, "ten of each session, less those that wait to be listed")
	require.Greater(t, m.Vectors, m.Messages)
	require.Greater(t, m.Inserts, 2.0)
	require.Greater(t, m.Appends, 1.0)
	require.LessOrEqual(t, m.Appends, m.Inserts)
	require.Greater(t, m.History, 20.0)
	require.Positive(t, m.Requests["search"].Ms)
	require.Positive(t, m.Requests["hook"].Ms)
}

// A session that is lost is said, and makes the run fail.
func TestLostSessionIsSaid(t *testing.T) {
	t.Parallel()
	r := result{Project: "p", Given: 3, Kept: 2}
	require.ErrorContains(t, r.failure(), "1 of 3 sessions are not remembered")
	r.Kept = 3
	r.Requests = []summary{{Kind: "search", Answers: 99, NotSent: 1}}
	require.NoError(t, r.failure())
	r.Requests[0].Errors = 10
	require.ErrorContains(t, r.failure(), "11 of 110 requests (search)")
	r.Kills = []string{"clickhouse"}
	require.NoError(t, r.failure(), "they fail while it is away")
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"nothing to do", nil},
		{"--search", []string{"--search", "-1"}},
		{"--search", []string{"--search", "NaN"}},
		{"--process", []string{"--process", "1e9"}},
		{"--kill \"redis\"", []string{"--fill", "1", "--kill", "redis"}},
		{"at least 1", []string{"--fill", "1", "--users", "0"}},
		{"at least 1s", []string{"--fill", "1", "--every", "1ms"}},
		{"--output \"xml\"", []string{"--fill", "1", "-o", "xml"}},
		{"--measure", []string{"--measure", "--fill", "1"}},
		{"--for", []string{"--measure", "--for", "1ms"}},
		{"--kill", []string{"--fill", "1", "--kill", "worker"}},
		{"unexpected argument \"now\"", []string{"--fill", "1", "now"}},
	} {
		require.ErrorContains(t, run(t.Context(), c.args, io.Discard, io.Discard), c.want)
	}
	_, err := newTalks(t.TempDir(), 1)
	require.ErrorContains(t, err, ".jsonl")
}

func TestReasonsAreCounted(t *testing.T) {
	t.Parallel()
	var a answers
	for port := range 3 {
		a.add(0, fmt.Errorf("read entries: %w", fmt.Errorf("dial tcp 127.0.0.1:%d: connection refused", 40000+port)))
	}
	a.add(time.Second, nil)
	a.add(0, errors.New("other"))
	s := a.summary("search", 1)
	require.Equal(t, map[string]int{"dial tcp N.N.N.N:N: connection refused": 3, "other": 1}, s.Reasons)
	require.Equal(t, 4, s.Errors)
	require.Equal(t, 1, s.Answers)
	require.InDelta(t, 1000, s.P99, 1e-9)
	sorted := []time.Duration{1, 2, 3, 4}
	require.Equal(t, []time.Duration{2, 4, 4, 0}, []time.Duration{at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1), at(nil, 0.5)})
}
