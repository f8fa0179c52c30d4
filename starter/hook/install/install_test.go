package install_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"

	"axiommind/starter/hook"
	"axiommind/starter/hook/install"
)

func hooks(program string, flags ...string) []install.Hook {
	return install.Hooks(hook.ClaudeCode, []string{program}, []string{"/opt/ax bin/axcontext"}, flags)
}

const fresh = `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/axhook claude-code --project 'Projekt Ä'\\''s'",
            "timeout": 5
          }
        ]
      }
    ],
`

func TestAddToNothing(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{"", "{}\n", "\n", "{}"} {
		got, err := install.Add(hook.ClaudeCode, []byte(empty), hooks("/opt/axhook", "--project", "Projekt Ä's"))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(got), fresh), string(got))
		var read struct {
			Hooks map[string][]struct {
				Hooks []struct{ Type, Command string }
			}
		}
		require.NoError(t, json.Unmarshal(got, &read), "agents read strict JSON")
		require.Len(t, read.Hooks, 5)
		require.Equal(t, "'/opt/ax bin/axcontext' claude-code --project 'Projekt Ä'\\''s'", read.Hooks["SessionStart"][0].Hooks[0].Command)
		removed, err := install.Remove(hook.ClaudeCode, got)
		require.NoError(t, err)
		require.Equal(t, "{}", strings.TrimSpace(string(removed)))
	}
}

// Existing settings stay the same to the byte when hooks are added and removed again.
func TestAddAndRemove(t *testing.T) {
	t.Parallel()
	other := `{ "type": "command", "command": "notify-send 'done; axhook claude-code'" }`
	for name, settings := range map[string]string{
		"other settings":     "{\n    \"model\": \"opus\",\n    \"permissions\": {\"allow\": [ \"Bash(ls:*)\" ]}\n}\n",
		"tabs":               "{\n\t\"b\": 1,\n\t\"a\": 2\n}",
		"one line":           `{"z": 1, "a": 2}`,
		"windows":            "{\r\n  \"model\": \"opus\"\r\n}\r\n",
		"byte order mark":    "\uFEFF{\n  \"model\": \"opus\"\n}\n",
		"comments":           "// mine\n{\n  // why\n  \"model\": \"opus\", /* last */\n  \"x\": [1, 2,], // two\n}\n// end\n",
		"comment at the end": "{\n  \"model\": \"opus\" // last\n}\n",
		"other hooks": "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          " + other +
			"\n        ]\n      }\n    ],\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [" + other + "]}]\n  },\n  \"model\": \"opus\"\n}\n",
		"hooks on a line":  `{"hooks": {"Stop": [{"hooks": [` + other + `]}]}, "model": "opus"}`,
		"strange hooks":    `{"hooks": {"Stop": [null, 3, {"hooks": "none"}, {"hooks": [7, {"command": 5}]}], "Other": 7}}`,
		"trailing commas":  "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [" + other + ",],},\n    ],\n  },\n}\n",
		"another's":        `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/axhook codex"}]}]}}`,
		"unicode and nul":  "{\n  \"\\u0000名\": \"\\ud83d\\ude00 </script>\"\n}\n",
		"numbers as given": "{\n  \"n\": 1.10e3, \"big\": 123456789012345678901234567890\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			added, err := install.Add(hook.ClaudeCode, []byte(settings), hooks("/opt/axhook"))
			require.NoError(t, err)
			for _, line := range strings.Split(settings, "\n") {
				line = strings.TrimRight(strings.TrimSpace(line), ",]}")
				if !strings.Contains(strings.TrimSpace(settings), "\n") {
					continue // This line is changed.
				}
				for _, part := range strings.Fields(strings.ReplaceAll(line, ",", " ")) {
					require.Contains(t, string(added), part, "what is there is left as it is")
				}
			}
			require.Equal(t, 5, strings.Count(string(added), "\"timeout\":"), string(added))
			if json.Valid([]byte(settings)) {
				require.True(t, json.Valid(added), string(added))
			}
			again, err := install.Add(hook.ClaudeCode, added, hooks("/opt/axhook"))
			require.NoError(t, err)
			require.Equal(t, string(added), string(again))
			moved, err := install.Add(hook.ClaudeCode, added, hooks("/usr/local/bin/axhook"))
			require.NoError(t, err)
			require.NotContains(t, string(moved), "\"/opt/axhook claude-code")
			require.Equal(t, 5, strings.Count(string(moved), "\"timeout\":"))
			for _, text := range [][]byte{added, moved, []byte(settings)} {
				removed, err := install.Remove(hook.ClaudeCode, text)
				require.NoError(t, err)
				require.Equal(t, settings, string(removed))
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		`{"model": `:                 "fix them first",
		`{"a": 1} {"b": 2}`:          "fix them first",
		`[]`:                         "not a JSON object",
		`"text"`:                     "not a JSON object",
		`{"hooks": []}`:              "hooks in the settings is not an object",
		`{"hooks": {"Stop": {}}}`:    "hooks.Stop in the settings is not a list",
		`{"hooks": {}, "hooks": {}}`: "hooks twice",
	} {
		_, err := install.Add(hook.ClaudeCode, []byte(settings), hooks("/opt/axhook"))
		require.ErrorContains(t, err, want, settings)
	}
}

// A shell passes the words to the program unchanged, whatever they contain.
func TestCommand(t *testing.T) {
	t.Parallel()
	words := []string{"/opt/a b/axhook", "claude-code", "--project", "it's $HOME `x` \"q\" \\ é 名 \t*;&|#\n~", "", "-", "~"}
	line := install.Command(words...)
	require.True(t, install.Ours(hook.ClaudeCode, line))
	require.False(t, install.Ours(hook.Codex, line))
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\0' "+line).Output()
	if err != nil {
		t.Skip("there is no shell")
	}
	require.Equal(t, strings.Join(words, "\x00")+"\x00", string(out))
	for command, is := range map[string]bool{
		"/x/starter hook claude-code": true, "starter hook claude-code --user ann": true, "axhook.exe claude-code": true,
		"/x/ax hook claude-code --project 'a b' --user c": true, "ax hook claude-code": false,
		"starter process claude-code": false, "axhook": false, "": false, "echo axhook claude-code": false, "'": false, `\`: false,
	} {
		require.Equal(t, is, install.Ours(hook.ClaudeCode, command), command)
	}
}

// Any settings are either refused, or keep their meaning and contain the hooks, too.
func FuzzAdd(f *testing.F) {
	for _, seed := range []string{`{}`, `{"hooks":{"Stop":[]}}`, "{\"a\":1,//x\n}", `{"hooks":{"Stop":[{"hooks":[{"command":"axhook claude-code"}]}],"x":[/*c*/]/*d*/}/*e*/}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, settings string) {
		added, err := install.Add(hook.ClaudeCode, []byte(settings), hooks("/opt/axhook"))
		if err != nil {
			return
		}
		again, err := install.Add(hook.ClaudeCode, added, hooks("/opt/axhook"))
		require.NoError(t, err)
		require.Equal(t, string(added), string(again))
		removed, err := install.Remove(hook.ClaudeCode, added)
		require.NoError(t, err)
		require.NotContains(t, string(removed), "/opt/axhook claude-code")
		was, err := install.Remove(hook.ClaudeCode, []byte(settings))
		require.NoError(t, err)
		require.Equal(t, meaning(t, was), meaning(t, removed))
	})
}

