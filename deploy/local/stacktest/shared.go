package stacktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"axiommind/deploy/local/child"
	"axiommind/deploy/local/install"
	"axiommind/deploy/local/stack"
)

// Packages that are tested at the same time, or one soon after another, share one set of servers. The first test that
// needs a server starts its own test binary once more, as the host: it runs the servers and outlives the package.
//
//   - A test binary that uses the servers has a shared lock on the file users, until it ends, however it ends.
//   - The host stops when it gets that lock for itself and the servers have been idle for idleTime, or for oldIdleTime
//     once they are old.
//   - The file state names the addresses. It is there as long as the servers are.

const (
	// envHost makes a test binary the host of the servers in the directory that it names.
	envHost = "AXIOMMIND_TEST_HOST"
	// envIdle is a duration that replaces idleTime and oldIdleTime.
	envIdle = "AXIOMMIND_TEST_IDLE"
	// idleTime is how long the servers outlive their last user.
	idleTime = 90 * time.Second
	// From oldAge on they outlive it only by oldIdleTime: each test leaves a namespace, which costs Temporal memory and
	// polls until its end.
	oldAge      = 15 * time.Minute
	oldIdleTime = 3 * time.Second
	// buildPatience is how long a test waits for servers that are built. Go ends a package after ten minutes.
	buildPatience = 9 * time.Minute
	// startTimeout covers a first build of a server.
	startTimeout = 15 * time.Minute
	watchEvery   = time.Second
	pollState    = 20 * time.Millisecond
)

// state is the record that the host leaves for the users.
type state struct {
	Host      int
	Addresses stack.Addresses
	// Servers are the process ids by name.
	Servers map[string]int
	// Error is why the servers could not be started.
	Error string `json:",omitempty"`
	// use is the lock that keeps the servers running until this test binary ends.
	use *os.File
}

var shared = sync.OnceValues(func() (state, error) {
	if !mainRuns {
		return state{}, errors.New("start the servers of the tests: no TestMain of this package calls stacktest.Main")
	}
	dir, err := sharedDir()
	if err != nil {
		return state{}, fmt.Errorf("start the servers of the tests: %w", err)
	}
	s, lock, err := join(dir)
	if err != nil {
		return state{}, fmt.Errorf("start the servers of the tests: %w", err)
	}
	s.use = lock
	return s, nil
})

func servers(t testing.TB) state {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sharedDir returns the directory of the servers that the checkout's tests share with those of others that start the
// same servers. It stays the same while this test binary runs, whatever changes in the checkout.
var sharedDir = sync.OnceValues(func() (string, error) {
	key, err := install.SourceDigest("deploy/local/chdb", "deploy/local/chdb-server", "deploy/local/install", "deploy/local/stack", "deploy/local/stacktest")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root(), fmt.Sprintf("%s%s", dirPrefix(), key))
	return dir, stack.MakePrivate(dir)
})

func dirPrefix() string { return fmt.Sprintf("axiommind-teststack.%d.", os.Getuid()) }

// roomInMemory is how much a file system in memory must have left to hold the data of the servers. A run of all tests
// leaves 138 MB, and merges take more for a while.
const roomInMemory = 8 << 30

// root is the directory that holds those of the servers. Tables of tests are thousands of small files that live for
// seconds: on a disk, an eighth of ClickHouse's time goes into making and removing them.
func root() string {
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < roomInMemory { //nolint:gosec // a size
		return os.TempDir()
	}
	return memory
}

// lockFile opens a file and locks it: how is LOCK_SH or LOCK_EX, with LOCK_NB for one try. The lock ends with the file.
func lockFile(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how) //nolint:gosec // a descriptor
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %q: %w", path, err), f.Close())
	}
	return f, nil
}

// join makes this process a user of the servers in the directory, which are started if there are none. The servers run
// until the returned lock is closed, and for a while longer.
func join(dir string) (s state, use *os.File, err error) {
	use, err = lockFile(filepath.Join(dir, "users"), syscall.LOCK_SH)
	if err != nil {
		return state{}, nil, err
	}
	if s, err = find(dir); err != nil {
		return state{}, nil, errors.Join(err, use.Close())
	}
	return s, use, nil
}

func find(dir string) (state, error) {
	users, now := filepath.Join(dir, "users"), time.Now()
	if err := os.Chtimes(users, now, now); err != nil {
		return state{}, err
	}
	starting, err := lockFile(filepath.Join(dir, "start"), syscall.LOCK_EX)
	if err != nil {
		return state{}, err
	}
	defer func() { _ = starting.Close() }()
	if s, err := readState(dir); err == nil && child.Alive(s.Host) && s.Error == "" {
		return s, nil
	}
	if err := os.RemoveAll(filepath.Join(dir, "state")); err != nil {
		return state{}, err
	}
	ended, err := startHost(dir)
	if err != nil {
		return state{}, err
	}
	return awaitState(dir, ended)
}

