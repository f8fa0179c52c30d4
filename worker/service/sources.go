package service

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"axiommind/activities/transcript"
)

// SourceKeyFile is where the key lies by which the starter permits a worker of the same user on the same
// machine to read a file. It is empty when the user has no directory for such things.
func SourceKeyFile() string { return inCache("source.key") }

func inCache(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "axiommind", name)
}

// sourceAccess is what the worker may read. A worker that is started in a home, or above it, does not
// open all of it for that.
func (c *Config) sourceAccess() (*transcript.Access, error) {
	o := transcript.AccessOptions{Roots: c.SourceRoots, KeyFile: SourceKeyFile()}
	if len(c.SourceRoots) == 0 {
		if home, err := os.UserHomeDir(); err == nil {
			o.AgentsOf = home
		}
		if dir, err := os.Getwd(); err == nil && !holdsHome(dir, o.AgentsOf) {
			o.Roots = []string{dir}
		}
	}
	access, err := transcript.NewAccess(o)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", sourceRoot, err)
	}
	return access, nil
}

// holdsHome reports whether the home is the directory or lies in it.
func holdsHome(dir, home string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	up, err := filepath.Rel(dir, home)
	outside := err != nil || up == ".." || strings.HasPrefix(up, ".."+string(filepath.Separator))
	return dir == filepath.Dir(dir) || home != "" && !outside
}
