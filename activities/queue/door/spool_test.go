package door_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"axiommind/activities/queue/door"
	"axiommind/schema"
)

func contextOf(id, thread string) schema.QueuedContext {
	return schema.QueuedContext{
		ID: id, Scope: schema.Scope{Project: "Проект/'\"", User: "안나"}, Thread: thread, At: time.Now().UTC(), URI: "file:///s/" + thread,
	}
}

// taker is a queue that takes contexts and counts them by id.
type taker struct {
	mu    sync.Mutex
	taken map[string]int
	last  []schema.QueuedContext
	err   error
}

func (k *taker) send(_ context.Context, q schema.QueuedContext) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return k.err
	}
	if k.taken == nil {
		k.taken = map[string]int{}
	}
	k.taken[q.ID]++
	k.last = append(k.last, q)
	return nil
}

func spool(t *testing.T) door.Spool {
	return door.Spool{Dir: filepath.Join(t.TempDir(), "outbox")}
}

func length(t *testing.T, s door.Spool) int {
	t.Helper()
	n, err := s.Len()
	require.NoError(t, err)
	return n
}

func TestSpool(t *testing.T) {
	t.Parallel()
	s, queue := spool(t), &taker{}
	sent, err := s.Deliver(t.Context(), queue.send)
	require.NoError(t, err, "no directory is nothing to deliver")
	require.Zero(t, sent)
	require.NoError(t, s.Put(contextOf("1", "a")))
	require.NoError(t, s.Put(contextOf("2", "b\"/'")))
	down := errors.New("connection refused")
	queue.err = down
	_, err = s.Deliver(t.Context(), queue.send)
	require.ErrorIs(t, err, down)
	require.Equal(t, 2, length(t, s), "what can't be sent stays")
	queue.err = nil
	sent, err = s.Deliver(t.Context(), queue.send)
	require.NoError(t, err)
	require.Equal(t, 2, sent)
	require.Equal(t, map[string]int{"1": 1, "2": 1}, queue.taken)
	require.Equal(t, "1", queue.last[0].ID, "messages of a session keep their order")
	require.Zero(t, length(t, s))

	info, err := os.Stat(s.Dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// The newer context of a transcript replaces the older one. That one was to be processed at once, so is this one.
func TestSpoolReplaces(t *testing.T) {
	t.Parallel()
	s, queue := spool(t), &taker{}
	first := contextOf("1", "a")
	first.Now, first.Flush = true, schema.FlushTrim
	require.NoError(t, s.Put(first))
	require.NoError(t, s.Put(contextOf("2", "a")))
	other := contextOf("3", "a")
	other.User = "bob"
	require.NoError(t, s.Put(other))
	require.Equal(t, 2, length(t, s))
	_, err := s.Deliver(t.Context(), queue.send)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"2": 1, "3": 1}, queue.taken)
	require.True(t, queue.last[0].Now)
	require.Equal(t, schema.FlushTrim, queue.last[0].Flush)

	// Contexts with messages do not replace each other.
	for _, id := range []string{"4", "5"} {
		q := contextOf(id, "a")
		q.URI, q.Messages = "", []schema.InlineMessage{{Role: "user", Content: "yes"}}
		require.NoError(t, s.Put(q))
	}
	require.Equal(t, 2, length(t, s))
}

// A file that can't be read, and a context that no server takes, are put aside with the reason and hold up nothing.
func TestSpoolPutsAside(t *testing.T) {
	t.Parallel()
	s := spool(t)
	require.NoError(t, s.Put(contextOf("good", "a")))
	require.NoError(t, s.Put(contextOf("refused", "b")))
	for name, text := range map[string]string{
		"99999999999999999999-broken.json": `{"id":`, "00000000000000000000-empty.json": "",
		"99999999999999999998-nothing.json": "{}", "99999999999999999997-long.json": strings.Repeat(" ", 1<<20),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "99999999999999999996-dir.json"), 0o700))
	var took []string
	sent, err := s.Deliver(t.Context(), func(_ context.Context, q schema.QueuedContext) error {
		if q.ID == "refused" {
			return fmt.Errorf("send: %w", serviceerror.NewInvalidArgument("too long"))
		}
		took = append(took, q.ID)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 1, sent)
	require.Equal(t, []string{"good"}, took)
	require.Zero(t, length(t, s))
	reasons, err := filepath.Glob(filepath.Join(s.Dir, "aside", "*.txt"))
	require.NoError(t, err)
	require.Len(t, reasons, 6)
	text, err := os.ReadFile(filepath.Join(s.Dir, "aside", "99999999999999999999-broken.json.txt"))
	require.NoError(t, err)
	require.Contains(t, string(text), "unexpected end of JSON")
}

