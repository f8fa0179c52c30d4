package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// spoolAge is how long spooled text is kept after it was last given: longer than any run takes, waiting
// included, and long enough to process it again.
const spoolAge = 7 * 24 * time.Hour

// spool stores standard input where the worker can read it, under the hash of its content: a session that
// has no id is named after its place. Other runs may read the same file, now or when their turn comes, so
// it outlives the run it was stored for; what nobody gave for long goes.
func (a *app) spool() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for standard input: %w", err)
	}
	return spoolIn(filepath.Join(cache, "axiommind", "spool"), a.in)
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

// keep gives the file its path. One that is there is the same, and somebody may be reading it: it is as good
// as new, and not replaced.
func keep(name, path string) error {
	now := time.Now()
	if os.Chtimes(path, now, now) != nil {
		return os.Rename(name, path)
	}
	_ = os.Remove(name)
	return nil
}

// sweep removes the files of the directory that were last written before then. What can't be removed is
// left to the next time.
func sweep(dir string, then time.Time) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(then) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// blankness is true as long as nothing but white space was written to it.
type blankness bool

func (b *blankness) Write(p []byte) (int, error) {
	*b = *b && len(bytes.TrimSpace(p)) == 0
	return len(p), nil
}
