package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func stating(text string) schema.ProcessSessionInput {
	return schema.ProcessSessionInput{
		Project: "p", User: "u", Messages: []schema.InlineMessage{{Role: "user", Content: text}},
		Statement: &schema.Statement{Type: schema.EntryFact, Category: schema.CategoryKnowledge, Corrects: "e"},
	}
}

func statingBy(agent string) schema.ProcessSessionInput {
	in := stating("The limit is 8.")
	in.Statement.By, in.Statement.Corrects, in.Messages[0].Role = agent, "", "assistant"
	return in
}

// A statement is one inline message of the user or of a named agent, of a type that a person can state.
func TestCheckStatement(t *testing.T) {
	t.Parallel()
	require.NoError(t, stating("Das Limit ist 8 「今」\x00'\"\\").CheckStatement())
	require.NoError(t, statingBy("mcp:claude-code/\"名\"").CheckStatement())
	require.NoError(t, (schema.ProcessSessionInput{FromLog: true}).CheckStatement(), "without a statement it has no say")
	for reason, change := range map[string]func(*schema.ProcessSessionInput){
		"leave out uri":           func(in *schema.ProcessSessionInput) { in.URI = "file:///s" },
		"from_log, retry":         func(in *schema.ProcessSessionInput) { in.FromLog = true },
		"one inline message":      func(in *schema.ProcessSessionInput) { in.IncludeTools = true },
		"format and":              func(in *schema.ProcessSessionInput) { in.Format = "messages" },
		"one message of the role": func(in *schema.ProcessSessionInput) { in.Messages = append(in.Messages, in.Messages[0]) },
		"which holds its text":    func(in *schema.ProcessSessionInput) { in.Messages = nil },
		"of the role user":        func(in *schema.ProcessSessionInput) { in.Messages[0].Role = "assistant" },
		"no letter and no digit":  func(in *schema.ProcessSessionInput) { in.Messages[0].Content = " \u200b…\n" },
		"more than 8192": func(in *schema.ProcessSessionInput) {
			in.Messages[0].Content = strings.Repeat("가", schema.MaxStatementBytes/3+1)
		},
		"tasks have commands": func(in *schema.ProcessSessionInput) { in.Statement.Type = schema.EntryTaskNote },
		`the type "rumour"`:   func(in *schema.ProcessSessionInput) { in.Statement.Type = "rumour" },
		"which is for facts":  func(in *schema.ProcessSessionInput) { in.Statement.Type = schema.EntryDecision },
		"corrects nothing": func(in *schema.ProcessSessionInput) {
			in.Statement.By, in.Messages[0].Role = "mcp:x", "assistant"
		},
		"of the role assistant": func(in *schema.ProcessSessionInput) { in.Statement.By, in.Statement.Corrects = "mcp:x", "" },
		"shorten the agent's name": func(in *schema.ProcessSessionInput) {
			*in = statingBy(strings.Repeat("x", schema.MaxNameBytes+1))
		},
		"leave out control characters": func(in *schema.ProcessSessionInput) { *in = statingBy("mcp:\x1b[31m") },
		`the category "hearsay": w`:    func(in *schema.ProcessSessionInput) { in.Statement.Category = "hearsay" },
	} {
		in := stating("The limit is 8.")
		change(&in)
		require.ErrorContains(t, in.CheckStatement(), reason)
	}
}

// The same statement has the same session, and another statement has another.
func TestStatementSessionID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, change := range []func(*schema.ProcessSessionInput){
		func(*schema.ProcessSessionInput) {},
		func(in *schema.ProcessSessionInput) { in.Project = "q" },
		func(in *schema.ProcessSessionInput) { in.User = "v" },
		func(in *schema.ProcessSessionInput) { in.Agent = "a" },
		func(in *schema.ProcessSessionInput) { in.Messages[0].Content = "The limit is 9." },
		func(in *schema.ProcessSessionInput) { in.Statement.Corrects = "f" },
		func(in *schema.ProcessSessionInput) { in.Statement.Corrects = "" },
		func(in *schema.ProcessSessionInput) { in.Statement.By = "mcp:x" },
		func(in *schema.ProcessSessionInput) { in.Statement.Category = "" },
		func(in *schema.ProcessSessionInput) {
			in.Statement.Type, in.Statement.Category = schema.EntryInsight, ""
		},
	} {
		in := stating("The limit is 8.")
		change(&in)
		id := in.StatementSessionID()
		require.False(t, seen[id], id)
		seen[id] = true
		require.NoError(t, schema.CheckName("session_id", id))
		in.Date = "2026-03-01"
		require.Equal(t, id, in.StatementSessionID(), "stated again another day it is the same")
	}
}
