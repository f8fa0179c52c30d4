package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/projection"
	"axiommind/schema"
)

// messages switches the bench to the index of messages.
func (b *bench) messages(t testing.TB) *MessageSource {
	t.Helper()
	b.projector = NewOutboxProjector(b.conn, schema.MessageIndex(b.embedder.version))
	source := NewMessageSource(b.conn, b.log)
	w, err := NewWriter(b.conn, b.log, b.projector, b.client, b.embedder, []Source{source}, Options{BatchSize: 4, Now: func() time.Time { return b.now }})
	require.NoError(t, err)
	b.writer = w
	t.Cleanup(func() { _ = b.client.DeleteCollection(context.Background(), w.Collection()) })
	return source
}

func spoken(project, session string, first int, messages ...schema.Message) schema.SessionIngestedPayload {
	for i := range messages {
		messages[i].Index = first + i
	}
	return schema.SessionIngestedPayload{
		SessionKey: schema.SessionKey{Scope: schema.Scope{Project: project, User: "ann"}, SessionID: session},
		Date:       start, Messages: messages,
	}
}

func (b *bench) ingest(t testing.TB, payloads ...schema.SessionIngestedPayload) {
	t.Helper()
	for i, p := range payloads {
		event, err := schema.NewEvent(p, schema.Event{
			TS: p.Date, Actor: "test", SessionID: p.SessionID, Project: p.Project, BuildID: buildID,
			Sensitivity: schema.SensitivityNormal, DedupeKey: fmt.Sprint("ingested/", p.Stream(), "/", p.Messages[0].Index, "/", i),
		})
		require.NoError(t, err)
		_, err = b.log.AppendAll(t.Context(), p.Stream(), []schema.Event{event})
		require.NoError(t, err)
		_, err = b.log.Project(t.Context(), b.projector, p.Stream())
		require.NoError(t, err)
	}
}

func said(role schema.Role, text string) schema.Message {
	return schema.Message{Role: role, Kind: schema.KindText, Text: text}
}

// Messages are indexed with their place in the session, and a search, a reconcile and a rebuild find them.
func TestMessagesAreIndexed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	source := b.messages(t)
	long := strings.Repeat("가", maxMessageText)
	b.ingest(t,
		spoken("red", `s "1"/`, 0, said("user", "Use ClickHouse."), said("assistant", "우리는 목요일에 출시한다."), said("user", " \n")),
		spoken("red", `s "1"/`, 3, schema.Message{Role: "tool", Kind: schema.KindToolResult, Text: "ls"},
			schema.Message{Role: "assistant", Kind: schema.KindThinking, Text: "hm"}, said("assistant", long)),
		spoken("blue", "s2", 0, said("user", "Use ClickHouse.")),
	)
	require.Equal(t, 4, b.indexAll(t))
	require.Equal(t, 3, b.count(t, "red"))
	require.Equal(t, 1, b.count(t, "blue"))

	query, err := b.embedder.EmbedQuery(t.Context(), "목요일 출시")
	require.NoError(t, err)
	found, err := b.client.Hybrid(t.Context(), HybridQuery{
		Collection: b.writer.Collection(), Project: "red", Filter: Filter{Kinds: []string{schema.ItemMessage}, User: "ann"},
		Text: "목요일 출시", Vector: query, Alpha: .5, Limit: 1,
	})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, `s "1"/`, found[0].SessionID)
	require.Equal(t, 1, found[0].Message)

	items, err := source.Load(t.Context(), "red", []string{found[0].ItemID})
	require.NoError(t, err)
	require.Equal(t, "우리는 목요일에 출시한다.", items[found[0].ItemID].Content)
	items, err = source.Load(t.Context(), "blue", []string{found[0].ItemID})
	require.NoError(t, err)
	require.Empty(t, items, "it is of another project")

	require.NoError(t, b.client.remove(t.Context(), b.writer.Collection(), "red",
		schema.VectorItem{Kind: schema.ItemMessage, ID: found[0].ItemID, EmbeddingVersion: b.writer.version}.ObjectID()))
	report, err := b.writer.Reconcile(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, report.Missing)
	require.Equal(t, 4, report.Checked)
	require.Equal(t, 1, b.indexAll(t))
	require.Equal(t, 4, b.rebuild(t, RebuildInput{Verify: true}).Items)
}

