package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/deploy/simulate/queueing"
)

func measured() *queueing.Measured {
	return &queueing.Measured{
		Machine: "2 cores", Cores: 2, Messages: 10, Vectors: 12, Inserts: 6, Appends: 4, History: 34, Events: 20, Rows: 60,
		Sessions: []queueing.Run{{AtOnce: 1, N: 10, Seconds: 5, CPU: 300, Free: 2}},
		Session:  queueing.Cost{Ms: 500, CPU: map[string]float64{"clickhouse": 150, "temporal": 90, "weaviate": 10, "worker": 50}},
		Requests: map[string]queueing.Cost{"search": {Ms: 50, CPU: map[string]float64{"clickhouse": 40}}},
		Bytes:    map[string]float64{"clickhouse": 20_000, "temporal": 60_000, "weaviate": 50_000},
	}
}

// By hand: 1e6 sessions a day at 4 times the mean are 46.3 a second; with 5 searches ClickHouse needs 0.35 s for each: 16.2
// cores, which are 1.7 machines of 16 cores at 60 %. The sessions of a year are 6.6 TiB, of which a disk holds 1.17: 6 machines,
// in 3 copies.
func TestPlan(t *testing.T) {
	t.Parallel()
	p := plan(measured(), usual(), 1e6)
	require.InDelta(t, 46.3, p.Peak, 0.01)
	require.InDelta(t, 16.2, p.Needs[0].Busy, 0.01)
	require.Equal(t, 3*19, p.Needs[0].Machines, "46.3 sessions a second append 185.2 times, ten times for each shard")
	require.Equal(t, "appends", p.Needs[0].By)
	many := usual()
	many.Parts = 1000
	require.Equal(t, 18, plan(measured(), many, 1e6).Needs[0].Machines)
	require.Equal(t, "disk", plan(measured(), many, 1e6).Needs[0].By)
	require.InDelta(t, 3*20_000*1e6*365/gib, p.Needs[0].DiskGiB, 1)
	require.InDelta(t, 60_000*1e6*30*3/gib, p.Needs[1].DiskGiB, 1, "Temporal keeps its retention")
	require.InDelta(t, 46.3*34, p.History, 1)
	require.Equal(t, "disk", p.Needs[2].By)
	require.Equal(t, 3*int(math.Ceil(50_000*365e6/gib/1200)), p.Needs[2].Machines)
	require.False(t, p.OneMachine)
	require.True(t, plan(measured(), usual(), 1e3).OneMachine)
	require.Zero(t, p.Machines+p.Model)
	w := usual()
	w.Machine, w.TokensIn, w.PriceIn = 1, 2000, 0.5
	p = plan(measured(), w, 1e6)
	require.InDelta(t, 1e6*aMonth/24*2000*0.5/1e6, p.Model, 1)
	require.Positive(t, p.Machines)
}

func TestLimitsAreInOrder(t *testing.T) {
	t.Parallel()
	l := limits(measured(), usual())
	first := slices.IndexFunc(l, func(l limit) bool { return l.Name == "appends to a shard" })
	require.InDelta(t, 10*86_400/4.0/4, l[first].PerDay, 1)
	disk := slices.IndexFunc(l, func(l limit) bool { return l.Name == "disk of the weaviate" })
	require.InDelta(t, 0.6*2000*gib/50_000/365, l[disk].PerDay, 1)
	for i := range l[1:] {
		require.LessOrEqual(t, l[i].PerDay, l[i+1].PerDay)
		require.NotEmpty(t, l[i].Setting)
	}
}

func TestMoreSessionsNeedNoLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := usual()
		w.Cores = rapid.IntRange(1, 256).Draw(t, "cores")
		w.Load = rapid.Float64Range(0.05, 0.95).Draw(t, "load")
		w.Peak = rapid.Float64Range(1, 50).Draw(t, "peak")
		n := rapid.Float64Range(1, 1e10).Draw(t, "sessions")
		few, many := plan(measured(), w, n), plan(measured(), w, 2*n)
		for i, need := range few.Needs {
			require.LessOrEqual(t, need.Machines, many.Needs[i].Machines)
			require.LessOrEqual(t, need.Busy, w.Load*float64(w.Cores*need.Machines)*(1+1e-9))
		}
		require.False(t, math.IsInf(few.Seconds, 0) || math.IsNaN(few.Seconds))
	})
}

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(nil, &out), "the figures that are built in")
	require.Contains(t, out.String(), "1 billion sessions a day")
	file := filepath.Join(t.TempDir(), "it's measured.json")
	text, err := json.Marshal(measured())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out.Reset()
	require.NoError(t, run([]string{"--measured", file, "--sessions", "5e4", "--price-machine", "1", "-o", "json"}, &out))
	var r report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Plans, 1)
	require.InDelta(t, 0, r.Check[0].Off(), 1e-9)
	for want, args := range map[string][]string{
		"--sessions 0":    {"--sessions", "0"},
		"--load 2":        {"--load", "2"},
		"--peak 0":        {"--peak", "0"},
		"--searches -1":   {"--searches", "-1"},
		"--searches NaN":  {"--searches", "NaN"},
		"--sessions NaN":  {"--sessions", "NaN"},
		"--peak +Inf":     {"--peak", "Inf"},
		"--days":          {"--days", "Inf"},
		"--disk":          {"--disk", "1e-300"},
		"--cores":         {"--cores", "0"},
		"no such file":    {"--measured", file + "2"},
		"unexpected":      {"x"},
		"--output \"y\"":  {"-o", "y"},
		"want the output": {"--measured", os.Args[0]},
	} {
		require.ErrorContains(t, run(args, io.Discard), want)
	}
}
