package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"axiommind/activities/session/keyring"
	"axiommind/activities/transcript"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// sourceAccess returns the worker's access to sources. A worker that is started in the home directory or above it does
// not thereby get access to all of it.
func sourceAccess(c *service.Config, raw *keyring.Ring, ingested func(buildID, uri string)) (*transcript.Access, error) {
	o := transcript.AccessOptions{Roots: c.SourceRoots, Ingested: ingested, KeyFile: c.State.Path(statedir.SourceKey), Secrets: c.SecretFiles, RawKeys: raw}
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
		return nil, fmt.Errorf("--source-root: %w", err)
	}
	return access, nil
}

// rawKeys returns the keys that encrypt the redacted originals, or nil if these are not kept.
func rawKeys(c *service.Config) (*keyring.Ring, error) {
	if !c.KeepRaw {
		return nil, nil
	}
	if c.RawKeyFile == "" {
		return nil, errors.New("--keep-raw: redacted originals are kept encrypted or not at all: " +
			"name the file of the keys by --raw-key-file; " +
			"create it with: (umask 077; echo \"$(date +%F) $(openssl rand -base64 32)\" > raw.keys)")
	}
	ring, err := keyring.Load("raw", c.RawKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--keep-raw: %w", err)
	}
	return ring, nil
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
