package exchange_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// digests returns the digest of each table of the projections.
func digests(t *testing.T, c *commandtest.CLI) map[string]projection.Digest {
	t.Helper()
	conn, log := c.LogOf(t)
	out := map[string]projection.Digest{}
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
	from.Work(t, "--memory-root", t.TempDir())
	to.Work(t, "--memory-root", t.TempDir())
	project, user := `p/"é 프로젝트`, `ann's "/ 메모리`
	ok := func(c *commandtest.CLI, args ...string) commandtest.Output {
		t.Helper()
		o := c.Run(args...)
		require.Zero(t, o.Code, "%q: %s", args, o)
		commandtest.RequireHarmless(t, o)
		return o
	}
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision+" "+commandtest.Turn+"\nI prefer quiet keyboards.")+
		commandtest.Said(2, "assistant", "TODO: write the <report> & more.\nThe report is blocked by PROJ-7.\r\n```text\na\u2028b\n```\n"))
	ok(from, "process", path, "--project", project, "--user", user, "--session", "one/1")
	ok(from, "process", path, "--project", "other", "--user", user, "--session", "two")
	ok(from, "process", path, "--project", project, "--user", "bob", "--session", "three")
	ok(from, "profile", "set", "work", "Builds payment", "--user", user)
	ok(from, "facts", "add", "I drink tea", "--user", user, "--project", project)
	ok(from, "facts", "add", "I drink coffee", "--user", user, "--project", "other")

	dir := t.TempDir()
	all := filepath.Join(dir, "all")
	ok(from, "export", all, "--all")
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

	ofProject, ofUser, ofBob := filepath.Join(dir, "project"), filepath.Join(dir, "user"), filepath.Join(dir, "bob")
	ok(from, "export", ofProject, "--project", project)
	ok(from, "export", ofUser, "--user", user)
	require.Contains(t, ok(from, "export", ofBob, "--user", "bob", "--format", "jsonl").Out, "with content of others too", "bob speaks of ann's tasks")
	for path, never := range map[string][]string{ofProject: {"coffee", `"other"`}, ofUser: {"three", "bob"}, ofBob: {"ann's", "one/1"}} {
		raw, err := os.ReadFile(filepath.Join(path, "events.jsonl"))
		require.NoError(t, err)
		for _, text := range never {
			require.NotContains(t, string(raw), text, "I10: %s", path)
		}
	}
	partOf(t, from, ofProject, project, user)
	require.Contains(t, ok(to, "import", ofProject).Out, "imported 0 of ")
	require.Contains(t, ok(to, "import", ofUser).Out, "imported 0 of ")
	refusals(t, to, all)

	clashes(t, from, to, filepath.Join(dir, "clash"))
	bundles(t, to, ofProject, ofUser)
	migrates(t, to)
}

// migrates takes in the memory of other systems. Their own words are statements of theirs, which are never verified (I5).
func migrates(t *testing.T, c *commandtest.CLI) {
	t.Helper()
	const samples = "../../../activities/transcript/format/testdata/"
	conn, _ := c.LogOf(t)
	for system, file := range map[string]string{"engram": "engram/memories.json", "basic-memory": "basic-memory"} {
		args := []string{"migrate", system, samples + file, "--project", system, "--user", "dora"}
		o := c.Run(args...)
		require.Zero(t, o.Code, o)
		rows, err := entry.NewReader(conn).Read(t.Context(), entry.OfUser(system, "dora"), entry.Whole)
		require.NoError(t, err)
		require.NotEmpty(t, rows, "%s: %s", system, o)
		for _, row := range rows {
			require.Equal(t, system, schema.SaidByAgent(row.Evidence), row.Title)
			require.Equal(t, schema.StageWorking, row.Stage, row.Title)
			require.False(t, row.EvidenceProven, row.Title)
		}
		again := c.Run(args...)
		require.Zero(t, again.Code, again)
		require.Contains(t, again.Out, "unchanged")
	}
	o := c.Run("migrate", "zep", samples+"engram/memories.json")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "not an export of Zep")
	require.Equal(t, command.ExitUsage, c.Run("migrate", "letta", samples+"engram/memories.json").Code)
}

// clashes imports a session that has another history here: a conflict, which is named before anything is written.
func clashes(t *testing.T, from, to *commandtest.CLI, dir string) {
	t.Helper()
	for c, text := range map[*commandtest.CLI]string{from: "I drink milk.", to: "I drink water."} {
		o := c.Run("process", commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", text)), "--project", "clash", "--user", "eve", "--session", "same")
		require.Zero(t, o.Code, o)
	}
	require.Zero(t, from.Run("export", dir, "--project", "clash", "--format", "jsonl").Code)
	length := len(events(t, to, ""))
	o := to.Run("import", dir)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, `session/clash/eve//same": the log has another event in its place`)
	require.Contains(t, o.Err, "has other content in the log")
	require.Len(t, events(t, to, ""), length)
}

