package main

import (
	"strings"
	"testing"

	"axiommind/worker/service"
)

// The topic's table of settings is the list of the programs.
func TestTopicListsSettings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| flag | default | programs | meaning |\n|---|---|---|---|\n")
	for _, s := range (&service.Config{}).Settings() {
		b.WriteString(s.Row())
	}
	requireTable(t, "help/configuration.md", "settings", b.String())
}
