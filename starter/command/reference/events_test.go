package reference_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/reference"
	"axiommind/starter/command/tasks"
)

// The topic's table of events equals the registry.
func TestTopicListsEvents(t *testing.T) {
	t.Parallel()
	commandtest.RequireTable(t, "../../help/events.md", "events", eventTable())
}

// eventTable returns the registry in Markdown.
func eventTable() string {
	var b strings.Builder
	b.WriteString("| type | stream | dedupe key | payload | meaning |\n|---|---|---|---|---|\n")
	for _, e := range reference.EventTypes() {
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | `%s` | %s |\n", e.Type, e.Stream, strings.Join(e.DedupeKeys, "`<br>`"), e.Payload, e.Meaning)
	}
	return b.String()
}

func TestEventTypesCommand(t *testing.T) {
	t.Parallel()
	text := commandtest.Offline("events", "types")
	require.Equal(t, command.ExitOK, text.Code, text)
	rows := commandtest.Decode[[]reference.EventType](t, commandtest.Offline("events", "types", "-o", "json"))
	require.Len(t, rows, len(schema.EventTypes()))
	for _, r := range rows {
		for _, cell := range append(r.DedupeKeys, r.Type, r.Stream, r.Payload, r.Meaning) {
			require.NotEmpty(t, cell, r.Type)
			require.Contains(t, text.Out, cell)
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
		text := tasks.EventText(schema.Event{Type: e.Name, Payload: payload})
		require.NotEqual(t, strings.ReplaceAll(e.Name, "_", " "), text, "add a wording of %s", e.Payload())
		require.NotContains(t, text, "unreadable")
	}
	require.Len(t, tasks.Wordings, told, "each wording is of an event of a project's stream")
	require.Contains(t, tasks.EventText(schema.Event{Type: schema.TaskMerged, Payload: []byte("{")}), "task_merged (unreadable: ")
	require.Contains(t, tasks.EventText(schema.Event{Type: "nothing"}), "is not registered")
}
