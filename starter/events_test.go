package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var updateTopics = flag.Bool("update", false, "write the tables of topics")

// The topic's table of events equals the registry.
func TestTopicListsEvents(t *testing.T) {
	t.Parallel()
	requireTable(t, "help/events.md", "events", eventTable())
}

// requireTable compares a table with that between the markers of a topic, or writes it there with -update.
func requireTable(t *testing.T, path, name, want string) {
	t.Helper()
	open, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), open)
	require.True(t, ok, "the topic has no table of %s", name)
	listed, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the table of %s in the topic has no end", name)
	if *updateTopics {
		require.NoError(t, os.WriteFile(path, []byte(before+open+want+end+after), 0o600))
		return
	}
	update := "run: go test ./starter -run " + t.Name() + " -update"
	for line := range strings.Lines(want) {
		require.True(t, strings.Contains(listed, line), "the topic lacks %q; %s", line, update)
	}
	require.Equal(t, want, listed, update)
}

// eventTable returns the registry in Markdown.
func eventTable() string {
	var b strings.Builder
	b.WriteString("| type | stream | dedupe key | payload | meaning |\n|---|---|---|---|---|\n")
	for _, e := range eventTypes() {
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | `%s` | %s |\n", e.Type, e.Stream, strings.Join(e.DedupeKeys, "`<br>`"), e.Payload, e.Meaning)
	}
	return b.String()
}

func TestEventTypesCommand(t *testing.T) {
	t.Parallel()
	text := offline("events", "types")
	require.Equal(t, exitOK, text.code, text)
	rows := decode[[]eventType](t, offline("events", "types", "-o", "json"))
	require.Len(t, rows, len(schema.EventTypes()))
	for _, r := range rows {
		for _, cell := range append(r.DedupeKeys, r.Type, r.Stream, r.Payload, r.Meaning) {
			require.NotEmpty(t, cell, r.Type)
			require.Contains(t, text.out, cell)
		}
	}
}

// Every event in the history of a task, a condition or an artifact has its own wording.
func TestEventTexts(t *testing.T) {
	t.Parallel()
	told := 0
	for _, e := range schema.EventTypes() {
		if e.StreamPrefix != schema.ProjectPrefix {
			continue
		}
		told++
		payload, err := json.Marshal(e.NewPayload())
		require.NoError(t, err)
		text := eventText(schema.Event{Type: e.Name, Payload: payload})
		require.NotEqual(t, strings.ReplaceAll(e.Name, "_", " "), text, "add a wording of %s", e.Payload())
		require.NotContains(t, text, "unreadable")
	}
	require.Len(t, wordings, told, "each wording is of an event of a project's stream")
	require.Contains(t, eventText(schema.Event{Type: schema.TaskMerged, Payload: []byte("{")}), "task_merged (unreadable: ")
	require.Contains(t, eventText(schema.Event{Type: "nothing"}), "is not registered")
}
