//go:build (linux || darwin) && !static

package onnx

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// apiVersion is a version of the C interface that has all functions used here. Newer libraries still offer it.
const apiVersion = 17

// pointer is a C pointer. Most functions return a status of this type, nil for success.
type pointer = unsafe.Pointer

// library holds the C functions of ONNX Runtime. Any thread may call them.
type library struct {
	message                                                  func(status pointer) string
	releaseStatus, releaseOptions, releaseInfo, releaseValue func(pointer)
	releaseSession                                           func(pointer)
	free                                                     func(allocator, memory pointer) pointer
	createEnv                                                func(level int32, name string, out *pointer) pointer
	createOptions, allocator                                 func(out *pointer) pointer
	threads                                                  func(options pointer, n int32) pointer
	configure                                                func(options pointer, key, value string) pointer
	sessionOfFile                                            func(env pointer, path string, options pointer, out *pointer) pointer
	sessionOfBytes                                           func(env, data pointer, size uintptr, options pointer, out *pointer) pointer
	inputs, outputs, rank                                    func(object pointer, out *uintptr) pointer
	inputName, outputName                                    func(session pointer, i uintptr, allocator pointer, out **byte) pointer
	createMemory                                             func(allocator, kind int32, out *pointer) pointer
	createTensor                                             func(memory, data pointer, size uintptr, shape *int64, rank uintptr, kind int32, out *pointer) pointer
	tensorData, tensorInfo                                   func(value pointer, out *pointer) pointer
	dimensions                                               func(info pointer, out *int64, n uintptr) pointer
	elementType                                              func(info pointer, out *int32) pointer
	call                                                     func(session, options pointer, names **byte, values *pointer, n uintptr, outNames **byte, outN uintptr, out *pointer) pointer

	env, memory, names pointer
}

// functions are the functions by their places in the C structure OrtApi, which only ever grows at its end.
func (l *library) functions() map[int]any {
	return map[int]any{
		2: &l.message, 3: &l.createEnv, 7: &l.sessionOfFile, 8: &l.sessionOfBytes, 9: &l.call, 10: &l.createOptions,
		24: &l.threads, 30: &l.inputs, 31: &l.outputs, 36: &l.inputName, 37: &l.outputName,
		49: &l.createTensor, 51: &l.tensorData, 60: &l.elementType, 61: &l.rank, 62: &l.dimensions, 65: &l.tensorInfo,
		69: &l.createMemory, 76: &l.free, 78: &l.allocator, 93: &l.releaseStatus, 95: &l.releaseSession, 96: &l.releaseValue, 99: &l.releaseInfo,
		100: &l.releaseOptions, 130: &l.configure,
	}
}

// loaded is the library of this process, which stays loaded.
var loaded struct {
	sync.Mutex
	*library
}

// load returns the library in the file.
func load(path string) (*library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.library != nil {
		return loaded.library, nil
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %q: %w", path, err)
	}
	address, err := purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("load %q: %w", path, err)
	}
	var base func() *[2]uintptr
	purego.RegisterFunc(&base, address)
	var api func(version uint32) *[131]uintptr
	purego.RegisterFunc(&api, base()[0])
	table := api(apiVersion)
	if table == nil {
		return nil, fmt.Errorf("load %q: the library is older than version 1.%d: install %s", path, apiVersion, Version)
	}
	l := &library{}
	for at, f := range l.functions() {
		purego.RegisterFunc(f, table[at])
	}
	const errorsOnly, deviceAllocator, defaultMemory = 3, 0, 0
	if err := errors.Join(
		l.check(l.createEnv(errorsOnly, "axiommind", &l.env)),
		l.check(l.createMemory(deviceAllocator, defaultMemory, &l.memory)),
		l.check(l.allocator(&l.names)),
	); err != nil {
		return nil, fmt.Errorf("load %q: %w", path, err)
	}
	loaded.library = l
	return l, nil
}

// check returns the error of a status, which it releases.
func (l *library) check(status pointer) error {
	if status == nil {
		return nil
	}
	defer l.releaseStatus(status)
	return errors.New(l.message(status))
}

// Session is a model that is loaded. It is safe for concurrent use.
type Session struct {
	l               *library
	handle          pointer
	inputs, outputs []*byte
	// Inputs and Outputs are the names of the model's inputs and outputs.
	Inputs, Outputs []string
}

// maxThreads bounds the threads that compute one run. It leaves processors to the other work of a worker.
const maxThreads = 4

// OpenBytes loads a model that is held in memory, by the library in the file.
func OpenBytes(runtime string, model []byte) (*Session, error) {
	return open(runtime, func(l *library, options pointer, out *pointer) pointer {
		return l.sessionOfBytes(l.env, pointer(unsafe.SliceData(model)), uintptr(len(model)), options, out)
	})
}

// OpenFile loads the model of a file.
func OpenFile(runtime, model string) (*Session, error) {
	return open(runtime, func(l *library, options pointer, out *pointer) pointer {
		return l.sessionOfFile(l.env, model, options, out)
	})
}

