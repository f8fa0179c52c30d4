// Package durable runs stategraph graphs in Temporal workflows. The tasks of a superstep are coroutines of the
// workflow, so nodes may call activities and wait for timers and signals, and every replay takes the same course.
package durable

import (
	"errors"
	"runtime"
	"strconv"
	"strings"

	"go.temporal.io/sdk/workflow"

	"axiommind/workflows/stategraph"
)

// Runner implements stategraph.Runner with workflow.Go. At most Limit tasks of a superstep run at once, or all of
// them if Limit is not positive. A superstep with a single task runs on the caller's coroutine.
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
			// Do not defer this: a coroutine that Temporal destroys must not touch the workflow.
			done.Done()
		})
	}
	done.Wait(ctx)
}

// OwnsPanic implements stategraph.PanicOwner. Panics raised by the SDK, for nondeterminism or misuse of the workflow
// API, must reach the SDK. It then blocks or fails the workflow task by its own policy.
func (Runner) OwnsPanic(_ any, origin runtime.Frame) bool {
	return strings.HasPrefix(origin.Function, "go.temporal.io/sdk/")
}

// Cause returns the error with which a node failed, without the wrappers that name the nodes. Other errors are
// returned as they are. A workflow that a node fails or cancels should return this error, because Temporal looks only
// at the outermost one.
func Cause(err error) error {
	var node *stategraph.NodeError
	for errors.As(err, &node) {
		err = node.Err
	}
	return err
}