// meaning returns the parsed settings without empty lists of hooks.
func meaning(t *testing.T, settings []byte) map[string]any {
	t.Helper()
	text := strings.TrimPrefix(string(settings), "\uFEFF")
	if strings.TrimSpace(text) == "" {
		return map[string]any{}
	}
	standard, err := hujson.Standardize([]byte(text))
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(standard, &out))
	events, ok := out["hooks"].(map[string]any)
	for name, groups := range events {
		if list, is := groups.([]any); is && len(list) == 0 {
			delete(events, name)
		}
	}
	if ok && len(events) == 0 {
		delete(out, "hooks")
	}
	return out
}

// Links to a settings file are followed, as users with a directory of dotfiles need.
func TestOpenFollowsLinks(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"dotfiles/claude", "dotfiles/shared"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	require.NoError(t, os.Symlink("dotfiles/claude", filepath.Join(home, ".claude")))
	require.NoError(t, os.Symlink("../shared/settings.json", filepath.Join(home, "dotfiles/claude/settings.json")))
	settings := filepath.Join(home, "dotfiles/shared/settings.json")
	for _, there := range []bool{false, true} {
		f, err := install.Open(filepath.Join(home, ".claude/settings.json"))
		require.NoError(t, err)
		require.Equal(t, settings, f.Path)
		require.Equal(t, there, len(f.Text) > 0)
		require.NoError(t, f.Write([]byte("{}\n")))
	}
	require.FileExists(t, settings)
	require.NoDirExists(t, filepath.Join(home, "shared"))
	loop := filepath.Join(home, "loop")
	require.NoError(t, os.Symlink(loop, loop))
	_, err = install.Open(loop)
	require.Error(t, err)
}
