package hooks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"axiommind/starter/command/commandtest"
	"axiommind/starter/hook"
)

const pluginRoot = "../../../deploy/plugin"

// readJSON reads a file that has no other properties than into.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), path)
}

// pluginHooks are the commands of a file of hooks, by event.
func pluginHooks(t *testing.T, file string) map[string]string {
	t.Helper()
	var f struct {
		Description string
		Hooks       map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	readJSON(t, filepath.Join(pluginRoot, "hooks", file), &f)
	commands := map[string]string{}
	for event, groups := range f.Hooks {
		require.Len(t, groups, 1)
		require.Len(t, groups[0].Hooks, 1)
		require.Equal(t, "command", groups[0].Hooks[0].Type)
		require.Equal(t, 5, groups[0].Hooks[0].Timeout)
		commands[event] = groups[0].Hooks[0].Command
	}
	return commands
}

// The plugin has the hooks of both agents, and each file, tool and program that it names exists.
func TestPlugin(t *testing.T) {
	t.Parallel()
	claude, codex := pluginHooks(t, "hooks.json"), pluginHooks(t, "codex.json")
	for _, event := range slices.Concat(hook.Enqueued(), hook.Answered()) {
		require.Contains(t, claude, event)
		require.Equal(t, claude[event], strings.Replace(codex[event], " codex ", " claude-code ", 1))
	}
	require.Len(t, claude, len(hook.Enqueued())+len(hook.Answered()))

	type entry struct {
		Name, Description, Category string
		Source                      any
		Policy                      map[string]string
	}
	var market struct {
		Name      string
		Owner     map[string]string
		Metadata  map[string]string
		Interface map[string]string
		Plugins   []entry
	}
	var manifest struct {
		Name, Version, Description, License, Skills, Hooks string
		McpServers                                         string
		Author                                             map[string]string
		Keywords                                           []string
		Interface                                          map[string]any
	}
	for _, file := range []string{".claude-plugin", ".codex-plugin"} {
		readJSON(t, filepath.Join(pluginRoot, file, "plugin.json"), &manifest)
		require.Equal(t, "axiommind", manifest.Name)
		for _, part := range []string{manifest.Skills, manifest.Hooks, manifest.McpServers} {
			_, err := os.Stat(filepath.Join(pluginRoot, part))
			require.NoError(t, err)
		}
	}
	for _, file := range []string{".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"} {
		readJSON(t, filepath.Join("../../..", file), &market)
		require.Equal(t, "axiommind", market.Plugins[0].Name)
		source, is := market.Plugins[0].Source.(string)
		if !is {
			source, _ = market.Plugins[0].Source.(map[string]any)["path"].(string)
		}
		require.DirExists(t, filepath.Join("../../..", source))
	}
	tools, err := os.ReadFile("../mcpserver/tools.go")
	require.NoError(t, err)
	for _, file := range []string{"commands/recall.md", "commands/remember.md", "commands/tasks.md", "skills/memory/SKILL.md"} {
		raw, err := os.ReadFile(filepath.Join(pluginRoot, file))
		require.NoError(t, err)
		parts := strings.SplitN(string(raw), "---\n", 3)
		require.Len(t, parts, 3, file)
		var head struct {
			Name, Description string
			Hint              string `yaml:"argument-hint"`
		}
		require.NoError(t, yaml.Unmarshal([]byte(parts[1]), &head), file)
		require.NotEmpty(t, head.Description)
		require.LessOrEqual(t, strings.Count(parts[2], "\n"), 60, "an agent reads one page")
		for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(parts[2], -1) {
			if !slices.Contains([]string{"axiommind", "retire", "done"}, name[1]) {
				require.Contains(t, string(tools), `"`+name[1]+`"`, "%s names the tool %s", file, name[1])
			}
		}
	}
}

// The hooks of the plugin enqueue and answer the events of the agents, in the project that a variable names.
func TestPluginHooks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the plugin are for a POSIX shell")
	}
	c := commandtest.SharedCLI(t)
	user := c.Project + " 'José'"
	require.Zero(t, c.Run("facts", "add", "Deploys with Nomad", "--project", c.Project, "--user", user).Code)
	bin := t.TempDir()
	for _, name := range []string{"axhook", "axcontext"} {
		shim := "#!/bin/sh\nexec '" + os.Args[0] + "' hook \"$@\" --within 10s\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(shim), 0o700))
	}
	environ := []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "AXIOMMIND_TEST_STARTER=1", "AXIOMMIND_PROJECT=" + c.Project, "AXIOMMIND_USER=" + user,
	}
	for name, value := range c.Env {
		environ = append(environ, name+"="+value)
	}
	for i := 0; i+1 < len(c.Servers); i += 2 {
		environ = append(environ, "AXIOMMIND_"+strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(c.Servers[i], "--"), "-", "_"))+"="+c.Servers[i+1])
	}
	for agent, file := range map[string]string{hook.ClaudeCode: "hooks.json", hook.Codex: "codex.json"} {
		session := c.Project + "-" + agent
		transcript := commandtest.Write(t, "rollout-"+session+".jsonl", commandtest.Said(1, "user", commandtest.Decision))
		run := func(event string, more map[string]any) string {
			payload := map[string]any{
				"session_id": session, "transcript_path": transcript, "cwd": filepath.Dir(transcript), "permission_mode": "default", "hook_event_name": event,
			}
			for name, value := range more {
				payload[name] = value
			}
			raw, err := json.Marshal(payload)
			require.NoError(t, err)
			sh := exec.CommandContext(t.Context(), "sh", "-c", pluginHooks(t, file)[event])
			sh.Env, sh.Stdin = append(os.Environ(), environ...), strings.NewReader(string(raw))
			var said, failed strings.Builder
			sh.Stdout, sh.Stderr = &said, &failed
			require.NoError(t, sh.Run(), "%s %s: %s", agent, event, failed.String())
			require.Empty(t, failed.String())
			return said.String()
		}
		require.Contains(t, run(hook.SessionStart, map[string]any{"source": "startup", "model": "m"}), "Deploys with Nomad", agent)
		require.Contains(t, run(hook.UserPromptSubmit, map[string]any{"prompt": "how is it deployed?"}), "Deploys with Nomad", agent)
		require.Empty(t, run(hook.Stop, map[string]any{"stop_hook_active": false}))
		require.Empty(t, run(hook.PreCompact, map[string]any{"trigger": "auto", "custom_instructions": ""}))
		require.Empty(t, run(hook.SessionEnd, map[string]any{"reason": "exit"}))
		commandtest.Eventually(t, func() bool {
			return strings.Contains(c.Run("sessions", "--project", c.Project, "--user", user, "-o", "json").Out, session)
		})
	}
}

// server.json is as the registry of MCP servers has it. The registry is a Go module that holds the schema.
func TestPluginServerSchema(t *testing.T) {
	t.Parallel()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/modelcontextprotocol/registry@v1.8.9")
	download.Dir = t.TempDir()
	out, err := download.Output()
	if err != nil {
		t.Skipf("the registry's module can't be fetched: server.json is not checked: %v", err)
	}
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	file, err := os.Open(filepath.Join(pluginRoot, "server.json"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	server, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	address, is := server.(map[string]any)["$schema"].(string)
	require.True(t, is)
	version := filepath.Base(filepath.Dir(address))
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(module.Dir, "internal/validators/schemas", version+".json"))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(server))
	delete(server.(map[string]any), "version")
	require.Error(t, schema.Validate(server), "the schema tells a wrong file")
}
