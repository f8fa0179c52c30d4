// Package chdb serves ClickHouse's engine, loaded from the libchdb shared
// library, over ClickHouse's HTTP interface, so that an ordinary ClickHouse
// client works against it without a server package being installed.
package chdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unsafe"

	"axiommind/deploy/local/chdb/rights"

	"github.com/google/uuid"
)

// Engine is the ClickHouse engine with one data directory. A process can have only one engine in its life.
type Engine struct {
	lib *library
	dir string
	// grants are the rights of the user, if they differ from the default.
	grants []string
	// cluster is the name of a cluster whose only server is this one, or "".
	cluster string
	mu      sync.Mutex
	main    unsafe.Pointer
	pool    pool
	// Version is the engine's own version, such as "26.7.2.1".
	Version string
	// Timezone is the engine's time zone, such as "UTC".
	Timezone string
	location *time.Location
}

// Stats counts the rows and bytes that a statement read and wrote.
type Stats struct {
	ReadRows, ReadBytes       uint64
	ResultRows, ResultBytes   uint64
	WrittenRows, WrittenBytes uint64
}

// Options are the options of an [Engine].
type Options struct {
	// Grants replace the rights of its user. Default: those that reach nothing outside.
	Grants []string
	// Cluster is the name of a cluster of one shard, this engine, so that tests can make Distributed tables. Default: none.
	Cluster string
}

// Open starts the engine of the shared library at path with its data in dir, which is created when absent.
func Open(path, dir string, o Options) (*Engine, error) {
	lib, err := load(path)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolve data directory %q: %w", dir, err)
	}
	e := &Engine{lib: lib, dir: abs, grants: o.Grants, cluster: o.Cluster}
	if err := e.writeRights(); err != nil {
		return nil, fmt.Errorf("open data directory %q: %w", abs, err)
	}
	// Closing the last connection would stop the engine, so this one stays open.
	if e.main, err = lib.open(e.args()); err != nil {
		return nil, fmt.Errorf("open data directory %q: %w", abs, err)
	}
	if err := e.prepare(); err != nil {
		lib.closeConn(e.main)
		return nil, fmt.Errorf("prepare data directory %q: %w", abs, err)
	}
	return e, nil
}

// The files in the data directory that define the rights of the engine's user.
const (
	configFile = "config.xml"
	usersFile  = "users.xml"
)

// smallParts are defaults of tables that have a part consist of fewer files. An insert of a few rows costs little else
// than to create them, and to remove them after a merge.
const smallParts = "<merge_tree>" +
	// All skip indexes of a part in one file.
	"<packed_skip_index_max_bytes>1048576</packed_skip_index_max_bytes>" +
	// No columns_substreams.txt.
	"<write_marks_for_substreams_in_compact_parts>0</write_marks_for_substreams_in_compact_parts>" +
	// No serialization.json.
	"<serialization_info_version>basic</serialization_info_version>" +
	"<ratio_of_defaults_for_sparse_serialization>1</ratio_of_defaults_for_sparse_serialization>" +
	// No statistics, which are kept for columns of numbers.
	"<auto_statistics_types></auto_statistics_types>" +
	"</merge_tree>"

func (e *Engine) writeRights() error {
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	users := filepath.Join(e.dir, usersFile)
	config := fmt.Appendf(nil, "<clickhouse><users_config>%s</users_config>%s%s</clickhouse>\n", rights.Escape(users), smallParts, e.oneShard())
	// No password: only the server in front of the engine connects to it, and that asks for the token.
	return errors.Join(
		os.WriteFile(users, rights.UsersXML("", "::/0", rights.EngineFixed(), e.grants...), 0o600),
		os.WriteFile(filepath.Join(e.dir, configFile), config, 0o600))
}

// oneShard is the configuration of the cluster. An address with the port of the server is the server itself: nothing
// listens there, and nothing connects.
func (e *Engine) oneShard() string {
	if e.cluster == "" {
		return ""
	}
	return "<tcp_port>9000</tcp_port><remote_servers><" + e.cluster + "><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></" +
		e.cluster + "></remote_servers>"
}

func (e *Engine) args() []string {
	return []string{
		"clickhouse",
		"--path=" + e.dir,
		"--config-file=" + filepath.Join(e.dir, configFile),
		// A ClickHouse server has these by default, and the library has not.
		"--implicit_select=0",
		"--allow_introspection_functions=0",
		// By default the stack is unwound for each job of a pool of threads, to be shown should the job fail.
		"--enable_job_stack_trace=0",
		// The client cannot decode the JSON type from a re-encoded block.
		"--output_format_native_write_json_as_string=1",
		// The files that a statement reads are in memory. By default a pool of threads reads them if the file system does
		// not report that, as tmpfs does not.
		"--local_filesystem_read_method=pread",
	}
}

// prepare reads the values for the response headers.
func (e *Engine) prepare() error {
	s := &session{lib: e.lib, conn: e.main}
	text, err := s.text("SELECT version(), timezone()")
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
	if len(fields) != 2 {
		return fmt.Errorf("read engine version: unexpected answer %q", text)
	}
	e.Version, e.Timezone = fields[0], fields[1]
	if e.location, err = time.LoadLocation(e.Timezone); err != nil {
		e.location = time.UTC
	}
	return nil
}

// open opens a session of its own: settings and current database are not shared with any other.
func (e *Engine) open() (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.main == nil {
		return nil, fmt.Errorf("open session: engine is closed")
	}
	age := e.pool.current()
	conn, err := e.lib.open(e.args())
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	return &session{lib: e.lib, conn: conn, mark: uuid.NewString(), database: defaultDatabase, age: age}, nil
}

// Close stops the engine once every session has ended.
func (e *Engine) Close() error {
	e.pool.close()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.main == nil {
		return nil
	}
	e.lib.closeConn(e.main)
	e.main = nil
	return nil
}
