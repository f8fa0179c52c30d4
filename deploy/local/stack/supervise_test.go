package stack_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"axiommind/deploy/local/stack"

	"github.com/stretchr/testify/require"
)

// said collects the lines of a supervisor.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) add(name, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, name+": "+what)
}

func (s *said) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.lines, "\n"), text)
}

// Each server is killed, and is there again at the same address, with its data and the same token.
func TestKilledServersAreStartedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Dir: t.TempDir(), ClickHouse: true, Temporal: true, Weaviate: true})
	conn := connect(t, s.Addresses().ClickHouseDSN)
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n"))
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO kept VALUES (7)"))
	var lines said
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Supervise(ctx, lines.add, func() {})
	}()
	before, addresses := s.Servers(), s.Addresses()
	require.Len(t, before, 3)
	for _, pid := range before {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	for name := range before {
		require.Eventually(t, func() bool { return lines.has(name + ": is up again") }, 2*time.Minute, 5*time.Millisecond, name)
	}
	require.Equal(t, addresses, s.Addresses())
	require.NoError(t, stack.Check(t.Context(), addresses))
	for name, pid := range s.Servers() {
		require.NotEqual(t, before[name], pid)
		require.True(t, lines.has(fmt.Sprintf("%s: run %s: ended with signal: killed (its log is ", name, name)), "%v", lines.lines)
	}
	var n uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT n FROM kept").Scan(&n))
	require.EqualValues(t, 7, n)
	cancel()
	<-ended
	s.Stop()
	require.Error(t, stack.Check(t.Context(), stack.Addresses{ClickHouseDSN: addresses.ClickHouseDSN}))
}

// A server that can't be started again reports why, in one line, and is started when it can be.
func TestRestartThatFailsIsExplained(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Dir: t.TempDir(), ClickHouse: true})
	dsn := s.Addresses().ClickHouseDSN
	address := dsn[strings.LastIndex(dsn, "@")+1 : strings.LastIndex(dsn, "/")]
	require.NoError(t, syscall.Kill(s.Servers()["clickhouse"], syscall.SIGKILL))
	var taken net.Listener
	require.Eventually(t, func() (free bool) {
		var err error
		taken, err = net.Listen("tcp", address)
		return err == nil
	}, 10*time.Second, time.Millisecond)
	var lines said
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Supervise(ctx, lines.add, func() { lines.add("pid", fmt.Sprint(s.Servers()["clickhouse"])) })
	}()
	require.Eventually(t, func() bool { return lines.has("address already in use (its log is") }, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, taken.Close())
	require.Eventually(t, func() bool { return lines.has("clickhouse: is up again") }, 90*time.Second, 5*time.Millisecond)
	cancel()
	<-ended
	var pids []string
	for _, line := range lines.lines {
		require.NotContains(t, line, "\n")
		if pid, ok := strings.CutPrefix(line, "pid: "); ok {
			pids = append(pids, pid)
		}
	}
	require.Equal(t, "0", pids[0], "a server that has ended has no process id")
	require.Equal(t, "0", pids[2], "nor has one that has failed to start")
	require.Equal(t, "pid: "+fmt.Sprint(s.Servers()["clickhouse"]), lines.lines[len(lines.lines)-2])
	require.Equal(t, "clickhouse: is up again", lines.lines[len(lines.lines)-1], "its process is known before it answers")
}
