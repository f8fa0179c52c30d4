package hooks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/hooks"
	"axiommind/starter/command/program"
)

// hooked runs a command with its own home directory.
func hooked(t *testing.T, home, in string, args ...string) commandtest.Output {
	t.Helper()
	var out, errOut strings.Builder
	a := &command.App{
		In: strings.NewReader(in), Out: &out, ErrOut: &errOut, Interactive: true,
		Getenv: func(name string) string {
			return map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "claude"), "CODEX_HOME": filepath.Join(home, "codex")}[name]
		},
	}
	code := program.Main(t.Context(), a, args)
	return commandtest.Output{Code: code, Out: out.String(), Err: errOut.String()}
}

func TestHookInstallAndRemove(t *testing.T) {
	t.Parallel()
	sessions := map[string]string{"claude-code": "projects", "codex": "sessions"}
	for agent, name := range map[string]string{"claude-code": "claude/settings.json", "codex": "codex/hooks.json"} {
		home := t.TempDir()
		path := filepath.Join(home, filepath.FromSlash(name))
		o := hooked(t, home, "n\n", "hook", "install", agent)
		require.Equal(t, command.ExitUsage, o.Code)
		require.Contains(t, o.Err, `+    "SessionEnd": [`)
		require.Contains(t, o.Err, "nothing was changed")
		require.NoFileExists(t, path)

		o = hooked(t, home, "y\n", "hook", "install", agent, "--project", "Läden 'A'")
		require.Zero(t, o.Code, o.Err)
		require.Contains(t, o.Out, "written to "+path)
		require.Contains(t, o.Out, "from now on, the sessions in every repository become memory of project Läden 'A'\n")
		require.Contains(t, o.Out, "import earlier sessions: starter process "+filepath.Join(filepath.Dir(path), sessions[agent])+" --project ")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		require.Contains(t, string(text), " hook "+agent+` --project 'Läden '\\''A'\\''' --user default`)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		o = hooked(t, home, "", "hook", "install", agent, "--project", "Läden 'A'")
		require.Zero(t, o.Code, o.Err)
		require.Contains(t, o.Out, "nothing was changed")
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))

		o = hooked(t, home, "", "hook", "remove", agent, "--yes", "-o", "json")
		require.Zero(t, o.Code, o.Err)
		require.True(t, commandtest.Decode[hooks.ChangedHooks](t, o).Changed)
		text, err = os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "{}\n", string(text))
	}
}

// A link stays a link, the mode is kept, and an unreadable file is not overwritten.
func TestHookSettingsAreKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	real, link := filepath.Join(home, "dotfiles", "settings.json"), filepath.Join(home, "claude", "settings.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(real), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o700))
	require.NoError(t, os.Symlink("../dotfiles/settings.json", link))
	const was = "{\n\t\"model\": \"opus\"\n}\n"
	require.NoError(t, os.WriteFile(real, []byte(was), 0o600))
	require.NoError(t, os.Chmod(real, 0o640))
	o := hooked(t, home, "", "hook", "install", "claude-code", "--yes", "--no-answers")
	require.Zero(t, o.Code, o.Err)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(real)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	text, err := os.ReadFile(real)
	require.NoError(t, err)
	require.Contains(t, string(text), "\n\t\t\"SessionEnd\"")
	require.NotContains(t, string(text), "SessionStart")
	require.Zero(t, hooked(t, home, "", "hook", "remove", "claude-code", "--yes").Code)
	text, err = os.ReadFile(real)
	require.NoError(t, err)
	require.Equal(t, was, string(text))

	require.NoError(t, os.WriteFile(real, []byte("{\"model\": "), 0o600))
	for _, verb := range []string{"install", "remove"} {
		o = hooked(t, home, "", "hook", verb, "claude-code", "--yes")
		require.Equal(t, command.ExitUsage, o.Code)
		require.Contains(t, o.Err, "fix them first")
		require.Contains(t, o.Err, real)
	}
	text, err = os.ReadFile(real)
	require.NoError(t, err)
	require.Equal(t, "{\"model\": ", string(text))
	left, err := os.ReadDir(filepath.Dir(real))
	require.NoError(t, err)
	require.Len(t, left, 1, "no file is left behind")
	o = hooked(t, home, "", "hook", "install", "vim")
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, `AGENT "vim": want one of claude-code, codex`)
	o = hooked(t, home, "", "hook", "install", "claude-code", "--programs", home)
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, "there is no axhook")
}

// An agent treats exit code 2 as an instruction, so no hook returns it.
func TestHookNeverOrders(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--what"}, {"a", "b"}, {"--user", ""}} {
		o := hooked(t, t.TempDir(), "{}", append([]string{"hook", "claude-code"}, args...)...)
		require.Equal(t, 1, o.Code)
		require.Empty(t, o.Out)
	}
}
