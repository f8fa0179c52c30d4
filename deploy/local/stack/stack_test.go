package stack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"axiommind/deploy/local/child"
	"axiommind/deploy/local/stack"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
)

// asParent makes this test binary the process that starts a stack, prints its
// servers' process ids and addresses, and waits to be killed.
const asParent = "AXIOMMIND_STACK_TEST_PARENT"

func TestMain(m *testing.M) {
	if text := os.Getenv(asParent); text != "" {
		var opts stack.Options
		if err := json.Unmarshal([]byte(text), &opts); err != nil {
			panic(err)
		}
		s, err := stack.Start(context.Background(), opts)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(parent{Addresses: s.Addresses(), Servers: s.Servers()})
		select {}
	}
	os.Exit(m.Run())
}

type parent struct {
	Addresses stack.Addresses
	Servers   map[string]int
	cmd       *exec.Cmd
}

// startParent starts a stack in a process of its own.
func startParent(t *testing.T, opts stack.Options) parent {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(opts)
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asParent+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := parent{cmd: cmd}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(line, &p))
	t.Cleanup(func() { p.kill(t) })
	return p
}

// kill ends the parent by SIGKILL and waits for its servers to be gone.
func (p parent) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	for name, pid := range p.Servers {
		require.Eventually(t, func() bool { return !child.Alive(pid) }, 15*time.Second, 5*time.Millisecond, "%s lives on", name)
	}
}

func start(t *testing.T, opts stack.Options) *stack.Stack {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	s, err := stack.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

func connect(t *testing.T, dsn string) driver.Conn {
	t.Helper()
	opts, err := clickhouse.ParseDSN(dsn)
	require.NoError(t, err)
	conn, err := clickhouse.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestNoOrphanAfterTheParentIsKilled(t *testing.T) {
	t.Parallel()
	p := startParent(t, stack.Options{Dir: t.TempDir(), ClickHouse: true, Temporal: true, Weaviate: true})
	require.Len(t, p.Servers, 3)
	for name, pid := range p.Servers {
		require.True(t, child.Alive(pid), name)
	}
	p.kill(t)
}

func TestRowsSurviveAKillDuringInserts(t *testing.T) {
	t.Parallel()
	rowsSurviveKills(t, 1)
}

// rowsSurviveKills kills the server in the middle of inserts, so often.
func rowsSurviveKills(t *testing.T, kills uint64) {
	t.Helper()
	const rows = 500
	dir := t.TempDir()
	acknowledged := map[uint64]bool{}
	for round := range kills {
		p := startParent(t, stack.Options{Dir: dir, ClickHouse: true})
		conn := connect(t, p.Addresses.ClickHouseDSN)
		require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS log (batch UInt64, n UInt64) ENGINE = MergeTree ORDER BY (batch, n)"))
		requireWholeBatches(t, conn, rows, acknowledged)
		first := make(chan struct{})
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			<-first
			_ = syscall.Kill(p.Servers["clickhouse"], syscall.SIGKILL)
		}()
		for n := range uint64(10_000) {
			id := round*10_000 + n
			if insertBatch(t.Context(), conn, id, rows) != nil {
				break
			}
			acknowledged[id] = true
			if n == 5 {
				close(first)
			}
		}
		<-killed
		p.kill(t)
	}
	s := start(t, stack.Options{Dir: dir, ClickHouse: true})
	requireWholeBatches(t, connect(t, s.Addresses().ClickHouseDSN), rows, acknowledged)
}

func insertBatch(ctx context.Context, conn driver.Conn, id uint64, rows int) error {
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO log")
	if err != nil {
		return err
	}
	defer func() { _ = batch.Close() }()
	for n := range rows {
		if err := batch.Append(id, uint64(n)); err != nil {
			return err
		}
	}
	return batch.Send()
}

// requireWholeBatches checks that each acknowledged batch is there, and that
// none is there in part.
func requireWholeBatches(t *testing.T, conn driver.Conn, rows uint64, acknowledged map[uint64]bool) {
	t.Helper()
	var found []struct {
		Batch uint64 `ch:"batch"`
		Rows  uint64 `ch:"rows"`
	}
	require.NoError(t, conn.Select(t.Context(), &found, "SELECT batch, count() AS rows FROM log GROUP BY batch"))
	seen := map[uint64]bool{}
	for _, f := range found {
		require.Equal(t, rows, f.Rows, "batch %d", f.Batch)
		seen[f.Batch] = true
	}
	for id := range acknowledged {
		require.True(t, seen[id], "batch %d was acknowledged and is gone", id)
	}
}

func TestDataSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wanted := stack.Options{Dir: dir, ClickHouse: true, Weaviate: true}
	s := start(t, wanted)
	ctx := t.Context()
	conn := connect(t, s.Addresses().ClickHouseDSN)
	require.NoError(t, conn.Exec(ctx, "CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n"))
	require.NoError(t, conn.Exec(ctx, "CREATE VIEW doubled AS SELECT n * 2 AS n FROM kept"))
	require.NoError(t, conn.Exec(ctx, "INSERT INTO kept VALUES (21)"))
	weaviate(t, s, http.MethodPost, "/v1/schema", `{"class":"Kept","vectorizer":"none","properties":[{"name":"text","dataType":["text"]}]}`)
	weaviate(t, s, http.MethodPost, "/v1/objects", `{"class":"Kept","properties":{"text":"still here"},"vector":[1,0]}`)
	s.Stop()

	s = start(t, wanted)
	var n uint64
	require.NoError(t, connect(t, s.Addresses().ClickHouseDSN).QueryRow(ctx, "SELECT n FROM doubled").Scan(&n))
	require.EqualValues(t, 42, n)
	require.Contains(t, weaviate(t, s, http.MethodGet, "/v1/objects?class=Kept", ""), "still here")
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	taken := l.Addr().(*net.TCPAddr).Port
	s := start(t, stack.Options{ClickHouse: true, ClickHousePort: taken})
	require.NotContains(t, s.Addresses().ClickHouseDSN, strconv.Itoa(taken))
	require.NoError(t, connect(t, s.Addresses().ClickHouseDSN).Ping(t.Context()))
}

