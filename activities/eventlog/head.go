package eventlog

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"axiommind/schema"
)

// headKey is the key of a context value: the heads that the caller knows, by stream.
type headKey struct{}

// knownHead is a head in a context, linked to the earlier heads of the context.
type knownHead struct {
	stream string
	head   schema.StreamHead
	next   *knownHead
	// asked is true once the server was asked through the context.
	asked atomic.Bool
	// read is the end of the stream when it was first read through the context, moved on by appends through it. It
	// is unread before.
	read atomic.Int64
}

const unread = -1

// hasRead records where the stream ended when it was read.
func (k *knownHead) hasRead(last uint64) { k.read.CompareAndSwap(unread, int64(last)) }

// outdated reports whether the stream has grown to last since it was read, which makes everything derived from it
// outdated.
func (k *knownHead) outdated(last uint64) bool {
	at := k.read.Load()
	return at != unread && uint64(at) != last
}

// WithHead returns a context that carries the end of the stream for the store. Only the stream's only writer knows the
// end: the workflow that writes it hands the head from one activity to the next. With it, the store does not ask the
// server for events that it read or appended itself in the last half minute. A head that is too low does no harm: the
// server refuses an append that claims a position twice. If the context was used to read the stream before, and the
// stream has grown since, the append fails with [ErrConcurrentWriter], because the events were derived from an outdated
// stream. The caller then begins again with a new context: a context is for one attempt at one piece of work. The
// writer also promises that its dedupe keys are of this stream: a key that is in another stream may be stored a second
// time, and such a copy is hidden.
func WithHead(ctx context.Context, stream string, head schema.StreamHead) context.Context {
	if !head.Known {
		return ctx
	}
	next, _ := ctx.Value(headKey{}).(*knownHead)
	k := &knownHead{stream: stream, head: head, next: next}
	k.read.Store(unread)
	return context.WithValue(ctx, headKey{}, k)
}

// AsWriter is [WithHead] for a writer that may not know the head: unless the context carries it, the server is asked for
// it then.
func (s *Store) AsWriter(ctx context.Context, stream string, head schema.StreamHead) (context.Context, error) {
	if !head.Known {
		if headOf(ctx, stream) != nil {
			return ctx, nil
		}
		var err error
		if head, err = s.Load(ctx, stream); err != nil {
			return ctx, err
		}
	}
	return WithHead(ctx, stream, head), nil
}

// retryKey is the key of a context value that is there if the work was begun before.
type retryKey struct{}

// WithRetry returns a context for work that another attempt may have done in part: heads may be too low. The store asks
// the server once for each stream.
func WithRetry(ctx context.Context) context.Context { return context.WithValue(ctx, retryKey{}, true) }

// headOf returns the head that the context carries for the stream, or nil.
func headOf(ctx context.Context, stream string) *knownHead {
	for k, _ := ctx.Value(headKey{}).(*knownHead); k != nil; k = k.next {
		if k.stream == stream {
			return k
		}
	}
	return nil
}

// Head returns the head of the stream as the store last saw it, for the stream's only writer to hand on. It sends no
// request.
func (s *Store) Head(stream string) schema.StreamHead {
	t, ok := s.tails.get(stream)
	return schema.StreamHead{Known: ok, Seq: t.last}
}

// Load reads a short stream into the store's memory and returns its head. Of a long one it reads the head alone.
func (s *Store) Load(ctx context.Context, stream string) (schema.StreamHead, error) {
	t, ok := s.tails.get(stream)
	if !ok {
		t = tail{}
	}
	t, err := s.readTail(ctx, stream, t, t.last)
	return schema.StreamHead{Known: err == nil, Seq: t.last}, err
}

// Bounds of the tail cache.
const (
	// tailRows and tailBytes bound the events of one stream, allTailBytes those of all.
	tailRows     = 1000
	tailBytes    = 2 << 20
	allTailBytes = 32 << 20
	// entryBytes is the approximate size of a tail without events.
	entryBytes = 512
	// tailTrust is how long the server's answer about the end of a stream is trusted, if the only writer agrees. It is
	// far shorter than the time after which the server forgets the token of an append.
	tailTrust = 30 * time.Second
	// tailRead is the number of events up to which a stream is read as a whole.
	tailRead = 256
)

// tail is the end of a stream that the store remembers: the events after from, up to last. It never changes, except
// that events may be added behind.
type tail struct {
	events     []schema.Event
	from, last uint64
	bytes      int64
	// seen is when the server reported last as the end, and born when the first of the events was read.
	seen, loadedAt time.Time
}

// whole reports whether the tail is all of the stream.
func (t tail) whole() bool { return t.from == 0 }

// after returns the events after the position. It returns false if the tail begins later.
func (t tail) after(seq uint64) ([]schema.Event, bool) {
	if seq < t.from {
		return nil, false
	}
	i, found := slices.BinarySearchFunc(t.events, seq, func(e schema.Event, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	})
	if found {
		i++
	}
	return t.events[i:], true
}

// extended returns the tail with the events that follow it, up to last. If it grows too large, it forgets all events.
func (t tail) extended(events []schema.Event, last uint64, now time.Time) tail {
	out := tail{events: append(slices.Clip(t.events), events...), from: t.from, last: last, bytes: t.bytes, seen: now, loadedAt: t.loadedAt}
	if out.loadedAt.IsZero() {
		out.loadedAt = now
	}
	for _, e := range events {
		out.bytes += eventBytes(e)
	}
	if len(out.events) > tailRows || out.bytes > tailBytes {
		return tail{from: last, last: last, seen: now, loadedAt: now}
	}
	return out
}

