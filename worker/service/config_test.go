package service_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// load reads a configuration as a program does.
func load(t *testing.T, worker bool, args []string, env map[string]string, fallback string) (service.Config, error) {
	t.Helper()
	var cfg service.Config
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	cfg.Flags(flags)
	if worker {
		cfg.WorkerFlags(flags)
	}
	require.NoError(t, flags.Parse(args))
	return cfg, cfg.Load(flags, func(name string) string { return env[name] }, fallback)
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "axiommind.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	cfg, err := load(t, true, nil, nil, filepath.Join(t.TempDir(), "not-there.yaml"))
	require.NoError(t, err)
	require.Equal(t, settings.DefaultTemporalAddress, cfg.TemporalAddress)
	require.Equal(t, settings.DefaultClickHouseDSN, cfg.ClickHouseDSN)
	require.Equal(t, settings.DefaultWeaviateURL, cfg.WeaviateURL)
	require.Equal(t, 4, cfg.ModelConcurrency)
	require.Equal(t, service.DefaultStopTimeout, cfg.StopTimeout)
	require.Equal(t, task.KeepReports, cfg.DoneReports)
	require.Equal(t, "rules", cfg.Model.Provider)
	require.Equal(t, "hash", cfg.Embedder.Provider)
	require.Empty(t, cfg.Model.APIKey)
	require.Zero(t, cfg.ModelRate)
	require.False(t, cfg.NoQueue)
}

// A flag is stronger than a variable, that than the file, and that than the default.
func TestConfigPrecedence(t *testing.T) {
	t.Parallel()
	path := file(t, "temporal-address: file:1\nclickhouse-dsn: http://file:1/db\nmodel-concurrency: 3\nstop-timeout: 7s\n")
	env := map[string]string{"AXIOMMIND_CLICKHOUSE_DSN": "http://env:2/db", "AXIOMMIND_MODEL_CONCURRENCY": "4"}
	for name, tt := range map[string]struct {
		args     []string
		env      map[string]string
		fallback string
	}{
		"fallback": {[]string{"--model-concurrency=5"}, env, path},
		"flag":     {[]string{"--model-concurrency=5", "--config", path}, env, file(t, "temporal-address: not:this\n")},
		"variable": {[]string{"--model-concurrency=5"}, map[string]string{
			"AXIOMMIND_CLICKHOUSE_DSN": "http://env:2/db", "AXIOMMIND_MODEL_CONCURRENCY": "4", "AXIOMMIND_CONFIG": path,
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := load(t, true, tt.args, tt.env, tt.fallback)
			require.NoError(t, err)
			require.Equal(t, "file:1", cfg.TemporalAddress)
			require.Equal(t, "http://env:2/db", cfg.ClickHouseDSN)
			require.Equal(t, 5, cfg.ModelConcurrency)
			require.Equal(t, 7*time.Second, cfg.StopTimeout)
			require.Equal(t, settings.DefaultWeaviateURL, cfg.WeaviateURL)
		})
	}
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file string
		env  map[string]string
		want string
	}{
		"unknown setting": {"temporal-adress: x\n", nil, `there is no setting "temporal-adress" (did you mean temporal-address?)`},
		"wrong value":     {"model-concurrency: many\n", nil, `--model-concurrency "many": want a whole number`},
		"no rate":         {"model-rate: -1\n", nil, `--model-rate "-1": want a number from 0 to 100000`},
		"rate unknown":    {"", map[string]string{"AXIOMMIND_MODEL_RATE": "NaN"}, `--model-rate "NaN": want a number from 0`},
		"queue or not":    {"no-queue: perhaps\n", nil, `--no-queue "perhaps": want true or false`},
		"no such way":     {"done-reports: maybe\n", nil, `--done-reports "maybe": want keep or close`},
		"wrong variable":  {"", map[string]string{"AXIOMMIND_STOP_TIMEOUT": "soon"}, `variable AXIOMMIND_STOP_TIMEOUT: --stop-timeout "soon": want a duration like 30s or 2m`},
		"no floor":        {"similarity-floor: 0.5\n", nil, `there is no setting "similarity-floor"`},
		"wrong share":     {"fact-merge: 2\n", nil, `--fact-merge "2": want a number from 0 to 1`},
		"no threshold":    {"", map[string]string{"AXIOMMIND_FACT_THRESHOLD": "high"}, `--fact-threshold "high": want a number from 0 to 1`},
		"no facts":        {"max-facts: 0\n", nil, `--max-facts "0": want a whole number from 1 on`},
		"no policy":       {"fact-eviction: oldest\n", nil, `--fact-eviction "oldest": want confidence or hybrid-v1`},
		"no YAML":         {"\t- [", nil, "read configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, true, []string{"--config", file(t, tt.file)}, tt.env, "")
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := load(t, true, []string{"--config", "/no/such/file"}, nil, "")
	require.ErrorContains(t, err, "/no/such/file")
	// All that is wrong is told at once.
	_, err = load(t, true, []string{"--config", file(t, "a: 1\nb: 2\n")}, nil, "")
	require.ErrorContains(t, err, `"a"`)
	require.ErrorContains(t, err, `"b"`)
}

func TestConfigDoneReports(t *testing.T) {
	t.Parallel()
	cfg, err := load(t, true, []string{"--config", file(t, "done-reports: close\n")}, nil, "")
	require.NoError(t, err)
	require.Equal(t, task.CloseProven, cfg.DoneReports)
}

func TestConfigFacts(t *testing.T) {
	t.Parallel()
	cfg, err := load(t, true, nil, nil, "")
	require.NoError(t, err)
	require.Equal(t, fact.Options{
		Threshold: fact.DefaultThreshold, MaxFacts: fact.DefaultMaxFacts, Eviction: schema.EvictConfidence, MergeSimilarity: fact.DefaultMergeSimilarity,
	}, cfg.Facts)
	cfg, err = load(t, true, []string{"--config", file(t, "fact-threshold: 0\nfact-reserve: 0\nfact-eviction: hybrid-v1\nmax-facts: 9\n"), "--fact-merge", "0.7"},
		map[string]string{"AXIOMMIND_FACT_MERGE_SIMILARITY": "-0.5"}, "")
	require.NoError(t, err)
	require.Equal(t, fact.Options{
		Threshold: -1, MaxFacts: 9, Eviction: schema.EvictHybrid, Reserve: -1, MergeOverlap: 0.7, MergeSimilarity: -0.5,
	}, cfg.Facts, "0 is no default")
}

// Programs share a file: a setting of the worker alone is no mistake to the others.
func TestConfigIsShared(t *testing.T) {
	t.Parallel()
	path := file(t, "model-provider: gemini\ntemporal-address: file:1\n")
	cfg, err := load(t, false, nil, nil, path)
	require.NoError(t, err)
	require.Equal(t, "file:1", cfg.TemporalAddress)
	require.Empty(t, cfg.Model.Provider)
}

// Keys come from the environment alone, that of the provider chosen.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GEMINI_API_KEY": "g", "OPENAI_API_KEY": "o", "TEMPORAL_API_KEY": "t", "WEAVIATE_API_KEY": "w"}
	cfg, err := load(t, true, []string{"--model-provider", "gemini", "--embedder", "openai"}, env, "")
	require.NoError(t, err)
	require.Equal(t, []string{"g", "o", "t", "w"}, []string{cfg.Model.APIKey, cfg.Embedder.APIKey, cfg.TemporalAPIKey, cfg.WeaviateAPIKey})
	cfg, err = load(t, true, nil, env, "")
	require.NoError(t, err)
	require.Empty(t, cfg.Model.APIKey+cfg.Embedder.APIKey)
}

