package eventlog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// Headings list the messages in a session's events, in order and without copies, and lead to their payloads.
func TestHeadings(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := eventlog.New(conn, eventlog.Options{PageRows: 2})
	ingested := func(key, payload string) schema.Event {
		e := event(key, 1)
		e.Type, e.BuildID, e.Payload = schema.SessionIngested, "build "+key, []byte(payload)
		return e
	}
	batch := []schema.Event{
		event("other", map[string]any{"messages": []any{map[string]any{"index": 3, "key": "k", "role": "tool"}}}),
		ingested("none", `{"skipped":[]}`),
		ingested("a", `{"messages":[{"index":0,"role":"user","kind":"text","text":"\"key\":\"not this\" \u2028 한","key":"k'0","at":"2026-03-01T12:00:00.5+09:00"},
			{"index":1,"role":"user","kind":"text","text":""}]}`),
		event("between", 2),
		ingested("b", `{"tokens":7,"messages":[{"index":2,"role":"assistant","kind":"tool_call","text":"{}","key":"k2"}]}`),
		ingested("c", `{"messages":[{"index":3,"role":"tool","kind":"text","text":"x"},{"index":4,"role":"user","kind":"text","text":"y"}]}`),
	}
	appended, err := s.Append(t.Context(), "session/'s\\", batch)
	require.NoError(t, err)
	_, err = s.Append(t.Context(), "session/t", []schema.Event{ingested("t", `{"messages":[{"index":0}]}`)})
	require.NoError(t, err)
	check := func(ctx context.Context) []eventlog.Heading {
		got, err := s.Headings(ctx, "session/'s\\")
		require.NoError(t, err)
		var want []eventlog.Heading
		for i, h := range map[int]eventlog.Heading{1: {}, 2: {Messages: 2}, 4: {First: 2, Messages: 1, Tools: true, Tokens: 7}, 5: {First: 3, Messages: 2, Tools: true}} {
			e := appended.Events[i]
			h.ID, h.Stream, h.BuildID, h.Seq, h.TS, h.Bytes, h.Checksum = e.ID, e.Stream, e.BuildID, e.Seq, e.TS, len(e.Payload), e.Checksum
			want = append(want, h)
		}
		require.ElementsMatch(t, want, got)
		require.IsIncreasing(t, []uint64{got[0].Seq, got[1].Seq, got[2].Seq, got[3].Seq})

		totals, err := s.Totals(ctx, []string{"session/'s\\", "session/t", "session/u"})
		require.NoError(t, err)
		require.Equal(t, map[string]eventlog.Total{"session/'s\\": {Messages: 5, Tokens: 7}, "session/t": {Messages: 1}}, totals)

		require.Equal(t, []schema.Event{appended.Events[1], appended.Events[2], appended.Events[4], appended.Events[5]}, collect(t, s.Read(ctx, got)))
		require.Equal(t, []schema.Event{appended.Events[4]}, collect(t, s.Read(ctx, got[2:3])))
		require.Empty(t, collect(t, s.Read(ctx, nil)))

		for name, read := range map[string]func(map[string][]string) error{
			"keys": func(out map[string][]string) error {
				return s.MessageKeys(ctx, got, func(h eventlog.Heading, keys []string) { out[h.BuildID] = keys })
			},
			"times": func(out map[string][]string) error {
				return s.MessageTimes(ctx, got, func(h eventlog.Heading, times []string) { out[h.BuildID] = times })
			},
		} {
			out := map[string][]string{}
			require.NoError(t, read(out))
			require.Equal(t, map[string]map[string][]string{
				"keys":  {"build none": nil, "build a": {"k'0", ""}, "build b": {"k2"}, "build c": nil},
				"times": {"build none": nil, "build a": {"2026-03-01T12:00:00.5+09:00", ""}, "build b": nil, "build c": nil},
			}[name], out, name)
		}
		return got
	}
	// From memory, and from the server.
	head, err := s.Load(t.Context(), "session/'s\\")
	require.NoError(t, err)
	check(eventlog.WithHead(t.Context(), "session/'s\\", head))
	check(t.Context())

	// Copies of two events, further on and in another stream, recorded later.
	for _, at := range []string{"stream, seq + 10", "'session/t', seq"} {
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO events_raw (* EXCEPT (heading, message_index)) SELECT event_id, `+at+`, event_type, ts, actor, session_id,
			project, build_id, dedupe_key, payload_json, payload_bytes, payload_redacted, sensitivity, checksum, recorded_at, precedence - 1
			FROM events_raw WHERE event_id IN (?, ?) SETTINGS insert_deduplicate = 0`, appended.Events[2].ID, appended.Events[4].ID))
	}

	hidden, err := s.HideCopies(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6, hidden)
	got := check(t.Context())

	gone := got[1]
	gone.ID = "no such event"
	for _, err := range s.Read(t.Context(), []eventlog.Heading{gone}) {
		require.ErrorIs(t, err, eventlog.ErrNotFound)
	}
	require.ErrorIs(t, s.MessageKeys(t.Context(), []eventlog.Heading{gone}, func(eventlog.Heading, []string) {}), eventlog.ErrNotFound)
	require.NoError(t, s.MessageKeys(t.Context(), nil, nil))
	none, err := s.Headings(t.Context(), "session/none")
	require.NoError(t, err)
	require.Empty(t, none)
}

// The server derives the right heading from a payload of 20 MB.
func TestHeadingOfLargePayload(t *testing.T) {
	t.Parallel()
	s := eventlog.New(stacktest.Migrated(t), eventlog.Options{})
	messages := []schema.Message{{Role: schema.RoleTool, Kind: schema.KindToolResult, Key: "large", Text: strings.Repeat("0123456789", 2<<20)}}
	for i := range 5000 {
		messages = append(messages, schema.Message{Index: i + 1, Kind: schema.KindText, Key: fmt.Sprint(i), Text: "\"}],\\"})
	}
	e, err := schema.NewEvent(schema.SessionIngestedPayload{Messages: messages}, event("k", 1))
	require.NoError(t, err)
	e.DedupeKey = "k"
	_, err = s.Append(t.Context(), "session/s", []schema.Event{e})
	require.NoError(t, err)
	got, err := s.Headings(t.Context(), "session/s")
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, 5001, got[0].Messages)
	require.True(t, got[0].Tools)
}
