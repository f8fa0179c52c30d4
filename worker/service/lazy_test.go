package service

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Callers share an attempt and its error; the next one tries again, and then all have the same connection until it is dropped.
func TestLazy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l Lazy[*int]
		var attempts atomic.Int32
		down := errors.New("down")
		open := func(err error) func(context.Context) (*int, error) {
			return func(ctx context.Context) (*int, error) {
				attempts.Add(1)
				time.Sleep(time.Second)
				return new(int), errors.Join(err, ctx.Err())
			}
		}
		together := func(err error) (all []*int, failed int) {
			var mu sync.Mutex
			var group sync.WaitGroup
			for range 50 {
				group.Go(func() {
					conn, err := l.Get(t.Context(), open(err))
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						failed++
						return
					}
					all = append(all, conn)
				})
			}
			group.Wait()
			return all, failed
		}
		began := time.Now()
		_, failed := together(down)
		require.Equal(t, []any{50, int32(1), time.Second}, []any{failed, attempts.Load(), time.Since(began)})

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := l.Get(ctx, open(nil))
		require.ErrorIs(t, err, context.DeadlineExceeded, "who gives up does not wait")
		time.Sleep(2 * time.Second)
		all, failed := together(down)
		require.Zero(t, failed, "and the connection is there for the others")
		require.Equal(t, int32(2), attempts.Load())
		for _, conn := range all {
			require.Same(t, all[0], conn)
		}
		var shut []*int
		l.Drop(func(conn *int) { shut = append(shut, conn) })
		l.Drop(func(conn *int) { shut = append(shut, conn) })
		require.Equal(t, all[:1], shut)
	})
}
