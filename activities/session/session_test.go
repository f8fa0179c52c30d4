package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// fewDraws are those of a property that needs a server: each is some 40 requests. The campaign draws more.
const fewDraws = 6

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newLog(t testing.TB) (*projection.Store, *stacktest.Meter) {
	t.Helper()
	conn := stacktest.Migrated(t)
	m := &stacktest.Meter{Conn: conn}
	return projection.New(m, eventlog.Options{}), m
}

func keyOf(id string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: "프로젝트/1", User: "u"}, SessionID: id}
}

// event makes the session_ingested event that holds the messages.
func event(t require.TestingT, key schema.SessionKey, buildID string, messages []schema.Message) schema.Event {
	e, err := schema.NewEvent(schema.SessionIngestedPayload{SessionKey: key, Date: noon, Messages: messages}, schema.Event{
		TS: noon, Actor: "test", SessionID: key.SessionID, Project: key.Project, BuildID: buildID,
		DedupeKey: schema.SessionIngestedKey(key, messages),
	})
	require.NoError(t, err)
	return e
}

// cut is a session and how it is cut into events.
type cut struct {
	schema.SessionKey
	messages []schema.Message
	events   []schema.Event
	// holder and build are the ids of each message's event and build.
	holder, build []string
}

// draw draws a session, cuts it into events at random, and appends them among other events.
func draw(t *rapid.T, log *projection.Store, id string) *cut {
	c := &cut{SessionKey: keyOf(id), messages: numbered(drawMessages(t, "messages"))}
	for i := range c.messages {
		m := &c.messages[i]
		m.Text = strings.Repeat(m.Text, rapid.IntRange(1, 40).Draw(t, "long"))
		if rapid.Bool().Draw(t, "dated") {
			m.At = noon.Add(time.Duration(rapid.IntRange(0, 1e12).Draw(t, "at")))
		}
	}
	if rapid.Bool().Draw(t, "keyed") {
		schema.MessageKeys(c.messages)
	}
	var all []schema.Event
	for first := 0; first < len(c.messages); {
		end := rapid.IntRange(first+1, len(c.messages)).Draw(t, "end")
		e := event(t, c.SessionKey, fmt.Sprint("build ", rapid.IntRange(1, 2).Draw(t, "build")), c.messages[first:end])
		e.DedupeKey += fmt.Sprint("/", first) // Without keys the messages don't tell events apart.
		if rapid.Bool().Draw(t, "other") {
			all = append(all, schema.Event{
				Type: schema.MemoryExtracted, TS: noon, Actor: "test", DedupeKey: fmt.Sprint(id, "/other/", first), Payload: []byte(`{"messages":[{"index":7}]}`),
			})
		}
		all = append(all, e)
		for range end - first {
			c.holder, c.build = append(c.holder, schema.EventID(e.DedupeKey)), append(c.build, e.BuildID)
		}
		first = end
	}
	if len(all) > 0 {
		appended, err := log.Append(context.Background(), c.Stream(), all)
		require.NoError(t, err)
		c.events = slices.DeleteFunc(appended.Events, func(e schema.Event) bool { return e.Type != schema.SessionIngested })
	}
	return c
}

func TestSessionIsItsMessages(t *testing.T) {
	t.Parallel()
	sessionIsItsMessages(t, fewDraws)
}

// However a session is cut into events, its ranges are those of the whole, and the answers that need none of its texts
// are true.
func sessionIsItsMessages(t *testing.T, draws int) {
	t.Helper()
	log, meter := newLog(t)
	sessions := 0
	sharedtest.CheckFew(t, draws, func(t *rapid.T) {
		sessions++
		c := draw(t, log, fmt.Sprint("s", sessions))
		meter.Take()
		s, err := Open(context.Background(), log.Store, c.SessionKey)
		require.NoError(t, err)
		require.Equal(t, len(c.messages), s.Len())
		if len(c.messages) > 0 {
			require.Equal(t, noon, s.Date())
		}
		require.Equal(t, slices.ContainsFunc(c.messages, func(m schema.Message) bool {
			return m.Role == schema.RoleTool || m.Kind == schema.KindToolCall || m.Kind == schema.KindToolResult
		}), s.Works())
		for _, build := range []string{"build 1", "build 2", "build 3"} {
			require.Equal(t, times(c.build, build), s.AddedBy(build))
		}
		at, indexes := map[int]time.Time{}, []int{-1, s.Len()}
		for i, m := range c.messages {
			require.Equal(t, c.holder[i], s.EventID(i))
			if indexes = append(indexes, i); !m.At.IsZero() {
				at[i] = m.At
			}
		}
		written, err := s.Times(context.Background(), indexes)
		require.NoError(t, err)
		require.Equal(t, at, written)
		more := numbered(append(slices.Clone(c.messages), textMessage("one more")))
		schema.MessageKeys(more)
		fresh, err := s.Unseen(context.Background(), more)
		require.NoError(t, err)
		if len(c.messages) > 0 && c.messages[0].Key != "" {
			require.Equal(t, more[len(more)-1:], fresh)
		} else {
			require.Len(t, fresh, len(more))
		}
		require.Zero(t, meter.Take(), "texts were read")

		for range 4 {
			first := rapid.IntRange(-1, s.Len()).Draw(t, "first")
			end := rapid.IntRange(first, s.Len()+1).Draw(t, "end")
			want := c.messages[max(first, 0):max(min(end, s.Len()), max(first, 0))]
			got, err := s.Range(context.Background(), first, end)
			require.NoError(t, err)
			require.Equal(t, len(want), len(got))
			for i := range want {
				require.Equal(t, want[i], got[i])
			}
			i := max(first, 0)
			for m, err := range s.From(context.Background(), first) {
				require.NoError(t, err)
				require.Equal(t, c.messages[i], m)
				i++
			}
			require.Equal(t, s.Len(), i)
		}
	})
}

