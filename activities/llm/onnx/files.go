// Package onnx embeds texts with models in the ONNX format, computed in this process by ONNX Runtime. Its C library comes in
// the Python wheel onnxruntime, of which no other part is used.
package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Version is the version of the wheel onnxruntime that the local stack installs.
const Version = "1.32.0"

// dirName is the name of the directory that the wheel is unpacked to, next to that of the model or in the user's cache.
const dirName = "onnxruntime-" + Version

// ErrNoRuntime says that the library of ONNX Runtime is not there.
var ErrNoRuntime = errors.New("ONNX Runtime is not installed")

var pins = map[string]Pin{
	"libonnxruntime.so.1.32.0": {34824680, "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f"},
}

// FindLibrary returns the file of the library for a model in dir. The wheel may be unpacked in dir, next to it or in the user's
// cache directory. A library of another version than the pinned one is taken as it is; the pinned one must be intact.
func FindLibrary(dir string) (string, error) {
	cache, _ := os.UserCacheDir()
	for _, place := range []string{dir, filepath.Join(filepath.Dir(dir), dirName), filepath.Join(cache, "axiommind", dirName)} {
		found, err := filepath.Glob(filepath.Join(Escape(place), "onnxruntime", "capi", "libonnxruntime*[0-9]*"))
		if err != nil {
			return "", fmt.Errorf("look in %q: %w", place, err)
		}
		if len(found) == 0 {
			continue
		}
		stamp := ""
		if cache != "" {
			stamp = filepath.Join(cache, "axiommind", dirName+".verified")
		}
		return found[0], Verify(found[:1], pins, Version, stamp)
	}
	return "", fmt.Errorf("%w: run go run ./deploy/local up, or pip install --target %q --no-deps onnxruntime==%s", ErrNoRuntime, dir, Version)
}

// Escape makes a path a pattern that matches only itself.
func Escape(path string) string {
	var out []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}
