package format

import (
	"io/fs"
	"os"
	"path/filepath"
)

// configDirs are where programs keep their settings under a home: on Linux, macOS and Windows.
var configDirs = []string{".config", "Library/Application Support", "AppData/Roaming"}

// agentPaths are patterns of the files and directories under a home that hold a format's sessions. They
// are as narrow as they can be: beside them lie credentials.
var agentPaths = map[string][]string{
	"claude-code":   {".claude/projects", ".config/claude/projects"},
	"codex":         {".codex/sessions", ".codex/archived_sessions"},
	"codex-history": {".codex/history.jsonl"},
	"qwen":          {".qwen/projects/*/chats", ".qwen/tmp/*/chats"},
	"copilot":       {".copilot/session-state", ".copilot/history-session-state"},
	"deepseek":      {".dsh/sessions"},
	"kimi":          {".kimi-code/sessions", ".kimi/sessions"},
	"grok":          {".grok/sessions"},
	"antigravity":   {".gemini/antigravity*/brain"},
	"gemini":        {".gemini/tmp/*/chats"},
	"openclaw":      {".openclaw/agents/*/sessions"},
	"omp":           {".omp/agent/sessions", ".omp/profiles/*/agent/sessions", ".local/share/omp/sessions"},
	"pi":            {".pi/agent/sessions"},
	"cursor": append([]string{".cursor/projects"}, under(configDirs,
		"Cursor/User/globalStorage/state.vscdb", "Cursor/User/workspaceStorage/*/state.vscdb")...),
	"goose":    {".local/share/goose/sessions"},
	"roo":      editorPaths("rooveterinaryinc.roo-cline/tasks"),
	"cline":    append([]string{".cline/data/sessions"}, editorPaths("saoudrizwan.claude-dev/tasks")...),
	"opencode": {".local/share/opencode/opencode.db"},
	"hermes":   {".hermes/state.db", ".hermes/profiles/*/state.db"},
	"zed":      {".local/share/zed/threads/threads.db", "Library/Application Support/Zed/threads/threads.db", "AppData/Local/Zed/threads/threads.db"},
	"aider":    {".aider.chat.history.md"},
}

// editorPaths are where an extension of VS Code keeps a directory, also in an editor used from afar.
func editorPaths(dir string) []string {
	return append(under(configDirs, "Code/User/globalStorage/"+dir), ".vscode-server/data/User/globalStorage/"+dir)
}

func under(dirs []string, names ...string) []string {
	var out []string
	for _, d := range dirs {
		for _, n := range names {
			out = append(out, d+"/"+n)
		}
	}
	return out
}

// AgentPaths returns the patterns by the names of the formats.
func AgentPaths() map[string][]string { return agentPaths }

// AgentDirs returns the files and directories in a home where agents keep their sessions.
func AgentDirs(home string) []string {
	var out []string
	for _, patterns := range agentPaths {
		for _, p := range patterns {
			names, _ := fs.Glob(os.DirFS(home), p) // The patterns are sound.
			for _, name := range names {
				out = append(out, filepath.Join(home, filepath.FromSlash(name)))
			}
		}
	}
	return out
}
