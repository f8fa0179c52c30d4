package format

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"

	"github.com/stretchr/testify/require"
)

// roles writes each message as a letter: the role's, in lower case for messages that are no text.
func roles(messages []schema.Message) string {
	var b strings.Builder
	for _, m := range messages {
		r := strings.ToUpper(string(m.Role[0]))
		if m.Role == schema.RoleTool {
			r = "R"
		}
		if m.Kind != schema.KindText {
			r = strings.ToLower(r)
		}
		b.WriteString(r)
	}
	return b.String()
}

// sharedWant gives, for each transcript, the format and the roles of each session: U and A are texts of user and
// assistant, u and s injected context, a a thought or a call of a tool, r its result.
var sharedWant = map[string][]string{
	"claude-code/test/test_data/edge_cases.jsonl":              {"claude-code", "UAUaruuuAaUUs", "a"},
	"claude-code/test/test_data/representative_messages.jsonl": {"claude-code", "UAUarAUarAUs"},
	"claude-code/test/test_data/session_b.jsonl":               {"claude-code", "UAU"},
	"claude-code/test/test_data/todowrite_examples.jsonl":      {"claude-code", "UAaraAaraUAaras"},

	"registry/aider/.aider.chat.history.md":                                                                        {"aider", "UA"},
	"registry/antigravity/brain/registry-antigravity/.system_generated/logs/transcript.jsonl":                      {"antigravity", "UuA"},
	"registry/claude-code/session.jsonl":                                                                           {"claude-code", "UA"},
	"registry/cline/legacy/tasks/1767225600000/api_conversation_history.json":                                      {"cline", "UA"},
	"registry/cline/modern/sessions/session_synthetic_01/session_synthetic_01.messages.json":                       {"cline", "UAa"},
	"registry/codex/rollout-2026-07-17T09-00-00-registry-codex.jsonl":                                              {"codex", "UA"},
	"registry/copilot/7cf44517-55ca-435c-893a-3fde1973a44e/events.jsonl":                                           {"copilot", "sUA"},
	"registry/cursor/projects/registry-demo/agent-transcripts/registry-cursor.jsonl":                               {"cursor", "UA"},
	"registry/deepseek/sessions/--work-pgbouncer-lab--/session-eaf5c9ac-0e47-4d2f-b982-8bae306062d1/session.jsonl": {"deepseek", "UuaAarA"},
	"registry/gemini/session-set-snapshot.jsonl":                                                                   {"gemini", "UA"},
	"registry/gemini/session.jsonl":                                                                                {"gemini", "UA"},
	"registry/goose/sessions/20250724_1.jsonl":                                                                     {"goose", "UA"},
	"registry/goose/sessions/goose.sql":                                                                            {"goose", "UA"},
	"registry/grok/sessions/workspace%2Fregistry-demo/registry-grok/updates.jsonl":                                 {"grok", "UA"},
	"registry/hermes/profiles/architect/hermes.sql":                                                                {"hermes", "UA", "UA"},
	"registry/kimi/sessions/wd_demo_0123456789ab/session_fixture01/agents/main/wire.jsonl":                         {"kimi", "sUaAUA"},
	"registry/omp/session.jsonl":                                                                                   {"omp", "UaA"},
	"registry/openclaw/agents/main/sessions/a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d.jsonl":                            {"openclaw", "UaA"},
	"registry/opencode/opencode.sql":                                                                               {"opencode", "UA"},
	"registry/pi/session.jsonl":                                                                                    {"pi", "UaA"},
	"registry/qwen/projects/-workspace-registry-demo/chats/registry-qwen.jsonl":                                    {"qwen", "UA"},
	"registry/roo/tasks/1767225700000/api_conversation_history.json":                                               {"roo", "UA"},
	"registry/zed/zed.sql":                                                                                         {"zed", "UaA", "UaA"},
	"synthetic/claude/project/session.jsonl":                                                                       {"claude-code", "UA"},
	"synthetic/codex/history.jsonl":                                                                                {"codex-history", "U"},
	"synthetic/codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-codex-abc.jsonl":                              {"codex", "UA"},
	"long-chinese-session/hermes_session_2026-05-15.txt": {"messages",
		"UAUAUAUAUAuUAUAUAuUAUAUAUAUAUAuAUAuUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUAUA"},
}

func TestSharedTranscripts(t *testing.T) {
	t.Parallel()
	root := sharedtest.Data.Path(t, "transcripts")
	seen := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		require.NoError(t, err)
		rel = filepath.ToSlash(rel)
		file, err := os.Open(name)
		require.NoError(t, err)
		defer func() { _ = file.Close() }()
		sessions, err := Parse(t.Context(), file, Options{Name: rel})

		want, ok := sharedWant[strings.TrimPrefix(rel, "harness-registry/fixtures/")]
		if !ok {
			require.Error(t, err, rel)
			require.True(t, errors.Is(err, ErrNotTranscript), "%s: %v", rel, err)
			return nil
		}
		seen++
		require.NoError(t, err, rel)
		requireSound(t, sessions)
		got := []string{sessions[0].Format}
		for _, s := range sessions {
			got = append(got, roles(s.Messages))
		}
		require.Equal(t, want, got, rel)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, len(sharedWant), seen)
}

// The long session is a log of snapshots. Each message is read once, and its text is in the file verbatim.
func TestSharedLongSession(t *testing.T) {
	t.Parallel()
	name := sharedtest.Data.Path(t, "transcripts/long-chinese-session/hermes_session_2026-05-15.txt")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	file := string(data)
	s, err := parseOne(strings.NewReader(file), Options{Name: name})
	require.NoError(t, err)
	require.Empty(t, s.Skipped)
	require.Equal(t, "User: 测试", s.Messages[0].Text)
	unescape := strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`, `\t`, "\t")
	plain := unescape.Replace(file)
	for _, m := range s.Messages {
		require.Contains(t, plain, m.Text)
	}
}
