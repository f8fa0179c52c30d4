package eventlog

import (
	"context"
	"sync"
)

// KeyedMutex is a mutex per key. Waiting for it ends with the context. The zero value is unlocked.
type KeyedMutex struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// Lock waits until the key is free, and returns how to unlock it.
func (m *KeyedMutex) Lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		m.mu.Lock()
		released, busy := m.held[key]
		if !busy {
			if m.held == nil {
				m.held = map[string]chan struct{}{}
			}
			released = make(chan struct{})
			m.held[key] = released
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.held, key)
				m.mu.Unlock()
				close(released)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
