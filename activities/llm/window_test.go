package llm

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

const windowSize = 64

func textMessage(text string) schema.Message {
	return schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: text}
}

func numbered(messages []schema.Message) []schema.Message {
	for i := range messages {
		messages[i].Index = i
	}
	return messages
}

// drawMessages draws messages of every kind and length, blank ones among them.
func drawMessages(t *rapid.T, label string) []schema.Message {
	text := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab é한국👩‍👩‍👧\n\t　")), 0, 60, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("xyz\n 中文")), 60, 200, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune(" \n\t")), 0, 150, -1),
	)
	kinds := []schema.Kind{schema.KindText, schema.KindText, schema.KindText, schema.KindToolResult, schema.KindToolCall, schema.KindThinking, schema.KindContext}
	message := rapid.Custom(func(t *rapid.T) schema.Message {
		return schema.Message{
			Role: rapid.SampledFrom([]schema.Role{schema.RoleUser, schema.RoleAssistant, schema.RoleSystem}).Draw(t, "role"),
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Text: text.Draw(t, "text"),
		}
	})
	return rapid.SliceOfN(message, 0, 12).Draw(t, label)
}

// shown returns what the windows show of each message, put together again.
func shown(messages []schema.Message, windows []schema.Window, tools bool) map[int]string {
	out := map[int]string{}
	for _, w := range windows {
		for _, m := range windowMessages(messages, w, tools) {
			out[m.Index] += m.Text
		}
	}
	return out
}

// The windows show every text there is to extract from once, whole and in order, and nothing else;
// none shows nothing, exceeds its size or cuts a character.
func TestPlanWindowsCovers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		tools := rapid.Bool().Draw(t, "tools")
		windows, more := planWindows(messages, frontier{}, tools, windowSize, 1000)
		if more {
			t.Fatal("there are more than 1000 windows")
		}
		last := frontier{}
		for _, w := range windows {
			size := 0
			parts := windowMessages(messages, w, tools)
			for _, m := range parts {
				size += len(m.Text)
				if !utf8.ValidString(m.Text) {
					t.Fatalf("window %+v cuts a character of message %d", w, m.Index)
				}
			}
			if len(parts) == 0 || size > windowSize {
				t.Fatalf("window %+v shows %d messages of %d bytes", w, len(parts), size)
			}
			if w.First < last.message || w.First == last.message && w.ByteStart < last.offset || w.Last < w.First {
				t.Fatalf("window %+v begins before %+v", w, last)
			}
			if w.Hash != WindowHash(parts) {
				t.Fatalf("window %+v has the hash of something else", w)
			}
			last = last.after(w)
		}
		got := shown(messages, windows, tools)
		for _, m := range messages {
			want := ""
			if extracted(m, tools) {
				want = m.Text
			}
			if squeeze(got[m.Index]) != squeeze(want) {
				t.Fatalf("message %d is shown as %q, want %q", m.Index, got[m.Index], want)
			}
		}
	})
}

// squeeze drops white space: pieces that hold nothing else are not shown.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// Planned a page at a time, each from where the one before ended, the windows are the same.
func TestPlanWindowsPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		all, _ := planWindows(messages, frontier{}, false, windowSize, 1000)
		var paged []schema.Window
		var from frontier
		for {
			page, more := planWindows(messages, from, false, windowSize, limit)
			if len(page) > limit || more && len(page) < limit {
				t.Fatalf("a page of %d windows of %d, more: %v", len(page), limit, more)
			}
			paged = append(paged, page...)
			for _, w := range page {
				from = from.after(w)
			}
			if !more {
				break
			}
		}
		if fmt.Sprint(paged) != fmt.Sprint(all) {
			t.Fatalf("paged %+v, want %+v", paged, all)
		}
	})
}

// A session that grew has windows for what is new alone.
func TestPlanWindowsGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := numbered(drawMessages(t, "before"))
		all := numbered(append(append([]schema.Message{}, before...), drawMessages(t, "more")...))
		windows, _ := planWindows(before, frontier{}, false, windowSize, 1000)
		var from frontier
		for _, w := range windows {
			from = from.after(w)
		}
		added, _ := planWindows(all, from, false, windowSize, 1000)
		for _, w := range added {
			if w.First < len(before) {
				t.Fatalf("window %+v shows again what %+v did", w, windows)
			}
		}
		got := shown(all, append(windows, added...), false)
		for _, m := range all {
			if extracted(m, false) && squeeze(got[m.Index]) != squeeze(m.Text) {
				t.Fatalf("message %d is shown as %q, want %q", m.Index, got[m.Index], m.Text)
			}
		}
	})
}

// A long message is cut at the ends of lines where there are any.
func TestPlanWindowsCutsAtLines(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 39) + "\n"
	messages := numbered([]schema.Message{textMessage(strings.Repeat(line, 3))})
	windows, more := planWindows(messages, frontier{}, false, windowSize, 10)
	require.False(t, more)
	require.Len(t, windows, 3)
	for i, w := range windows {
		require.Equal(t, 40*i, w.ByteStart)
		require.Equal(t, strings.TrimSuffix(line, "\n"), strings.TrimSuffix(windowMessages(messages, w, false)[0].Text, "\n"))
	}
	require.Zero(t, windows[2].ByteEnd)
	require.Equal(t, messages, WindowMessages(messages, windows[1], false), "evidence may stand anywhere in the message")
}

func TestPlanWindowsBlank(t *testing.T) {
	t.Parallel()
	blank := strings.Repeat(" \n", windowSize)
	for name, messages := range map[string][]schema.Message{
		"nothing": nil, "blank": {textMessage(blank)}, "blank messages": {textMessage(""), textMessage("\n")},
	} {
		windows, more := planWindows(numbered(messages), frontier{}, false, windowSize, 10)
		require.Empty(t, windows, name)
		require.False(t, more, name)
	}
	messages := numbered([]schema.Message{textMessage("said" + blank), textMessage("and then")})
	windows, _ := planWindows(messages, frontier{}, false, windowSize, 10)
	require.Len(t, windows, 2)
	require.Equal(t, map[int]string{0: messages[0].Text[:windows[0].ByteEnd], 1: "and then"}, shown(messages, windows, false))
}