// indexAll indexes all due items and returns their number.
func (b *bench) indexAll(t testing.TB) int {
	t.Helper()
	n := 0
	for {
		r := b.index(t, 3)
		require.Zero(t, r.Failed)
		if n += r.Indexed; !r.More {
			return n
		}
	}
}

// TestMostUrgentFirst: an import writes the messages of users first, and the newest of each role, also after an outage.
func TestMostUrgentFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.messages(t)
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	session := func(n int) schema.SessionIngestedPayload {
		p := spoken("red", fmt.Sprint("s", n), 0, said("assistant", fmt.Sprint("answer ", n)), said("user", fmt.Sprint("question ", n)))
		p.Date = day(n)
		return p
	}
	b.ingest(t, session(2), session(1), session(3))
	b.embedder.fail = errors.New("connection refused")
	_, err := b.writer.IndexPending(t.Context(), 2)
	require.Error(t, err)
	b.embedder.fail = nil

	require.Equal(t, []string{"question 3", "question 2", "question 1", "answer 3", "answer 2", "answer 1"}, b.indexed(t, 6, 1))
}

// indexed indexes the number of batches of at most limit messages, and returns their texts, sorted within a batch.
func (b *bench) indexed(t *testing.T, batches, limit int) (said []string) {
	t.Helper()
	done := map[string]bool{}
	for n := range batches + 1 {
		if n > 0 {
			require.Equal(t, limit, b.index(t, limit).Indexed)
		}
		rows, err := b.writer.outbox.After(t.Context(), "", 1000)
		require.NoError(t, err)
		var batch []string
		for _, r := range rows {
			if r.Status != schema.OutboxDone || done[r.ID] {
				continue
			}
			done[r.ID] = true
			items, err := b.writer.sources[schema.ItemMessage].Load(t.Context(), "red", []string{r.ID})
			require.NoError(t, err)
			batch = append(batch, items[r.ID].Content)
		}
		slices.Sort(batch)
		if n > 0 {
			said = append(said, batch...)
		}
	}
	return said
}

// TestRepairsAndOldItemsAreReached: a drifted item is repaired before new ones are written. One call in eight writes
// the oldest items, however many messages of users there are.
func TestRepairsAndOldItemsAreReached(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.messages(t)
	b.ingest(t, spoken("red", "old", 0, said("assistant", "old 1"), said("assistant", "old 2"), said("assistant", "old 3")))
	require.Len(t, b.indexed(t, 1, 1), 1)
	rows, err := b.writer.outbox.After(t.Context(), "", 10)
	require.NoError(t, err)
	done := rows[slices.IndexFunc(rows, func(r Row) bool { return r.Status == schema.OutboxDone })]

	b.now = b.now.Add(time.Hour)
	var words []schema.Message
	for n := range 40 {
		words = append(words, said("user", fmt.Sprintf("word %02d", n)))
	}
	later := spoken("red", "new", 0, words...)
	later.Date = b.now
	b.ingest(t, later)
	require.NoError(t, b.writer.recordDrift(t.Context(), []drift{{done, schema.DriftMissing}}))
	require.Equal(t, 1, b.index(t, 1).Indexed)
	repaired, err := b.writer.outbox.byJob(t.Context(), []string{done.JobID()})
	require.NoError(t, err)
	require.Equal(t, schema.OutboxDone, repaired[0].Status)

	var said [oldShare]string
	for i := range said {
		b.now = b.now.Truncate(oldShare * time.Microsecond).Add(time.Duration(i) * time.Microsecond)
		said[i] = b.indexed(t, 1, 1)[0]
	}
	require.Equal(t, 1, slices.IndexFunc(said[:], func(text string) bool { return strings.HasPrefix(text, "old") }), said)
	require.NotContains(t, strings.Join(said[2:], " "), "old")
}

