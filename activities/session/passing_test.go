package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// conversation reads one message a line: its speaker and its text.
func conversation(lines string) []schema.Message {
	var out []schema.Message
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		speaker, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		m := schema.Message{Role: schema.Role(speaker), Kind: schema.KindText, Text: text}
		switch speaker {
		case "upload":
			m.Role, m.Kind, m.Text = schema.RoleUser, schema.KindContext, "<uploaded_files>\n"+text+"\n</uploaded_files>"
		case "context":
			m.Role, m.Kind = schema.RoleUser, schema.KindContext
		case "call":
			m.Role, m.Kind = schema.RoleAssistant, schema.KindToolCall
		}
		out = append(out, m)
	}
	return numbered(out)
}

// remaining returns the indexes of the messages that the windows of a session show.
func remaining(messages []schema.Message) []int {
	windows, _ := plan(messages, Frontier{}, false, 1<<20, 10)
	out := []int{}
	for _, w := range windows {
		for _, m := range Shown(messages, w, false) {
			out = append(out, m.Index)
		}
	}
	return out
}

func TestPassing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines string
		want  []int
	}{
		"an acknowledgement and the reply":            {"user Set up CI\nassistant Done.\nuser thanks!\nassistant You're welcome.\nuser Use tabs\nassistant Yes.", []int{0, 1, 4, 5}},
		"an answer":                                   {"user Deploy on Fridays?\nassistant Do you want that as a rule?\nuser ok.\nassistant Saved", []int{0, 1, 2, 3}},
		"an answer in Japanese":                       {"user 金曜日に\nassistant 保存しますか。\nuser はい\nassistant 保存しました", []int{0, 1, 2, 3}},
		"an answer in Korean":                         {"user 금요일\nassistant 저장할까요.\nuser 네\nassistant 저장했습니다", []int{0, 1, 2, 3}},
		"an answer in Chinese":                        {"user 周五\nassistant 要保存吗\nuser 好的\nassistant 已保存", []int{0, 1, 2, 3}},
		"an acknowledgement in Korean":                {"user 금요일에 배포\nassistant 저장했습니다.\nuser 감사합니다\nassistant 별말씀을요", []int{0, 1}},
		"the agent goes to work":                      {"user Plan it\nassistant First the schema.\nuser ok\ncall edit\nassistant The cause was a lock.", []int{0, 1, 4}},
		"the agent says so and goes to work":          {"user Plan it\nassistant First the schema.\nuser ok\nassistant On it.\ncall edit\nassistant The cause was a lock.", []int{0, 1, 5}},
		"the reply asks":                              {"user a b\nassistant Done.\nuser thanks\nassistant Shall I deploy?\nuser yes\nassistant Deployed.", []int{0, 1, 3, 4, 5}},
		"at the beginning":                            {"user ok\nassistant Hello!\nuser I am a nurse\nassistant Noted.", []int{2, 3}},
		"in the same breath":                          {"user I am a nurse\nuser thanks\nassistant Noted.", []int{0, 1, 2}},
		"only an acknowledgement":                     {"user thanks", []int{}},
		"a tool may have asked":                       {"user Go\ncall ask\nuser ok\nassistant Done.", []int{0, 2, 3}},
		"an upload and the reply":                     {"upload a.pdf\nassistant Received a.pdf\nuser next\nassistant ok", []int{2, 3}},
		"an upload with words":                        {"upload a.pdf\nuser Sum it up\nassistant It says x.", []int{1, 2}},
		"words with an upload":                        {"user Sum it up\nupload a.pdf\nassistant It says x.", []int{0, 2}},
		"other context":                               {"context <system-reminder>x</system-reminder>\nassistant I go on.", []int{1}},
		"a question mark in an address asks nothing":  {"user Where\nassistant At https://x.y/z?q=1\nuser thanks\nassistant Sure.", []int{0, 1}},
		"nobody acknowledges in the agent's own text": {"user Go\nassistant ok", []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, remaining(conversation(c.lines)))
		})
	}
}

// A person's statement is never taken for an acknowledgement.
func TestStatedDoesNotPass(t *testing.T) {
	t.Parallel()
	messages := conversation("user ok")
	windows, _, err := Plan(stream(messages), Frontier{}, Cut{Stated: true, Size: windowSize, Limit: 1, Hash: hashShown})
	require.NoError(t, err)
	require.Len(t, windows, 1)
	require.Len(t, Shown(messages, windows[0], false), 1)
}

