// The tag static leaves out the dynamic linker, and so the programs need no libc.

//go:build (!linux && !darwin) || static

package e5

import (
	"fmt"
	"os"
	"runtime"
)

const pinned = false

type library struct{ dimensions int }

func open(files, int) (*library, error) {
	return nil, fmt.Errorf("%w: it is not supported on %s or in a static program", ErrNoLibrary, runtime.GOOS)
}

func (*library) vectors([]string, bool) ([][]float32, error) { return nil, ErrNoLibrary }

func mapped(path string) ([]byte, error) { return os.ReadFile(path) }