func TestTwoStartersAtOnce(t *testing.T) {
	t.Parallel()
	stacks := make(chan *stack.Stack, 2)
	for range 2 {
		go func() {
			s, err := stack.Start(t.Context(), stack.Options{Dir: t.TempDir(), ClickHouse: true, ClickHousePort: 18_917})
			if err != nil {
				t.Error(err)
			}
			stacks <- s
		}()
	}
	one, two := <-stacks, <-stacks
	require.NotNil(t, one)
	require.NotNil(t, two)
	defer one.Stop()
	defer two.Stop()
	require.NotEqual(t, one.Addresses().ClickHouseDSN, two.Addresses().ClickHouseDSN)
}

func TestGivenServers(t *testing.T) {
	t.Parallel()
	running := start(t, stack.Options{ClickHouse: true})
	given := stack.Addresses{ClickHouseDSN: running.Addresses().ClickHouseDSN}
	s := start(t, stack.Options{ClickHouse: true, Given: given})
	require.Equal(t, given, s.Addresses())
	require.Empty(t, s.Servers())
	s.Stop()
	require.NoError(t, connect(t, given.ClickHouseDSN).Ping(t.Context()))

	given.ClickHouseDSN = "http://127.0.0.1:1/default"
	_, err := stack.Start(t.Context(), stack.Options{Dir: t.TempDir(), ClickHouse: true, Given: given})
	require.ErrorContains(t, err, "reach clickhouse at 127.0.0.1:1")
}

func TestServerThatEndsIsExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "clickhouse"), nil, 0o644))
	_, err := stack.Start(t.Context(), stack.Options{Dir: dir, ClickHouse: true})
	require.ErrorContains(t, err, "run clickhouse: ended with")
	require.ErrorContains(t, err, filepath.Join(dir, "logs", "clickhouse.log"))
}

// listeners are the local addresses a process accepts TCP connections on, as
// /proc/net spells them.
func listeners(t *testing.T, pid int) (addresses []string) {
	t.Helper()
	sockets := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
			sockets[strings.Trim(target[len("socket:"):], "[]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			// local address, state (0A: listening), inode
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && sockets[f[9]] {
				addresses = append(addresses, f[1])
			}
		}
	}
	return addresses
}

// weaviate asks Weaviate with its key and returns the answer.
func weaviate(t *testing.T, s *stack.Stack, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addresses().WeaviateHost+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Addresses().WeaviateKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, path)
	return string(text)
}
