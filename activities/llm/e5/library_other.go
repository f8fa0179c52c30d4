//go:build !linux && !darwin

package e5

import (
	"fmt"
	"os"
	"runtime"
)

const pinned = false

type library struct{ dimensions int }

func open(files, int) (*library, error) {
	return nil, fmt.Errorf("%w: it does not exist for %s", ErrNoLibrary, runtime.GOOS)
}

func (*library) vectors([]string, bool) ([][]float32, error) { return nil, ErrNoLibrary }

func mapped(path string) ([]byte, error) { return os.ReadFile(path) }
