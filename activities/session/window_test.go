package session

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

const windowSize = 64

var errBroken = errors.New("broken")

func textMessage(text string) schema.Message {
	return schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: text}
}

func numbered(messages []schema.Message) []schema.Message {
	for i := range messages {
		messages[i].Index = i
	}
	return messages
}

func stream(messages []schema.Message) iter.Seq2[schema.Message, error] {
	return func(yield func(schema.Message, error) bool) {
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// hashShown hashes the messages that a model is shown.
func hashShown(messages []schema.Message) string {
	parts := []string{}
	for _, m := range messages {
		parts = append(parts, fmt.Sprint(m.Index), string(m.Role), m.Text)
	}
	return schema.HashParts(parts...)
}

func plan(messages []schema.Message, from Frontier, tools bool, size, limit int) ([]schema.Window, bool) {
	windows, more, err := Plan(stream(messages), from, Cut{Tools: tools, Size: size, Limit: limit, Hash: hashShown})
	if err != nil {
		panic(err)
	}
	return windows, more
}

// planWhole is [Plan] over a session that is held as a whole, which it goes through again for each window.
func planWhole(messages []schema.Message, from Frontier, tools bool, size, limit int) (windows []schema.Window, more bool) {
	var open *schema.Window
	filled := 0
	left := passed(messages, from)
	closeWindow := func() {
		if open != nil {
			open.Hash = hashShown(Shown(messages, *open, tools))
			windows = append(windows, *open)
			open, filled = nil, 0
		}
	}
	for i := from.Message; i < len(messages); i++ {
		start := 0
		if i == from.Message {
			start = from.Offset
		}
		if left[i] && open != nil {
			open.Last = i
		}
		if left[i] || !Extracted(messages[i], tools) || strings.TrimSpace(messages[i].Text[start:]) == "" {
			continue
		}
		text := messages[i].Text
		if filled+len(text)-start > size {
			closeWindow()
		}
		for len(text)-start > size {
			end := start + cutAt(text[start:], size)
			if strings.TrimSpace(text[start:end]) != "" {
				open = &schema.Window{First: i, Last: i, ByteStart: start, ByteEnd: end}
				closeWindow()
			}
			start = end
		}
		if strings.TrimSpace(text[start:]) == "" {
			continue
		}
		if open == nil {
			open = &schema.Window{First: i, ByteStart: start}
		}
		open.Last = i
		filled += len(text) - start
		if len(windows) >= limit {
			return windows[:limit], true
		}
	}
	closeWindow()
	if len(windows) > limit {
		return windows[:limit], true
	}
	return windows, false
}

// passed reports which of the messages pass in a plan from the frontier.
func passed(messages []schema.Message, from Frontier) []bool {
	state, out := unknownState, make([]bool, len(messages))
	if from == (Frontier{}) {
		state = passing{}
	}
	for i := min(from.Message, len(messages)); i < len(messages); i++ {
		out[i] = state.passes(messages[i])
	}
	return out
}

// The windows of a stream of messages, from any frontier, are those of the session as a whole.
func TestPlanStreams(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		tools, limit := rapid.Bool().Draw(t, "tools"), rapid.IntRange(0, 6).Draw(t, "limit")
		all, _ := planWhole(messages, Frontier{}, tools, windowSize, 1000)
		from := Frontier{}
		for _, w := range all[:rapid.IntRange(0, len(all)).Draw(t, "extracted")] {
			from = from.Furthest(from.After(w))
		}
		want, wantMore := planWhole(messages, from, tools, windowSize, limit)
		skipped := messages[rapid.IntRange(0, min(from.Message, len(messages))).Draw(t, "skipped"):]
		got, more := plan(skipped, from, tools, windowSize, limit)
		if !slices.Equal(got, want) || more != wantMore {
			t.Fatalf("planned %+v, more: %v; want %+v, more: %v", got, more, want, wantMore)
		}
	})
}