// startHost starts the host in a session of its own, so that it outlives the package's tests and a terminal's Ctrl-C.
func startHost(dir string) (ended <-chan error, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(hostLog(dir), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(context.Background(), exe)
	cmd.Env = append(os.Environ(), envHost+"="+dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	return end, nil
}

func awaitState(dir string, ended <-chan error) (state, error) {
	deadline := time.After(buildPatience)
	tick := time.NewTicker(pollState)
	defer tick.Stop()
	for {
		s, err := readState(dir)
		switch {
		case err == nil && s.Error != "":
			return s, errors.New(s.Error)
		case err == nil:
			return s, nil
		}
		select {
		case <-tick.C:
		case err := <-ended:
			return s, fmt.Errorf("they ended at once (%w):\n%s", err, hostLogTail(dir))
		case <-deadline:
			return s, fmt.Errorf("they are not ready after %s: run the tests again when %s says that they are; so far it says:\n%s",
				buildPatience, hostLog(dir), hostLogTail(dir))
		}
	}
}

func hostLog(dir string) string { return filepath.Join(dir, "host.log") }

// hostLogTail returns the end of the host's log.
func hostLogTail(dir string) string {
	const end = 2000
	text, err := os.ReadFile(hostLog(dir))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-end):])
}

func readState(dir string) (state, error) {
	var s state
	text, err := os.ReadFile(filepath.Join(dir, "state"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// runHost runs the servers in the directory until no test has used them for a while, or one of them ends.
func runHost(dir string) error {
	fmt.Println("process", os.Getpid(), "starts the servers")
	data := filepath.Join(dir, fmt.Sprintf("data-%d", os.Getpid()))
	if err := clean(dir); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		err := errors.Join(os.Setenv("GOGC", strconv.Itoa(garbage)), os.Setenv("GOMEMLIMIT", strconv.Itoa(serverMemory)))
		if err != nil {
			return err
		}
	}
	st, err := stack.Start(context.Background(), stack.Options{
		Dir: data, Temporal: true, ClickHouse: true, Weaviate: true, Ephemeral: true,
		Progress: func(name, what string) { fmt.Printf("%s %-10s %s\n", time.Now().Format(time.TimeOnly), name, what) },
	})
	if err != nil {
		return errors.Join(err, writeState(dir, state{Host: os.Getpid(), Error: err.Error()}))
	}
	defer func() {
		st.Stop()
		_ = os.RemoveAll(data)
	}()
	if err := writeState(dir, state{Host: os.Getpid(), Addresses: st.Addresses(), Servers: st.Servers()}); err != nil {
		return err
	}
	fmt.Println(time.Now().Format(time.TimeOnly), "the servers are ready")
	last, err := awaitIdle(dir, st)
	if last != nil {
		_ = last.Close() // From here on a user finds no state and starts other servers.
	}
	fmt.Println(time.Now().Format(time.TimeOnly), "the servers stop:", err)
	return err
}

// clean removes the lists of databases of servers that have ended, and the data of them and of other checkouts' servers.
func clean(dir string) error {
	lists, err := filepath.Glob(filepath.Join(dir, "databases-*"))
	if err != nil {
		return err
	}
	data, err := filepath.Glob(filepath.Join(filepath.Dir(dir), dirPrefix()+"*", "data-*"))
	if err != nil {
		return err
	}
	old := slices.DeleteFunc(data, func(path string) bool {
		var pid int
		_, err := fmt.Sscanf(filepath.Base(path), "data-%d", &pid)
		return err != nil || child.Alive(pid)
	})
	for _, path := range slices.Concat(lists, old) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// awaitIdle returns when the servers are no longer used, and the state is removed. It returns the lock under which that
// was done, or nil if a server has ended.
func awaitIdle(dir string, st *stack.Stack) (*os.File, error) {
	idle, oldIdle := idleTime, oldIdleTime
	if d, err := time.ParseDuration(os.Getenv(envIdle)); err == nil {
		idle, oldIdle = d, d
	}
	users, begun, seen := filepath.Join(dir, "users"), time.Now(), time.Now()
	for range time.Tick(watchEvery) {
		for name, pid := range st.Servers() {
			if pid == 0 {
				return nil, errors.Join(fmt.Errorf("%s has ended: see %s", name, hostLog(dir)), os.Remove(filepath.Join(dir, "state")))
			}
		}
		f, err := lockFile(users, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			seen = time.Now()
			continue
		}
		if info, err := f.Stat(); err == nil && info.ModTime().After(seen) {
			seen = info.ModTime()
		}
		if time.Since(begun) >= oldAge {
			idle = oldIdle
		}
		if time.Since(seen) >= idle {
			return f, os.Remove(filepath.Join(dir, "state"))
		}
		_ = f.Close()
	}
	panic("unreachable: a ticker has no end")
}

func writeState(dir string, s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return stack.WritePrivate(filepath.Join(dir, "state"), text)
}
