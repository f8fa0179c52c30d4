//go:build (linux || darwin) && !static

package e5

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// pinned is true where the wheel is one of machine code for AVX2.
const pinned = runtime.GOARCH == "amd64"

// library holds the C functions. Only one thread at a time may call them.
type library struct {
	load  func(path string) unsafe.Pointer
	dim   func(model unsafe.Pointer) int32
	embed func(model unsafe.Pointer, texts unsafe.Pointer, n, isQuery int32, out unsafe.Pointer) int32

	model      unsafe.Pointer
	dimensions int
}

// open maps the library and the weights into the process, where they stay. threads bounds the threads of a call.
func open(f files, threads int) (*library, error) {
	if err := runs(); err != nil {
		return nil, err
	}
	// OpenMP reads its environment once, when it is loaded. Idle threads must sleep: by default they spin, and take the
	// processor from everything else.
	if err := setenv("OMP_NUM_THREADS", strconv.Itoa(threads)); err != nil {
		return nil, err
	}
	if err := setenv("OMP_WAIT_POLICY", "passive"); err != nil {
		return nil, err
	}
	// The library names OpenMP by its file name, and finds it if it is loaded already.
	var handle uintptr
	for _, path := range []string{f.threads, f.library} {
		if path == "" {
			continue
		}
		var err error
		if handle, err = purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL); err != nil {
			return nil, fmt.Errorf("load %q: %w", path, err)
		}
	}
	l := &library{}
	for _, s := range []struct {
		name string
		fn   any
	}{{"e5_load", &l.load}, {"e5_dim", &l.dim}, {"e5_embed_batch", &l.embed}} {
		address, err := purego.Dlsym(handle, s.name)
		if err != nil {
			return nil, fmt.Errorf("load %q: %w", f.library, err)
		}
		purego.RegisterFunc(s.fn, address)
	}
	if l.model = l.load(f.weights); l.model == nil {
		return nil, fmt.Errorf("load %q: the library refuses the weights: remove the directory and install it again", f.weights)
	}
	l.dimensions = int(l.dim(l.model))
	return l, nil
}

// setenv sets a variable of C's environment, which without cgo is not Go's. One that is set stays.
func setenv(name, value string) error {
	libc, err := purego.Dlopen(libcName, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load C's library: %w", err)
	}
	address, err := purego.Dlsym(libc, "setenv")
	if err != nil {
		return fmt.Errorf("load C's library: %w", err)
	}
	var set func(name, value string, overwrite int32) int32
	purego.RegisterFunc(&set, address)
	if set(name, value, 0) != 0 {
		return fmt.Errorf("set %s: C's library refuses", name)
	}
	return nil
}

// mapped returns the content of a file, which is read when it is used.
func mapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
}

// vectors computes a vector for each text. No text may contain a zero byte.
func (l *library) vectors(texts []string, query bool) ([][]float32, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pointers := make([]*byte, len(texts))
	for i, t := range texts {
		c := append([]byte(t), 0)
		pinner.Pin(&c[0])
		pointers[i] = &c[0]
	}
	out := make([]float32, len(texts)*l.dimensions)
	isQuery := int32(0)
	if query {
		isQuery = 1
	}
	if code := l.embed(l.model, unsafe.Pointer(&pointers[0]), int32(len(texts)), isQuery, unsafe.Pointer(&out[0])); code != 0 {
		return nil, fmt.Errorf("embed %d texts: the library returns %d", len(texts), code)
	}
	runtime.KeepAlive(pointers)
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = out[i*l.dimensions : (i+1)*l.dimensions : (i+1)*l.dimensions]
	}
	return vectors, nil
}
