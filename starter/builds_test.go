package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/schema"
)

// A source that could not be read is named all the same, and nothing is said of it that is not known.
func TestSourceText(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]schema.Source{
		"file:///s.jsonl (messages, 12 bytes)":                 {URI: "file:///s.jsonl", Format: "messages", SHA256: "x", Bytes: 12},
		"file:///s.jsonl (nothing of it was stored)":           {URI: "file:///s.jsonl"},
		"file:///s.jsonl (messages, nothing of it was stored)": {URI: "file:///s.jsonl", Format: "messages"},
		"inline messages (12 bytes)":                           {Format: schema.FormatInline, SHA256: "x", Bytes: 12},
		"inline messages (nothing of it was stored)":           {Format: schema.FormatInline},
	} {
		require.Equal(t, want, sourceText(s))
	}
}

// Problems are listed each with its reason; what can be done is said once for those that share it.
func TestPrintProblems(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, printProblems(&out, build.Detail{Problems: []build.Problem{
		{Where: "messages 0 to 3", Reason: "quarantined", Retry: "again"},
		{Where: "messages 4 to 5", Reason: "broke off", Retry: "again"},
		{Where: `fact "x"`, Reason: "duplicate"},
		{Where: "vector of entry 1", Reason: "too large", Retry: "reconcile"},
	}}))
	require.Equal(t, `messages 0 to 3: quarantined
messages 4 to 5: broke off
  -> again
fact "x": duplicate
vector of entry 1: too large
  -> reconcile
`, out.String())
}
