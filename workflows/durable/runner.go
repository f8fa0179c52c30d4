// Package durable runs stategraph graphs inside Temporal workflows: the tasks
// of a superstep are coroutines of the workflow, so that nodes may call
// activities, wait for timers and signals, and replay the same way every time.
package durable

import (
	"errors"
	"runtime"
	"strconv"
	"strings"

	"go.temporal.io/sdk/workflow"

	"axiommind/workflows/stategraph"
)

// Runner implements stategraph.Runner on workflow.Go. At most Limit tasks of a
// superstep run at once, all of them when Limit is not positive. A superstep
// of one task runs on the caller's coroutine.
type Runner struct{ Limit int }

// Run implements stategraph.Runner.
func (r Runner) Run(ctx workflow.Context, n int, task func(ctx workflow.Context, i int)) {
	if n == 1 {
		task(ctx, 0)
		return
	}
	workers := n
	if r.Limit > 0 {
		workers = min(r.Limit, n)
	}
	next := 0
	done := workflow.NewWaitGroup(ctx)
	for w := range workers {
		done.Add(1)
		workflow.GoNamed(ctx, "stategraph-"+strconv.Itoa(w), func(ctx workflow.Context) {
			for next < n {
				i := next
				next++
				task(ctx, i)
			}
			// Not deferred: a coroutine that Temporal destroys must not touch the workflow.
			done.Done()
		})
	}
	done.Wait(ctx)
}

// OwnsPanic implements stategraph.PanicOwner: panics that the SDK raises, for
// nondeterminism or for a misused workflow API, have to reach the SDK, which
// then blocks or fails the workflow task by its own policy.
func (Runner) OwnsPanic(_ any, origin runtime.Frame) bool {
	return strings.HasPrefix(origin.Function, "go.temporal.io/sdk/")
}

// Cause returns what a node failed with, from under the names of the nodes it
// passed through; any other error it returns as it is. A workflow that fails or
// is cancelled by a node should return this: Temporal looks at the outermost
// error only.
func Cause(err error) error {
	var node *stategraph.NodeError
	for errors.As(err, &node) {
		err = node.Err
	}
	return err
}
