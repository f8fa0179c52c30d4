package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"axiommind/starter/hook"
)

// SettingsFile returns the path of the settings file in which the agent looks for the user's hooks.
func SettingsFile(agent string, getenv func(string) string) (string, error) {
	dir, err := agentDir(agent, getenv)
	if err != nil {
		return "", fmt.Errorf("find the settings of %s: %w; name them with --settings", agent, err)
	}
	if agent == hook.Codex {
		return filepath.Join(dir, "hooks.json"), nil
	}
	return filepath.Join(dir, "settings.json"), nil
}

// SessionsDir returns the directory in which the agent keeps the user's sessions.
func SessionsDir(agent string, getenv func(string) string) (string, error) {
	dir, err := agentDir(agent, getenv)
	if err != nil {
		return "", fmt.Errorf("find the sessions of %s: %w", agent, err)
	}
	if agent == hook.Codex {
		return filepath.Join(dir, "sessions"), nil
	}
	return filepath.Join(dir, "projects"), nil
}

// agentDir returns the agent's own directory.
func agentDir(agent string, getenv func(string) string) (string, error) {
	variable, name := "CLAUDE_CONFIG_DIR", ".claude"
	if agent == hook.Codex {
		variable, name = "CODEX_HOME", ".codex"
	}
	if given := getenv(variable); given != "" {
		return given, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, name), err
}

// File is a settings file as it was read.
type File struct {
	// Path is the file's path with all symbolic links resolved.
	Path string
	Text []byte
	mode fs.FileMode
	// is reports whether the file exists.
	is bool
}

// maxSettings bounds the size of a settings file in bytes.
const maxSettings = 16 << 20

// Open reads the settings. A file that does not exist is empty.
func Open(path string) (*File, error) {
	f := &File{Path: resolveLinks(path), mode: 0o600}
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("read the settings: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the settings: %q is not a file", f.Path)
	case info.Size() > maxSettings:
		return nil, fmt.Errorf("read the settings: %q has %d bytes, more than %d", f.Path, info.Size(), maxSettings)
	}
	f.is, f.mode = true, info.Mode().Perm()
	if f.Text, err = os.ReadFile(f.Path); err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	return f, nil
}

// resolveLinks follows symbolic links to a file, which may not exist yet. A link's target is relative to the directory that
// contains the link, which may itself be reached through links.
func resolveLinks(path string) string {
	for range 40 {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// Write replaces the file's text atomically and keeps its mode. It refuses a file that has changed since it was read.
func (f *File) Write(text []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the settings %q, which are unchanged: %w", f.Path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.Path), filepath.Base(f.Path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(f.mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(f.Path)
	switch is := err == nil; {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case is != f.is || !bytes.Equal(now, f.Text):
		return errors.New("they have changed meanwhile: try again")
	}
	return os.Rename(temp.Name(), f.Path)
}
