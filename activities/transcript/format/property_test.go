package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"axiommind/schema"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// quoted draws a JSON string of any text.
func quoted(t *rapid.T, label string) string {
	text := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "yes", "<system-reminder>x</system-reminder>\ny", "a\x00b", "[Request interrupted by user]"}),
	).Draw(t, label)
	data, err := json.Marshal(text)
	require.NoError(t, err)
	return string(data)
}

func claudeLine(t *rapid.T) string {
	id := rapid.SampledFrom([]string{"s1", "s1", "s1", "s2"}).Draw(t, "session")
	call := rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "call")
	switch rapid.IntRange(0, 6).Draw(t, "line") {
	case 0:
		return fmt.Sprintf(`{"type":"user","sessionId":%q,"message":{"role":"user","content":%s}}`, id, quoted(t, "text"))
	case 1:
		return fmt.Sprintf(`{"type":"assistant","sessionId":%q,"message":{"role":"assistant","content":[{"type":"text","text":%s},{"type":"tool_use","id":%q,"name":"Bash","input":{}}]}}`, id, quoted(t, "text"), call)
	case 2:
		return fmt.Sprintf(`{"type":"user","sessionId":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}}`, id, call, quoted(t, "text"))
	case 3:
		return fmt.Sprintf(`{"type":"summary","leafUuid":"x","summary":%s}`, quoted(t, "text"))
	case 4:
		return fmt.Sprintf(`{"type":"user","sessionId":%q,"agentId":"a","isSidechain":true,"message":{"role":"user","content":%s}}`, id, quoted(t, "text"))
	case 5:
		return `{"broken":`
	}
	return ""
}

func codexLine(t *rapid.T) string {
	switch rapid.IntRange(0, 4).Draw(t, "line") {
	case 0:
		return fmt.Sprintf(`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}}`, quoted(t, "text"))
	case 1:
		return fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"shell","arguments":%s}}`, quoted(t, "text"))
	case 2:
		return fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":%s}}`, quoted(t, "text"))
	case 3:
		return `{"type":"session_meta","payload":{"id":"c1"}}`
	}
	return `{"type":"event_msg","payload":{}}`
}

func messagesLine(t *rapid.T) string {
	one := func() string {
		return fmt.Sprintf(`{"role":%q,"content":%s}`, rapid.SampledFrom([]string{"user", "assistant", "tool", "system"}).Draw(t, "role"), quoted(t, "text"))
	}
	switch rapid.IntRange(0, 4).Draw(t, "line") {
	case 0, 1:
		return one()
	case 2:
		return "[[" + one() + "," + one() + "]]"
	case 3:
		return `{"messages":[` + one() + `]}`
	}
	return "[1"
}

// A log that grows by lines only gains messages: every earlier message keeps its place and its key.
func TestAppendedLinesOnlyAppendMessages(t *testing.T) {
	t.Parallel()
	for format, line := range map[string]func(*rapid.T) string{"claude-code": claudeLine, "codex": codexLine, "messages": messagesLine} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				all := rapid.SliceOfN(rapid.Custom(line), 1, 12).Draw(t, "lines")
				cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
				opts := Options{Format: format, Name: "dir/name.jsonl"}
				before := strings.Join(all[:cut], "\n") + "\n"
				whole := strings.Join(all, "\n") + "\n"
				torn := whole[:rapid.IntRange(len(before), max(len(before), len(whole)-1)).Draw(t, "torn")]

				short, err := Parse(t.Context(), strings.NewReader(before), opts)
				require.NoError(t, err)
				middle, err := Parse(t.Context(), strings.NewReader(torn), opts)
				require.NoError(t, err)
				long, err := Parse(t.Context(), strings.NewReader(whole), opts)
				require.NoError(t, err)
				requireSound(t, long)
				requireGrown(t, short, middle)
				requireGrown(t, middle, long)
			})
		})
	}
}

func requireGrown(t require.TestingT, before, after []*Session) {
	require.GreaterOrEqual(t, len(after), len(before))
	for i, s := range before {
		if len(s.Messages) == 0 {
			continue // a source without messages has no id of its own yet
		}
		require.GreaterOrEqual(t, len(after[i].Messages), len(s.Messages))
		require.Equal(t, s.Messages, after[i].Messages[:len(s.Messages)])
		require.GreaterOrEqual(t, len(after[i].Skipped)+1, len(s.Skipped))
	}
}

// However a text is divided, a person's words stay verbatim: no byte is lost or made up.
func TestTextIsVerbatim(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 200, -1).Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "text")
		data, err := json.Marshal(text)
		require.NoError(t, err)
		s, err := parseOne(strings.NewReader(`{"role":"user","content":`+string(data)+`}`), Options{Format: "messages"})
		require.NoError(t, err)
		var joined strings.Builder
		for _, m := range s.Messages {
			require.Equal(t, schema.RoleUser, m.Role)
			joined.WriteString(m.Text)
		}
		require.Equal(t, text, joined.String())
	})
}
