package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Start gives the process a directory of its own for temporary files, which only its user can read, and sets it for
// [os.TempDir] and for child processes. It removes the files of killed processes, and old copies of standard input. A
// program calls it once, before it does anything else, and end before it exits.
//
// Files there are not redacted yet: an agent's database, or a module with quotes.
func (d Dir) Start() (end func(), err error) {
	if d == "" {
		return func() {}, nil
	}
	d.sweepStdin(time.Now().Add(-StdinAge))
	dir, held, err := d.enter()
	if err != nil {
		return func() {}, fmt.Errorf("make a directory for temporary files: %w", err)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		_ = os.Setenv(name, dir) // The name is valid.
	}
	return func() {
		_ = os.RemoveAll(dir)
		_ = held.Close()
	}, nil
}

// enter makes a directory that is locked as long as the process lives.
func (d Dir) enter() (dir string, held *os.File, err error) {
	all := d.Path(temp)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", nil, err
	}
	unlock, err := d.clear()
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	if dir, err = os.MkdirTemp(all, fmt.Sprintf("%d-", os.Getpid())); err != nil {
		return "", nil, err
	}
	held, err = lock(dir, true)
	return dir, held, err
}

// Clear removes the temporary files of processes that have ended, and returns the paths that it can't remove.
func (d Dir) Clear() ([]string, error) {
	if d == "" {
		return nil, nil
	}
	if _, err := os.Stat(d.Path(temp)); os.IsNotExist(err) {
		return nil, nil
	}
	unlock, err := d.clear()
	if err != nil {
		return nil, fmt.Errorf("clear temporary files: %w", err)
	}
	defer unlock()
	return d.dead(), nil
}

// clear removes the directories of dead processes. Until unlock is called, no other process does, or makes a directory.
func (d Dir) clear() (unlock func(), err error) {
	held, err := lock(d.Path(temp), true)
	if err != nil {
		return nil, err
	}
	for _, dir := range d.dead() {
		_ = os.RemoveAll(dir)
	}
	return func() { _ = held.Close() }, nil
}

// dead returns the directories of processes that have ended.
func (d Dir) dead() (dirs []string) {
	entries, _ := os.ReadDir(d.Path(temp))
	for _, e := range entries {
		path := filepath.Join(d.Path(temp), e.Name())
		if held, err := lock(path, false); err == nil {
			_ = held.Close()
			dirs = append(dirs, path)
		}
	}
	return dirs
}
