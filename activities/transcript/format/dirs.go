package format

import (
	"io/fs"
	"os"
	"path/filepath"
)

// configDirs are where programs keep their settings under a home: on Linux, macOS and Windows.
var configDirs = []string{".config", "Library/Application Support", "AppData/Roaming"}

// editorDirs are where an extension of VS Code keeps a directory, also in an editor used from afar.
func editorDirs(dir string) []string {
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

// AgentDirs returns the files and directories in a home where agents keep their sessions.
func AgentDirs(home string) []string {
	var out []string
	for _, f := range registry {
		for _, pattern := range f.Dirs {
			names, _ := fs.Glob(os.DirFS(home), pattern) // The patterns are sound.
			for _, name := range names {
				out = append(out, filepath.Join(home, filepath.FromSlash(name)))
			}
		}
	}
	return out
}
