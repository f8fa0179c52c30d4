// Package stacktest gives tests real servers. The packages of one `go test ./...` share them: see shared.go. Each test
// has a database, a namespace and names of projects of its own.
package stacktest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"axiommind/deploy/local/child"
)

var (
	mu   sync.Mutex
	made []string
)

// Dir makes a directory that is removed when the test binary ends: for files that several tests share.
func Dir(name string) (string, error) {
	dir, err := os.MkdirTemp("", fmt.Sprintf("axiommind-%s-%d-", name, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a directory for %s: %w", name, err)
	}
	mu.Lock()
	defer mu.Unlock()
	made = append(made, dir)
	return dir, nil
}

// parallel is the number of tests of a package that run at the same time, unless -parallel says otherwise. Tests of
// servers wait more than they compute.
const parallel = "8"

// Tests and their servers collect garbage at this value of GOGC, and above this memory more often, unless the environment
// says otherwise. With Go's own value it takes the tests of starter a third of their time. Temporal keeps more of a run
// of all tests than any test does.
const (
	garbage      = 400
	memory       = 2 << 30
	serverMemory = 4 << 30
)

// mainRuns is true once Main was called.
var mainRuns bool

// Main runs the tests of a package and exits. Each package that uses the servers calls it from TestMain: without it the
// test binary that is started as their host would run the tests once more.
func Main(m *testing.M) {
	mainRuns = true
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
		debug.SetMemoryLimit(memory)
	}
	if dir := os.Getenv(envHost); dir != "" {
		if err := runHost(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A stack that the user runs is none of a test's business.
	if err := os.Setenv("AXIOMMIND_LOCAL_FILE", os.DevNull); err != nil {
		panic(err)
	}
	sweep()
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for _, dir := range made {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "remove the tests' directories:", err)
		}
	}
	os.Exit(code)
}

// sweep removes the directories that killed test binaries have left.
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