// A full queue is no reason to give a context up.
func TestSpoolWaitsForAFullQueue(t *testing.T) {
	t.Parallel()
	s, queue := spool(t), &taker{err: fmt.Errorf("%w: %w", door.ErrFull, serviceerror.NewInvalidArgument("10,000 signals"))}
	require.NoError(t, s.Put(contextOf("1", "a")))
	require.NoError(t, s.Put(contextOf("2", "b")))
	sent, err := s.Deliver(t.Context(), func(ctx context.Context, q schema.QueuedContext) error {
		if q.ID == "2" {
			return nil
		}
		return queue.send(ctx, q)
	})
	require.ErrorIs(t, err, door.ErrFull)
	require.Equal(t, 1, sent, "the queue of another user has room")
	require.Equal(t, 1, length(t, s))
}

func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	s, queue := spool(t), &taker{}
	s.Max = 3
	for i := range 5 {
		require.NoError(t, s.Put(contextOf(fmt.Sprint(i), fmt.Sprint("thread ", i))))
	}
	_, err := s.Deliver(t.Context(), queue.send)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"2": 1, "3": 1, "4": 1}, queue.taken)
	aside, err := filepath.Glob(filepath.Join(s.Dir, "aside", "*.json"))
	require.NoError(t, err)
	require.Len(t, aside, 2)
}

// A context that was said to be kept is kept, however many are put aside.
func TestSpoolLosesNothingAside(t *testing.T) {
	t.Parallel()
	s := spool(t)
	s.Max = 1
	const many = 150
	for i := range many {
		q := contextOf(fmt.Sprint(i), "thread")
		q.URI, q.Messages = "", []schema.InlineMessage{{Role: "user", Content: "yes"}}
		require.NoError(t, s.Put(q))
	}
	found := map[string]bool{}
	n, err := s.Drop(func(q schema.QueuedContext) bool {
		found[q.ID] = true
		return false
	})
	require.NoError(t, err)
	require.Zero(t, n)
	require.Len(t, found, many)
}

// Hooks that end at once and workers that deliver lose nothing.
func TestSpoolTogether(t *testing.T) {
	t.Parallel()
	s, queue := spool(t), &taker{}
	const hooks, each = 8, 25
	var putters, deliverers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		deliverers.Go(func() {
			for {
				if _, err := s.Deliver(t.Context(), queue.send); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for h := range hooks {
		putters.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d", h, i)
				if err := s.Put(contextOf(id, id)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	putters.Wait()
	close(done)
	deliverers.Wait()
	_, err := s.Deliver(t.Context(), queue.send)
	require.NoError(t, err)
	require.Len(t, queue.taken, hooks*each)
	require.Zero(t, length(t, s))
	aside, err := filepath.Glob(filepath.Join(s.Dir, "aside", "*"))
	require.NoError(t, err)
	require.Empty(t, aside)
}

// A file that a killed process left behind is not delivered, and is removed once it is too old to be still in
// writing.
func TestSpoolAfterAKill(t *testing.T) {
	t.Parallel()
	s, queue := spool(t), &taker{}
	require.NoError(t, s.Put(contextOf("1", "a")))
	for name, age := range map[string]time.Duration{".tmp-old": 2 * time.Hour, ".tmp-new": 0} {
		path := filepath.Join(s.Dir, name)
		require.NoError(t, os.WriteFile(path, []byte(`{"id":"ha`), 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	sent, err := s.Deliver(t.Context(), queue.send)
	require.NoError(t, err)
	require.Equal(t, 1, sent)
	require.NoFileExists(t, filepath.Join(s.Dir, ".tmp-old"))
	require.FileExists(t, filepath.Join(s.Dir, ".tmp-new"))
}

// A context that can't be stored is an error, and leaves nothing half.
func TestSpoolCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	require.ErrorContains(t, door.Spool{Dir: filepath.Join(blocked, "outbox")}.Put(contextOf("1", "a")), "spool a context")
	_, err := door.Spool{Dir: blocked}.Deliver(t.Context(), (&taker{}).send)
	require.Error(t, err)
	require.ErrorContains(t, door.Spool{Dir: dir}.Put(schema.QueuedContext{}), "id is missing")
}

func TestSpoolEndsInTime(t *testing.T) {
	t.Parallel()
	s := spool(t)
	require.NoError(t, s.Put(contextOf("1", "a")))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := s.Deliver(ctx, (&taker{}).send)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, length(t, s))
}
