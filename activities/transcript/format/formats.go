package format

import (
	"strings"

	"github.com/tidwall/gjson"
)

// FormatInfo describes a format that can be read.
type FormatInfo struct {
	Name        string
	Description string
}

// format says how a source is told and read.
type format struct {
	FormatInfo
	// match tells a JSON value of the format.
	match func(rec gjson.Result) bool
	// family names formats whose content is alike; hints are parts of paths that tell them apart.
	family string
	hints  []string
	// files are names of files that hold plain messages of this format.
	files []string
	// record reads the JSON values of the format one by one; reader makes a record that remembers.
	record recordFunc
	reader func() recordFunc
	// anonymous says that names of sources do not name sessions.
	anonymous bool
	// lists allows values that are arrays.
	lists bool
	// text reads a source that is not JSON.
	text func(s *source, b *builder) error
}

// The order decides between formats that match the same source: the more specific come first.
var formats = []format{
	{FormatInfo: FormatInfo{"claude-code", "Claude Code session (JSONL)"}, match: isClaude, record: claudeRecord},
	{FormatInfo: FormatInfo{"codex", "Codex CLI rollout (JSONL)"}, match: isCodex, reader: codexReader},
	{FormatInfo: FormatInfo{"codex-history", "Codex CLI history.jsonl: the user's prompts"}, match: isCodexHistory, record: codexHistoryRecord},
	{FormatInfo: FormatInfo{"chatgpt", "ChatGPT export: conversations.json"}, match: isChatGPT, record: chatGPTRecord, lists: true},
	{FormatInfo: FormatInfo{"qwen", "Qwen Code chat (JSONL)"}, match: isQwen, record: qwenRecord},
	{FormatInfo: FormatInfo{"copilot", "GitHub Copilot CLI events (JSONL)"}, match: isCopilot, record: copilotRecord},
	{FormatInfo: FormatInfo{"deepseek", "DeepSeek Harness session (JSONL, also compressed)"}, match: isDeepSeek, record: deepSeekRecord},
	{FormatInfo: FormatInfo{"kimi", "Kimi Code wire log (JSONL)"}, match: isKimi, record: kimiRecord},
	{FormatInfo: FormatInfo{"grok", "Grok Build updates.jsonl (Agent Client Protocol)"}, match: isGrok, record: grokRecord},
	{FormatInfo: FormatInfo{"antigravity", "Antigravity transcript (JSONL)"}, match: isAntigravity, record: antigravityRecord},
	{FormatInfo: FormatInfo{"gemini", "Gemini CLI chat (JSON or JSONL)"}, match: isGemini, reader: geminiReader},
	{FormatInfo: FormatInfo{"openclaw", "OpenClaw session (JSONL)"}, match: isPi, family: "pi", hints: []string{"openclaw"}, record: piRecord},
	{FormatInfo: FormatInfo{"omp", "Oh My Pi session (JSONL)"}, match: isPi, family: "pi", hints: []string{"omp/"}, record: piRecord},
	{FormatInfo: FormatInfo{"pi", "pi session (JSONL)"}, match: isPi, family: "pi", record: piRecord},
	{FormatInfo: FormatInfo{"cursor", "Cursor agent transcript (JSONL) or state.vscdb (SQLite)"}, match: isCursor, record: cursorRecord},
	{FormatInfo: FormatInfo{"goose", "Goose session (JSONL) or sessions.db (SQLite)"}, match: isGoose, record: gooseRecord},
	{FormatInfo: FormatInfo{"roo", "Roo Code api_conversation_history.json"}, match: isCline, family: "cline", hints: []string{"roo/", "roo-cline", "roo-code"},
		files: []string{"api_conversation_history.json"}, record: clineRecord},
	{FormatInfo: FormatInfo{"cline", "Cline messages.json or api_conversation_history.json"}, match: isCline, family: "cline",
		files: []string{"api_conversation_history.json"}, record: clineRecord},
	{FormatInfo: FormatInfo{"messages", "messages with role and content (JSON or JSONL), also wrapped or nested"}, match: isMessages,
		reader: messagesReader, lists: true, anonymous: true},
	{FormatInfo: FormatInfo{"opencode", "opencode database (SQLite file or SQL dump)"}},
	{FormatInfo: FormatInfo{"hermes", "Hermes state.db (SQLite file or SQL dump)"}},
	{FormatInfo: FormatInfo{"zed", "Zed threads.db (SQLite file or SQL dump)"}},
	{FormatInfo: FormatInfo{"sqlite", "a SQLite database or dump of one of the above, told by its tables"}},
	{FormatInfo: FormatInfo{"aider", "aider chat history (Markdown)"}, text: parseAider},
	{FormatInfo: FormatInfo{"text", "plain text with speaker prefixes, such as \"User: \""}, text: parseText, anonymous: true},
}

// Formats lists what can be read, in the order of detection.
func Formats() []FormatInfo {
	infos := make([]FormatInfo, len(formats))
	for i, f := range formats {
		infos[i] = f.FormatInfo
	}
	return infos
}

func formatHint() string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return "formats are " + strings.Join(names, ", ") + "; use --format"
}

func (f *format) parse(s *source, b *builder) error {
	switch {
	case isDatabase(s.head), f.match == nil && f.text == nil, f.text == nil && isDump(s.head):
		return parseStore(s, b)
	case f.text != nil:
		return f.text(s, b)
	}
	read := f.record
	if f.reader != nil {
		read = f.reader()
	}
	if f.lists {
		return s.values(b, read)
	}
	return s.objects(b, read)
}

// choose returns the first format found, or the one of its family that the path speaks for.
func choose(found []*format, name string) *format {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	best := found[0]
	for _, f := range found {
		if f.family != best.family || f.family == "" {
			continue
		}
		for _, h := range f.hints {
			if strings.Contains(name, h) {
				return f
			}
		}
		if len(f.hints) == 0 {
			best = f
		}
	}
	return best
}
