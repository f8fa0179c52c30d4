package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// entries are the files and directories that the local stack keeps in its directory.
var entries = []string{
	"bin", "clickhouse", "clickhouse-server", "logs", "samples", "state.json", "temporal.db", "temporal.db-shm",
	"temporal.db-wal", "up.lock", "weaviate",
}

// DefaultDir returns the directory of a stack for which none is given: ~/.axiommind.
func DefaultDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ".axiommind"
	}
	return filepath.Join(home, ".axiommind")
}

// MakePrivate makes a directory that only its owner can enter. If it exists, the rights of others to it and to the
// files of an earlier stack in it are removed. A directory that all users share, such as /tmp, and files that are
// not the stack's stay as they are.
func MakePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make %q: %w", dir, err)
	}
	if info, err := os.Stat(dir); err == nil && info.Mode()&fs.ModeSticky == 0 {
		if err := onlyOwner(dir, info); err != nil {
			return err
		}
	}
	for _, name := range entries {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return onlyOwner(path, info)
		})
		if err != nil {
			return fmt.Errorf("make %q private: %w", dir, err)
		}
	}
	return nil
}

func onlyOwner(path string, info fs.FileInfo) error {
	mode := info.Mode()
	if mode&fs.ModeSymlink != 0 || mode.Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, mode.Perm()&0o700); err != nil {
		return fmt.Errorf("take the rights of others from %q: %w", path, err)
	}
	return nil
}

// WritePrivate replaces a file by one that only its owner can read.
func WritePrivate(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
