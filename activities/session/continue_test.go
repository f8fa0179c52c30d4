package session

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// partOf is a part of a session in which users and assistants take turns. A text like "u:yes" says who speaks.
func partOf(texts ...string) []schema.Message {
	var out []schema.Message
	for _, text := range texts {
		role := schema.RoleUser
		if strings.HasPrefix(text, "a:") {
			role = schema.RoleAssistant
		}
		out = append(out, schema.Message{Role: role, Kind: schema.KindText, Text: text})
	}
	return out
}

func newThread() *thread { return &thread{counts: map[string]int{}} }

func said(messages []schema.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, m.Text)
	}
	return out
}

func TestContinue(t *testing.T) {
	t.Parallel()
	// Each line is a session, a part that is enqueued after it, and the new messages of the part.
	for _, c := range []struct{ held, part, fresh string }{
		{"", "u:hi a:hello", "u:hi a:hello"},
		{"u:hi a:hello", "u:hi a:hello", ""},
		{"u:hi a:hello", "u:hi a:hello u:more", "u:more"},
		{"u:hi a:hello u:more", "u:hi a:hello", ""},
		{"u:hi a:hello u:more", "u:hi", "u:hi"},
		{"u:hi a:hello u:more", "a:hello u:more a:done", "a:done"},
		{"u:hi a:hello u:more", "u:more", ""},
		{"u:hi a:hello u:more", "u:next", "u:next"},
		{"u:which? a:this? u:yes", "u:delete? a:sure? u:yes", "u:delete? a:sure? u:yes"},
		{"u:which? a:this? u:yes a:done", "u:yes a:done", ""},
		{"u:a? a:ok u:yes a:done u:b? a:ok2", "u:yes a:done", "u:yes a:done"},
		{"u:1 a:2 u:3 a:4 u:5 a:6", "u:3 a:4", "u:3 a:4"},
		{"u:1 a:2 u:3 a:4 u:5 a:6", "a:2 u:3 a:4 u:5", ""},
		{"u:1 a:2 u:3 a:4 u:5", "u:summary a:2 u:3 a:4 u:5 a:6", "u:summary a:6"},
		{"u:fix a:commit? u:yes a:done", "u:mend a:commit? u:yes a:done", "u:mend a:commit? u:yes a:done"},
		{"u:1 a:ok u:2 a:ok2 u:yes a:done", "u:1 a:new u:yes a:done", "u:1 a:new u:yes a:done"},
		{"u:yes", "u:yes a:done u:yes", "a:done u:yes"},
		{"u:a a:b", "u:a a:b u:a a:b", "u:a a:b"},
		{"u:x", "u:a u:x u:b", "u:a u:x u:b"},
		{"u:ping", "a:ping", "a:ping"},
	} {
		thread := newThread()
		thread.add(partOf(strings.Fields(c.held)...))
		n := len(thread.contents)
		got := thread.add(partOf(strings.Fields(c.part)...))
		require.Equal(t, strings.Fields(c.fresh), said(got), "%+v", c)
		for i, m := range got {
			require.Equal(t, n+i, m.Index)
		}
	}
}

func TestContinueByID(t *testing.T) {
	t.Parallel()
	thread := newThread()
	part := partOf("u:yes", "a:ok", "u:yes")
	for i := range part {
		part[i].SourceID = fmt.Sprint("m", i)
	}
	require.Len(t, thread.add(part), 3)
	require.Empty(t, thread.add(part[1:]))
	require.Empty(t, thread.add(part[:1]))
	part[2].SourceID = "m3"
	got := thread.add(part)
	require.Equal(t, []string{"u:yes"}, said(got))
	require.Equal(t, "m3", got[0].SourceID)
	require.Empty(t, thread.add(append(part[2:3:3], part[2])))
}

// Two texts that were crafted to have the same MD5 hash are two messages.
func TestContinueTellsCraftedTextsApart(t *testing.T) {
	t.Parallel()
	pair := make([]string, 2)
	for i, block := range []string{
		"d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a085125e8f7cdc99fd91dbdf280373c5b" +
			"d8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70",
		"d131dd02c5e6eec4693d9a0698aff95c2fcab50712467eab4004583eb8fb7f8955ad340609f4b30283e4888325f1415a085125e8f7cdc99fd91dbd7280373c5b" +
			"d8823e3156348f5bae6dacd436c919c6dd53e23487da03fd02396306d248cda0e99f33420f577ee8ce54b67080280d1ec69821bcb6a8839396f965ab6ff72a70",
	} {
		text, err := hex.DecodeString(block)
		require.NoError(t, err)
		pair[i] = string(text)
	}
	thread := newThread()
	require.Len(t, thread.add(partOf("u:"+pair[0])), 1)
	got := thread.add(partOf("u:" + pair[1]))
	require.Equal(t, []string{"u:" + pair[1]}, said(got))
	require.Empty(t, got[0].SourceID, "only the harness names messages")
}

// However a session is cut into parts that overlap, its messages are held once, in order, with the keys that they have in a
// transcript of the whole.
func TestContinueProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var texts []string
		for i := range rapid.IntRange(1, 30).Draw(rt, "messages") {
			who := []string{"u:", "a:"}[i%2]
			text := rapid.SampledFrom([]string{"yes", "ok", "done", ""}).Draw(rt, "text")
			if text == "" || i%2 == 1 { // Answers differ: repeated text has no place of its own.
				text = fmt.Sprint(i)
			}
			texts = append(texts, who+text)
		}
		whole := partOf(texts...)
		thread, got, end := newThread(), []schema.Message{}, 0
		for end < len(whole) {
			begin := max(0, end-rapid.IntRange(0, 8).Draw(rt, "overlap"))
			if begin%2 == 1 {
				begin-- // A part begins with a turn of the user.
			}
			next := min(len(whole), end+rapid.IntRange(1, 6).Draw(rt, "length"))
			for range rapid.IntRange(1, 2).Draw(rt, "times") {
				got = append(got, thread.add(whole[begin:next])...)
			}
			end = next
		}
		schema.MessageKeys(whole)
		require.Equal(rt, said(whole), said(got))
		for i := range whole {
			require.Equal(rt, whole[i].Key, got[i].Key)
			require.Equal(rt, i, got[i].Index)
		}
		// Messages that overlap nothing are new, also if the same was said before.
		again := thread.add(partOf("u:yes"))
		last := thread.contents[len(thread.contents)-1]
		require.Equal(rt, slices.Equal(texts[len(texts)-1:], []string{"u:yes"}), len(again) == 0, last)
	})
}
