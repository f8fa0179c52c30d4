package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"axiommind/worker/statedir"
)

// spoolAge is how long spooled text is kept after its last use: longer than any run takes with its waiting, and
// long enough to process it again.
const spoolAge = 7 * 24 * time.Hour

// spool stores standard input where the worker can read it. The file is named by the hash of its content, because
// a session without an id is named after its file. Other runs may read the same file, so it outlives this run. Old
// files are removed.
func (a *app) spool() (string, error) {
	dir := a.cfg.State.Path(statedir.Stdin)
	if dir == "" {
		return "", errors.New("find a place for standard input: there is no home directory; set HOME or XDG_STATE_HOME")
	}
	return spoolIn(dir, a.in)
}

func spoolIn(dir string, in io.Reader) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("store standard input: %w", err)
	}
	file, err := os.CreateTemp(dir, "incoming-*")
	if err != nil {
		return "", fmt.Errorf("store standard input: %w", err)
	}
	hash, blank := sha256.New(), blankness(true)
	_, err = io.Copy(io.MultiWriter(file, hash, &blank), in)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil && bool(blank) {
		_ = os.Remove(file.Name())
		return "", usagef("standard input is empty: give a transcript, or the name of a file instead of -")
	}
	path := filepath.Join(dir, "stdin-"+hex.EncodeToString(hash.Sum(nil))[:20])
	if err == nil {
		err = keep(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", fmt.Errorf("store standard input: %w", err)
	}
	sweep(dir, time.Now().Add(-spoolAge))
	return path, nil
}

// keep moves the file to its path. A file that is there has the same content and may be in use: its time is
// renewed instead.
func keep(name, path string) error {
	now := time.Now()
	if os.Chtimes(path, now, now) != nil {
		return os.Rename(name, path)
	}
	_ = os.Remove(name)
	return nil
}

// sweep removes the files of the directory that were last written before then. It ignores errors: the next call
// tries again.
func sweep(dir string, then time.Time) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// blankness is a writer that is true until something other than white space is written to it.
type blankness bool

func (b *blankness) Write(p []byte) (int, error) {
	*b = *b && len(bytes.TrimSpace(p)) == 0
	return len(p), nil
}
