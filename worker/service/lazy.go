package service

import (
	"context"
	"sync"
)

// Lazy is a connection that is opened when it is first needed, and then kept. One that can't be opened is tried again by the
// next caller. The zero value is ready, and safe for concurrent use.
type Lazy[T any] struct {
	once sync.Once
	// kept is taken by the caller that reads or opens the connection.
	kept chan *T
}

func (l *Lazy[T]) init() {
	l.once.Do(func() {
		l.kept = make(chan *T, 1)
		l.kept <- nil
	})
}

// Get returns the connection, and opens it if there is none. While another caller opens it, Get waits until ctx ends.
func (l *Lazy[T]) Get(ctx context.Context, open func(context.Context) (T, error)) (none T, err error) {
	l.init()
	var kept *T
	select {
	case kept = <-l.kept:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	defer func() { l.kept <- kept }()
	if kept != nil {
		return *kept, nil
	}
	conn, err := open(ctx)
	if err != nil {
		return none, err
	}
	kept = &conn
	return conn, nil
}

// Drop passes the connection to shut, if there is one. The next caller opens another.
func (l *Lazy[T]) Drop(shut func(T)) {
	l.init()
	kept := <-l.kept
	l.kept <- nil
	if kept != nil {
		shut(*kept)
	}
}
