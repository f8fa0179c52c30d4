package stategraph

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Context is the part of a context that the engine uses. Both context.Context and Temporal's workflow.Context
// implement it.
type Context interface{ Err() error }

// Runner runs the n tasks of a superstep and returns when all have finished. It may choose any order and concurrency,
// because the results do not depend on them.
type Runner[C Context] interface {
	Run(ctx C, n int, task func(ctx C, i int))
}

// PanicOwner may be implemented by a Runner whose environment uses panics to unwind goroutines. Panics that it owns
// are passed on, all others become a PanicError. origin is the frame that panicked.
type PanicOwner interface {
	OwnsPanic(value any, origin runtime.Frame) bool
}

// InOrder runs tasks one after the other.
type InOrder[C Context] struct{}

// Run implements Runner.
func (InOrder[C]) Run(ctx C, n int, task func(ctx C, i int)) {
	for i := range n {
		task(ctx, i)
	}
}

// Goroutines runs at most Limit tasks at once. If Limit is not positive, it runs all at once.
type Goroutines struct{ Limit int }

// Run implements Runner.
func (g Goroutines) Run(ctx context.Context, n int, task func(ctx context.Context, i int)) {
	if n == 1 {
		task(ctx, 0)
		return
	}
	workers := n
	if g.Limit > 0 {
		workers = min(g.Limit, n)
	}
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				task(ctx, int(i))
			}
		})
	}
	wg.Wait()
}

// guard turns a panic of fn into a PanicError, unless owner owns it. After runtime.Goexit it lets the goroutine end.
func guard(owner PanicOwner, fn func() error) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v == nil {
			return
		}
		origin, stack := panicOrigin()
		if owner != nil && owner.OwnsPanic(v, origin) {
			panic(v)
		}
		err = &PanicError{Value: v, Stack: stack}
	}()
	err = fn()
	returned = true
	return err
}
