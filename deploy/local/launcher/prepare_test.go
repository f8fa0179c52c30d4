package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stack"
	"axiommind/deploy/local/stacktest"
	"axiommind/worker/service"
	located "axiommind/worker/settings"
)

// The file holds tokens: no one else reads it or its directory, also when they were there before. The
// programs find the address and the key in it.
func TestAddressesArePrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "axiommind", "local.yaml")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	a := stack.Addresses{
		Temporal: "127.0.0.1:1", TemporalUI: "http://127.0.0.1:4", ClickHouseDSN: "http://default:token@127.0.0.1:2/default", WeaviateHost: "127.0.0.1:3", WeaviateKey: "key",
	}
	require.NoError(t, writeAddresses(path, a))
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	require.NoError(t, cfg.Load(flags, func(string) string { return "" }, path))
	require.Equal(t, a.ClickHouseDSN, cfg.ClickHouseDSN)
	require.Equal(t, "http://127.0.0.1:3", cfg.WeaviateURL)
	require.Equal(t, "key", cfg.WeaviateAPIKey)
	require.Equal(t, "http://127.0.0.1:4", cfg.TemporalUI)
}

// A key that the stack has not made is not written anywhere.
func TestGivenKeyIsNotKept(t *testing.T) {
	t.Parallel()
	given := stack.Addresses{WeaviateHost: stacktest.Weaviate(t), WeaviateKey: stacktest.WeaviateKey(t)}
	st, err := stack.Start(t.Context(), stack.Options{Dir: t.TempDir(), Weaviate: true, Given: given})
	require.NoError(t, err)
	t.Cleanup(st.Stop)
	require.Equal(t, given, st.Addresses())
	require.Empty(t, settings{given: given}.kept(st).WeaviateKey)
}

// Output for people contains no token.
func TestShownAddressesHoldNoToken(t *testing.T) {
	t.Parallel()
	a := stack.Addresses{ClickHouseDSN: "http://default:token@127.0.0.1:2/default", WeaviateHost: "127.0.0.1:3", WeaviateKey: "token"}
	var out strings.Builder
	printAddresses(&out, t.TempDir(), a, shownRoot("s3://token@bucket/memory?key=token"))
	require.Contains(t, out.String(), "http://127.0.0.1:2/default")
	require.Contains(t, out.String(), "s3://bucket/memory")
	require.NotContains(t, out.String(), "token@")
	require.NotContains(t, out.String(), "key=")
	for _, s := range servers(t.Context(), &state{Addresses: a}) {
		require.NotContains(t, s.Address+s.State, "token")
	}
}

// Two stacks write the files of the memory to places of their own, unless the environment names one.
func TestStacksHaveFilesOfTheirOwn(t *testing.T) {
	t.Setenv(memoryVariable, "")
	dir := t.TempDir()
	require.Equal(t, filepath.Join(dir, "memory"), workerConfig(t, stack.Addresses{}, dir).MemoryRoot)
	t.Setenv(memoryVariable, "s3://bucket")
	require.Equal(t, "s3://bucket", workerConfig(t, stack.Addresses{}, dir).MemoryRoot)
}

// workerConfig is the configuration that a worker reads from the environment that it is given.
func workerConfig(t *testing.T, a stack.Addresses, dir string) service.Config {
	t.Helper()
	env := map[string]string{}
	for _, pair := range workerEnvironment(a, dir) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	require.NoError(t, cfg.Load(flags, func(name string) string { return env[name] }, "/another stack's file"))
	return cfg
}

// A stack that ends takes its addresses with it, and leaves those of a stack that started later.
func TestAddressesAreForgotten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "axiommind", "local.yaml")
	first, second := stack.Addresses{Temporal: "127.0.0.1:1"}, stack.Addresses{Temporal: "127.0.0.1:2"}
	require.NoError(t, forgetAddresses(path, first), "nothing was written yet")
	require.NoError(t, writeAddresses(path, first))
	require.NoError(t, writeAddresses(path, second))
	require.NoError(t, forgetAddresses(path, first))
	require.FileExists(t, path)
	require.NoError(t, forgetAddresses(path, second))
	require.NoFileExists(t, path)
}

func TestStoreOfAnotherVersion(t *testing.T) {
	t.Parallel()
	err := otherVersion("/데이터", fmt.Errorf("prepare: migration 2: %w", clickhouse.ErrSchema))
	require.ErrorIs(t, err, clickhouse.ErrSchema)
	require.ErrorContains(t, err, "move that directory away")
	require.ErrorContains(t, err, "in /데이터.")
	require.Equal(t, io.EOF, otherVersion("/data", io.EOF))
}

// The first start makes the keys of payloads, and later ones take them: Temporal's histories last as long. Programs find
// them as they find the addresses.
func TestPayloadKeysLast(t *testing.T) {
	t.Setenv(payloadKeyVariable, "")
	dir := t.TempDir()
	file, err := payloadKeys(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, payloadKeyFile), file)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	again, err := payloadKeys(dir)
	require.NoError(t, err)
	require.Equal(t, file, again)
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, kept)

	a := stack.Addresses{Temporal: "127.0.0.1:1", PayloadKeyFile: file}
	require.Equal(t, file, workerConfig(t, a, dir).PayloadKeyFile)
	path := filepath.Join(dir, "local.yaml")
	require.NoError(t, writeAddresses(path, a))
	servers, err := located.Load("", func(string) string { return "" }, path)
	require.NoError(t, err)
	require.Equal(t, file, servers.PayloadKeyFile)

	own := filepath.Join(dir, "own.keys")
	t.Setenv(payloadKeyVariable, own)
	_, err = payloadKeys(dir)
	require.ErrorIs(t, err, fs.ErrNotExist, "a file that the environment names is not made")
	require.NoError(t, os.WriteFile(own, text, 0o600))
	named, err := payloadKeys(dir)
	require.NoError(t, err)
	require.Equal(t, own, named)
}
