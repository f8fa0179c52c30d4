package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Memory is injected context in every format with user messages, however the format cuts it.
func TestMemoryIsContextInEveryFormat(t *testing.T) {
	t.Parallel()
	const memory = `<memory>\nUser Context:\n- Work: Nurse\n</memory>`
	for name, c := range map[string]struct{ format, source string }{
		"messages":      {"messages", `{"role":"user","content":"` + memory + `\nhello"}`},
		"blocks":        {"messages", `{"role":"user","content":[{"type":"text","text":"` + memory + `"},{"type":"text","text":"hello"}]}`},
		"ShareGPT":      {"messages", `{"conversations":[{"from":"human","value":"` + memory + `\nhello"}]}`},
		"Claude Code":   {"claude-code", `{"type":"user","sessionId":"s","message":{"role":"user","content":"` + memory + `\nhello"}}`},
		"Codex history": {"codex-history", `{"session_id":"s","ts":1,"text":"` + memory + `\nhello"}`},
		"Pi":            {"pi", `{"type":"message","message":{"role":"user","content":"` + memory + `\nhello"}}`},
		"Cursor":        {"cursor", `{"role":"user","message":{"content":[{"type":"text","text":"` + memory + `\nhello"}]}}`},
		"Grok, in chunks": {"grok", grokChunk("<memory>\\nUser Context:\\n- Wo") + "\n" +
			grokChunk("rk: Nurse\\n</mem") + "\n" + grokChunk("ory>\\nhello")},
		"plain text":                {"text", strings.ReplaceAll("User: \\n"+memory+`\nhello\nAssistant: hi\n`, `\n`, "\n")},
		"plain text without labels": {"text", strings.ReplaceAll(memory+`\nhello`, `\n`, "\n")},
		"aider":                     {"aider", strings.ReplaceAll("# aider chat started at 2025-01-01 10:00:00\n\n#### "+strings.ReplaceAll(memory+`\nhello`, `\n`, "\n#### ")+"\n", "\\n", "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, err := parseOne(strings.NewReader(c.source), Options{Format: c.format})
			require.NoError(t, err)
			said, injected := "", ""
			for i, m := range session.Messages {
				require.Equal(t, i, m.Index)
				switch {
				case m.Kind == schema.KindContext:
					injected += m.Text
				case m.Role == schema.RoleUser:
					said += m.Text
				}
			}
			require.Equal(t, "hello", strings.TrimSpace(said))
			require.Contains(t, injected, "Nurse\n</memory>")
		})
	}
}

func grokChunk(text string) string {
	return `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"` +
		text + `"},"_meta":{"promptId":"p"}}}}`
}
