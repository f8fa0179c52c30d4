package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Pin is the size in bytes and the SHA-256 of a file.
type Pin struct {
	Size int64
	Sum  string
}

// Verify returns an error if a file is not the one that is pinned under its name. A library maps its files unchecked:
// damage to weights gives wrong vectors of some words, or ends the process with no error. Files without a pin are a
// user's own builds. They must have an absolute path, so that no program runs a library of its current directory.
//
// Hashing files takes as long as loading them. So the sizes and times of verified files are noted in the file stamp,
// and files that look the same are not read again.
func Verify(files []string, pins map[string]Pin, version, stamp string) error {
	var seen strings.Builder
	var paths []string
	for _, path := range files {
		want, ok := pins[filepath.Base(path)]
		switch {
		case !ok && path != "" && !filepath.IsAbs(path):
			return fmt.Errorf("%q is no pinned file of version %s: name its directory by an absolute path", path, version)
		case !ok:
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("look at %q: %w", path, err)
		}
		if info.Size() != want.Size {
			return damaged(path, version, fmt.Sprintf("it has %d bytes, not %d", info.Size(), want.Size))
		}
		paths = append(paths, path)
		fmt.Fprintf(&seen, "%q %s %d\n", path, want.Sum, info.ModTime().UnixNano())
	}
	if noted, err := os.ReadFile(stamp); err == nil && string(noted) == seen.String() {
		return nil
	}
	for _, path := range paths {
		got, err := sumOf(path)
		if err != nil {
			return fmt.Errorf("check %q: %w", path, err)
		}
		if want := pins[filepath.Base(path)].Sum; got != want {
			return damaged(path, version, fmt.Sprintf("its SHA-256 is %s, not %s", got, want))
		}
	}
	Keep(stamp, []byte(seen.String()))
	return nil
}

func damaged(path, version, why string) error {
	return fmt.Errorf("%q is damaged, or of another version than %s: %s: remove the directory and install it again", path, version, why)
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// Keep writes a file whole, or not at all. Without it its content is computed each time, so errors do not matter.
func Keep(path string, content []byte) {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return
	}
	_, err = f.Write(content)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), path) != nil {
		_ = os.Remove(f.Name())
	}
}
