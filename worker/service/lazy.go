package service

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
)

// Lazy is a connection that is opened when it is first needed, and then kept. Callers who need it at the same time share one
// attempt to open it, and its error; the next caller tries again. The zero value is ready, and safe for concurrent use.
type Lazy[T any] struct {
	kept    atomic.Pointer[T]
	opening singleflight.Group
}

// Get returns the connection, and opens it if there is none. It waits until ctx ends; the attempt goes on for others.
func (l *Lazy[T]) Get(ctx context.Context, open func(context.Context) (T, error)) (none T, err error) {
	if kept := l.kept.Load(); kept != nil {
		return *kept, nil
	}
	opened := l.opening.DoChan("", func() (any, error) {
		if kept := l.kept.Load(); kept != nil {
			return *kept, nil
		}
		conn, err := open(context.WithoutCancel(ctx))
		if err == nil {
			l.kept.Store(&conn)
		}
		return conn, err
	})
	select {
	case r := <-opened:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// Drop passes the connection to shut, if there is one. The next caller opens another.
func (l *Lazy[T]) Drop(shut func(T)) {
	if kept := l.kept.Swap(nil); kept != nil {
		shut(*kept)
	}
}