// The local stack's file alone may hold a key, and the key goes with the address next to it: no other
// server sees it, and that one takes no other.
func TestConfigLocalKey(t *testing.T) {
	t.Parallel()
	const local = "weaviate-url: http://127.0.0.1:7\nweaviate-api-key: made-at-start\n"
	env := map[string]string{"WEAVIATE_API_KEY": "of-another-server"}
	for name, tt := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"the stack is up":             {nil, nil, "made-at-start"},
		"and there is a key":          {nil, env, "made-at-start"},
		"an address is given":         {[]string{"--weaviate-url", "https://w.example"}, nil, ""},
		"an address and a key":        {[]string{"--weaviate-url", "https://w.example"}, env, "of-another-server"},
		"an address by a variable":    {nil, map[string]string{"AXIOMMIND_WEAVIATE_URL": "https://w.example"}, ""},
		"another file, without a key": {[]string{"--config", file(t, "weaviate-url: https://w.example\n")}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := load(t, false, tt.args, tt.env, file(t, local))
			require.NoError(t, err)
			require.Equal(t, tt.want, cfg.WeaviateAPIKey)
		})
	}
	_, err := load(t, false, []string{"--config", file(t, local)}, nil, "")
	require.ErrorContains(t, err, `there is no setting "weaviate-api-key"`, "keys come from the environment")
}

// A server that is still coming up is waited for, each try with its reason in the log, and named with
// its address, without its password, when it does not come.
func TestConnectWaits(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := closed.Addr().String()
	require.NoError(t, closed.Close())
	cfg, err := load(t, true, []string{
		"--connect-timeout", "600ms", "--temporal-address", address,
		"--clickhouse-dsn", "http://user:secret@" + address + "/db?password=secret", "--weaviate-url", "http://" + address,
	}, nil, "")
	require.NoError(t, err)
	var log lines
	logger := slog.New(slog.NewTextHandler(&log, nil))

	_, err = service.ConnectClickHouse(t.Context(), cfg, logger)
	require.ErrorContains(t, err, "connect to clickhouse at http://"+address+"/db")
	require.ErrorContains(t, err, "connection refused")
	require.Contains(t, log.text, "server is not there yet")
	require.Contains(t, log.text, "connection refused")
	require.NotContains(t, log.text+err.Error(), "secret")

	_, err = service.ConnectTemporal(t.Context(), cfg, logger)
	require.ErrorContains(t, err, "connect to temporal at "+address)
	_, err = service.ConnectWeaviate(t.Context(), cfg)
	require.ErrorContains(t, err, address)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg.ConnectTimeout = time.Hour
	_, err = service.ConnectClickHouse(ctx, cfg, logger)
	require.Error(t, err, "who is told to stop does not wait")
}

