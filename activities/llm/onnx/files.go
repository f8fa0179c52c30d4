// Package onnx embeds texts with models in the ONNX format, computed in this process by ONNX Runtime. Its C library comes in
// the Python wheel onnxruntime, of which no other part is used.
package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Version is the version of the wheel onnxruntime that the local stack installs.
const Version = "1.32.0"

// dirName is the name of the directory that the wheel is unpacked to, next to that of the model or in the user's cache.
const dirName = "onnxruntime-" + Version

// ErrNoRuntime means that the library of ONNX Runtime is missing.
var ErrNoRuntime = errors.New("ONNX Runtime is not installed")

// pins are the libraries of the wheel by platform, as builds for others have the same names.
var pins = map[string]map[string]Pin{
	"linux-amd64": {"libonnxruntime.so.1.32.0": {34824680, "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f"}},
}

// FindLibrary returns the file of the library for a model in dir, which may be empty. The wheel may be unpacked in dir, next to
// it or in the user's cache directory. The pinned library must be intact, and another one is taken from dir alone.
func FindLibrary(dir string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = "" // There is none, and neither the library nor the stamp is looked for in it.
	}
	return findLibrary(dir, cache, runtime.GOOS+"-"+runtime.GOARCH)
}

func findLibrary(dir, cache, platform string) (string, error) {
	var places []string
	if dir != "" {
		places = append(places, dir, filepath.Join(filepath.Dir(dir), dirName))
	}
	stamp := ""
	if cache != "" {
		places = append(places, filepath.Join(cache, "axiommind", dirName))
		stamp = filepath.Join(cache, "axiommind", dirName+".verified")
	}
	for _, place := range places {
		found, err := filepath.Glob(filepath.Join(Escape(place), "onnxruntime", "capi", "libonnxruntime*[0-9]*"))
		if err != nil {
			return "", fmt.Errorf("look in %q: %w", place, err)
		}
		if len(found) == 0 {
			continue
		}
		if _, pinned := pins[platform][filepath.Base(found[0])]; !pinned && place != dir {
			continue
		}
		return found[0], Verify(found[:1], pins[platform], Version, stamp)
	}
	return "", fmt.Errorf("%w: run go run ./deploy/local up, or pip install --target %q --no-deps --only-binary=:all: --python-version 3.12 onnxruntime==%s",
		ErrNoRuntime, cmp.Or(dir, "DIR"), Version)
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
