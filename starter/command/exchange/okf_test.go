package exchange_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// Bundles of other producers are read, with fields of any form. A file that is no concept is named before anything is imported.
func TestForeignBundle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, says string }{
		"bare":     {"---\ntype: Playbook\n---\nCall Ann.\n", "1 concept as sessions"},
		"fields":   {"---\r\ntype: Metric\r\ngenerated: someone\r\nverified: { by: human:x, at: soon }\r\nmemory: { a: 1 }\r\naxiommind: [1]\r\n---\r\n", "1 concept as sessions"},
		"no head":  {"# Title\n", "c.md:1: it has no YAML head"},
		"no end":   {"---\ntype: x\n", "c.md:1: it has no YAML head"},
		"no type":  {"---\ntitle: x\n---\n", "c.md:2: its head has no type"},
		"no YAML":  {"---\ntype: [\n---\n", "c.md: its head is not valid"},
		"too long": {"---\ntype: User Fact\nmemory: fact\n---\n" + string(make([]byte, 9<<10)), "nothing was imported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			commandtest.Put(t, dir, "a/b/c.md", tt.text)
			commandtest.Put(t, dir, "index.md", "# Listing\n")
			commandtest.Put(t, dir, ".git/x.md", "no concept")
			o := commandtest.Down().Run("import", dir, "--dry-run")
			require.Contains(t, o.Err, tt.says)
			require.Contains(t, o.Err, "nothing was imported")
			require.Equal(t, name != "bare" && name != "fields", o.Code == command.ExitUsage, o)
		})
	}
	o := commandtest.Down().Run("import", t.TempDir())
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "holds neither events.jsonl nor a concept")
}

// A bundle keeps the owners of its concepts (I10), and one that lost files is refused.
func TestBundleOfSeveralOwners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := func(file, kind, user, more string) {
		commandtest.Put(t, dir, file, "---\ntype: "+kind+"\naxiommind: {id: x, project: p, user: "+user+"}\n"+more+"---\nWords.\n")
	}
	own("a.md", "Session", "ann", "session: s1\n")
	own("b.md", "Session", "bob", "session: s1\n")
	own("c.md", "Fact", "ann", "sources: [{id: e1, session: s1}]\n")
	own("d.md", "Task", "ann", "")
	commandtest.Put(t, dir, "index.md", "---\nconcepts: 4\n---\n")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	o := commandtest.Down().Run("import", link, "--dry-run")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Err, "left out 2 concepts")
	for _, user := range []string{"ann", "bob"} {
		require.Contains(t, o.Err, `project "p", user "`+user+`": 0 facts and sections, 1 concept as sessions`)
	}
	require.NotContains(t, commandtest.Down().Run("import", dir, "--user", "bob", "--dry-run").Err, `"ann"`)
	o = commandtest.Down().Run("import", dir, "--user", "carl", "--dry-run")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, `project "p", user "ann"`)
	require.NoError(t, os.Remove(filepath.Join(dir, "d.md")))
	require.Contains(t, commandtest.Down().Run("import", dir, "--dry-run").Err, "has 3 of the 4 concepts")
}
