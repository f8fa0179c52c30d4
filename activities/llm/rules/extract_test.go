package rules

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/llm/prose"
	"axiommind/activities/text"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// worksIn reports whether an agent works in the session.
func worksIn(session []schema.Message) bool {
	return slices.ContainsFunc(session, func(m schema.Message) bool {
		return m.Role == schema.RoleTool || m.Kind == schema.KindToolCall || m.Kind == schema.KindToolResult
	})
}

func say(role schema.Role, texts ...string) []schema.Message {
	out := make([]schema.Message, len(texts))
	for i, t := range texts {
		out[i] = schema.Message{Index: i, Role: role, Kind: schema.KindText, Text: t}
	}
	return out
}

func TestGolden(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, in := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(in), ".txt"), func(t *testing.T) {
			t.Parallel()
			window := readDialogue(t, in)
			got := Extract(window, worksIn(window))
			requireVerbatim(t, window, got)
			data, err := json.MarshalIndent(got.Entries, "", "  ")
			require.NoError(t, err)
			golden := strings.TrimSuffix(in, ".txt") + ".golden.json"
			if *update {
				require.NoError(t, os.WriteFile(golden, append(data, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(data)+"\n")
		})
	}
}

// readDialogue reads messages that begin with a line "@user", "@assistant" or "@tool".
func readDialogue(t *testing.T, path string) []schema.Message {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []schema.Message
	for _, part := range strings.Split("\n"+string(data), "\n@")[1:] {
		role, text, _ := strings.Cut(part, "\n")
		m := schema.Message{
			Index: len(out), Role: schema.Role(role), Kind: schema.KindText, Text: strings.TrimSuffix(text, "\n"),
		}
		if m.Role == schema.RoleTool {
			m.Kind = schema.KindToolResult
		}
		out = append(out, m)
	}
	return out
}

// requireVerbatim checks that every quote is whole sentences or lines of its message.
func requireVerbatim(t require.TestingT, window []schema.Message, got schema.Extraction) {
	texts := map[int]string{}
	for _, m := range window {
		if m.Extractable() {
			texts[m.Index] = m.Text
		}
	}
	for _, e := range got.Entries {
		require.NotEmpty(t, e.Title)
		require.NotEmpty(t, e.Evidence)
		require.LessOrEqual(t, utf8.RuneCountInString(e.Title), prose.MaxTitle)
		for _, q := range e.Evidence {
			require.Contains(t, texts[q.MessageIndex], q.Quote, "message %d", q.MessageIndex)
			require.True(t, standsWhole(texts[q.MessageIndex], q.Quote), "%q is no whole sentence of %q", q.Quote, texts[q.MessageIndex])
			require.LessOrEqual(t, utf8.RuneCountInString(q.Quote), schema.MaxQuote)
			require.NotEmpty(t, strings.TrimSpace(q.Quote))
			require.True(t, utf8.ValidString(q.Quote))
		}
	}
}

// standsWhole reports whether a text contains a quote as whole sentences or lines.
func standsWhole(message, quote string) bool {
	b := text.NewBoundaries(message)
	for at := 0; ; at++ {
		n := strings.Index(message[at:], quote)
		if n < 0 {
			return false
		}
		if at += n; b.Whole(at, at+len(quote)) {
			return true
		}
	}
}

