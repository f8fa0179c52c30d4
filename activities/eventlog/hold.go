package eventlog

import (
	"context"
	"fmt"
	"time"

	"axiommind/schema"
)

// Held are appends to one stream that are to become a single one: see [Store.Hold].
type Held struct {
	store  *Store
	stream string
	// end is the stream with the held events, if there are any.
	end tail
	// base is where the stream ends in the log.
	base     uint64
	events   []schema.Event
	headings map[string][2]string
}

// heldKey is the key of a context value: the [Held] of a stream.
type heldKey struct{}

// Hold returns a context in which appends to the stream are kept in memory. Reads of the stream through the context
// find them, and [Held.Store] appends all of them at once. Without it they are lost: the work in between has to be
// repeatable. The context has to know the stream's head (see [WithHead]), and is for one goroutine. A stream that the
// store does not remember whole, or that grows too long for that, is appended to directly.
func (s *Store) Hold(ctx context.Context, stream string) (context.Context, *Held) {
	h := &Held{store: s, stream: stream, headings: map[string][2]string{}}
	return context.WithValue(ctx, heldKey{}, h), h
}

// StoreHeld appends the events of the stream that the context holds.
func (s *Store) StoreHeld(ctx context.Context, stream string) error {
	if held := s.held(ctx, stream); held != nil {
		return held.Store(ctx)
	}
	return nil
}

// takes reports whether the events can be held behind the tail.
func (h *Held) takes(t tail, b batch) bool { // The bounds are below those of a batch.
	return t.whole() && len(t.events)+len(b.events) <= tailRows && t.bytes+b.bytes <= tailBytes
}

// add holds the events, which follow the tail.
func (h *Held) add(t tail, fresh []schema.Event, b batch) {
	if len(h.events) == 0 {
		h.base = t.last
	}
	h.end = t.extended(fresh, fresh[len(fresh)-1].Seq, time.Now())
	h.events = append(h.events, fresh...)
	for _, e := range fresh {
		if heading, ok := b.headings[e.ID]; ok {
			h.headings[e.ID] = heading
		}
	}
}

// Store appends the held events as one batch. It fails with [ErrConcurrentWriter] if the stream has grown meanwhile, or
// if the store has learned of an erasure since: the events may repeat erased text. Held is empty afterwards, also after
// an error.
func (h *Held) Store(ctx context.Context) error {
	unlock, err := h.store.locks.Lock(ctx, h.stream)
	if err != nil {
		return fmt.Errorf("append to %q: %w", h.stream, err)
	}
	defer unlock()
	return h.flush(ctx)
}

// flush is [Held.Store] for a caller that has locked the stream.
func (h *Held) flush(ctx context.Context) error {
	events, headings, base, born := h.events, h.headings, h.base, h.end.loadedAt
	h.events, h.end, h.headings = nil, tail{}, map[string][2]string{}
	if len(events) == 0 {
		return nil
	}
	if _, err := h.store.tombstones(ctx); err != nil {
		return fmt.Errorf("append to %q: %w", h.stream, err)
	}
	if h.store.tails.clearedSince(born) {
		return fmt.Errorf("append %d events to %q, of which something was erased since it was read: %w", len(events), h.stream, ErrConcurrentWriter)
	}
	b := batch{events: events, of: make([]int, len(events)), sums: make([]string, len(events)), headings: headings}
	for i, e := range events {
		b.of[i], b.sums[i] = i, e.Checksum
	}
	ctx = WithHead(context.WithValue(ctx, heldKey{}, (*Held)(nil)), h.stream, schema.StreamHead{Known: true, Seq: base})
	headOf(ctx, h.stream).hasRead(base)
	_, err := h.store.appendLocked(ctx, h.stream, events, b)
	return err
}
