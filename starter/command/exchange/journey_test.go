package exchange_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// digests returns the digest of each table of the projections.
func digests(t *testing.T, c *commandtest.CLI) map[string]eventlog.Digest {
	t.Helper()
	conn, log := c.LogOf(t)
	out := map[string]eventlog.Digest{}
	for _, p := range build.Projections(conn) {
		_, err := log.ProjectAll(t.Context(), p) // The workers here leave graduation for later.
		require.NoError(t, err)
		for _, table := range p.Tables() {
			digest, err := log.Digest(t.Context(), table)
			require.NoError(t, err)
			out[table.Name] = digest
		}
	}
	return out
}

// events returns the events of the log without the times of recording.
func events(t *testing.T, c *commandtest.CLI, prefix string) (out []string) {
	t.Helper()
	_, log := c.LogOf(t)
	for e, err := range log.Replay(t.Context(), eventlog.ReplayOptions{StreamPrefix: prefix}) {
		require.NoError(t, err)
		e.RecordedAt = e.TS
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		out = append(out, string(raw))
	}
	return out
}

// I3 across installations: an export brings back all events at their positions, and the same rows are derived from them. A
// second import appends nothing.
func TestI3ExportAndImport(t *testing.T) {
	t.Parallel()
	from, to := commandtest.NewCLI(t), commandtest.NewCLI(t)
	from.Work(t)
	to.Work(t)
	project, user := `p/"é 프로젝트`, `ann's "/ 메모리`
	ok := func(c *commandtest.CLI, args ...string) commandtest.Output {
		t.Helper()
		o := c.Run(args...)
		require.Zero(t, o.Code, "%q: %s", args, o)
		commandtest.RequireHarmless(t, o)
		return o
	}
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision+" "+commandtest.Turn+"\nI prefer quiet keyboards.")+
		commandtest.Said(2, "assistant", "TODO: write the <report> & more.\nThe report is blocked by PROJ-7."))
	ok(from, "process", path, "--project", project, "--user", user, "--session", "one/1")
	ok(from, "process", path, "--project", "other", "--user", user, "--session", "two")
	ok(from, "process", path, "--project", project, "--user", "bob", "--session", "three")
	ok(from, "profile", "set", "work", "Builds payment", "--user", user)
	ok(from, "facts", "add", "I drink tea", "--user", user, "--project", project)
	ok(from, "facts", "add", "I drink coffee", "--user", user, "--project", "other")

	dir := t.TempDir()
	all := filepath.Join(dir, "all")
	require.Contains(t, ok(from, "export", all, "--all").Out, "all: ")
	require.Contains(t, ok(to, "import", all, "--dry-run").Out, "nothing was imported")
	require.Empty(t, events(t, to, "session/"))
	ok(to, "import", all)
	before := digests(t, from)
	require.Equal(t, before, digests(t, to))
	for _, prefix := range []string{"session/", "memory/", "project/", "graduate/", "model/"} {
		require.Equal(t, events(t, from, prefix), events(t, to, prefix), prefix)
	}
	again := ok(to, "import", all).Out
	require.Contains(t, again, "imported 0 of ")
	require.Equal(t, before, digests(t, to))
	commandtest.Eventually(t, func() bool {
		return strings.Contains(to.Run("search", "event log", "--project", project, "--user", user).Out, "We decided to use ClickHouse")
	})

	ofProject, ofUser := filepath.Join(dir, "project"), filepath.Join(dir, "user")
	ok(from, "export", ofProject, "--project", project)
	ok(from, "export", ofUser, "--user", user)
	for path, never := range map[string]string{ofProject: "coffee", ofUser: "three"} {
		raw, err := os.ReadFile(filepath.Join(path, "events.jsonl"))
		require.NoError(t, err)
		require.NotContains(t, string(raw), never, "I10: %s", path)
	}
	require.Contains(t, ok(to, "import", ofProject).Out, "imported 0 of ")
	require.Contains(t, ok(to, "import", ofUser).Out, "imported 0 of ")
	refusals(t, to, all)
}

// refusals imports files that were cut or changed.
func refusals(t *testing.T, c *commandtest.CLI, dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	require.NoError(t, err)
	text := string(raw)
	lines := strings.SplitAfter(text, "\n")
	for says, changed := range map[string]string{
		"the file is cut":               strings.Join(lines[:len(lines)-3], ""),
		"it is no event":                strings.Replace(text, `{"event_id"`, `{"event_ix"`, 1),
		"was changed":                   strings.Replace(text, "quiet keyboards", "loud keyboards!", 1),
		"version 7 of the format":       strings.Replace(text, `"version":1`, `"version":7`, 1),
		"it is no head":                 strings.Join(lines[1:], ""),
		"is out of order":               lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], ""),
		"checksum":                      strings.Replace(text, `"software":"`, `"software":"x`, 1),
		"lines after the checksum":      text + lines[1],
		"the scope is wrong":            strings.Replace(text, `{"all":true}`, `{}`, 1),
		"is not of user nobody-is-this": strings.Replace(text, `{"all":true}`, `{"user":"nobody-is-this"}`, 1),
	} {
		path := commandtest.Write(t, "events.jsonl", changed)
		o := c.Run("import", path)
		require.Equal(t, command.ExitUsage, o.Code, "%s: %s", says, o)
		require.Contains(t, o.Err, says)
		require.Contains(t, o.Err, "events.jsonl:")
		require.Contains(t, o.Err, "nothing was imported")
	}
}