func TestWindowsReadEachEventOnce(t *testing.T) {
	t.Parallel()
	windowsReadEachEventOnce(t, fewDraws)
}

// Windows read their own events and no others, and in their order each event once.
func windowsReadEachEventOnce(t *testing.T, draws int) {
	t.Helper()
	log, meter := newLog(t)
	sessions := 0
	sharedtest.CheckFew(t, draws, func(t *rapid.T) {
		sessions++
		c := draw(t, log, fmt.Sprint("s", sessions))
		all, _ := planWhole(c.messages, Frontier{}, false, 4*windowSize, 1000)
		from := rapid.IntRange(0, len(all)).Draw(t, "from")
		windows := all[from:rapid.IntRange(from, len(all)).Draw(t, "to")]
		needed := map[string]bool{}
		s, err := Open(context.Background(), log.Store, c.SessionKey)
		require.NoError(t, err)
		meter.Take()
		for _, w := range windows {
			got, err := s.Shown(context.Background(), w, false)
			require.NoError(t, err)
			require.Equal(t, Shown(c.messages, w, false), got)
			whole, err := s.Whole(context.Background(), w, false)
			require.NoError(t, err)
			for i, m := range got {
				require.Equal(t, c.messages[m.Index], whole[i], "a quote may stand anywhere in the message")
			}
			for i := w.First; i <= w.Last; i++ {
				needed[c.holder[i]] = true
			}
			require.LessOrEqual(t, len(s.read), len(s.events[s.holder(w.First):s.holder(w.Last)+1]), "more is held than the window needs")
		}
		want := 0
		for _, e := range c.events {
			if needed[e.ID] {
				want += len(e.Payload)
			}
		}
		require.EqualValues(t, want, meter.Take())
	})
}

// A gap in the session's messages is an error, and not another message's place.
func TestGap(t *testing.T) {
	t.Parallel()
	log, _ := newLog(t)
	key := keyOf("gap")
	messages := numbered([]schema.Message{textMessage("a"), textMessage("b"), textMessage("c")})
	schema.MessageKeys(messages)
	_, err := log.Append(t.Context(), key.Stream(), []schema.Event{event(t, key, "", messages[:1]), event(t, key, "", messages[2:])})
	require.NoError(t, err)
	_, err = Open(t.Context(), log.Store, key)
	require.ErrorContains(t, err, "holds message 2, want message 1")

	key = keyOf("gap inside")
	_, err = log.Append(t.Context(), key.Stream(), []schema.Event{event(t, key, "", []schema.Message{messages[0], messages[2]})})
	require.NoError(t, err)
	s, err := Open(t.Context(), log.Store, key)
	require.NoError(t, err)
	_, err = s.Range(t.Context(), 0, 2)
	require.ErrorContains(t, err, "holds message 2, want message 1")
}

func TestOpenNothing(t *testing.T) {
	t.Parallel()
	log, _ := newLog(t)
	s, err := Open(t.Context(), log.Store, keyOf("none"))
	require.NoError(t, err)
	require.Zero(t, s.Len())
	require.Zero(t, s.Date())
	require.False(t, s.Works())
	messages, err := s.Range(t.Context(), 0, 5)
	require.NoError(t, err)
	require.Empty(t, messages)
	for m, err := range s.From(t.Context(), 0) {
		t.Fatalf("there are no messages, but %+v, %v", m, err)
	}
	fresh, err := s.Unseen(t.Context(), numbered([]schema.Message{textMessage("a")}))
	require.NoError(t, err)
	require.Len(t, fresh, 1)
}

func times(list []string, text string) int {
	n := 0
	for _, s := range list {
		if s == text {
			n++
		}
	}
	return n
}

// All of a session that is still held can be read, in whatever order its messages are named.
func TestReadsHeldMessages(t *testing.T) {
	t.Parallel()
	log, _ := newLog(t)
	key := keyOf("held")
	holding, _ := log.Hold(eventlog.WithHead(t.Context(), key.Stream(), schema.StreamHead{Known: true}), key.Stream())
	want, indexes := map[int]time.Time{}, []int{}
	for i := range 9 {
		m := schema.Message{Index: i, Key: fmt.Sprint(i), Role: schema.RoleUser, Kind: schema.KindText, Text: fmt.Sprint("text ", i), At: noon.Add(time.Duration(i) * time.Second)}
		_, err := log.Append(holding, key.Stream(), []schema.Event{event(t, key, "b", []schema.Message{m})})
		require.NoError(t, err)
		want[i], indexes = m.At, append([]int{i}, indexes...)
	}
	s, err := Open(holding, log.Store, key)
	require.NoError(t, err)
	times, err := s.Times(holding, indexes)
	require.NoError(t, err)
	require.Equal(t, want, times)
	messages, err := s.Messages(holding, indexes)
	require.NoError(t, err)
	require.Len(t, messages, 9)
	unseen, err := s.Unseen(holding, []schema.Message{{Key: "3"}, {Key: "new"}})
	require.NoError(t, err)
	require.Len(t, unseen, 1)
	n := 0
	for _, err := range s.From(holding, 0) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 9, n)
}
