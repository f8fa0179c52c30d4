package commandtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

// sharing is the command line that tests share: one database, and one worker without options. It starts with the first of
// these tests and ends with the last.
var sharing struct {
	sync.Mutex
	first *CLI
	bench *sharedBench
	users int
	names int
}

// sharedBench replaces the test in which a shared resource is created, which outlives that test. It fails when a test that
// uses it does.
type sharedBench struct {
	testing.TB
	failed  bool
	cleanup []func()
}

func (b *sharedBench) Cleanup(f func())         { b.cleanup = append(b.cleanup, f) }
func (b *sharedBench) Context() context.Context { return context.Background() }
func (b *sharedBench) Failed() bool             { return b.failed }

// SharedCLI returns the command line with a database and a worker that other tests use at the same time. The project is the
// test's own. It is for tests of one project that neither count the rows of the database nor change its operation.
func SharedCLI(t *testing.T) *CLI {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	if sharing.first == nil {
		bench := &sharedBench{TB: t}
		sharing.bench = bench
		c := NewCLI(bench)
		c.Work(bench)
		sharing.first = c
	}
	sharing.users++
	t.Cleanup(func() {
		sharing.Lock()
		defer sharing.Unlock()
		bench := sharing.bench
		bench.failed = bench.failed || t.Failed()
		if sharing.users--; sharing.users > 0 {
			return
		}
		sharing.first, sharing.bench, bench.TB = nil, nil, t
		for _, f := range slices.Backward(bench.cleanup) {
			f()
		}
	})
	sharing.names++
	mine := *sharing.first
	mine.Project = fmt.Sprintf("%s-%03d", mine.Project, sharing.names)
	mine.Env = maps.Clone(mine.Env)
	return &mine
}