func TestWhatIsNotSaid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		role schema.Role
		text string
	}{
		"question":                {schema.RoleUser, "Should we use Redis for the cache?"},
		"question without a mark": {schema.RoleUser, "did we decide to use Redis"},
		"hypothetical":            {schema.RoleUser, "If we decided to use Redis, we'll use it for sessions too."},
		"proposal":                {schema.RoleAssistant, "Perhaps we'll use Redis for the cache."},
		"not decided":             {schema.RoleUser, "I don't think we decided to use Redis."},
		"not finished":            {schema.RoleAssistant, "The migration is not done and has not been completed."},
		"preference of the agent": {schema.RoleAssistant, "I prefer tabs over spaces."},
		"code":                    {schema.RoleUser, "```\n// TODO: we decided to use Redis\n```"},
		"unclosed code":           {schema.RoleUser, "~~~\nwe decided to use Redis"},
		"table":                   {schema.RoleAssistant, "| we decided to use Redis | done: all |"},
		"quotation":               {schema.RoleUser, "> we decided to use Redis"},
		"mention":                 {schema.RoleUser, "Search the log for \"we decided to use Redis\" again."},
		"heading":                 {schema.RoleAssistant, "## What we decided to do"},
		"part of a word":          {schema.RoleUser, "mastodon todos and undone: fixtures"},
		"Korean question":         {schema.RoleUser, "Redis를 쓰기로 결정했나요?"},
		"Korean negation":         {schema.RoleUser, "Redis를 쓰기로 결정했지 않습니다."},
		"Chinese question":        {schema.RoleUser, "我们决定用 Redis 了吗？"},
		"Chinese question word":   {schema.RoleUser, "要不要我们就用 Redis"},
		"Chinese negation":        {schema.RoleUser, "我们还没决定用 Redis。"},
		"Chinese condition":       {schema.RoleUser, "如果我们决定用 Redis，成本会更高。"},
		"Traditional negation":    {schema.RoleUser, "我們還沒決定用 Redis。"},
		"what decides":            {schema.RoleAssistant, "配置文件决定了任务分配给谁。"},
		"Japanese question":       {schema.RoleUser, "Redis を使うことにしましたか？"},
		"Japanese condition":      {schema.RoleUser, "もし Redis を使うことにした場合は高くなります。"},
		"note of the harness":     {schema.RoleUser, "[System note: we decided to use Redis]"},
		"nothing":                 {schema.RoleUser, "   \n\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, Extract(say(tc.role, tc.text), false).Entries)
		})
	}
}

func TestOnlyConversationCounts(t *testing.T) {
	t.Parallel()
	const text = "We decided to use Go."
	for _, m := range []schema.Message{
		{Role: schema.RoleTool, Kind: schema.KindToolResult, Text: text},
		{Role: schema.RoleAssistant, Kind: schema.KindThinking, Text: text},
		{Role: schema.RoleUser, Kind: schema.KindContext, Text: text},
		{Role: schema.RoleSystem, Kind: schema.KindText, Text: text},
	} {
		require.Empty(t, Extract([]schema.Message{m}, false).Entries)
	}
	require.Len(t, Extract(say(schema.RoleAssistant, text), false).Entries, 1)
}

// Some phrases are talk in a chat, and reports where tools are called.
func TestAgentAtWork(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		role   schema.Role
		text   string
		status schema.TaskStatus
		title  string
	}{
		{schema.RoleAssistant, "The deploy is waiting for the review.", schema.TaskBlocked, "The deploy"},
		{schema.RoleAssistant, "I’m working on the importer.", schema.TaskInProgress, "the importer"},
		{schema.RoleAssistant, "I am working on the importer.", schema.TaskInProgress, "the importer"},
		{schema.RoleUser, "The export is done.", schema.TaskDone, "The export"},
		{schema.RoleUser, "The Windows port is no longer needed.", schema.TaskCancelled, "The Windows port"},
		{schema.RoleUser, "Let's use Postgres for the event log.", "", ""},
		{schema.RoleUser, "Don't use mocks in the tests of the store.", "", ""},
	} {
		require.Empty(t, Extract(say(tc.role, tc.text), false).Entries, "%s: in a chat", tc.text)
		got := Extract(say(tc.role, tc.text), true).Entries
		require.Len(t, got, 1, tc.text)
		if tc.title == "" {
			require.Nil(t, got[0].Task)
			continue
		}
		require.Equal(t, tc.status, got[0].Task.Status, tc.text)
		require.Equal(t, tc.title, got[0].Task.Title)
	}
}

func TestAdviceIsNoTask(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"- **Improved accuracy**: the approach was shown to work well.", "Remember, the goal is to have fun.", "First, we need to convert the table.",
		"Let's use the formula for heat.", "Once the bread is done, let it cool.", "Before making a final decision, read the reviews.",
		"In the end, the decision is yours.", "I prefer it this way.", "I prefer not to say.",
	} {
		require.Empty(t, Extract(say(schema.RoleAssistant, said), false).Entries, said)
		require.Empty(t, Extract(say(schema.RoleUser, said), false).Entries, said)
	}
}

