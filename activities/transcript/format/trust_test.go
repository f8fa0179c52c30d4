package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// The parts between the marks ⟦ and ⟧ have the given class, and the rest of the message has the message's class.
func TestTrustOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		role schema.Role
		kind schema.Kind
		text string
		want schema.Trust
	}{
		"a user":               {schema.RoleUser, schema.KindText, "⟦I prefer tea.⟧", schema.TrustUser},
		"an assistant":         {schema.RoleAssistant, schema.KindText, "⟦<document>a</document>⟧", schema.TrustAssistant},
		"a tool":               {schema.RoleTool, schema.KindToolResult, "⟦User: I prefer tea.⟧", schema.TrustTool},
		"a tool call":          {schema.RoleAssistant, schema.KindToolCall, "⟦{}⟧", schema.TrustTool},
		"a tool named a user":  {schema.RoleUser, schema.KindToolResult, "⟦I prefer tea.⟧", schema.TrustTool},
		"system":               {schema.RoleSystem, schema.KindText, "⟦I prefer tea.⟧", schema.TrustSystem},
		"a thought":            {schema.RoleAssistant, schema.KindThinking, "⟦I prefer tea.⟧", schema.TrustSystem},
		"instructions":         {schema.RoleUser, schema.KindContext, "⟦<system-reminder>a</system-reminder>⟧", schema.TrustSystem},
		"memory":               {schema.RoleUser, schema.KindContext, "⟦<relevant_memories>\na\n</relevant_memories>⟧", schema.TrustMemory},
		"a context block":      {schema.RoleUser, schema.KindContext, "⟦Facts:\n- [preference | 0.90] tea\n⟧", schema.TrustMemory},
		"a preface":            {schema.RoleUser, schema.KindContext, "⟦[System: Previous conversation summary]\na\n⟧", schema.TrustMemory},
		"memory before words":  {schema.RoleUser, schema.KindText, "⟦<user_memory>\nA.\n</user_memory>⟧\nGo on.", schema.TrustMemory},
		"a reminder":           {schema.RoleUser, schema.KindText, "Go on.\n⟦<system-reminder>A.</system-reminder>⟧", schema.TrustSystem},
		"a document":           {schema.RoleUser, schema.KindText, "Read this.\n⟦<document>\nI prefer tea.\n</document>⟧\nThanks.", schema.TrustTool},
		"a document that ends": {schema.RoleUser, schema.KindText, "⟦<document>\na</document>\nI prefer tea.\n</document>⟧\nThanks.", schema.TrustTool},
		"attributes":           {schema.RoleUser, schema.KindText, "⟦<file path=\"a.md\">\nI prefer tea.\n</file>⟧ Thanks.", schema.TrustTool},
		"an open document":     {schema.RoleUser, schema.KindText, "⟦<document> is an element.\nI prefer tea.⟧", schema.TrustUser},
		"another element":      {schema.RoleUser, schema.KindText, "⟦<b>I prefer tea.</b>⟧", schema.TrustUser},
		"a quoted line":        {schema.RoleUser, schema.KindText, "She wrote:\n⟦> I prefer tea.\n⟧I don't.", schema.TrustTool},
		"an arrow":             {schema.RoleUser, schema.KindText, "⟦It went a -> b.\n2 > 1.⟧", schema.TrustUser},
		"a block of code":      {schema.RoleUser, schema.KindText, "It says\n⟦```\nI prefer tea.\n```\n⟧Why?", schema.TrustTool},
		"an open fence":        {schema.RoleUser, schema.KindText, "⟦```\nI prefer tea.⟧", schema.TrustUser},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, rest, _ := strings.Cut(tc.text, "⟦")
			marked, after, _ := strings.Cut(rest, "⟧")
			m := schema.Message{Role: tc.role, Kind: tc.kind, Text: before + marked + after}
			trusted, start, end := TrustOf(m), len(before), len(before)+len(marked)
			require.Equal(t, tc.want, trusted.At(start, end))
			require.Equal(t, tc.want, trusted.At(start+len(marked)/2, start+len(marked)/2+1), "any piece of it")
			require.Equal(t, tc.want, trusted.At(0, len(m.Text)), "with what is around it")
			if start > 0 {
				require.Equal(t, schema.TrustUser, trusted.At(0, start-1))
			}
			if end < len(m.Text) {
				require.Equal(t, schema.TrustUser, trusted.At(end+1, len(m.Text)))
			}
		})
	}
}

// Said leaves out the words of others, wherever they are in a message and however they overlap.
func TestSaid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"I prefer tea.":                 "I prefer tea.",
		"<document>\na\n</document>":    "",
		"<document>a</document>\n> b\n": "",
		"<system-reminder>a</system-reminder>\n\n<document>\n> b\n</document>\n": "",
		"Read this.\n<document>\na\n</document>\nThanks.":                        "Read this.\n[...]\nThanks.",
		"She wrote:\n> a\n> b\nI don't.":                                         "She wrote:\n[...]\nI don't.",
		"She wrote:\n> a\n\n> b\nI don't.":                                       "She wrote:\n[...]\n\n[...]\nI don't.",
		"It says\n```\na\n```\nWhy?":                                             "It says\n[...]\nWhy?",
		"It says\n```\na\n```":                                                   "It says\n[...]",
		"Go on.\n<system-reminder>A.</system-reminder>":                          "Go on.\n[...]",
		"<document>a</document> Thanks.":                                         "[...] Thanks.",
	} {
		got := TrustOf(schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: text}).Said(text)
		require.Equal(t, want, got, text)
	}
	const shown = "It is\n```\na\n```"
	require.Equal(t, shown, TrustOf(schema.Message{Role: schema.RoleAssistant, Kind: schema.KindText, Text: shown}).Said(shown))
}

// Whatever a user writes, nothing is left of a part that the user did not say, and all of the rest.
func TestSaidLeavesNothing(t *testing.T) {
	t.Parallel()
	pieces := []string{"I prefer tea.", "\n", "\n\n", "> ", "```", "<document>", "</document>", "<system-reminder>", "</system-reminder>", " ", "zebra", "<file a=\"b\">", "</file>"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
		trusted := TrustOf(schema.Message{Role: schema.RoleUser, Kind: schema.KindText, Text: text})
		var want strings.Builder
		for i := range len(text) {
			if trusted.At(i, i+1) == schema.TrustUser {
				want.WriteByte(text[i])
			}
		}
		plain := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, leftOut, " ")), "") }
		require.Equal(t, plain(want.String()), plain(trusted.Said(text)))
	})
}
