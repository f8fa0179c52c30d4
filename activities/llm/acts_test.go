package llm

import (
	"strings"
	"testing"

	"axiommind/schema"

	"github.com/stretchr/testify/require"
)

func TestActs(t *testing.T) {
	t.Parallel()
	say := func(role schema.Role, kind schema.Kind, call, text string) schema.Message {
		return schema.Message{Role: role, Kind: kind, CallID: call, Text: text}
	}
	window := []schema.Message{
		say(schema.RoleUser, schema.KindText, "", "Please move the store."),
		say(schema.RoleAssistant, schema.KindTodo, "1", "- [ ] Write the parser\n- [ ] Test `it`\n- [-] Ship it"),
		say(schema.RoleAssistant, schema.KindText, "2", "Which store?"),
		say(schema.RoleUser, schema.KindText, "2", "SQLite"),
		say(schema.RoleAssistant, schema.KindPlan, "3", "# Plan\n\n# Move to SQLite\n\n1. Copy the rows."),
		say(schema.RoleAssistant, schema.KindTodo, "4", "- [x] Write the parser"),
		say(schema.RoleAssistant, schema.KindCommit, "5", "Move to SQLite\n\nOne file is enough.\n\nSigned-off-by: a <a@example.com>"),
		say(schema.RoleUser, schema.KindRule, "", "Always use tabs."),
	}
	for i := range window {
		window[i].Index = 10 + i
	}
	model := []schema.ExtractedEntry{
		{Title: "The parser", Evidence: []schema.Quote{{MessageIndex: 15, Quote: "Write the parser"}}},
		{Title: "Both", Evidence: []schema.Quote{{MessageIndex: 10, Quote: "Please move the store."}, {MessageIndex: 15, Quote: "Write the parser"}}},
		{Type: schema.EntryDecision, Title: "SQLite it is", Evidence: []schema.Quote{{MessageIndex: 13, Quote: "SQLite"}}},
		{Type: schema.EntryFact, Title: "The user knows SQLite", Evidence: []schema.Quote{{MessageIndex: 13, Quote: "SQLite"}}},
		{Title: "Copying", Evidence: []schema.Quote{{MessageIndex: 14, Quote: "1. Copy the rows."}}},
	}
	type entry struct {
		title, content, status string
		kind                   schema.EntryType
		quotes                 []schema.Quote
	}
	var got []entry
	for _, e := range withActs(model, window) {
		x := entry{title: e.Title, content: e.Content, kind: e.Type, quotes: e.Evidence}
		if e.Task != nil {
			require.Equal(t, e.Title, e.Task.Title)
			x.status = string(e.Task.Status)
		}
		for _, q := range e.Evidence {
			require.Contains(t, window[q.MessageIndex-10].Text, q.Quote)
		}
		got = append(got, x)
	}
	require.Equal(t, []entry{
		{title: "Both", quotes: []schema.Quote{{MessageIndex: 10, Quote: "Please move the store."}, {MessageIndex: 15, Quote: "Write the parser"}}},
		{title: "The user knows SQLite", kind: schema.EntryFact, quotes: []schema.Quote{{MessageIndex: 13, Quote: "SQLite"}}},
		{title: "Copying", quotes: []schema.Quote{{MessageIndex: 14, Quote: "1. Copy the rows."}}},
		{title: "Write the parser", status: "done", kind: schema.EntryTaskNote, quotes: []schema.Quote{{MessageIndex: 15, Quote: "- [x] Write the parser"}}},
		{title: "Test it", status: "pending", kind: schema.EntryTaskNote, quotes: []schema.Quote{{MessageIndex: 11, Quote: "- [ ] Test `it`"}}},
		{title: "Ship it", status: "cancelled", kind: schema.EntryTaskNote, quotes: []schema.Quote{{MessageIndex: 11, Quote: "- [-] Ship it"}}},
		{title: "Which store? SQLite", kind: schema.EntryDecision, quotes: []schema.Quote{{MessageIndex: 12, Quote: "Which store?"}, {MessageIndex: 13, Quote: "SQLite"}}},
		{title: "Move to SQLite", kind: schema.EntryDecision, quotes: []schema.Quote{{MessageIndex: 14, Quote: "# Move to SQLite"}}},
		{title: "Move to SQLite", content: "One file is enough.", kind: schema.EntryReference, quotes: []schema.Quote{{MessageIndex: 16, Quote: "Move to SQLite\n\nOne file is enough."}}},
		{title: "Always use tabs.", kind: schema.EntryFact, quotes: []schema.Quote{{MessageIndex: 17, Quote: "Always use tabs."}}},
	}, got)
	require.Equal(t, model, withActs(model, window[:1]))
	for _, half := range [][]schema.Message{window[2:3], window[3:4]} {
		require.Empty(t, withActs(nil, half), "a question is no decision, nor an answer to none")
	}
	long := strings.Repeat("Tabs. ", 100)
	whole := withActs(nil, []schema.Message{say(schema.RoleAssistant, schema.KindText, "2", "Anything?"), say(schema.RoleUser, schema.KindText, "2", long)})
	require.Equal(t, strings.TrimSpace(long), whole[0].Content)
	require.Equal(t, strings.TrimSpace(long), whole[0].Evidence[1].Quote)
}

// An act's text may be anything: its entries quote it.
func TestActsOfAnyText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "- [", "- [x]", "- [x] ", "- [?] Write it", "\x00", strings.Repeat("長", 1000), "a\r\n\r\nb", "🤖 x"} {
		for _, kind := range []schema.Kind{schema.KindTodo, schema.KindCommit, schema.KindRule, schema.KindPlan, schema.KindText} {
			for _, e := range withActs(nil, []schema.Message{{Role: schema.RoleAssistant, Kind: kind, CallID: "1", Text: text}}) {
				require.Contains(t, text, e.Evidence[0].Quote)
				require.NotEmpty(t, e.Title)
			}
		}
	}
}
