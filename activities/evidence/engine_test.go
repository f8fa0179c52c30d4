package evidence

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// A session is judged by reading each of its events once, however many windows it has and in whatever order they were
// extracted. Each quote is judged by its own window alone.
func TestJudgesByRanges(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	meter := &stacktest.Meter{Conn: conn}
	log := projection.New(meter, eventlog.Options{})
	a, err := NewActivities(log.Store)
	require.NoError(t, err)
	key := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}
	at := time.UnixMicro(1).UTC()

	var messages []schema.Message
	for i := range 12 {
		m := schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: fmt.Sprintf("We keep copy %d. We said so twice.", i)}
		if i%5 == 4 {
			m.Role, m.Kind = schema.RoleTool, schema.KindToolResult
		}
		messages = append(messages, m)
	}
	schema.MessageKeys(messages)
	var events []schema.Event
	holder := make([]string, len(messages))
	add := func(payload any, dedupe string) {
		e, err := schema.NewEvent(payload, schema.Event{TS: at, Actor: "test", DedupeKey: dedupe, BuildID: "b"})
		require.NoError(t, err)
		events = append(events, e)
	}
	borders := []int{0, 3, 4, 9, 12}
	for i, first := range borders[:len(borders)-1] {
		part := messages[first:borders[i+1]]
		dedupe := schema.SessionIngestedKey(key, part)
		add(schema.SessionIngestedPayload{SessionKey: key, Date: at, Messages: part}, dedupe)
		for n := range part {
			holder[first+n] = schema.EventID(dedupe)
		}
	}
	windows := []schema.Window{
		{First: 5, Last: 7}, {First: 9, Last: 11}, {First: 0, Last: 3}, {First: 8, Last: 8, ByteEnd: 5},
		{First: 8, Last: 8, ByteStart: 5}, {First: 3, Last: 9}, {First: 0, Last: 11},
	}
	var extracted []schema.MemoryExtractedPayload
	for i, w := range windows {
		p := schema.MemoryExtractedPayload{SessionID: "s", Window: w, Extractor: schema.Extractor{Tools: i%2 == 1}}
		for n := range 13 {
			p.Entries = append(p.Entries, schema.ExtractedEntry{Title: "x", Evidence: []schema.Quote{
				{MessageIndex: n, Quote: fmt.Sprintf("We keep copy %d.", n)}, {MessageIndex: n, Quote: "We said so twice."},
			}})
		}
		extracted = append(extracted, p)
		add(p, fmt.Sprint("extracted ", i))
	}
	appended, err := log.Append(t.Context(), key.Stream(), events)
	require.NoError(t, err)
	size := 0
	for _, e := range appended.Events {
		size += len(e.Payload)
	}

	all, err := a.extractions(t.Context(), key)
	require.NoError(t, err)
	s, err := session.Open(t.Context(), log.Store, key)
	require.NoError(t, err)
	judged, err := align(t.Context(), s, &Aligner{}, all)
	require.NoError(t, err)
	require.EqualValues(t, size, meter.Take(), "each event is read once")
	require.Len(t, judged, len(windows))
	for i, p := range judged {
		w := windows[i]
		w.ByteStart, w.ByteEnd = 0, 0 // A quote may stand anywhere in a message.
		aligner := NewAligner(session.Shown(messages, w, extracted[i].Extractor.Tools), func(m int) string { return holder[m] })
		require.Equal(t, "s", p.SessionID)
		require.Equal(t, schema.EventID(fmt.Sprint("extracted ", i)), p.ExtractedEventID)
		for n, entry := range p.Entries {
			want, aligned := aligner.AlignEntry(extracted[i].Entries[n].Evidence)
			require.Equal(t, schema.AlignedEntry{Index: n, EvidenceAligned: aligned, EvidenceProven: Proven(want), Evidence: want}, entry)
		}
	}
	require.True(t, judged[0].Entries[5].EvidenceProven)
	require.False(t, judged[0].Entries[8].EvidenceAligned, "the message is not in the window")
}

// The judgements of a long session are appended part by part: an attempt that breaks off leaves the rest to the next.
func TestJudgesInParts(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	a, err := NewActivities(log.Store)
	require.NoError(t, err)
	key := schema.SessionKey{Scope: schema.Scope{Project: "p/'긴'", User: "u"}, SessionID: "s"}
	at := time.UnixMicro(1).UTC()
	const windows, line = 2*maxJudged + 10, "We keep copy %04d.\n"
	text := ""
	for i := range windows {
		text += fmt.Sprintf(line, i)
	}
	size := len(text) / windows
	messages := []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: text}}
	schema.MessageKeys(messages)
	ingested, err := schema.NewEvent(schema.SessionIngestedPayload{SessionKey: key, Date: at, Messages: messages},
		schema.Event{TS: at, Actor: "test", DedupeKey: schema.SessionIngestedKey(key, messages)})
	require.NoError(t, err)
	events := []schema.Event{ingested}
	for i := range windows {
		e, err := schema.NewEvent(schema.MemoryExtractedPayload{
			SessionID: "s", Window: schema.Window{ByteStart: i * size, ByteEnd: (i + 1) * size},
			Entries: []schema.ExtractedEntry{{Title: "x", Evidence: []schema.Quote{{Quote: fmt.Sprintf(line, i)}}}},
		}, schema.Event{TS: at, Actor: "test", DedupeKey: fmt.Sprint("extracted ", i)})
		require.NoError(t, err)
		events = append(events, e)
	}
	_, err = log.AppendAll(t.Context(), key.Stream(), events)
	require.NoError(t, err)

	all, err := a.extractions(t.Context(), key)
	require.NoError(t, err)
	broken, cancel := context.WithCancel(t.Context())
	in := AlignInput{SessionKey: key, BuildID: "b", At: at}
	err = a.judge(broken, in, all, func(*extraction, schema.EvidenceAlignedPayload) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	result, err := a.alignSession(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, AlignResult{Entries: windows - maxJudged, Aligned: windows - maxJudged, Proven: windows - maxJudged}, result)

	all, err = a.extractions(t.Context(), key)
	require.NoError(t, err)
	require.Len(t, all, windows)
	for i, x := range all {
		require.Len(t, x.judgements, 1)
		span := x.judgements[0].Entries[0].Evidence[0].Span
		require.Equal(t, fmt.Sprintf(line, i), text[span.ByteStart:span.ByteEnd])
	}
	result, err = a.alignSession(t.Context(), in)
	require.NoError(t, err)
	require.Zero(t, result)
}

// A step without the head of the stream reads it, whatever its worker remembers: another worker may have written
// since.
func TestRealignTellsTheHead(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	log, other := projection.New(conn, eventlog.Options{}), projection.New(conn, eventlog.Options{})
	a, err := NewActivities(log.Store)
	require.NoError(t, err)
	key := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}
	_, err = log.Load(t.Context(), key.Stream())
	require.NoError(t, err)
	e, err := schema.NewEvent(schema.MemoryExtractedPayload{SessionID: "s"},
		schema.Event{TS: time.UnixMicro(1), Actor: "test", DedupeKey: "extracted"})
	require.NoError(t, err)
	appended, err := other.Append(t.Context(), key.Stream(), []schema.Event{e})
	require.NoError(t, err)
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.RegisterActivity(a)
	out, err := env.ExecuteActivity(a.RealignSession, RealignInput{SessionKey: key, At: time.UnixMicro(1)})
	require.NoError(t, err)
	var result RealignResult
	require.NoError(t, out.Get(&result))
	require.GreaterOrEqual(t, result.Head.Seq, appended.Events[0].Seq)
}
