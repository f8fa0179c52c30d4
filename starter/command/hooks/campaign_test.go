//go:build campaign

package hooks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCampaignAgentsTakePlugin installs the plugin in the real agents, which check its files.
func TestCampaignAgentsTakePlugin(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed: the agents are not tried")
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	// One of the agents refuses a home in the directory of temporary files. Git ignores this one.
	cache := filepath.Join(root, ".cache")
	require.NoError(t, os.MkdirAll(cache, 0o700))
	home, err := os.MkdirTemp(cache, "home-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	env := slices.DeleteFunc(os.Environ(), func(of string) bool {
		return strings.HasPrefix(of, "CODEX_") || strings.HasPrefix(of, "CLAUDE_") || strings.HasPrefix(of, "XDG_")
	})
	run := func(name string, args ...string) string {
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Env = home, append(slices.Clone(env), "HOME="+home)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s %q\n%s", name, args, out)
		return string(out)
	}
	run("npm", "install", "--no-audit", "--no-fund", "--prefix", home, "@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.171.0")
	claude, codex := filepath.Join(home, "node_modules/.bin/claude"), filepath.Join(home, "node_modules/.bin/codex")
	for _, of := range []string{root, filepath.Join(root, "deploy/plugin")} {
		require.Contains(t, run(claude, "plugin", "validate", of), "Validation passed")
	}
	run(claude, "plugin", "marketplace", "add", root)
	run(claude, "plugin", "install", "axiommind@axiommind")
	require.Contains(t, run(claude, "plugin", "list"), "enabled")
	run(codex, "plugin", "marketplace", "add", root)
	run(codex, "plugin", "add", "axiommind@axiommind")
	require.Regexp(t, `axiommind +starter +mcp .*enabled`, run(codex, "mcp", "list"))
	t.Log("survived: the plugin is installed in Claude Code and in Codex")
}
