package service

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"axiommind/activities/transcript"
	"axiommind/worker/settings"
)

// SourceKeyFile returns the file with the key with which the starter permits a worker of the same user on the same
// machine to read a file. It is empty if the user has no cache directory.
func SourceKeyFile() string { return settings.SourceKey() }

// sourceAccess returns what the worker may read. A worker that is started in the home directory or above it does not
// thereby get access to all of it.
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

// holdsHome reports whether the home directory is dir or below it.
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