// A plan reads no further than the message that shows that it has windows enough, and hashes no more windows of
// a long message than it needs.
func TestPlanStops(t *testing.T) {
	t.Parallel()
	messages := numbered(slices.Repeat([]schema.Message{textMessage(strings.Repeat("x", windowSize))}, 10))
	read := 0
	count := func(yield func(schema.Message, error) bool) {
		for _, m := range messages {
			read++
			if !yield(m, nil) {
				return
			}
		}
	}
	_, more, err := Plan(count, Frontier{}, Cut{Size: windowSize, Limit: 3, Hash: hashShown})
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, 4, read)

	hashed := 0
	long := stream([]schema.Message{textMessage(strings.Repeat("x", 1000*windowSize))})
	windows, more, err := Plan(long, Frontier{}, Cut{Size: windowSize, Limit: 3, Hash: func([]schema.Message) string { hashed++; return "" }})
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, windows, 3)
	require.Equal(t, 4, hashed)

	_, _, err = Plan(func(yield func(schema.Message, error) bool) { yield(schema.Message{}, errBroken) }, Frontier{}, Cut{Size: 1, Limit: 1})
	require.ErrorIs(t, err, errBroken)
}

// drawMessages draws messages of every kind and length, blank ones among them.
func drawMessages(t *rapid.T, label string) []schema.Message {
	text := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab é한국👩‍👩‍👧\n\t　")), 0, 60, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("xyz\n 中文")), 60, 200, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune(" \n\t")), 0, 150, -1),
		rapid.SampledFrom([]string{"ok", "Thanks!", "好的", "Shall I?", "Done.", "<uploaded_files>a</uploaded_files>"}),
	)
	kinds := []schema.Kind{schema.KindText, schema.KindText, schema.KindText, schema.KindToolResult, schema.KindToolCall, schema.KindThinking, schema.KindContext}
	message := rapid.Custom(func(t *rapid.T) schema.Message {
		return schema.Message{
			Role: rapid.SampledFrom([]schema.Role{schema.RoleUser, schema.RoleAssistant, schema.RoleSystem, schema.RoleTool}).Draw(t, "role"),
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Text: text.Draw(t, "text"),
		}
	})
	return rapid.SliceOfN(message, 0, 12).Draw(t, label)
}

// put returns the shown text of each message, put together from all windows.
func put(messages []schema.Message, windows []schema.Window, tools bool) map[int]string {
	out := map[int]string{}
	for _, w := range windows {
		for _, m := range Shown(messages, w, tools) {
			out[m.Index] += m.Text
		}
	}
	return out
}