// tails remembers the ends of the streams that were used last.
type tails struct {
	mu    sync.Mutex
	of    map[string]*list.Element
	order list.List
	bytes int64
	// cleared is when all were forgotten last.
	cleared time.Time
}

type namedTail struct {
	stream string
	tail
}

func (c *tails) get(stream string) (tail, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.of[stream]
	if !ok {
		return tail{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(namedTail).tail, true
}

// put stores the tail, unless a longer one is known already or the tail was read before the cache was cleared.
func (c *tails) put(stream string, t tail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.loadedAt.Before(c.cleared) {
		return
	}
	if e, ok := c.of[stream]; ok {
		old := e.Value.(namedTail).tail
		if old.last > t.last {
			return
		}
		c.bytes -= old.bytes + entryBytes
		c.order.Remove(e)
	}
	c.of[stream] = c.order.PushFront(namedTail{stream, t})
	c.bytes += t.bytes + entryBytes
	for c.bytes > allTailBytes && c.order.Len() > 1 {
		last := c.order.Back()
		old := last.Value.(namedTail)
		c.bytes -= old.bytes + entryBytes
		delete(c.of, old.stream)
		c.order.Remove(last)
	}
}

func (c *tails) drop(stream string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.of[stream]; ok {
		c.bytes -= e.Value.(namedTail).bytes + entryBytes
		delete(c.of, stream)
		c.order.Remove(e)
	}
}

// clear forgets all streams.
func (c *tails) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of, c.bytes, c.cleared = map[string]*list.Element{}, 0, time.Now()
	c.order.Init()
}

// clearedSince reports whether all streams were forgotten after that time.
func (c *tails) clearedSince(t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.Before(c.cleared)
}

// tail returns the end of the stream, if the context carries its head: from memory, or from the server.
func (s *Store) tail(ctx context.Context, stream string) (tail, bool, error) {
	k := headOf(ctx, stream)
	if k == nil {
		return tail{}, false, nil
	}
	if _, err := s.tombstones(ctx); err != nil { // The remembered tail may have been erased.
		return tail{}, false, err
	}
	if held := s.held(ctx, stream); held != nil && len(held.events) > 0 {
		if s.tails.clearedSince(held.end.loadedAt) {
			return tail{}, false, fmt.Errorf("read %q, of which something was erased since: %w", stream, ErrConcurrentWriter)
		}
		return held.end, true, nil
	}
	head := k.head
	t, ok := s.tails.get(stream)
	switch {
	case ok && t.last >= head.Seq && time.Since(t.seen) < tailTrust && (k.asked.Load() || ctx.Value(retryKey{}) == nil):
		return t, true, nil
	case !ok && head.Seq > tailRead:
		t = tail{from: head.Seq, last: head.Seq}
	}
	t, err := s.readTail(ctx, stream, t, head.Seq)
	k.asked.Store(err == nil)
	return t, err == nil, err
}

// readTail reads the events after the tail from the server, and remembers them. The stream ends at the given position
// or later.
func (s *Store) readTail(ctx context.Context, stream string, t tail, head uint64) (tail, error) {
	now := time.Now()
	var events []schema.Event
	last, rows, kept := t.last, 0, true
	err := s.small(ctx, tailBytes/4, func(e schema.Event, large, hidden bool) error {
		rows++
		last = max(last, e.Seq)
		if kept = kept && !large && !hidden; kept {
			events = append(events, e)
			return check(e)
		}
		return nil
	}, `WHERE stream = ? AND seq > ? LIMIT ?`, stream, t.last, tailRead+1)
	if err != nil {
		return tail{}, fmt.Errorf("read the end of %q: %w", stream, err)
	}
	kept = kept && inOrder(events, t.events)
	if rows > tailRead {
		kept = false
		if last, err = s.End(ctx, stream); err != nil {
			return tail{}, err
		}
	}
	if last < head {
		return tail{}, fmt.Errorf("read the end of %q: it is at %d, and its writer has written %d: %w", stream, last, head, ErrNotFound)
	}
	if kept {
		t = t.extended(events, last, now)
	} else {
		t = tail{from: last, last: last, seen: now, loadedAt: now}
	}
	s.tails.put(stream, t)
	return t, nil
}

// inOrder sorts the events by their positions. It returns false if two are at the same place, or if one is there twice:
// then some are hidden copies.
func inOrder(events, before []schema.Event) bool {
	slices.SortFunc(events, func(a, b schema.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	ids := make(map[string]bool, len(events)+len(before))
	for _, e := range before {
		ids[e.ID] = true
	}
	for i, e := range events {
		if ids[e.ID] || i > 0 && events[i-1].Seq == e.Seq {
			return false
		}
		ids[e.ID] = true
	}
	return true
}

// eventBytes estimates the size of an event in a block.
func eventBytes(e schema.Event) int64 {
	const fixed = 256
	return fixed + int64(len(e.Payload)+len(e.PayloadRedacted)+len(e.DedupeKey)+len(e.Stream))
}

// stored returns the events that the tail contains, by id.
func (t tail) stored(events []schema.Event) map[string]schema.Event {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return t.among(ids)
}

// among returns the tail's events with one of the ids, by id.
func (t tail) among(ids []string) map[string]schema.Event {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	out := make(map[string]schema.Event, len(ids))
	for _, e := range t.events {
		if wanted[e.ID] {
			out[e.ID] = e
		}
	}
	return out
}

// held returns the held appends to the stream in the context, or nil.
func (s *Store) held(ctx context.Context, stream string) *Held {
	if h, _ := ctx.Value(heldKey{}).(*Held); h != nil && h.store == s && h.stream == stream {
		return h
	}
	return nil
}
