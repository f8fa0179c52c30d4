package chdb

import (
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// session is one connection to the engine. It runs one statement at a time and
// must stay on one operating system thread while a statement is open.
type session struct {
	lib  *library
	conn unsafe.Pointer
	// mark is the log comment of the session's statements, by which they can be killed.
	mark string
	// settings and database are those that configure has set in a new session.
	settings map[string]string
	database string
	age      uint64
}

func (s *session) handle() unsafe.Pointer { return *(*unsafe.Pointer)(s.conn) }

func (s *session) close() { s.lib.closeConn(s.conn) }

// configure applies settings, resets the earlier ones, and changes to the database. After an error the session must
// not be used.
func (s *session) configure(settings map[string]string, database string) error {
	if sql := s.changes(settings); sql != "" {
		if _, err := s.text(sql); err != nil {
			return err
		}
	}
	s.settings = settings
	database = firstOf(database, defaultDatabase)
	if database == s.database {
		return nil
	}
	if _, err := s.text("USE " + quoteIdentifier(database)); err != nil {
		return err
	}
	s.database = database
	return nil
}

// changes returns the statement that gives the session the given settings, or "".
func (s *session) changes(settings map[string]string) string {
	var changes []string
	if s.settings == nil && settings["log_comment"] == "" {
		changes = append(changes, "log_comment = "+quoteString(s.mark))
	}
	for _, name := range sortedKeys(settings) {
		if old, ok := s.settings[name]; !ok || old != settings[name] {
			changes = append(changes, quoteIdentifier(name)+" = "+quoteString(settings[name]))
		}
	}
	for _, name := range sortedKeys(s.settings) {
		if _, ok := settings[name]; !ok {
			changes = append(changes, quoteIdentifier(name)+" = DEFAULT")
		}
	}
	if len(changes) == 0 {
		return ""
	}
	return "SET " + strings.Join(changes, ", ")
}

func (s *session) text(sql string) (string, error) {
	r, err := s.query(sql, "TabSeparated", nil)
	return string(r.data), err
}

// result is one answer, or one chunk of a streamed one.
type result struct {
	data  []byte
	stats Stats
}

// take copies a result out of the engine's memory and frees it.
func (s *session) take(r unsafe.Pointer) (result, error) {
	defer s.lib.destroyResult(r)
	if text := s.lib.resultError(r); text != "" {
		return result{}, parseException(text)
	}
	var data []byte
	if n := s.lib.resultLength(r); n > 0 {
		data = slices.Clone(unsafe.Slice((*byte)(s.lib.resultBuffer(r)), n))
	}
	return result{data: data, stats: Stats{
		ReadRows:     s.lib.resultStorageRows(r),
		ReadBytes:    s.lib.resultStorageBytes(r),
		ResultRows:   s.lib.resultRows(r),
		ResultBytes:  s.lib.resultBytes(r),
		WrittenRows:  s.lib.resultRowsWritten(r),
		WrittenBytes: s.lib.resultBytesWritten(r),
	}}, nil
}

// query runs a statement and returns its whole answer.
func (s *session) query(sql, format string, values map[string]string) (result, error) {
	return s.take(call(s.lib.query, s.handle(), sql, format, newParams(values)))
}

// stream is a SELECT whose answer is read chunk by chunk.
type stream struct {
	session *session
	handle  unsafe.Pointer
	ended   bool
}

func (s *session) stream(sql, format string, values map[string]string) (*stream, error) {
	handle := call(s.lib.stream, s.handle(), sql, format, newParams(values))
	if text := s.lib.resultError(handle); text != "" {
		s.lib.destroyResult(handle)
		return nil, parseException(text)
	}
	return &stream{session: s, handle: handle}, nil
}

// next returns the next chunk; one without data ends the stream.
func (st *stream) next() (result, error) {
	r, err := st.session.take(st.session.lib.fetch(st.session.handle(), st.handle))
	st.ended = st.ended || err != nil || len(r.data) == 0
	return r, err
}

func (st *stream) close() {
	if !st.ended {
		st.session.lib.cancel(st.session.handle(), st.handle)
	}
	st.session.lib.destroyResult(st.handle)
}

// insertion is an INSERT that takes its rows in pieces.
type insertion struct {
	session *session
	handle  unsafe.Pointer
}

func (s *session) insert(sql, format string, values map[string]string) (*insertion, error) {
	in := &insertion{session: s, handle: call(s.lib.insert, s.handle(), sql, format, newParams(values))}
	if text := s.lib.insertError(in.handle); text != "" {
		s.lib.insertDestroy(in.handle)
		return nil, parseException(text)
	}
	return in, nil
}

// Write hands a piece of the encoded rows to the engine; it blocks while the
// engine is behind.
func (in *insertion) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	state := in.session.lib.insertAppend(in.handle, unsafe.SliceData(p), uintptr(len(p)))
	runtime.KeepAlive(p)
	if state != 0 {
		return 0, parseException(in.session.lib.insertError(in.handle))
	}
	return len(p), nil
}

// done commits the rows.
func (in *insertion) done() (Stats, error) {
	r, err := in.session.take(in.session.lib.insertDone(in.handle))
	return r.stats, err
}

// cancel drops the uncommitted rows.
func (in *insertion) cancel() { in.session.lib.insertCancel(in.handle) }

func (in *insertion) close() { in.session.lib.insertDestroy(in.handle) }

// defaultDatabase is the database of a new session.
const defaultDatabase = "default"

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var (
	stringEscaper     = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`)
	identifierEscaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "\x00", `\0`)
)

func quoteString(s string) string { return "'" + stringEscaper.Replace(s) + "'" }

func quoteIdentifier(s string) string { return "`" + identifierEscaper.Replace(s) + "`" }
