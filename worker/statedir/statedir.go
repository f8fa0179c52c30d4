// Package statedir names the directory in which the programs of a user keep data that is stored nowhere else. It
// contains undelivered contexts, the key of grants, copies of standard input, the state of watch, and temporary files.
// Unlike a cache it is never pruned. The package imports little, because hooks of agents use it.
package statedir

import (
	"path/filepath"
	"runtime"
)

// Names in the directory.
const (
	// Outbox contains contexts that no queue has taken yet.
	Outbox = "outbox"
	// SourceKey is the key that grants a worker access to a file.
	SourceKey = "source.key"
	// Watch contains the state of starter watch.
	Watch = "watch"
	// Stdin contains the sessions of standard input until their builds have ended.
	Stdin = "stdin"
	// ServeToken is the token of starter serve.
	ServeToken = "serve.token"
	// HookLog is the log of hooks.
	HookLog = "hook.log"
	// temp contains a directory of temporary files for each process.
	temp = "tmp"
)

// Dir is the directory. It is empty if the user has no home.
type Dir string

// Of returns the directory: axiommind in XDG_STATE_HOME, which is ~/.local/state by default, in ~/Library/Application
// Support on macOS, and axiommind\state in LocalAppData on Windows.
func Of(getenv func(string) string) Dir { return of(runtime.GOOS, getenv) }

func of(goos string, getenv func(string) string) Dir {
	var base string
	below := []string{"axiommind"}
	switch goos {
	case "windows":
		base, below = getenv("LocalAppData"), []string{"axiommind", "state"}
	case "darwin", "ios":
		base, below = getenv("HOME"), []string{"Library", "Application Support", "axiommind"}
	default:
		base = getenv("XDG_STATE_HOME")
		if !filepath.IsAbs(base) { // The specification of XDG has a relative path ignored.
			base, below = getenv("HOME"), []string{".local", "state", "axiommind"}
		}
	}
	if base == "" {
		return ""
	}
	return Dir(filepath.Join(append([]string{base}, below...)...))
}

// Path returns the path of a name in the directory, or "" if there is no directory.
func (d Dir) Path(name string) string {
	if d == "" {
		return ""
	}
	return filepath.Join(string(d), name)
}
