package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// ofTexts makes messages that say the texts, keyed as a session's are.
func ofTexts(texts []string) []schema.Message {
	messages := make([]schema.Message, len(texts))
	for i, text := range texts {
		messages[i] = schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: text}
	}
	schema.MessageKeys(messages)
	return messages
}

func textsOf(messages []schema.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Text
	}
	return out
}

func ingestedPayload(t require.TestingT, e schema.Event) schema.SessionIngestedPayload {
	p, err := schema.Decode[schema.SessionIngestedPayload](e)
	require.NoError(t, err)
	return p
}

// ingested returns the events of the messages, of which it leaves a copy.
func ingested(t require.TestingT, p schema.SessionIngestedPayload, messages []schema.Message, skipped []schema.Skipped, build string) []schema.Event {
	var out []schema.Event
	for e, err := range (&Activities{access: &Access{}}).ingestEvents(p, slices.Clone(messages), skipped, build) {
		require.NoError(t, err)
		out = append(out, e)
	}
	return out
}

// Messages are stored in events of at most maxChunkBytes of text, in order, under keys that depend on the
// messages alone; a longer message has an event of its own.
func TestIngestEvents(t *testing.T) {
	t.Parallel()
	lengths := rapid.OneOf(rapid.IntRange(0, 1000), rapid.IntRange(maxChunkBytes/3, maxChunkBytes+1000))
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		var said []string
		for i, n := range rapid.SliceOfN(lengths, 0, 8).Draw(t, "lengths") {
			said = append(said, fmt.Sprint(i)+strings.Repeat("x", n))
		}
		messages := ofTexts(said)
		skipped := []schema.Skipped{{Line: 3, Reason: "broken"}}
		p := schema.SessionIngestedPayload{SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p"}, SessionID: "s"}, Date: at}
		events := ingested(t, p, messages, skipped, "build")
		var stored []schema.Message
		keys := map[string]bool{}
		for i, e := range events {
			got := ingestedPayload(t, e)
			size := 0
			for _, m := range got.Messages {
				size += len(m.Text)
			}
			require.True(t, size <= maxChunkBytes || len(got.Messages) == 1, "%d bytes in %d messages", size, len(got.Messages))
			require.NotEmpty(t, got.Messages)
			require.False(t, keys[e.DedupeKey], "two events have one key")
			require.Equal(t, i == 0, got.Skipped != nil)
			keys[e.DedupeKey] = true
			stored = append(stored, got.Messages...)
		}
		require.Equal(t, len(messages), len(stored))
		require.Equal(t, textsOf(messages), textsOf(stored))
		p.Date = at.Add(time.Hour)
		again := ingested(t, p, messages, nil, "another build")
		for i := range events {
			require.Equal(t, events[i].DedupeKey, again[i].DedupeKey)
		}
		for _, other := range []schema.SessionKey{
			{Scope: p.Scope, SessionID: "t"}, {Scope: schema.Scope{Project: "q"}, SessionID: "s"},
			{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"},
		} {
			p.SessionKey = other
			for _, e := range ingested(t, p, messages, nil, "build") {
				require.False(t, keys[e.DedupeKey], "two sessions share a key")
			}
		}
	})
}

func TestInlineSession(t *testing.T) {
	t.Parallel()
	s, err := inlineSession(t.Context(), []schema.InlineMessage{
		{Role: "User", Content: "yes"}, {Role: "assistant", Content: "a\x00b\xff"}, {Role: "tool", Content: "{}"},
		{Role: "system", Content: "be kind"}, {Role: "user", Content: "yes"},
	}, nil, false)
	require.NoError(t, err)
	var kinds []string
	for _, m := range s.Messages {
		kinds = append(kinds, string(m.Role)+"/"+string(m.Kind))
	}
	require.Equal(t, []string{"user/text", "assistant/text", "tool/tool_result", "system/context", "user/text"}, kinds)
	require.Equal(t, "ab\uFFFD", s.Messages[1].Text)
	require.Equal(t, []schema.Skipped{{Reason: "message 1: NUL bytes and invalid UTF-8 were taken out"}}, s.Skipped)
	require.NotEqual(t, s.Messages[0].Key, s.Messages[4].Key)

	_, err = inlineSession(t.Context(), []schema.InlineMessage{{Role: "robot"}}, nil, false)
	require.EqualError(t, err, `message 0: role "robot" is not user, assistant, system or tool`)
}

