// The tag static leaves out the dynamic linker, and so the programs need no libc.

//go:build (!linux && !darwin) || static

package onnx

import (
	"fmt"
	"runtime"
)

// Session is a model that is loaded. There is none on this system.
type Session struct{ Inputs, Outputs []string }

// OpenBytes returns an error that wraps [ErrNoRuntime].
func OpenBytes(string, []byte) (*Session, error) {
	return nil, fmt.Errorf("%w: it is not supported on %s or in a static program", ErrNoRuntime, runtime.GOOS)
}

// OpenFile returns an error that wraps [ErrNoRuntime].
func OpenFile(library, _ string) (*Session, error) { return OpenBytes(library, nil) }

// Run returns [ErrNoRuntime].
func (*Session) Run([]int64, []any, func([]float32, []int64) error) error { return ErrNoRuntime }

// Close does nothing.
func (*Session) Close() {}
