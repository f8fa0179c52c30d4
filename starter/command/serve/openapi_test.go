package serve_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/serve"
)

// The checked-in description is the server's. go test ./starter/command/serve -run TestOpenAPI -update writes it.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	const file = "openapi.json"
	_, document, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(t, err)
	if *commandtest.Update {
		require.NoError(t, os.WriteFile(file, document, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(want) == string(document), "the description is out of date: go test ./starter/command/serve -run TestOpenAPI -update")
}

// notServed are the commands without an endpoint, with the reason.
var notServed = map[string]string{
	"process": "it reads files of this machine; POST /v1/sessions takes messages", "watch": "it runs until it is stopped",
	"mcp": "the tools are at /mcp", "serve": "it is the server", "session raw": "originals are read with the key at hand",
	"facts export": "it writes a file; GET /v1/facts reads", "facts import": "it reads a file; POST /v1/facts adds",
	"facts clear": "POST /v1/forget erases all of a user", "conflicts find": "it costs money", "realign": "maintenance", "backfill": "maintenance",
	"rebuild": "maintenance", "reconcile": "maintenance", "forget lift": "maintenance", "codec-server": "it runs until it is stopped",
	"config show": "it is about this machine", "eval retrieval": "it reads files of this machine", "eval import": "it reads files of this machine",
	"hook claude-code": "it is run by an agent", "hook codex": "it is run by an agent", "hook install": "it changes files of this machine",
	"hook remove": "it changes files of this machine", "events types": "it needs no server", "completion": "it is for shells", "man": "it writes files",
	"export": "it writes files of this machine", "import": "it reads files of this machine", "migrate": "it reads files of this machine",
	"backup": "maintenance", "restore": "maintenance",
	"schedule backfill": "POST /v1/dreams dreams of a day",
}

// Each command has an endpoint, or a reason to have none.
func TestEveryCommandIsServed(t *testing.T) {
	t.Parallel()
	operations, _, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(t, err)
	for _, c := range commandtest.Commands() {
		path := command.Path(c)
		served := slices.ContainsFunc(operations, func(o serve.Operation) bool { return o.Command == path })
		switch {
		case served:
			require.Empty(t, notServed[path], "%s is served", path)
		case c.Annotations["repeated"] == "":
			require.NotEmpty(t, notServed[path], "%s has no endpoint", path)
		}
	}
}

// ofProject are operations on data that all users of a project share, and on the installation.
var ofProject = []string{"tasks", "task show", "blocked", "conditions resolved", "builds steps", "doctor", "embedder status",
	"task set", "task confirm", "task merge", "condition resolve", "artifact close", "decisions record"}

// I10: an operation of a server of one scope is about its user alone, has results that say their owner, is about an item whose
// own read says it, or is one of ofProject.
func TestI10EveryAnswerHasAnOwner(t *testing.T) {
	t.Parallel()
	operations, _, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(t, err)
	for _, o := range operations {
		of := o
		if at := slices.IndexFunc(operations, func(read serve.Operation) bool { return read.Method == http.MethodGet && read.Path == o.Item }); at >= 0 {
			of = operations[at]
		}
		require.True(t, o.Wide || o.OfUser || of.OfUser || of.Owned || slices.Contains(ofProject, o.Command), "%s %s: whose are the results?", o.Method, o.Path)
	}
}

// The help lists the endpoints, with the summaries of their commands.
func TestEndpointsInHelp(t *testing.T) {
	t.Parallel()
	operations, _, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("| endpoint | command | |\n|---|---|---|\n")
	for _, o := range operations {
		text := o.Summary
		if o.Wide {
			text += " (with `--all`)"
		}
		fmt.Fprintf(&b, "| `%s %s` | `%s` | %s |\n", o.Method, o.Path, o.Command, text)
	}
	commandtest.RequireTable(t, "../../help/api.md", "endpoints", b.String())
}