// Injected passages in a message of a workflow's input are not the user's words.
func TestInlineSessionTakesMessagesApart(t *testing.T) {
	t.Parallel()
	in := []schema.InlineMessage{
		{Role: "user", Content: ""}, {Role: "user", Content: "<memory>\nUser likes tea.\n</memory>\nhello"},
		{Role: "assistant", Content: "<memory>\nx\n</memory>"},
	}
	s, err := inlineSession(t.Context(), in, nil, false)
	require.NoError(t, err)
	require.Equal(t, []string{"", "<memory>\nUser likes tea.\n</memory>", "\nhello", "<memory>\nx\n</memory>"}, textsOf(s.Messages))
	require.Equal(t, schema.KindContext, s.Messages[1].Kind)
	require.Equal(t, schema.KindText, s.Messages[2].Kind)
	require.Equal(t, schema.KindText, s.Messages[3].Kind, "an agent's words are its own")
	for i, m := range s.Messages {
		require.Equal(t, i, m.Index)
		require.NotEmpty(t, m.Key)
	}

	s, err = inlineSession(t.Context(), in[1:2], &schema.Statement{Type: schema.EntryFact}, false)
	require.NoError(t, err)
	require.Equal(t, []string{in[1].Content}, textsOf(s.Messages), "a person's statement is taken as it is")
	require.Equal(t, schema.TrustUser, s.Messages[0].Trust())
}

// A statement by an agent is a message of its own kind, which names the agent and proves nothing.
func TestInlineSessionOfAgent(t *testing.T) {
	t.Parallel()
	s, err := inlineSession(t.Context(), []schema.InlineMessage{{Role: "assistant", Content: "<memory>\nThe user wants it.\n</memory>"}},
		&schema.Statement{Type: schema.EntryFact, By: "mcp:claude/\"名\""}, false)
	require.NoError(t, err)
	require.Len(t, s.Messages, 1)
	m := s.Messages[0]
	require.Equal(t, "mcp:claude/\"名\"", m.Author)
	require.Equal(t, schema.TrustAgent, m.Trust())
	require.False(t, m.Trust().Proves())
	require.False(t, m.Extractable(), "it is no conversation: no summary, index or question has it")
}

func TestSessionDate(t *testing.T) {
	t.Parallel()
	started, fallback := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		given   string
		started time.Time
		want    time.Time
	}{
		{"", started, started},
		{"", time.Time{}, fallback},
		{"2024-02-29", started, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"2024-02-29T12:00:00+09:00", started, time.Date(2024, 2, 29, 3, 0, 0, 0, time.UTC)},
	} {
		got, err := sessionDate(tt.given, &Session{Started: tt.started}, fallback)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.given)
	}
	for given, reason := range map[string]string{
		"yesterday":                 `date "yesterday": want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z`,
		"2026-02-30":                `date "2026-02-30": want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z`,
		"9999-12-31":                `date "9999-12-31": want one of the years 1980 to 2199`,
		"0001-01-01T00:00:00Z":      `date "0001-01-01T00:00:00Z": want one of the years 1980 to 2199`,
		"1850-01-01":                `date "1850-01-01": want one of the years 1980 to 2199`,
		"2199-12-31T23:00:00-02:00": `date "2199-12-31T23:00:00-02:00": want one of the years 1980 to 2199`,
	} {
		_, err := sessionDate(given, &Session{}, fallback)
		require.EqualError(t, err, reason)
	}
}