// A server of this machine that is not running is waited for as long as RefusedTimeout, not as ConnectTimeout.
func TestConnectRefused(t *testing.T) {
	t.Parallel()
	down := settings.Servers{
		TemporalAddress: "127.0.0.1:1", ClickHouseDSN: "http://127.0.0.1:1/db", WeaviateURL: "http://127.0.0.1:1",
		ConnectTimeout: time.Hour, RefusedTimeout: 300 * time.Millisecond,
	}
	quiet, cfg := slog.New(slog.DiscardHandler), service.Config{Servers: down}
	_, err := service.ConnectClickHouse(t.Context(), cfg, quiet)
	require.ErrorContains(t, err, "connect to clickhouse at http://127.0.0.1:1/db")
	require.Equal(t, down.RefusedTimeout, down.Patience(err))
	_, err = service.ConnectTemporal(t.Context(), cfg, quiet)
	require.ErrorContains(t, err, "connect to temporal at 127.0.0.1:1")
	require.Equal(t, down.RefusedTimeout, down.Patience(err))
	_, err = service.ConnectWeaviate(t.Context(), cfg)
	require.ErrorContains(t, err, `weaviate at "127.0.0.1:1"`)
	require.Equal(t, down.RefusedTimeout, down.Patience(err))

	for _, text := range []string{"no answer in time", "dial tcp 10.0.0.1:1: connect: connection refused"} {
		require.Equal(t, time.Hour, down.Patience(errors.New(text)), text)
	}
	require.Equal(t, time.Hour, settings.Servers{ConnectTimeout: time.Hour}.Patience(err), "a worker waits")
}

type lines struct{ text string }

func (l *lines) Write(p []byte) (int, error) {
	l.text += string(p)
	return len(p), nil
}

// Calls are limited, and memory is switched off, by a flag, a variable or a line of the file.
func TestConfigRateAndQueue(t *testing.T) {
	t.Parallel()
	path := file(t, "model-rate: 0.5\nno-queue: true\n")
	cfg, err := load(t, true, []string{"--config", path}, nil, "")
	require.NoError(t, err)
	require.Equal(t, []any{0.5, true}, []any{cfg.ModelRate, cfg.NoQueue})
	cfg, err = load(t, true, []string{"--config", path, "--model-rate", "0"}, map[string]string{"AXIOMMIND_NO_QUEUE": "false"}, "")
	require.NoError(t, err)
	require.Equal(t, []any{0.0, false}, []any{cfg.ModelRate, cfg.NoQueue})
}

// Roots are given one by one as flags, as a list like PATH in a variable, and as one or a list in a file.
func TestConfigSourceRoots(t *testing.T) {
	t.Parallel()
	want := []string{"/a b,c", "데이터"}
	for name, tt := range map[string]struct {
		args []string
		env  map[string]string
		file string
	}{
		"flags":    {args: []string{"--source-root", "/a b,c", "--source-root=데이터"}},
		"variable": {env: map[string]string{"AXIOMMIND_SOURCE_ROOT": strings.Join(want, string(os.PathListSeparator)) + string(os.PathListSeparator)}},
		"list":     {file: "source-root:\n  - /a b,c\n  - 데이터\n"},
		"both": {
			args: []string{"--source-root", "/a b,c", "--source-root=데이터"},
			env:  map[string]string{"AXIOMMIND_SOURCE_ROOT": "/x"}, file: "source-root: /y\n",
		},
	} {
		path := ""
		if tt.file != "" {
			path = file(t, tt.file)
		}
		cfg, err := load(t, true, tt.args, tt.env, path)
		require.NoError(t, err, name)
		require.Equal(t, want, cfg.SourceRoots, name)
	}
	cfg, err := load(t, true, nil, nil, file(t, "source-root: /one\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"/one"}, cfg.SourceRoots)
	_, err = load(t, true, nil, nil, file(t, "weaviate-url: [http://a, http://b]\n"))
	require.ErrorContains(t, err, "weaviate-url takes one value, not 2")
	cfg, err = load(t, true, nil, nil, "")
	require.NoError(t, err)
	require.Empty(t, cfg.SourceRoots)
}

func TestLimitMemory(t *testing.T) { //nolint:paralleltest // the limit is the process's
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for _, tt := range []struct{ before, mib, want int64 }{
		{math.MaxInt64, 0, math.MaxInt64}, {math.MaxInt64, service.DefaultMemoryMiB, service.DefaultMemoryMiB << 20},
		{100 << 20, service.DefaultMemoryMiB, 100 << 20}, {300 << 20, service.DefaultMemoryMiB, service.DefaultMemoryMiB << 20},
	} {
		debug.SetMemoryLimit(tt.before)
		(&service.Config{MemoryMiB: int(tt.mib)}).LimitMemory()
		require.Equal(t, tt.want, debug.SetMemoryLimit(-1))
	}
}
