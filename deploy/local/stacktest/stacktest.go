// Package stacktest gives tests real servers: one of each kind per test binary,
// started when the first test asks for it, on free ports, with nothing kept.
// The servers end with the test binary, however it ends.
package stacktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"axiommind/deploy/local/child"
	"axiommind/deploy/local/stack"
)

// The addresses of servers to use instead of starting any, by environment
// variable, and the API key of that Weaviate.
const (
	EnvClickHouse  = "AXIOMMIND_TEST_CLICKHOUSE"
	EnvTemporal    = "AXIOMMIND_TEST_TEMPORAL"
	EnvWeaviate    = "AXIOMMIND_TEST_WEAVIATE"
	EnvWeaviateKey = "AXIOMMIND_TEST_WEAVIATE_KEY"
)

// startTimeout covers a first build of a server.
const startTimeout = 15 * time.Minute

// server is one lazily started stack with one server.
type server struct {
	once  sync.Once
	stack *stack.Stack
	dir   string
	err   error
}

var (
	clickHouse server
	mu         sync.Mutex
	databases  int
	dirs       []string
)

// Dir makes a directory that is removed when the test binary ends: for what several tests share.
func Dir(name string) (string, error) {
	dir, err := os.MkdirTemp("", fmt.Sprintf("axiommind-%s-%d-", name, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a directory for %s: %w", name, err)
	}
	mu.Lock()
	defer mu.Unlock()
	dirs = append(dirs, dir)
	return dir, nil
}

func (s *server) get(t testing.TB, name string, opts stack.Options) *stack.Stack {
	t.Helper()
	s.once.Do(func() {
		if s.dir, s.err = Dir(name); s.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		opts.Dir, opts.Ephemeral = s.dir, true
		s.stack, s.err = stack.Start(ctx, opts)
	})
	if s.err != nil {
		t.Fatalf("start %s: %v", name, s.err)
	}
	return s.stack
}

func (s *server) stop() {
	if s.stack != nil {
		s.stack.Stop()
	}
}

// ClickHouse returns the DSN of the ClickHouse server of this test binary,
// such as "http://default:token@127.0.0.1:41234/default".
func ClickHouse(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(EnvClickHouse); dsn != "" {
		return dsn
	}
	return clickHouse.get(t, "clickhouse", stack.Options{ClickHouse: true}).Addresses().ClickHouseDSN
}

// Database makes a fresh database for the test, drops it at the test's end, and
// returns a DSN that names it.
func Database(t testing.TB) string {
	t.Helper()
	dsn, err := url.Parse(ClickHouse(t))
	if err != nil {
		t.Fatalf("parse the ClickHouse DSN: %v", err)
	}
	name := makeDatabase(t, dsn)
	t.Cleanup(func() { run(t, dsn, "DROP DATABASE "+name+" SYNC") })
	dsn.Path = "/" + name
	return dsn.String()
}

func makeDatabase(t testing.TB, dsn *url.URL) (name string) {
	t.Helper()
	mu.Lock()
	databases++
	name = fmt.Sprintf("test_%d_%d", os.Getpid(), databases)
	mu.Unlock()
	run(t, dsn, "CREATE DATABASE "+name)
	return name
}

// run runs a statement and returns what it prints.
func run(t testing.TB, dsn *url.URL, sql string) string {
	t.Helper()
	text, err := statement(dsn, sql)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func statement(dsn *url.URL, sql string) (string, error) {
	target := url.URL{Scheme: "http", Host: dsn.Host, Path: "/", User: dsn.User}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, target.String(), strings.NewReader(sql))
	if err != nil {
		return "", fmt.Errorf("run %q: %w", sql, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("run %q: %w", sql, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(string(text))
	}
	if err != nil {
		return "", fmt.Errorf("run %q: %w", sql, err)
	}
	return string(text), nil
}

// Main runs the tests of a package, stops what they started, and exits. A
// package's TestMain calls it to leave no temporary directory behind.
func Main(m *testing.M) {
	sweep()
	code := m.Run()
	if dsn, err := url.Parse(os.Getenv(EnvClickHouse)); err == nil && dsn.Host != "" {
		dropPool(func(name string) { _, _ = statement(dsn, "DROP DATABASE "+name+" SYNC") })
	}
	for _, s := range []*server{&temporal, &weaviate, &clickHouse} {
		s.stop()
	}
	for _, dir := range dirs {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// sweep removes what killed test binaries have left.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), "axiommind-*-*-*"))
	for _, dir := range dirs {
		var kind string
		var pid, id int
		name := strings.ReplaceAll(strings.TrimPrefix(filepath.Base(dir), "axiommind-"), "-", " ")
		if n, _ := fmt.Sscan(name, &kind, &pid, &id); n == 3 && !child.Alive(pid) {
			_ = os.RemoveAll(dir)
		}
	}
}
