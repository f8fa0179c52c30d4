package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The path distinguishes formats with similar content.
func TestDetectByPath(t *testing.T) {
	t.Parallel()
	const piLine = `{"type":"session","version":3,"id":"r1","timestamp":"2026-07-17T10:00:00Z"}`
	const task = `[{"role":"user","content":[{"type":"text","text":"<task>go</task>"}]}]`
	for _, tt := range []struct{ name, in, want string }{
		{`C:\Users\u\.openclaw\agents\main\sessions\x.jsonl`, piLine, "openclaw"},
		{"/home/u/.omp/agent/sessions/x.jsonl", piLine, "omp"},
		{"/home/u/.pi/agent/sessions/x.jsonl", piLine, "pi"},
		{"", piLine, "pi"},
		{"globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json", task, "roo"},
		{"", task, "cline"},
		{"tasks/1/api_conversation_history.json", `[{"role":"user","content":"no task"}]`, "cline"},
	} {
		got, err := detect(tt.name, []byte(tt.in))
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, got, tt.name)
	}
}

func TestDetectOfACutHead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", headSize)
	for want, in := range map[string]string{
		"claude-code": `{"type":"user","message":{"role":"user","content":"` + long + `"},"sessionId":"s"}`,
		"messages":    `[{"role":"user","content":"` + long + `"}]`,
		"cline":       `{"version":1,"agent":"lead","sessionId":"s","messages":[{"role":"user","content":"` + long + `"}]}`,
		"chatgpt":     `[{"title":"x","create_time":1,"mapping":{"a":{"message":{"content":"` + long + `"}}},"current_node":"a"}]`,
		"text":        "User: " + long,
	} {
		got, err := detect("", []byte(in))
		require.NoError(t, err, want)
		require.Equal(t, want, got)
	}
}

func TestDetectOfTextThatQuotes(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"User: what is this?\n{\"role\":\"user\",\"content\":\"x\"}\nAssistant: a message\n",
		"User: a schema, please\nAssistant: here\ncreate table messages (session_id, role, content, timestamp);\n",
		"[10:31] User: hi\n[10:32] Assistant: ho\n",
		"[User]: hi\nUser: ho\n",
	} {
		s, err := parseOne(strings.NewReader(in), Options{})
		require.NoError(t, err, in)
		require.Equal(t, "text", s.Format, in)
		require.GreaterOrEqual(t, len(s.Messages), 1)
	}
}

func TestDetectRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     error
	}{
		{"LICENSE", "User: not even then\n", ErrNotTranscript},
		{"dir/SOURCE.txt", "repo: x\n", ErrNotTranscript},
		{"README.md", "# x\n", ErrNotTranscript},
		{"s/x.checkpoint.y.jsonl", hello, ErrNotTranscript},
		{"taskHistory.json", `[{"id":"1","task":"x","tokensIn":1}]`, ErrNotTranscript},
		{"history_item.json", `{"id":"1","task":"x","tokensIn":1}`, ErrNotTranscript},
		{"state.json", "{\n \"createdAt\": \"x\",\n \"lastPrompt\": \"y\"\n}", ErrNotTranscript},
		{"summary.json", `{"info":{"id":"x"},"session_summary":"y"}`, ErrNotTranscript},
		{"sessions.json", `{"agent:main":{"sessionId":"a","sessionFile":"a.jsonl"}}`, ErrNotTranscript},
		{"package.json", `{"name":"x","version":"1","scripts":{}}`, ErrNotTranscript},
		{"x.json", `{"a":1}`, ErrUnknownFormat},
		{"x.json", `[1,2,3]`, ErrUnknownFormat},
		{"x.txt", "just words\nno one speaks\n", ErrUnknownFormat},
		{"x.txt", "repo: a\nlicence: b\nUse: c\n", ErrUnknownFormat},
		{"x.txt", "Note: a\nNote: b\n", ErrUnknownFormat},
		{"x.bin", "\x7fELF\x00\x00User: x\n", ErrUnknownFormat},
		{"x", "", ErrUnknownFormat},
	} {
		_, err := detect(tt.name, []byte(tt.in))
		require.ErrorIs(t, err, tt.want, "%s %q", tt.name, tt.in)
	}
}

func TestSessionName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                                       "",
		"a/b.jsonl":                              "b",
		`C:\x\b.jsonl`:                           "b",
		"b.jsonl.zst":                            "b",
		"tasks/17/api_conversation_history.json": "17",
		"brain/b1/.system_generated/logs/transcript.jsonl": "b1",
		"s/agents/main/wire.jsonl":                         "s",
		"session.jsonl":                                    "session",
		"/updates.jsonl":                                   "updates",
		"../updates.jsonl":                                 "updates",
	} {
		require.Equal(t, want, sessionName(name), name)
	}
}