// Phrases are in lower case, or they would never be found.
func TestCuesAreInLowerCase(t *testing.T) {
	t.Parallel()
	for _, c := range finderOfAll().cues {
		require.Equal(t, strings.ToLower(c.text), c.text)
		require.NotContains(t, c.text, "’", "the other apostrophe stands for both")
	}
}

func TestSaidTwice(t *testing.T) {
	t.Parallel()
	window := say(schema.RoleUser, "We decided to use Go for this.", "ok", "We decided to use Go for this.")
	window[0].Index, window[2].Index = 40, 42
	got := Extract(window, worksIn(window)).Entries
	require.Len(t, got, 1)
	require.Equal(t, []schema.Quote{
		{MessageIndex: 40, Quote: "We decided to use Go for this."},
		{MessageIndex: 42, Quote: "We decided to use Go for this."},
	}, got[0].Evidence)
}

func TestLongSentenceIsQuotedWhole(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("한국어👨‍👩‍👧‍👦 문장 ", 300)
	sentence := filler + "그래서 우리는 PostgreSQL을 사용하기로 결정했습니다 " + filler + "끝."
	window := say(schema.RoleUser, "> - 앞 문장.\n1. 그렇습니다. "+sentence+" 다음 문장.")
	got := Extract(window, worksIn(window))
	require.Len(t, got.Entries, 1)
	requireVerbatim(t, window, got)
	require.Equal(t, sentence, got.Entries[0].Evidence[0].Quote)
	require.True(t, strings.HasSuffix(got.Entries[0].Title, "…"), "the title is bounded")

	window = say(schema.RoleUser, strings.Repeat("words and ", schema.MaxQuote/8)+"we decided to use Go")
	require.Empty(t, Extract(window, false).Entries, "no quote can hold the sentence")
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"sentence":            {"It is late, I know that well. We decided to use Go for all of the services. Good night.", "We decided to use Go for all of the services."},
		"the one after":       {"We decided to use Go. Good night. Bye now then.", "We decided to use Go. Good night."},
		"the ones before":     {"Good night. We decided to use Go.", "Good night. We decided to use Go."},
		"not other lines":     {"Good night.\nWe decided to use Go.\nBye.", "We decided to use Go."},
		"not a long one":      {"We decided to use Go. " + strings.Repeat("And so it went on ", 12) + ".", "We decided to use Go."},
		"item":                {"- We decided to use Go for the services", "We decided to use Go for the services"},
		"box":                 {"- [x] Write the parser", "[x] Write the parser"},
		"box with sentences":  {"- [ ] Write the parser. Then the printer.", "[ ] Write the parser. Then the printer."},
		"tag":                 {"<task>We decided to use Go for the services</task>", "<task>We decided to use Go for the services</task>"},
		"abbreviation":        {"We decided to use Go, vs. Rust, in the house of Dr. Smith in May.", "We decided to use Go, vs. Rust, in the house of Dr. Smith in May."},
		"half a sentence":     {"我们决定采用 PostgreSQL 作为主数据库；不用 MySQL，因为它的许可证不合适。好。", "我们决定采用 PostgreSQL 作为主数据库；不用 MySQL，因为它的许可证不合适。"},
		"read as one line":    {"We decided to use Go for the services\u2028Then rest", "We decided to use Go for the services\u2028Then rest"},
		"CRLF":                {"Good.\r\nWe decided to use Go for the services\r\nBye.", "We decided to use Go for the services"},
		"speaker":             {"User: We decided to use Go for the services.", "User: We decided to use Go for the services."},
		"emphasis":            {"**We decided to use Go for the services!** Nothing more is to be said of it.", "**We decided to use Go for the services!**"},
		"nothing but a title": {"We decided to use Go", "We decided to use Go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			window := say(schema.RoleUser, tc.text)
			got := Extract(window, false)
			requireVerbatim(t, window, got)
			require.NotEmpty(t, got.Entries)
			require.Equal(t, tc.want, got.Entries[0].Evidence[0].Quote)
		})
	}
}

