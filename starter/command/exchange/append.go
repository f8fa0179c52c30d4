package exchange

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// write appends the events that the log lacks, each at its position, or at the end of a shared stream. It appends to some
// streams at a time: one waits for the log, not for the log's processors.
func (x *importer) write(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	var sent sync.WaitGroup
	var lanes [writers]chan []schema.Event
	for i := range lanes {
		lane := make(chan []schema.Event)
		lanes[i] = lane
		group.Go(func() error {
			for fresh := range lane {
				err := x.append(ctx, fresh[0].Stream, fresh)
				sent.Done()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer func() {
			for _, lane := range lanes {
				close(lane)
			}
		}()
		erasures := false
		return x.each(func(fresh []schema.Event) error {
			// Streams of erasures come last in a backup, so that their tombstones refuse nothing of the others.
			if is := isErasure(fresh[0].Stream); is != erasures {
				sent.Wait()
				erasures = is
			}
			// A stream has one lane, which keeps its order.
			stream := fnv.New32a()
			_, _ = io.WriteString(stream, fresh[0].Stream)
			sent.Add(1)
			select {
			case lanes[stream.Sum32()%writers] <- fresh:
				return nil
			case <-ctx.Done():
				sent.Done()
				return context.Cause(ctx)
			}
		})
	})
	return group.Wait()
}

// each calls do with the events of the volumes that the log lacks, each time with some of one stream.
func (x *importer) each(do func(fresh []schema.Event) error) error {
	at := 0
	for _, v := range x.volumes {
		l, err := openLines(v)
		if err != nil {
			return err
		}
		for chunk, err := range l.chunks() {
			if err != nil {
				return err
			}
			fresh := make([]schema.Event, 0, len(chunk))
			for i, e := range chunk {
				if at+i < len(x.fresh) && x.fresh[at+i] {
					fresh = append(fresh, e)
				}
			}
			at += len(chunk)
			if len(fresh) == 0 {
				continue
			}
			if err := do(fresh); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillerKey is the key of the event that fills a position, for events that are erased or belong to others.
func fillerKey(stream string, seq uint64) string { return schema.EventErasedKey("import", stream, seq) }

// fillerID returns the ids of the fillers of a stream.
func fillerID(stream string) func(seq uint64) string {
	return func(seq uint64) string { return schema.EventID(fillerKey(stream, seq)) }
}

// append appends events to their stream. The places of erased events, and of those that belong to others, are filled, so that
// positions are as they were. The error is [eventlog.ErrConcurrentWriter], and nothing is stored, if the stream has grown
// since it was compared.
func (x *importer) append(ctx context.Context, stream string, fresh []schema.Event) error {
	ctx, err := x.log.AsWriter(ctx, stream, schema.StreamHead{})
	if err == nil {
		_, _, _, err = x.log.Since(ctx, stream, 0, nil) // From here on, the store refuses events if the stream grows.
	}
	compared := x.grow(stream, 0)
	if end := x.log.Head(stream).Seq; err == nil && end != compared {
		err = fmt.Errorf("it has grown from %d to %d: %w", compared, end, eventlog.ErrConcurrentWriter)
	}
	if err != nil {
		return fmt.Errorf("append to %q: %w", stream, err)
	}
	next := compared + 1
	batch, counted := make([]schema.Event, 0, len(fresh)), map[string]bool{}
	for _, e := range fresh {
		counted[e.ID] = true
	}
	for i := 0; i < len(fresh); next++ {
		if e := fresh[i]; next >= e.Seq {
			batch = append(batch, e)
			i++
		} else {
			filler, err := schema.NewEvent(schema.EventErasedPayload{}, schema.Event{TS: e.RecordedAt, Actor: "import", DedupeKey: fillerKey(stream, next)})
			if err != nil {
				return err
			}
			batch = append(batch, filler)
		}
		if len(batch) < 2*chunkEvents && i < len(fresh) {
			continue
		}
		if err := x.store(ctx, stream, batch, counted); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return nil
}

// store appends a batch at the end of the stream, and counts those of the events.
func (x *importer) store(ctx context.Context, stream string, batch []schema.Event, counted map[string]bool) error {
	appended, err := x.log.AppendAll(ctx, stream, batch)
	stored := 0
	for _, e := range appended.Events {
		if counted[e.ID] {
			stored++
		}
	}
	x.mu.Lock()
	x.stored += stored
	x.mu.Unlock()
	switch {
	case err != nil:
		return fmt.Errorf("append to %q: %w", stream, err)
	case len(appended.Differing) > 0:
		e := batch[appended.Differing[0]]
		return fmt.Errorf("append to %q: the log has event %q of %q with other content", stream, e.ID, e.DedupeKey)
	}
	x.grow(stream, appended.New)
	return nil
}

// grow counts events that were appended to a stream, and returns its last position.
func (x *importer) grow(stream string, by int) uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ends[stream] += uint64(by)
	return x.ends[stream]
}
