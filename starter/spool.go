package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"axiommind/schema"
)

// spool stores standard input where the worker can read it, under the hash of its content.
func (a *app) spool() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for standard input: %w", err)
	}
	dir := filepath.Join(cache, "axiommind", "spool")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("store standard input: %w", err)
	}
	file, err := os.CreateTemp(dir, "incoming-*")
	if err != nil {
		return "", fmt.Errorf("store standard input: %w", err)
	}
	hash, blank := sha256.New(), blankness(true)
	_, err = io.Copy(io.MultiWriter(file, hash, &blank), a.in)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil && bool(blank) {
		_ = os.Remove(file.Name())
		return "", usagef("standard input is empty: give a transcript, or the name of a file instead of -")
	}
	path := filepath.Join(dir, "stdin-"+hex.EncodeToString(hash.Sum(nil))[:20])
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", fmt.Errorf("store standard input: %w", err)
	}
	return path, nil
}

// blankness is true as long as nothing but white space was written to it.
type blankness bool

func (b *blankness) Write(p []byte) (int, error) {
	*b = *b && len(bytes.TrimSpace(p)) == 0
	return len(p), nil
}

// removeSpool removes what spool stored once every session of it is done. What the model is to be asked
// about again stays.
func (a *app) removeSpool(path string, jobs []*job, detached bool) {
	if path != "-" || detached {
		return
	}
	for _, j := range jobs {
		if j.Result.Counts.Quarantined > 0 || !j.refused && !j.Result.Status.Completed() && j.Result.Status != schema.BuildUnchanged {
			return
		}
	}
	for _, j := range jobs {
		_ = os.Remove(j.File)
	}
}
