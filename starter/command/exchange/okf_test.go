package exchange_test

import (
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