// The windows show every text for extraction that does not pass, once, whole and in order, and nothing else. No window is
// empty, exceeds its size or cuts a character.
func TestPlanCovers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		tools := rapid.Bool().Draw(t, "tools")
		windows, more := plan(messages, Frontier{}, tools, windowSize, 1000)
		if more {
			t.Fatal("there are more than 1000 windows")
		}
		last := Frontier{}
		for _, w := range windows {
			size := 0
			parts := Shown(messages, w, tools)
			for _, m := range parts {
				size += len(m.Text)
				if !utf8.ValidString(m.Text) {
					t.Fatalf("window %+v cuts a character of message %d", w, m.Index)
				}
			}
			if len(parts) == 0 || size > windowSize {
				t.Fatalf("window %+v shows %d messages of %d bytes", w, len(parts), size)
			}
			if w.First < last.Message || w.First == last.Message && w.ByteStart < last.Offset || w.Last < w.First {
				t.Fatalf("window %+v begins before %+v", w, last)
			}
			if w.Hash != hashShown(parts) {
				t.Fatalf("window %+v has the hash of something else", w)
			}
			last = last.After(w)
		}
		got := put(messages, windows, tools)
		left := passed(messages, Frontier{})
		for i, m := range messages {
			want := ""
			if Extracted(m, tools) && !left[i] {
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
func TestPlanPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := numbered(drawMessages(t, "messages"))
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		all, _ := plan(messages, Frontier{}, false, windowSize, 1000)
		var paged []schema.Window
		var from Frontier
		for {
			page, more := plan(messages, from, false, windowSize, limit)
			if len(page) > limit || more && len(page) < limit {
				t.Fatalf("a page of %d windows of %d, more: %v", len(page), limit, more)
			}
			paged = append(paged, page...)
			for _, w := range page {
				from = from.After(w)
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

// A session that grew has new windows for its new messages only. At the border it is unknown which messages pass.
func TestPlanGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := numbered(drawMessages(t, "before"))
		all := numbered(append(append([]schema.Message{}, before...), drawMessages(t, "more")...))
		windows, _ := plan(before, Frontier{}, false, windowSize, 1000)
		var from Frontier
		for _, w := range windows {
			from = from.After(w)
		}
		added, _ := plan(all, from, false, windowSize, 1000)
		for _, w := range added {
			if w.First < len(before) {
				t.Fatalf("window %+v shows again what %+v did", w, windows)
			}
		}
		got := put(all, append(windows, added...), false)
		left := passed(all, Frontier{})
		for i, m := range all {
			if Extracted(m, false) && squeeze(got[m.Index]) != squeeze(m.Text) && !(left[i] && got[m.Index] == "") {
				t.Fatalf("message %d is shown as %q, want %q", m.Index, got[m.Index], m.Text)
			}
		}
	})
}

// A long message is cut at the ends of lines where there are any.
func TestPlanCutsAtLines(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 39) + "\n"
	messages := numbered([]schema.Message{textMessage(strings.Repeat(line, 3))})
	windows, more := plan(messages, Frontier{}, false, windowSize, 10)
	require.False(t, more)
	require.Len(t, windows, 3)
	for i, w := range windows {
		require.Equal(t, 40*i, w.ByteStart)
		require.Equal(t, strings.TrimSuffix(line, "\n"), strings.TrimSuffix(Shown(messages, w, false)[0].Text, "\n"))
	}
	require.Zero(t, windows[2].ByteEnd)
}

func TestPlanBlank(t *testing.T) {
	t.Parallel()
	blank := strings.Repeat(" \n", windowSize)
	for name, messages := range map[string][]schema.Message{
		"nothing": nil, "blank": {textMessage(blank)}, "blank messages": {textMessage(""), textMessage("\n")},
	} {
		windows, more := plan(numbered(messages), Frontier{}, false, windowSize, 10)
		require.Empty(t, windows, name)
		require.False(t, more, name)
	}
	messages := numbered([]schema.Message{textMessage("said" + blank), textMessage("and then")})
	windows, _ := plan(messages, Frontier{}, false, windowSize, 10)
	require.Len(t, windows, 2)
	require.Equal(t, map[int]string{0: messages[0].Text[:windows[0].ByteEnd], 1: "and then"}, put(messages, windows, false))
}

// A question that the harness put to the user and its answer are in one window, and the answer never passes.
func TestAnswersStayWithTheirQuestions(t *testing.T) {
	t.Parallel()
	ask := schema.Message{Index: 0, Role: schema.RoleAssistant, Kind: schema.KindText, CallID: "1", Text: "Pick the release branch."}
	answer := schema.Message{Index: 1, Role: schema.RoleUser, Kind: schema.KindText, CallID: "1", Text: "OK"}
	windows, more := plan([]schema.Message{ask, answer}, Frontier{}, false, len(ask.Text), 10)
	require.False(t, more)
	require.Len(t, windows, 1)
	require.Equal(t, 1, windows[0].Last)
	require.True(t, windows[0].Acts)
	require.Len(t, Shown([]schema.Message{ask, answer}, windows[0], false), 2)
	answer.CallID = ""
	windows, _ = plan([]schema.Message{ask, answer}, Frontier{}, false, len(ask.Text), 10)
	require.Len(t, Shown([]schema.Message{ask, answer}, windows[0], false), 1, "an acknowledgement")
	answer.CallID, answer.Text = "1", strings.Repeat("long ", maxAnswer)
	windows, _ = plan([]schema.Message{ask, answer}, Frontier{}, false, 5*maxAnswer, 10)
	require.Len(t, windows, 2)
}