func TestMessagePages(t *testing.T) {
	t.Parallel()
	messagePages(t, 7, 1000)
}

// For any page size, each message is returned once and in order.
func messagePages(t *testing.T, limits ...int) {
	t.Helper()
	b := newBench(t)
	source := b.messages(t)
	var want []string
	streams := map[string][]schema.Event{}
	for i := range eventsAtOnce + 3 {
		p := spoken(fmt.Sprint("p", i%2), fmt.Sprint("s", i%6), 8)
		for range i % 14 {
			p.Messages = append(p.Messages, schema.Message{Role: "user", Kind: schema.KindText, Text: "x", Index: 8 + len(p.Messages)})
		}
		event, err := schema.NewEvent(p, schema.Event{
			TS: start, Actor: "test", Project: p.Project, Sensitivity: schema.SensitivityNormal, DedupeKey: fmt.Sprint("ingested/", i),
		})
		require.NoError(t, err)
		streams[p.Stream()] = append(streams[p.Stream()], event)
		for _, m := range p.Messages {
			want = append(want, p.Project+" "+messageID(schema.EventID(event.DedupeKey), m.Index))
		}
	}
	for stream, events := range streams {
		_, err := b.log.AppendAll(t.Context(), stream, events)
		require.NoError(t, err)
	}
	slices.Sort(want)
	for _, limit := range limits {
		var got []string
		project, id := "", ""
		for {
			page, err := source.After(t.Context(), project, id, limit)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			for _, item := range page {
				got = append(got, item.Project+" "+item.ID)
			}
			project, id = page[len(page)-1].Project, page[len(page)-1].ID
		}
		require.Equal(t, want, got, "%d at a time", limit)
	}
}

// I2: an event gives the same items whenever it is read. Each item has its own id, which identifies the event and the
// message.
func TestI2MessageItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := schema.SessionIngestedPayload{SessionKey: schema.SessionKey{
			Scope: schema.Scope{Project: rapid.StringN(1, 9, 9).Draw(t, "project"), User: "u"}, SessionID: "s",
		}, Date: start}
		first := rapid.IntRange(0, 1<<20).Draw(t, "first")
		spoken := 0
		for i := range rapid.IntRange(1, 12).Draw(t, "messages") {
			m := schema.Message{
				Index: first + i, Role: schema.RoleUser, Kind: rapid.SampledFrom([]schema.Kind{schema.KindText, schema.KindContext}).Draw(t, "kind"),
				Text: rapid.StringMatching(`[a-z가 ]{0,6}`).Draw(t, "text"),
			}
			if m.Kind == schema.KindText && strings.TrimSpace(m.Text) != "" {
				spoken++
			}
			p.Messages = append(p.Messages, m)
		}
		event, err := schema.NewEvent(p, schema.Event{DedupeKey: "k", Sensitivity: schema.SensitivityNormal})
		if err != nil {
			t.Fatal(err)
		}
		event.ID = schema.EventID(event.DedupeKey)
		items, err := messageItems(event)
		if err != nil || len(items) != spoken {
			t.Fatalf("%d items of %d messages: %v", len(items), spoken, err)
		}
		seen := map[string]bool{}
		for _, item := range items {
			id, index, err := MessageEvent(item.ID)
			if err != nil || id != event.ID || index != item.Message || seen[item.ID] {
				t.Fatalf("item %q of message %d leads to %q, %d: %v", item.ID, item.Message, id, index, err)
			}
			seen[item.ID] = true
			if m := p.Messages[index-first]; m.Text != item.Content {
				t.Fatalf("item %q holds %q", item.ID, item.Content)
			}
		}
	})
}

var _ Events = (*projection.Store)(nil)