// partOf imports a project into an empty log, without a worker. The project's facts keep their positions in the memory that
// other projects share, and the fault is named.
func partOf(t *testing.T, from *commandtest.CLI, dir, project, user string) {
	t.Helper()
	lone := commandtest.NewRemembered(t)
	o := lone.Run("import", dir)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "all events are in the log, but not all is derived from them")
	_, log := from.LogOf(t)
	stream := schema.MemoryStream(user, "")
	want := map[uint64]string{}
	for e, err := range log.Stream(t.Context(), stream, eventlog.StreamOptions{}) {
		require.NoError(t, err)
		if e.Project == project {
			want[e.Seq] = e.ID
		}
	}
	got := map[uint64]string{}
	for e, err := range lone.Log.Stream(t.Context(), stream, eventlog.StreamOptions{}) {
		require.NoError(t, err)
		got[e.Seq] = e.ID
	}
	require.Equal(t, want, got)
	facts, err := fact.NewTables(lone.Conn).List(t.Context(), user, "")
	require.NoError(t, err)
	require.NotEmpty(t, facts)
}

// bundles checks the Markdown of exports, and imports it.
func bundles(t *testing.T, c *commandtest.CLI, ofProject, ofUser string) {
	t.Helper()
	root, err := os.ReadFile(filepath.Join(ofProject, "index.md"))
	require.NoError(t, err)
	require.Contains(t, string(root), `okf_version: "0.2"`)
	types := map[string]int{}
	require.NoError(t, filepath.WalkDir(ofUser, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || d.Name() == "index.md" || d.Name() == "log.md" {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		text, _, _, ok := format.SplitHead(raw)
		require.True(t, ok, path)
		var head map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &head), path)
		types[head["type"].(string)]++
		for _, s := range asList(head["sources"]) {
			source := s.(map[string]any)
			if strings.HasPrefix(source["resource"].(string), "/") {
				require.FileExists(t, filepath.Join(ofUser, filepath.FromSlash(source["resource"].(string))))
				require.NotEmpty(t, source["quote"])
			}
		}
		if head["type"] == "Decision" {
			require.Equal(t, "stable", head["status"])
			require.Contains(t, text, "verified:\n  - by: process:")
			require.Contains(t, text, "stale_after: 20")
		}
		return nil
	}))
	require.Equal(t, 2, types["Session"], types)
	require.Equal(t, 1, types["Profile Section"], types)
	require.NotZero(t, types["Decision"])
	require.NotZero(t, types["User Fact"])

	importsBundle(t, c, ofUser)
}

// importsBundle imports the bundle of a user under other names.
func importsBundle(t *testing.T, c *commandtest.CLI, ofUser string) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(ofUser, "events.jsonl")))
	o := c.Run("import", ofUser, "--project", "copy")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, `project "other", user`, "I10: projects are not joined")
	args := []string{"import", ofUser, "--user", "carl"}
	require.Contains(t, c.Run(append(args, "--dry-run")...).Err, "nothing was imported")
	o = c.Run(args...)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Err, "1 section of the profile set")
	o = c.Run(args...)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Err, "0 facts created")
	require.Contains(t, c.Run("profile", "show", "--user", "carl").Out, "Builds payment")
	require.Contains(t, c.Run("facts", "--user", "carl").Out, "I drink tea")
	_, log := c.LogOf(t)
	read := func(key schema.SessionKey) (texts []string) {
		s, err := session.Open(t.Context(), log.Store, key)
		require.NoError(t, err)
		for m, err := range s.From(t.Context(), 0) {
			require.NoError(t, err)
			texts = append(texts, string(m.Role)+": "+m.Text)
		}
		return texts
	}
	key := schema.SessionKey{Scope: schema.Scope{Project: `p/"é 프로젝트`, User: `ann's "/ 메모리`}, SessionID: "one/1"}
	copied := schema.SessionKey{Scope: schema.Scope{Project: `p/"é 프로젝트`, User: "carl"}, SessionID: "one/1"}
	require.Equal(t, read(key), read(copied))
	conn, _ := c.LogOf(t)
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.OfUser(`p/"é 프로젝트`, "carl"), entry.Whole)
	require.NoError(t, err)
	proven := 0
	for _, row := range rows {
		require.Empty(t, schema.SaidByAgent(row.Evidence), "%s: an entry that its session proves has no second one", row.Title)
		if row.EvidenceProven {
			proven++
		}
	}
	require.NotZero(t, proven, "the sessions' own words prove again")
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
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
		"not the first line":            strings.Join(lines[1:], ""),
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
