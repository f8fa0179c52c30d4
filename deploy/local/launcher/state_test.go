package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"axiommind/deploy/local/stack"
	"axiommind/deploy/local/stacktest"

	"github.com/stretchr/testify/require"
)

// asHolder makes this test binary a process that locks a directory like a running stack, until it is
// told to end.
const asHolder = "AXIOMMIND_LOCAL_TEST_HOLDER"

// asProgram makes this test binary the program itself.
const asProgram = "AXIOMMIND_LOCAL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	dir := os.Getenv(asHolder)
	if dir == "" {
		stacktest.Main(m)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	release, err := claim(dir)
	if err != nil {
		panic(err)
	}
	err = writeState(dir, state{PID: os.Getpid(), Started: time.Now(), Addresses: stack.Addresses{Temporal: "127.0.0.1:1"}})
	if err != nil {
		panic(err)
	}
	<-end
	if err := removeState(dir); err != nil {
		panic(err)
	}
	release()
	os.Exit(0)
}

func hold(t *testing.T) (dir string, holder *exec.Cmd) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	holder = exec.Command(self)
	holder.Env = append(os.Environ(), asHolder+"="+dir)
	holder.Stderr = os.Stderr
	require.NoError(t, holder.Start())
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	require.Eventually(t, func() bool {
		last, err := readState(dir)
		return err == nil && last != nil
	}, 10*time.Second, 5*time.Millisecond)
	return dir, holder
}

func do(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), args, &out)
	return out.String(), err
}

func TestSecondUpSaysSo(t *testing.T) {
	t.Parallel()
	dir, holder := hold(t)
	_, err := do(t, "up", "--dir", dir)
	require.ErrorIs(t, err, errRunning)
	require.ErrorContains(t, err, "process "+strconv.Itoa(holder.Process.Pid))
}

func TestStatusAndDownOfARunningStack(t *testing.T) {
	t.Parallel()
	dir, holder := hold(t)
	text, err := do(t, "status", "--dir", dir)
	require.NoError(t, err)
	require.Contains(t, text, "process "+strconv.Itoa(holder.Process.Pid))
	require.Contains(t, text, `reach Temporal at "127.0.0.1:1"`)
	text, err = do(t, "down", "--dir", dir)
	require.NoError(t, err)
	require.Contains(t, text, "stopped")
	text, err = do(t, "status", "--dir", dir)
	require.NoError(t, err)
	require.Contains(t, text, "nothing runs")
}

func TestStackThatWasKilled(t *testing.T) {
	t.Parallel()
	dir, holder := hold(t)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	text, err := do(t, "status", "--dir", dir)
	require.NoError(t, err)
	require.Contains(t, text, "was killed")
	text, err = do(t, "status", "--dir", dir, "--output", "json")
	require.NoError(t, err)
	require.Contains(t, text, `"running":false`)
	text, err = do(t, "down", "--dir", dir)
	require.NoError(t, err)
	require.Contains(t, text, "nothing runs")
	require.NoFileExists(t, filepath.Join(dir, stateFile))
}

func TestNothingRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "absent")
	for _, command := range []string{"status", "down"} {
		text, err := do(t, command, "--dir", dir)
		require.NoError(t, err)
		require.Contains(t, text, "nothing runs in "+dir)
	}
	require.NoDirExists(t, dir)
}

func TestUpWithAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := do(t, "up", "--dir", dir, "--temporal-address", "127.0.0.1:1")
	require.ErrorContains(t, err, `reach Temporal at "127.0.0.1:1"`)
	up, err := running(dir)
	require.NoError(t, err)
	require.False(t, up)
}

// A server that has ended is not taken for one that was given.
func TestStatusOfAServerThatEnded(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, printStatus(t.Context(), &out, "dir", &state{PID: 1, Servers: map[string]int{"clickhouse": 0, "weaviate": 42}}))
	require.Regexp(t, `temporal +given`, out.String())
	require.Regexp(t, `clickhouse +ended`, out.String())
	require.Regexp(t, `weaviate +42`, out.String())
}