// A plan that is made again behind a window does not judge again the messages that passed behind the window.
func TestPassingStaysBehindItsWindow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", windowSize-10)
	messages := conversation("user " + long + "\nassistant Done.\nuser ok\nassistant Welcome.\nuser " + long)
	all, _ := plan(messages, Frontier{}, false, windowSize, 10)
	require.Len(t, all, 2)
	require.Equal(t, 3, all[0].Last)
	again, _ := plan(messages, Frontier{}.After(all[0]), false, windowSize, 10)
	require.Equal(t, all[1:], again)
}

// The remaining messages are in order, and from any of them on, the same remain.
func TestPassingIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		kept := remaining(messages)
		if !slices.IsSorted(kept) {
			t.Fatalf("remaining: %v", kept)
		}
		for n, first := range kept {
			w := schema.Window{First: first, Last: len(messages) - 1}
			var got []int
			for _, m := range Shown(messages, w, false) {
				got = append(got, m.Index)
			}
			if !slices.Equal(got, kept[n:]) {
				t.Fatalf("from message %d on %v remain, want %v", first, got, kept[n:])
			}
		}
	})
}

// In a conversation without tools, uploads and other context, filtering the remaining messages again removes
// nothing.
func TestPassingIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) schema.Message {
			return schema.Message{
				Role: rapid.SampledFrom([]schema.Role{schema.RoleUser, schema.RoleAssistant}).Draw(t, "role"), Kind: schema.KindText,
				Text: rapid.SampledFrom([]string{"ok", "好的，谢谢", "Done.", "Shall I?", "I am a nurse", "Fine work"}).Draw(t, "text"),
			}
		})
		messages := numbered(rapid.SliceOfN(line, 0, 12).Draw(t, "messages"))
		var kept []schema.Message
		for _, i := range remaining(messages) {
			kept = append(kept, messages[i])
		}
		again := remaining(numbered(slices.Clone(kept)))
		if len(again) != len(kept) {
			t.Fatalf("of %v, %v remain", kept, again)
		}
	})
}

func TestScheduled(t *testing.T) {
	t.Parallel()
	scheduled := false
	for i, step := range []struct {
		message schema.Message
		want    bool
	}{
		{schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: "hi"}, false},
		{schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: " \n[SCHEDULED]check"}, true},
		{schema.Message{Role: schema.RoleAssistant, Kind: schema.KindText, Text: "price=1"}, true},
		{schema.Message{Role: schema.RoleUser, Kind: schema.KindContext, Text: "injected"}, true},
		{schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: " "}, true},
		{schema.Message{Role: schema.RoleAssistant, Kind: schema.KindText, Text: "and more"}, true},
		{schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: "what does [SCHEDULED] mean?"}, false},
		{schema.Message{Role: schema.RoleAssistant, Kind: schema.KindText, Text: "[SCHEDULED] is a mark"}, false},
		{schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: "[scheduled] x"}, false},
	} {
		scheduled = Scheduled(scheduled, step.message)
		require.Equal(t, step.want, scheduled, i)
	}
}

// However a session grows, scheduled messages are left out as they are from the whole.
func TestScheduledGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var messages []schema.Message
		for range rapid.IntRange(1, 20).Draw(rt, "messages") {
			messages = append(messages, rapid.SampledFrom([]schema.Message{
				{Role: schema.RoleUser, Kind: schema.KindText, Text: "[SCHEDULED] check the price"},
				{Role: schema.RoleUser, Kind: schema.KindText, Text: "I prefer tabs over spaces."},
				{Role: schema.RoleAssistant, Kind: schema.KindText, Text: "The price is 7."},
				{Role: schema.RoleAssistant, Kind: schema.KindToolCall, Text: "fetch"},
				{Role: schema.RoleTool, Kind: schema.KindToolResult, Text: "7"},
			}).Draw(rt, "message"))
		}
		messages = numbered(messages)
		var want []int
		scheduled := false
		for _, m := range messages {
			if scheduled = Scheduled(scheduled, m); !scheduled && m.Extractable() {
				want = append(want, m.Index)
			}
		}
		var got []int
		frontier, size := Frontier{}, rapid.IntRange(30, 200).Draw(rt, "size")
		for end := 0; end < len(messages); {
			end = min(len(messages), end+rapid.IntRange(1, 8).Draw(rt, "more"))
			windows, _ := plan(messages[:end], frontier, false, size, 100)
			for _, w := range windows {
				for _, m := range Shown(messages[:end], w, false) {
					got = append(got, m.Index)
				}
				frontier = frontier.Furthest(frontier.After(w))
			}
		}
		require.Equal(rt, want, got)
	})
}
