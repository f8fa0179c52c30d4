package chdb

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library holds the C functions of libchdb that the server needs. Handles are
// pointers into the engine's own memory and are never dereferenced here.
type library struct {
	setSignalHandlers func(enabled int32)
	connect           func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	closeConn         func(conn unsafe.Pointer)
	version           func() string

	query  func(conn unsafe.Pointer, sql *byte, sqlLen uintptr, format *byte, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, count uintptr) unsafe.Pointer
	stream func(conn unsafe.Pointer, sql *byte, sqlLen uintptr, format *byte, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, count uintptr) unsafe.Pointer
	fetch  func(conn, stream unsafe.Pointer) unsafe.Pointer
	cancel func(conn, stream unsafe.Pointer)

	insert        func(conn unsafe.Pointer, sql *byte, sqlLen uintptr, format *byte, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, count uintptr) unsafe.Pointer
	insertAppend  func(insert unsafe.Pointer, data *byte, size uintptr) int32
	insertDone    func(insert unsafe.Pointer) unsafe.Pointer
	insertCancel  func(insert unsafe.Pointer)
	insertError   func(insert unsafe.Pointer) string
	insertDestroy func(insert unsafe.Pointer)

	resultBuffer       func(result unsafe.Pointer) unsafe.Pointer
	resultLength       func(result unsafe.Pointer) uintptr
	resultError        func(result unsafe.Pointer) string
	resultRows         func(result unsafe.Pointer) uint64
	resultBytes        func(result unsafe.Pointer) uint64
	resultStorageRows  func(result unsafe.Pointer) uint64
	resultStorageBytes func(result unsafe.Pointer) uint64
	resultRowsWritten  func(result unsafe.Pointer) uint64
	resultBytesWritten func(result unsafe.Pointer) uint64
	destroyResult      func(result unsafe.Pointer)
}

var loaded struct {
	sync.Mutex
	path string
	lib  *library
}

// load maps the shared library at path into the process. The engine is
// process-wide, so a second path is refused.
func load(path string) (*library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.lib != nil {
		if loaded.path != path {
			return nil, fmt.Errorf("load engine %q: %q is loaded already", path, loaded.path)
		}
		return loaded.lib, nil
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load engine %q: %w", path, err)
	}
	lib := &library{}
	if err := lib.bind(handle); err != nil {
		return nil, fmt.Errorf("load engine %q: %w", path, err)
	}
	// The Go runtime turns SIGSEGV into a panic. The engine's handler would take it for a crash of the engine and
	// end the process.
	lib.setSignalHandlers(0)
	loaded.path, loaded.lib = path, lib
	return lib, nil
}

func (l *library) bind(handle uintptr) error {
	symbols := []struct {
		name string
		fn   any
	}{
		{"chdb_set_signal_handlers_enabled", &l.setSignalHandlers},
		{"chdb_connect", &l.connect},
		{"chdb_close_conn", &l.closeConn},
		{"chdb_version", &l.version},
		{"chdb_query_with_params_n", &l.query},
		{"chdb_stream_query_with_params_n", &l.stream},
		{"chdb_stream_fetch_result", &l.fetch},
		{"chdb_stream_cancel_query", &l.cancel},
		{"chdb_stream_insert_with_params_n", &l.insert},
		{"chdb_stream_append", &l.insertAppend},
		{"chdb_stream_done", &l.insertDone},
		{"chdb_stream_cancel_insert", &l.insertCancel},
		{"chdb_stream_insert_error", &l.insertError},
		{"chdb_destroy_insert_stream", &l.insertDestroy},
		{"chdb_result_buffer", &l.resultBuffer},
		{"chdb_result_length", &l.resultLength},
		{"chdb_result_error", &l.resultError},
		{"chdb_result_rows_read", &l.resultRows},
		{"chdb_result_bytes_read", &l.resultBytes},
		{"chdb_result_storage_rows_read", &l.resultStorageRows},
		{"chdb_result_storage_bytes_read", &l.resultStorageBytes},
		{"chdb_result_rows_written", &l.resultRowsWritten},
		{"chdb_result_bytes_written", &l.resultBytesWritten},
		{"chdb_destroy_query_result", &l.destroyResult},
	}
	for _, s := range symbols {
		address, err := purego.Dlsym(handle, s.name)
		if err != nil {
			return fmt.Errorf("find symbol %q: %w", s.name, err)
		}
		purego.RegisterFunc(s.fn, address)
	}
	return nil
}

// open opens a connection. Each connection has its own settings, current database and query in flight; all
// share the one engine of the process.
func (l *library) open(args []string) (unsafe.Pointer, error) {
	argv := make([]*byte, 0, len(args)+1)
	for _, a := range args {
		c := append([]byte(a), 0)
		argv = append(argv, &c[0])
	}
	argv = append(argv, nil)
	conn := l.connect(int32(len(args)), unsafe.Pointer(&argv[0]))
	runtime.KeepAlive(argv)
	if conn == nil {
		return nil, errors.New("engine refused the connection")
	}
	return conn, nil
}

// params is a set of query parameters in the layout the C functions take.
type params struct {
	names, values       []*byte
	nameLens, valueLens []uintptr
}

func newParams(values map[string]string) *params {
	p := &params{}
	for name, value := range values {
		// One byte more than the text, so that an empty string has an address.
		n, v := append([]byte(name), 0), append([]byte(value), 0)
		p.names, p.nameLens = append(p.names, &n[0]), append(p.nameLens, uintptr(len(name)))
		p.values, p.valueLens = append(p.values, &v[0]), append(p.valueLens, uintptr(len(value)))
	}
	return p
}

func first[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

type statementFunc func(conn unsafe.Pointer, sql *byte, sqlLen uintptr, format *byte, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, count uintptr) unsafe.Pointer

func call(fn statementFunc, conn unsafe.Pointer, sql, format string, p *params) unsafe.Pointer {
	result := fn(conn, unsafe.StringData(sql), uintptr(len(sql)), unsafe.StringData(format), uintptr(len(format)),
		first(p.names), first(p.nameLens), first(p.values), first(p.valueLens), uintptr(len(p.names)))
	runtime.KeepAlive(sql)
	runtime.KeepAlive(format)
	runtime.KeepAlive(p)
	return result
}
