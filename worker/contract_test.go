package main_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// requireContracts checks every event of the log against the registry of its type: its stream, the pattern of its
// dedupe key, and a payload without fields unknown to its Go type.
func (b *bench) requireContracts(t *testing.T) {
	t.Helper()
	types := map[string]schema.EventType{}
	for _, eventType := range schema.EventTypes() {
		types[eventType.Name] = eventType
	}
	seen := 0
	for event, err := range b.Log.Replay(t.Context(), eventlog.ReplayOptions{}) {
		require.NoError(t, err)
		seen++
		eventType, ok := types[event.Type]
		require.True(t, ok, "event %s has the type %q, which is not registered", event.ID, event.Type)
		require.Regexp(t, patternOf(eventType.Stream()), event.Stream, event.Type)
		require.Regexp(t, patternOf(eventType.Keys...), event.DedupeKey, event.Type)
		decoder := json.NewDecoder(bytes.NewReader(event.Payload))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(eventType.NewPayload()), "%s of %q", event.Type, event.Stream)
	}
	require.Positive(t, seen)
}

// patternOf returns a regular expression that matches one of the patterns, in which names in braces stand for escaped
// values. Only a change may have several.
func patternOf(patterns ...string) string {
	names := regexp.MustCompile(`\{[^}]*\}`)
	out := make([]string, len(patterns))
	for i, pattern := range patterns {
		out[i] = names.ReplaceAllStringFunc(pattern, func(name string) string {
			if name == "{change}" {
				return ".+"
			}
			return "[^/]*"
		})
	}
	return "^(" + strings.Join(out, "|") + ")$"
}