func open(path string, create func(l *library, options pointer, out *pointer) pointer) (_ *Session, err error) {
	l, err := load(path)
	if err != nil {
		return nil, err
	}
	var options pointer
	if err := l.check(l.createOptions(&options)); err != nil {
		return nil, err
	}
	defer l.releaseOptions(options)
	if err := errors.Join(
		l.check(l.threads(options, int32(min(maxThreads, runtime.GOMAXPROCS(0))))),
		// Idle threads must sleep: by default they spin, and take the processor from everything else.
		l.check(l.configure(options, "session.intra_op.allow_spinning", "0")),
		// Without it a CPU without VNNI clips the sum of two products of 8 bits to 16 bits.
		l.check(l.configure(options, "session.x64quantprecision", "1")),
	); err != nil {
		return nil, err
	}
	s := &Session{l: l}
	if err := l.check(create(l, options, &s.handle)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for _, list := range []struct {
		count func(pointer, *uintptr) pointer
		name  func(pointer, uintptr, pointer, **byte) pointer
		bytes *[]*byte
		names *[]string
	}{{l.inputs, l.inputName, &s.inputs, &s.Inputs}, {l.outputs, l.outputName, &s.outputs, &s.Outputs}} {
		var n uintptr
		if err := l.check(list.count(s.handle, &n)); err != nil {
			return nil, err
		}
		for i := range n {
			var name *byte
			if err := l.check(list.name(s.handle, i, l.names, &name)); err != nil {
				return nil, err
			}
			*list.bytes = append(*list.bytes, name)
			*list.names = append(*list.names, goString(name))
		}
	}
	return s, nil
}

// Close releases the model, which must not run any longer. Closing it again does nothing.
func (s *Session) Close() {
	if s.handle == nil {
		return
	}
	for _, name := range slices.Concat(s.inputs, s.outputs) {
		_ = s.l.check(s.l.free(s.l.names, pointer(name)))
	}
	s.l.releaseSession(s.handle)
	s.handle, s.inputs, s.outputs = nil, nil, nil
}

func goString(c *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(pointer(c), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(c, n))
}

// Types of the elements of tensors in C.
const (
	typeFloat = 1
	typeInt64 = 7
)

// Run computes the first output of the model from inputs of the same shape, in the order of [Session.Inputs]. Each is a
// []float32 or an []int64. It passes the output to read, which must not keep it.
func (s *Session) Run(shape []int64, inputs []any, read func(output []float32, shape []int64) error) error {
	l := s.l
	if s.handle == nil {
		return errors.New("the model is closed")
	}
	if len(inputs) != len(s.inputs) {
		return fmt.Errorf("the model has %d inputs %q, not %d", len(s.inputs), s.Inputs, len(inputs))
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	values := make([]pointer, len(inputs))
	defer func() {
		for _, v := range values {
			if v != nil {
				l.releaseValue(v)
			}
		}
	}()
	for i, input := range inputs {
		var data pointer
		var size, kind int
		switch in := input.(type) {
		case []float32:
			data, size, kind = pointer(unsafe.SliceData(in)), 4*len(in), typeFloat
		case []int64:
			data, size, kind = pointer(unsafe.SliceData(in)), 8*len(in), typeInt64
		}
		pinner.Pin(data)
		if err := l.check(l.createTensor(l.memory, data, uintptr(size), &shape[0], uintptr(len(shape)), int32(kind), &values[i])); err != nil {
			return fmt.Errorf("input %q: %w", s.Inputs[i], err)
		}
	}
	var out pointer
	if err := l.check(l.call(s.handle, nil, &s.inputs[0], &values[0], uintptr(len(values)), &s.outputs[0], 1, &out)); err != nil {
		return err
	}
	defer l.releaseValue(out)
	result, dims, err := s.tensor(out)
	if err != nil {
		return fmt.Errorf("output %q: %w", s.Outputs[0], err)
	}
	return read(result, dims)
}

// tensor returns the content of a tensor of floats, which lives as long as the value.
func (s *Session) tensor(value pointer) ([]float32, []int64, error) {
	l := s.l
	var info, data pointer
	if err := l.check(l.tensorInfo(value, &info)); err != nil {
		return nil, nil, err
	}
	defer l.releaseInfo(info)
	var kind int32
	var rank uintptr
	if err := errors.Join(l.check(l.elementType(info, &kind)), l.check(l.rank(info, &rank)), l.check(l.tensorData(value, &data))); err != nil {
		return nil, nil, err
	}
	if kind != typeFloat || rank == 0 {
		return nil, nil, errors.New("it is no tensor of 32-bit floats")
	}
	dims := make([]int64, rank)
	if err := l.check(l.dimensions(info, &dims[0], rank)); err != nil {
		return nil, nil, err
	}
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return unsafe.Slice((*float32)(data), n), slices.Clone(dims), nil
}
