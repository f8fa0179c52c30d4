package session

import (
	"container/list"
	"context"
	"sync"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// cacheBytes bounds the payloads of the events whose messages are cached. Only the latest event may be larger.
const cacheBytes = 24 << 20

// recent caches the messages of recently read events for all sessions of the process. Each step that works on a window
// opens the session again, several at a time, and a long message is in many windows.
var recent = newCache(cacheBytes)

// eventKey identifies an event in the log of a store. Events never change, but that an erasure takes messages out of them.
type eventKey struct {
	log      *eventlog.Store
	id, hash string
}

// cache holds the messages of the most recently used events. It lets one caller at a time read an event. It is safe for
// concurrent use.
type cache struct {
	limit int

	mu    sync.Mutex
	bytes int
	// order lists the cached events, the most recently used first. byKey finds them.
	order *list.List
	byKey map[eventKey]*list.Element
	// reading lists the events that callers are reading. A channel is closed when its caller is done.
	reading map[eventKey]chan struct{}
}

type cached struct {
	eventKey
	bytes    int
	messages []schema.Message
}

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), byKey: map[eventKey]*list.Element{}, reading: map[eventKey]chan struct{}{}}
}

// claim returns the messages of the event if they are cached. If not, the caller must read the event and then call
// release, unless another caller is reading it: then wait is closed when that one is done.
func (c *cache) claim(k eventKey) (messages []schema.Message, ok bool, wait <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byKey[k]; ok {
		c.order.MoveToFront(at)
		return at.Value.(cached).messages, true, nil
	}
	if wait, ok := c.reading[k]; ok {
		return nil, false, wait
	}
	c.reading[k] = make(chan struct{})
	return nil, false, nil
}

// release ends a claim. The messages are cached unless they are nil, which means that they could not be read.
func (c *cache) release(k eventKey, bytes int, messages []schema.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.reading[k])
	delete(c.reading, k)
	if messages == nil {
		return
	}
	c.byKey[k] = c.order.PushFront(cached{k, bytes, messages})
	c.bytes += bytes
	for c.bytes > c.limit && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(cached)
		delete(c.byKey, last.eventKey)
		c.bytes -= last.bytes
	}
}

// load returns the messages of the events, which are in order, by their index in the slice. It reads those that are
// neither cached nor being read by others.
func (c *cache) load(ctx context.Context, s *Session, events []eventlog.Heading) ([][]schema.Message, error) {
	out := make([][]schema.Message, len(events))
	for missing := indexes(len(events)); len(missing) > 0; {
		var claimed, others []int
		var wait <-chan struct{}
		for _, i := range missing {
			messages, ok, busy := c.claim(eventKey{s.log, events[i].ID, events[i].Checksum})
			switch {
			case ok:
				out[i] = messages
			case busy != nil:
				others, wait = append(others, i), busy
			default:
				claimed = append(claimed, i)
			}
		}
		if err := c.read(ctx, s, events, claimed, out); err != nil {
			return nil, err
		}
		if missing = others; wait != nil {
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	return out, nil
}

// read reads the claimed events into out and releases them all.
func (c *cache) read(ctx context.Context, s *Session, events []eventlog.Heading, claimed []int, out [][]schema.Message) (err error) {
	if len(claimed) == 0 {
		return nil
	}
	headings := make([]eventlog.Heading, len(claimed))
	for n, i := range claimed {
		headings[n] = events[i]
	}
	defer func() {
		for _, i := range claimed {
			c.release(eventKey{s.log, events[i].ID, events[i].Checksum}, events[i].Bytes, out[i])
		}
	}()
	n := 0
	for _, messages := range s.messages(ctx, headings, &err) {
		out[claimed[n]] = messages
		n++
	}
	return err
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
