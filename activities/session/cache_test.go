package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// The steps that work on the windows of one message open the session one by one, several at a time. Together they
// read its event once.
func TestEventIsReadOnceForAllSessions(t *testing.T) {
	t.Parallel()
	log, meter := newLog(t)
	key := keyOf("long 'message' 長")
	messages := numbered([]schema.Message{textMessage(strings.Repeat("긴 메시지\n", 100_000)), textMessage("and a short one")})
	schema.MessageKeys(messages)
	appended, err := log.Append(t.Context(), key.Stream(), []schema.Event{
		event(t, key, "", messages[:1]), event(t, key, "", messages[1:]),
	})
	require.NoError(t, err)
	size := len(appended.Events[0].Payload) + len(appended.Events[1].Payload)
	meter.Take()
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for i := range cap(errs) {
		wg.Go(func() {
			s, err := Open(t.Context(), log.Store, key)
			if err != nil {
				errs <- err
				return
			}
			if i%2 == 0 {
				got, err := s.Range(t.Context(), 0, 2)
				if err == nil && (len(got) != 2 || got[0].Text != messages[0].Text || got[1].Text != messages[1].Text) {
					err = fmt.Errorf("read %d other messages", len(got))
				}
				errs <- err
				return
			}
			n := 0
			for m, err := range s.From(t.Context(), 0) {
				if err != nil || m.Text != messages[n].Text {
					errs <- fmt.Errorf("message %d: %w", n, err)
					return
				}
				n++
			}
			errs <- nil
		})
	}
	wg.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	require.EqualValues(t, size, meter.Take())
}

// A reader that gives up leaves the events that it was reading to the others.
func TestReaderThatGivesUp(t *testing.T) {
	t.Parallel()
	log, _ := newLog(t)
	key := keyOf("given up")
	messages := numbered([]schema.Message{textMessage("first"), textMessage("second")})
	schema.MessageKeys(messages)
	_, err := log.Append(t.Context(), key.Stream(), []schema.Event{event(t, key, "", messages)})
	require.NoError(t, err)
	s, err := Open(t.Context(), log.Store, key)
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Range(ended, 0, 2)
	require.ErrorIs(t, err, context.Canceled)

	k := eventKey{log.Store, s.events[0].ID, s.events[0].Checksum}
	_, ok, wait := recent.claim(k)
	require.False(t, ok)
	require.Nil(t, wait)
	_, err = s.Range(ended, 0, 2)
	require.ErrorIs(t, err, context.Canceled)
	done := make(chan error, 1)
	go func() {
		got, err := s.Range(t.Context(), 0, 2)
		if err == nil && len(got) != 2 {
			err = fmt.Errorf("read %d messages", len(got))
		}
		done <- err
	}()
	recent.release(k, 0, nil)
	require.NoError(t, <-done)
}

// The cache holds the events that were used last, as many as fit, and always the latest.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 100
		c := newCache(limit)
		var used []eventKey // the last one used is the last
		sizes := map[eventKey]int{}
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			k := eventKey{id: fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "event"))}
			var kept []eventKey
			for _, u := range used {
				if u != k {
					kept = append(kept, u)
				}
			}
			messages, ok, wait := c.claim(k)
			require.Nil(t, wait)
			require.Equal(t, len(kept) < len(used), ok)
			kept = append(kept, k)
			used = kept
			if ok {
				require.Equal(t, k.id, messages[0].Text)
				continue
			}
			_, _, wait = c.claim(k)
			require.NotNil(t, wait, "two callers read one event")
			sizes[k] = rapid.IntRange(1, 2*limit).Draw(t, "size")
			c.release(k, sizes[k], []schema.Message{{Text: k.id}})
			select {
			case <-wait:
			default:
				t.Fatal("who waits is not woken")
			}
			total := 0
			for _, u := range used {
				total += sizes[u]
			}
			for total > limit && len(used) > 1 {
				total -= sizes[used[0]]
				used = used[1:]
			}
			require.Equal(t, total, c.bytes)
			require.Len(t, c.byKey, len(used))
			require.Empty(t, c.reading)
		}
	})
}