func TestLanguageOfTheSource(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"우리는 PostgreSQL을 사용하기로 결정했습니다.", "我们决定采用 PostgreSQL 作为主数据库。", "我們決定採用 PostgreSQL 作為主資料庫。",
		"データベースは PostgreSQL を使うことにしました。",
	} {
		got := Extract(say(schema.RoleUser, said), false).Entries
		require.Len(t, got, 1, said)
		require.Equal(t, schema.EntryDecision, got[0].Type)
		require.Equal(t, said, got[0].Title)
	}
}

func TestExtractProperties(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"we decided to use ", "Go. ", "I prefer ", "TODO: ", "- [x] ", "- [ ] ", "\n", "```", "\n\n", "是", "我们决定用", "。", "？",
		"결정했습니다", " ", "(", ")", "blocked by ", "卡在", "👩‍💻", "é", "\u00a0", "|", ">",
		"Done:\n", "**", "<task>", "</task>", "# TODO\n", "1. ", "’t ", "\"", "の修正が完了しました", strings.Repeat("長", 150), "\t", ".",
		"User: ", "urgent", "> - ", "1. ", "・", "\r\n", "\u2028", "Dr. ", "v1.5 ", "... ", "\u3000", "\u200b", "~~~\n", "Τι έγινε; ", "។", "；",
		"[", "]", "#", "i've finished ", "\ufffd", "'", "“", "a",
	}
	rapid.Check(t, func(t *rapid.T) {
		var window []schema.Message
		for i := range rapid.IntRange(1, 4).Draw(t, "messages") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "text"), "")
			text += rapid.StringN(0, 12, -1).Draw(t, "tail")
			role := rapid.SampledFrom([]schema.Role{schema.RoleUser, schema.RoleAssistant}).Draw(t, "role")
			window = append(window, schema.Message{Index: i * 3, Role: role, Kind: schema.KindText, Text: text})
		}
		got := Extract(window, worksIn(window))
		requireVerbatim(t, window, got)
		require.Equal(t, got, Extract(window, worksIn(window)), "same input, same entries")
	})
}

func TestLongChineseSession(t *testing.T) {
	t.Parallel()
	window := sharedSession(t)
	got := Extract(window, worksIn(window))
	requireVerbatim(t, window, got)
	require.Greater(t, len(got.Entries), 3)
	require.Less(t, len(got.Entries), 80)
}

// sharedSession reads the long session that is handed to every build of the project.
func sharedSession(tb testing.TB) []schema.Message {
	tb.Helper()
	const name = "transcripts/long-chinese-session/hermes_session_2026-05-15.txt"
	data, err := os.ReadFile(sharedtest.Data.Path(tb, name))
	if err != nil {
		tb.Skipf("no shared data: %v", err)
	}
	var out []schema.Message
	for line := range strings.Lines(string(data)) {
		var turns [][]struct{ Role, Content string }
		require.NoError(tb, json.Unmarshal([]byte(line), &turns))
		for _, turn := range turns {
			for _, m := range turn {
				out = append(out, schema.Message{
					Index: len(out), Role: schema.Role(m.Role), Kind: schema.KindText, Text: m.Content,
				})
			}
		}
	}
	return out
}

// BenchmarkExtractOneLine reads a line with a statement every few words, in sentences and without a stop.
func BenchmarkExtractOneLine(b *testing.B) {
	for name, said := range map[string]string{
		"sentences": "We decided to use Go for %d. ", "no stops": "we decided to use Go for %d and ",
	} {
		var line strings.Builder
		for n := 0; line.Len() < 1<<17; n++ {
			fmt.Fprintf(&line, said, n)
		}
		window := say(schema.RoleAssistant, line.String())
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(line.Len()))
			for b.Loop() {
				Extract(window, true)
			}
		})
	}
}

func BenchmarkExtract(b *testing.B) {
	window := sharedSession(b)
	size := 0
	for _, m := range window {
		size += len(m.Text)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		Extract(window, worksIn(window))
	}
}
